#!/usr/bin/env bash
# Measures how fast fossick focus crawls: pages a second, and processor time a page of the crawler and
# of the server, which share the machine.
#
#   scripts/speed.sh [small|wikispeedia|debdocs|all] [ROUNDS]     default: all, 3 rounds
#   scripts/speed.sh agents                                       paper C's table (C5)
#
# small is a web of 60,000 pages of 2.5 KB on 200 hosts (scripts/smallweb.go), of which a crawl takes
# 20,000; of the corpora wikispeedia and debdocs in FOSSICK_DATA it takes 4,598 and 2,000 (PAGES). Crawls
# use the built-in topic science (TOPIC) and the learned scorer (FLAGS).
#
# agents crawls, converts and ranks PAGES (10000 100000) pages of msdocs with AGENTS (1 2 4) agents in
# one process: breadth first, without rests, with duplicates and traps. It prints rows of
# docs/data/paper-c.tsv: pages, agents, seconds of each step and of all, the crawl's share.
#
# FOSSICK is the binary to measure. COMPARE is a second binary, AGAINST are other flags than FLAGS; the
# crawls take turns. AGAINST='--score bfs' shows the cost of scoring. PROFILE=DIR keeps a CPU profile of
# each crawl's first SECONDS_PROFILED (3) s, and prints the share of its samples that is scoring.
set -euo pipefail
cd "$(dirname "$0")/.."
which=${1:-all} rounds=${2:-3}
work=$(mktemp -d)
trap 'kill ${server:-} 2>/dev/null; wait; rm -rf "$work"' EXIT

fossick=${FOSSICK:-$work/fossick}
[ -n "${FOSSICK:-}" ] || CGO_ENABLED=0 go build -o "$work/fossick" ./cmd/fossick

# ticks PID: user and system time of a running process, in seconds.
ticks() { awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) / hz }' "/proc/$1/stat"; }

# share NAME BINARY: prints the share of a profile's samples that is scoring.
scoring='learned\.\(\*Scorer\)|Queue\)\.Learned|Frontier\)\.Survey|crawler\.'
share() {
	go tool pprof -top -nodecount=100000 -nodefraction=0 -focus="$scoring" "$2" "$PROFILE/$1.pprof" 2>/dev/null |
		awk -v name="$1" '/^Showing nodes/ { printf "%-20s scoring has %s of %s\n", name, $6, $8 }' || true # a short crawl has no profile
}

number() { grep -o "\"$1\":[0-9.e+-]*" "$2" | head -1 | cut -d: -f2; }

crawl() {
	local name=$1 binary=$2 pages=$3 seed=$4 listen=() before after profiler=
	[ -z "${PROFILE:-}" ] || listen=(--listen 127.0.0.1:6460 --verbose)
	before=$(ticks $server)
	TIMEFORMAT='%U %S'
	if [ -n "${PROFILE:-}" ]; then
		mkdir -p "$PROFILE"
		(until curl -s -f -o "$PROFILE/$name.pprof" "http://127.0.0.1:6460/debug/pprof/profile?seconds=${SECONDS_PROFILED:-3}"; do sleep 0.1; done) &
		profiler=$!
	fi
	{ time "$binary" focus --topic "${TOPIC:-science}" --seed "$seed" --proxy "$proxy" --delay 0 --max-pages "$pages" \
		--store "$work/crawl" --json --quiet ${FLAGS:-} "${listen[@]}" >"$work/focus.json" 2>"$work/err"; } 2>"$work/times" ||
		{ cat "$work/err" >&2; exit 1; }
	after=$(ticks $server)
	if [ -n "$profiler" ]; then # a crawl shorter than SECONDS_PROFILED has no profile
		kill $profiler 2>/dev/null || true
		wait $profiler || true
		share "$name" "$binary"
	fi
	awk -v name="$name" -v binary="$(basename "$binary")" -v pages="$(number fetched "$work/focus.json")" \
		-v speed="$(number pages_per_second "$work/focus.json")" -v requests="$(number requests "$work/focus.json")" \
		-v server="$after" -v before="$before" -v disk="$(du -sk "$work/crawl" | cut -f1)" \
		'{ printf "%-20s %-10s %6d pages %6d requests %7.0f pages/s   crawler %.3f ms a page (%.3f user), server %.3f; %.1f KiB of store a page\n",
			name, binary, pages, requests, speed, 1000 * ($1 + $2) / pages, 1000 * $1 / pages, 1000 * (server - before) / pages, disk / pages }' "$work/times"
	rm -rf "$work/crawl"
}

# serve CORPUS: starts a server, and sets server and proxy.
serve() {
	local corpus=$1
	rm -f "$work/serve.json"
	"$fossick" serve "$corpus" --json >"$work/serve.json" 2>/dev/null &
	server=$!
	until [ -s "$work/serve.json" ]; do sleep 0.2; done
	proxy=http://$(sed 's/.*"addr":"\([^"]*\)".*/\1/' "$work/serve.json")
}

measure() {
	local name=$1 pages=$3 binary
	serve "$2"
	for round in $(seq "$rounds"); do
		for binary in "$fossick" ${COMPARE:-}; do
			crawl "$name" "$binary" "$pages" "$seed"
			[ -z "${AGAINST:-}" ] || FLAGS=$AGAINST crawl "$name-against" "$binary" "$pages" "$seed"
		done
	done
	kill $server
	wait $server || true
}

# timed NAME COMMAND...: runs the command, and sets NAME to its seconds.
timed() {
	local name=$1 began=$EPOCHREALTIME
	"${@:2}" >"$work/out" 2>"$work/err" || { cat "$work/err" >&2; exit 1; }
	printf -v "$name" %s "$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')"
}

# together PAGES AGENTS: prints a row of paper C's table.
together() {
	local dir=$work/agents
	timed crawl "$fossick" focus --topic programming --order bfs --seed http://n203.test/doc/api-overview --proxy "$proxy" --delay 0 \
		--patience none --also traps,near-duplicates --max-pages "$1" --agents "$2" --store "$dir" --json --quiet
	local fetched=$(number fetched "$work/out") stores=("$dir"/agent-*)
	[ "$2" -gt 1 ] || stores=("$dir")
	timed convert "$fossick" convert "${stores[@]}" -o "$work/tables" --quiet
	timed rank "$fossick" rank "${stores[@]}" --quiet
	awk -v OFS='\t' -v pages="$fetched" -v agents="$2" -v c="$crawl" -v v="$convert" -v r="$rank" \
		'BEGIN { print pages, agents, c, v, r, c + v + r, sprintf("%.0f %%", 100 * c / (c + v + r)) }'
	rm -rf "$dir" "$work/tables"
}

case $which in
agents)
	serve "${FOSSICK_DATA:-../shared/data}/msdocs"
	for pages in ${PAGES:-10000 100000}; do
		for agents in ${AGENTS:-1 2 4}; do together "$pages" "$agents"; done
	done
	;;
small | all)
	[ -n "${SMALL:-}" ] || go run scripts/smallweb.go >"$work/small.jsonl"
	seed=http://h0.test/0
	measure small "${SMALL:-$work/small.jsonl}" "${PAGES:-20000}"
	;;
esac
for corpus in wikispeedia debdocs; do
	case $which in
	"$corpus" | all)
		data=${FOSSICK_DATA:-../shared/data}/$corpus
		seed=$(zstdcat "$data/pages.jsonl.zst" 2>/dev/null | head -1 | sed 's/.*"url": *"\([^"]*\)".*/\1/' || true)
		pages=4598
		[ $corpus = wikispeedia ] || pages=2000
		measure $corpus "$data" "${PAGES:-$pages}"
		;;
	esac
done
