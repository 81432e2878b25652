#!/usr/bin/env bash
# Three agents crawl web after web while faults happen to them at random; the server's log is
# the judge. The rows of docs/data/agent-faults.tsv. Needs root and iproute2.
#
#   scripts/agentfaults.sh TABLE [ROUNDS] [SEED]     default: 300 faults, another seed each time
set -euo pipefail
table=$(realpath "$1")
cd "$(dirname "$0")/.."
export FOSSICK_FULL=1 FOSSICK_TABLE=$table FOSSICK_ROUNDS=${2:-300} FOSSICK_SEED=${3:-$RANDOM}
go test ./cmd/fossick -run '^TestAgentsFaults$' -v -count 1 -timeout 8h
