#!/usr/bin/env bash
# Prints the lab's tables (docs/data/lab-*.tsv) in Markdown: harvest and recall of crawl policies on
# stored corpora.
#   scripts/lab.sh wikispeedia | webkb | debdocs | uci_ics
# uci_ics has no topics: a model of webkb's kinds of pages judges it, trained on other universities of
# twenty years before. POLICIES, PAGES and TOPICS set what is compared, RAND the draw, OUT a folder that
# keeps the reports (JSON and HTML), FOSSICK_DATA the folder of corpora.
set -euo pipefail
cd "$(dirname "$0")/.."
corpus=${1:-wikispeedia}
data=${FOSSICK_DATA:-../shared/data}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=${OUT:-$work}
mkdir -p "$out"
fossick=${FOSSICK:-$work/fossick}
[ -x "$fossick" ] || CGO_ENABLED=0 go build -o "$fossick" ./cmd/fossick
policies=${POLICIES:-bfs,random,best-first,paper,paper-mean,shark,fish,ache,context-graph,infospiders,hits,opic,learned,target-oracle}

compare() {
	local name=$1 set=$2 pages=${PAGES:-$3} topic=$4
	shift 4
	"$fossick" lab "$data/$set" --topic "$topic" --policy "$policies" --pages "$pages" \
		--rand "${RAND:-1}" --json --quiet --html "$out/$name-$topic.html" "$@" >"$out/$name-$topic.json"
	runs+=("$out/$name-$topic.json")
}
runs=()

case $corpus in
wikispeedia)
	for t in ${TOPICS:-Astronomy Biology IT Religion}; do
		compare wikispeedia wikispeedia 1150 "$t" --truth "$data/wikispeedia/labels.tsv.zst"
	done ;;
webkb)
	for t in ${TOPICS:-student faculty course project}; do compare webkb webkb 350 "$t"; done ;;
debdocs)
	for t in ${TOPICS:-programming science}; do
		compare debdocs debdocs 690 "$t"
	done ;;
uci_ics)
	"$fossick" train "$data/webkb" --labels student,faculty,course,project,department,staff,other \
		--classifier linear -o "$work/judge.model" --quiet >/dev/null
	for t in ${TOPICS:-course}; do
		compare uci_ics uci_ics 500 "$t" --judge "$work/judge.model"
	done ;;
*) echo "no tables of $corpus: wikispeedia, webkb, debdocs or uci_ics" >&2; exit 2 ;;
esac
python3 scripts/labtable.py "${runs[@]}"
