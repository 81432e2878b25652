#!/usr/bin/env bash
# Kills crawls with SIGKILL at random moments, resumes them, and judges by the
# server's log: the table docs/data/kills.tsv.
#
#   scripts/kill.sh [KILLS] [PAGES]     default: 200 kills of each web, 1,000 pages
#
# The webs: the demo set, a made-up one of PAGES pages, the same with faults, and
# wikispeedia when FOSSICK_DATA leads to it. Then the same for the frontier on
# disk, for the store alone, and for repair and refine.
set -euo pipefail
cd "$(dirname "$0")/.."
export FOSSICK_FULL=1 FOSSICK_KILLS=${1:-200} FOSSICK_KILL_PAGES=${2:-1000}
export FOSSICK_DATA=${FOSSICK_DATA:-$PWD/../shared/data}
go test ./cmd/fossick -run '^TestKill' -v -count 1 -timeout 4h
go test ./crawler -run '^TestKillWithTheQueueOnDisk$' -v -count 1 -timeout 1h
go test ./store -run '^TestKill' -v -count 1 -timeout 1h
