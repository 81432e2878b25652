#!/usr/bin/env bash
# Prints the accuracy of classifiers on three corpora: means with 95 % intervals (Student's t).
#   FOSSICK_DATA=data scripts/classifiers.sh c45 cn2 linear nb
# WebKB: each university held out in turn, 77 words. Wikispeedia: each fifth of train.jsonl.zst, 77
# words. 20 Newsgroups: its own split, 500 words (Wilson's interval). ONLY=webkb|wikispeedia|20news
# chooses one; train gets FLAGS.
set -euo pipefail
data=${FOSSICK_DATA:?set FOSSICK_DATA to the folder of corpora}
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
go build -o "$out/fossick" ./cmd/fossick

accuracy() {
	# shellcheck disable=SC2086 # FLAGS are words
	"$out/fossick" train "$@" ${FLAGS:-} -o "$out/x.model" --json --quiet 2>/dev/null |
		grep -oE '"accuracy(_ci)?": ?(\[[^]]*\]|[0-9.]+)' | grep -oE '[0-9.]+' | tr '\n' ' '
	echo
}

# summary SET CLASSIFIER: prints a row from lines "accuracy low high".
summary() {
	awk -v set="$1" -v name="$2" '
		{ x[NR] = $1; sum += $1; low = $2; high = $3 }
		END {
			split("0 12.706 4.303 3.182 2.776 2.571", t, " ")
			mean = sum / NR
			if (NR > 1) {
				for (i in x) ss += (x[i] - mean) ^ 2
				half = t[NR] * sqrt(ss / (NR - 1) / NR)
				low = mean - half; high = mean + half
			}
			printf "| %s | %s | %.3f | %.3f to %.3f |\n", set, name, mean, low, high
		}'
}

want() { [ -z "${ONLY:-}" ] || [ "$ONLY" = "$1" ]; }

if want wikispeedia; then
	for k in 0 1 2 3 4; do
		zstd -dcq "$data/wikispeedia/train.jsonl.zst" |
			awk -v k=$k -v out="$out" '{ print > (out "/" ((NR - 1) % 5 == k ? "test" : "train") k ".jsonl") }'
	done
fi
echo '| set | classifier | accuracy | 95 % interval |'
echo '|---|---|---|---|'
for name in "$@"; do
	if want webkb; then
		for site in texas washington cornell misc; do
			accuracy "$data/webkb" --labels student,faculty,course,project --test-where "site=$site" --classifier "$name" --words 77
		done | summary WebKB "$name"
	fi
	if want wikispeedia; then
		for k in 0 1 2 3 4; do
			accuracy "$out/train$k.jsonl" --all --test "$out/test$k.jsonl" --classifier "$name" --words 77
		done | summary Wikispeedia "$name"
	fi
	if want 20news; then
		accuracy "$data/20news" --classifier "$name" --words 500 | summary '20 Newsgroups' "$name"
	fi
done
