#!/usr/bin/env bash
# Crawls webs of which a third misbehaves, without a proxy, kills the crawl every few hundred requests,
# and judges its manners by the server's log alone: docs/data/manners.tsv.
#   scripts/politeness.sh [REQUESTS]     default: 10,000 of each web
# The webs are a generated one, and wikispeedia if FOSSICK_DATA has it.
set -euo pipefail
cd "$(dirname "$0")/.."
export FOSSICK_FULL=1 FOSSICK_REQUESTS=${1:-10000}
export FOSSICK_DATA=${FOSSICK_DATA:-$PWD/../shared/data}
go test ./cmd/fossick -run '^(TestJudge|TestPoliteness)$' -v -count 1 -timeout 2h
