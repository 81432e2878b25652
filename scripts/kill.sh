#!/usr/bin/env bash
# Kills crawls with SIGKILL at random moments, resumes them, and judges them by the server's log:
# docs/data/kills.tsv.
#   scripts/kill.sh [KILLS] [PAGES]     default: 200 kills of each web, 1,000 pages
# The webs are the demo set, a generated one of PAGES pages, the same with faults, and wikispeedia if
# FOSSICK_DATA has it. It also kills the frontier on disk, the store alone, repair and refine.
set -euo pipefail
cd "$(dirname "$0")/.."
export FOSSICK_FULL=1 FOSSICK_KILLS=${1:-200} FOSSICK_KILL_PAGES=${2:-1000}
export FOSSICK_DATA=${FOSSICK_DATA:-$PWD/../shared/data}
go test ./cmd/fossick -run '^TestKill' -v -count 1 -timeout 4h
go test ./crawler -run '^TestKillWithTheQueueOnDisk$' -v -count 1 -timeout 1h
go test ./store -run '^TestKill' -v -count 1 -timeout 1h
