#!/usr/bin/env bash
# What waiting for better links brings and costs (docs/data/patience.tsv): crawls of stored
# corpora in the lab, 32 workers and hosts that rest, against one worker without rests. A
# line a crawl: corpus, topic, draw, manners, pages, harvest, simulated seconds.
#
#   scripts/patience.sh wikispeedia | webkb | debdocs | uci_ics | both | known
#
# both draws the frontier between pages and time, and known sets learned against the known
# policies. TOPICS, DRAWS, SETS (start sets a draw) and DELAYS change what is crawled. The
# corpora are found by FOSSICK_DATA.
set -euo pipefail
cd "$(dirname "$0")/.."
data=${FOSSICK_DATA:-../shared/data}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fossick=${FOSSICK:-$work/fossick}
[ -x "$fossick" ] || CGO_ENABLED=0 go build -o "$fossick" ./cmd/fossick

# crawl CORPUS TOPIC PAGES AT NAME FLAG...: a line for each policy and number of pages.
crawl() {
	local set=$1 topic=$2 pages=$3 at=$4 name=$5
	shift 5
	for draw in ${DRAWS:-1 2 3}; do
		"$fossick" lab "$data/$set" --topic "$topic" --policy "${POLICY:-learned}" ${pages:+--pages "$pages"} ${at:+--at "$at"} \
			--rand "$draw" --start-sets "${SETS:-2}" --json --quiet "$@" >"$work/run.json"
		python3 - "$work/run.json" "${label:-$set}" "$topic" "$draw" "$name" <<'P'
import json, sys
run = json.load(open(sys.argv[1]))
for policy, r in run["policies"].items():
    at = r.get("at") or {run["pages"]: r}
    for pages, s in sorted(at.items(), key=lambda x: int(x[0])):
        print(*sys.argv[2:], policy, round(s["fetched"]), f'{s["harvest"]:.4f}', f'{s.get("seconds", 0):.1f}', sep="\t")
P
	done
}

# manners CORPUS TOPIC PAGES AT FLAG...: one worker without rests, then 32 with.
manners() {
	local set=$1 topic=$2 pages=$3 at=$4
	shift 4
	crawl "$set" "$topic" "$pages" "$at" "one worker, no rests" "$@"
	for delay in ${DELAYS:-500ms 2s}; do
		for patience in none auto; do
			crawl "$set" "$topic" "$pages" "$at" "$delay, patience $patience" --polite --delay "$delay" --patience "$patience" "$@"
		done
	done
}

case ${1:-wikispeedia} in
wikispeedia)
	for t in ${TOPICS:-Astronomy Biology IT Religion}; do
		manners wikispeedia "$t" 460 229,460 --truth "$data/wikispeedia/labels.tsv.zst"
	done ;;
webkb)
	for t in ${TOPICS:-student faculty course project}; do manners webkb "$t" 700 350,700; done ;;
debdocs)
	for t in ${TOPICS:-programming science}; do
		manners debdocs "$t" 690 345,690
		label="debdocs, at most 60 a host" manners debdocs "$t" 690 345,690 --max-pages-per-host 60
	done ;;
uci_ics)
	"$fossick" train "$data/webkb" --labels student,faculty,course,project,department,staff,other \
		--classifier linear -o "$work/judge.model" --quiet >/dev/null
	for t in ${TOPICS:-course}; do manners uci_ics "$t" 500 250,500 --judge "$work/judge.model"; done ;;
both)
	for t in ${TOPICS:-Astronomy Biology IT Religion}; do
		for time in 6s 9s 12s 18s 24s 36s; do
			label="wikispeedia, 460 pages in $time" crawl wikispeedia "$t" 460 "" "2s, patience auto" --polite --delay 2s --max-time "$time" \
				--truth "$data/wikispeedia/labels.tsv.zst"
		done
	done ;;
known)
	POLICY=bfs,best-first,paper,shark,fish,ache,context-graph,infospiders,hits,opic,learned
	for t in ${TOPICS:-Astronomy Biology IT Religion}; do
		for patience in none auto; do
			crawl wikispeedia "$t" 229 "" "2s, patience $patience" --polite --delay 2s --patience "$patience" \
				--truth "$data/wikispeedia/labels.tsv.zst"
		done
	done ;;
*) echo "no table of $1: wikispeedia, webkb, debdocs, uci_ics, both or known" >&2; exit 2 ;;
esac
