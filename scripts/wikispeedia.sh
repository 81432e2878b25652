#!/usr/bin/env bash
# Compares focused crawls of wikispeedia with breadth-first crawls from the same start pages:
# docs/data/focus-*.tsv.
#   scripts/wikispeedia.sh [SETS] [PAGES]     default: 3 start sets, 460 pages
# Each topic and set has a model from 600 random labelled pages, and ten other random pages on topic to
# start from, in no other set. The corpus's labels are the truth. FOSSICK_DATA is the folder of corpora.
set -euo pipefail
cd "$(dirname "$0")/.."
sets=${1:-3} pages=${2:-460}
data=${FOSSICK_DATA:-../shared/data}/wikispeedia
topics=${TOPICS:-Astronomy Biology IT Religion}
work=$(mktemp -d)
trap 'kill $server 2>/dev/null; rm -rf "$work"' EXIT

CGO_ENABLED=0 go build -o "$work/fossick" ./cmd/fossick
fossick=$work/fossick
"$fossick" serve "$data" --json >"$work/serve.json" 2>/dev/null &
server=$!
zstdcat "$data/pages.jsonl.zst" >"$work/pages.jsonl"
zstdcat "$data/labels.tsv.zst" >"$work/labels.tsv"
until [ -s "$work/serve.json" ]; do sleep 0.2; done
proxy=http://$(sed 's/.*"addr":"\([^"]*\)".*/\1/' "$work/serve.json")

# number KEY FILE: the first top-level number of that name in a JSON object.
number() { grep -o "\"$1\":[0-9.e-]*" "$2" | awk -F: 'NR == 1 { print $2 }'; }

# shuffled NAME: the lines of the input in an order that depends on NAME alone.
shuffled() {
	awk -v seed="$(printf %s "$1" | cksum | cut -d' ' -f1)" 'BEGIN { srand(seed) } { printf "%.12f\t%s\n", rand(), $0 }' |
		LC_ALL=C sort | cut -f2-
}

# prepare TOPIC SET: makes the model and the start pages.
prepare() {
	local name=$1-$2
	shuffled "$name" <"$work/labels.tsv" >"$work/$name.order"
	# the first 600 are for training, labelled TOPIC or other
	head -600 "$work/$name.order" | awk -F'\t' -v t="$1" '{ l = "other"; n = split($3, all, "|"); if ($2 == t) l = t
		for (i = 1; i <= n; i++) if (all[i] == t) l = t; print $1 "\t" l }' >"$work/$name.train"
	awk -F'\t' 'NR == FNR { label[$1] = $2; next }
		match($0, /"url": *"[^"]*"/) { u = substr($0, RSTART, RLENGTH); sub(/"url": *"/, "", u); sub(/"$/, "", u)
			if (u in label) print "{\"label\": \"" label[u] "\", " substr($0, 2) }' \
		"$work/$name.train" "$work/pages.jsonl" >"$work/$name.jsonl"
	touch "$work/$1.used" # start pages of earlier sets
	tail -n +601 "$work/$name.order" | awk -F'\t' -v t="$1" 'FILENAME == ARGV[1] { used[$1] = 1; next } { n = split($3, all, "|"); ok = $2 == t
		for (i = 1; i <= n; i++) if (all[i] == t) ok = 1; if (ok && !($1 in used) && ++k <= 10) print $1 }' "$work/$1.used" - >"$work/$name.seeds"
	cat "$work/$name.seeds" >>"$work/$1.used"
	"$fossick" train "$work/$name.jsonl" --classifier "${CLASSIFIER:-linear}" -o "$work/$name.model" --quiet >/dev/null
}

# crawl TOPIC SET POLICY FLAGS…: prints harvest, F1 of the kept cluster, pages/s.
crawl() {
	local name=$1-$2 store=$work/$1-$2-$3 topic=$1
	shift 3
	"$fossick" focus --topic "$topic" --model "$work/$name.model" --seeds "$work/$name.seeds" --proxy "$proxy" \
		--delay 0 --max-pages "$pages" --store "$store" --json --quiet "$@" >"$store.focus"
	"$fossick" refine "$store" --model "$work/$name.model" --json --quiet >/dev/null
	"$fossick" eval "$store" --truth "$data/labels.tsv.zst" --target "$topic" --json --quiet >"$store.eval"
	echo "$(number harvest "$store.eval") $(number f1 "$store.eval") $(number pages_per_second "$store.focus")"
}

printf '%-10s %4s  %28s  %28s  %s\n' topic set "breadth first: harvest f1 p/s" "focused: harvest f1 p/s" "harvest ratio"
for topic in $topics; do
	for set in $(seq "$sets"); do
		prepare "$topic" "$set"
		bfs=$(crawl "$topic" "$set" bfs --order bfs)
		focused=$(crawl "$topic" "$set" focus ${FLAGS:-})
		echo "$topic $set $bfs $focused" | tee -a "$work/rows" |
			awk '{ printf "%-10s %4s  %10.3f %8.3f %8.0f  %10.3f %8.3f %8.0f  %8.2f\n", $1, $2, $3, $4, $5, $6, $7, $8, $6 / $3 }'
	done
	if [ "$sets" -gt 1 ]; then
		"$fossick" eval "$work/$topic-1-focus" "$work/$topic-2-focus" --truth "$data/labels.tsv.zst" --target "$topic" \
			--curve 115 --json --quiet | grep -o '"overlap":\[\[.*\]\]' | sed "s/^/  /; s/,\"stores.*//" || true
	fi
done
awk '{ b += $3; f += $6; r += $6 / $3; k += $7; s += $8; n++ }
	END { printf "mean: harvest %.3f breadth first, %.3f focused: ratio of means %.2f, mean of ratios %.2f; F1 kept %.3f; %.0f pages/s\n", b / n, f / n, f / b, r / n, k / n, s / n }' "$work/rows"
