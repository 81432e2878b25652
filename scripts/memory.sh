#!/usr/bin/env bash
# Measures the resident memory of a long crawl: fossick focus on an endless web (scripts/endlessweb.go)
# on the same machine, with the built-in topic science and the learned scorer.
#   scripts/memory.sh [PAGES] [STEP]     default: 1000000 100000
# Every STEP pages it prints a line: resident memory now and at most, mapped files in it, the heap in
# use, processor time a page, size of the store (about 3 GB, in TMPDIR).
set -euo pipefail
cd "$(dirname "$0")/.."
pages=${1:-1000000} step=${2:-100000}
work=$(mktemp -d)
trap 'kill ${crawl:-} ${web:-} 2>/dev/null; wait; rm -rf "$work"' EXIT

fossick=${FOSSICK:-$work/fossick}
[ -n "${FOSSICK:-}" ] || CGO_ENABLED=0 go build -o "$work/fossick" ./cmd/fossick
go build -o "$work/web" scripts/endlessweb.go
"$work/web" 127.0.0.1:6461 &
web=$!
"$fossick" focus --topic science --seed http://h0.test/0 --proxy http://127.0.0.1:6461 --delay 0 --max-pages "$pages" \
	--store "$work/crawl" --listen 127.0.0.1:6462 --verbose --json --quiet ${FLAGS:-} >"$work/focus.json" &
crawl=$!

# field NAME: a line of the crawl's /proc status, in MiB.
field() { awk -v name="$1:" '$1 == name { printf "%.0f", $2 / 1024 }' "/proc/$crawl/status"; }
metric() { awk -v name="$1" '$1 == name { printf "%.0f", $2 }' "$work/metrics"; }

next=$step
while kill -0 $crawl 2>/dev/null; do
	sleep 1
	curl -sf http://127.0.0.1:6462/metrics >"$work/metrics" || continue
	done=$(metric fossick_pages_total)
	[ "${done:-0}" -ge "$next" ] || continue
	echo "$done pages, $(metric fossick_queue_urls) wait, $(metric fossick_hosts) hosts: $(field VmRSS) MiB, $(field RssFile) of it mapped files," \
		"at most $(field VmHWM); heap in use $(($(metric go_memstats_heap_inuse_bytes) >> 20));" \
		"$(awk -v pages="$done" '$1 == "process_cpu_seconds_total" { printf "%.2f", 1000 * $2 / pages }' "$work/metrics") ms a page;" \
		"store $(du -sm "$work/crawl" | cut -f1) MiB"
	[ -z "${PROFILE:-}" ] || curl -sf -o "$PROFILE/heap-$done.pprof" http://127.0.0.1:6462/debug/pprof/heap
	next=$((next + step))
done
wait $crawl
cat "$work/focus.json"
