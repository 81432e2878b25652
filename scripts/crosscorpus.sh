#!/usr/bin/env bash
# What topic models lose from one corpus to the next: the table of docs/results.md.
#
#   FOSSICK_DATA=/path/to/corpora scripts/crosscorpus.sh
#
# A model of banking, science and sport is trained as the built-in ones are
# (models/topics/recipe.sh), on all sets but one, and judged on all pages of that
# one; trained on all four, it is judged on BBC news, whose class business is
# related to banking and not the same. A set without a page on topic is passed over.
#
# Columns: pages, pages on topic, F1 in folds of the training pages by site; then
# precision, recall, F1 from a probability of 1/2 on, and from the model's own
# threshold on; the area under the ROC curve (1/2 is chance); and the best F1 that
# any threshold would give, which only labels of the new set can find. Where the
# last is far above the others, the order of the pages is good and the level wrong.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
fossick=$work/fossick
CGO_ENABLED=0 go build -o "$fossick" ./cmd/fossick
recipe=$PWD/models/topics/recipe.sh
cd "${FOSSICK_DATA:-../shared/data}"
. "$recipe"

# relabelled SET TOPIC RENAMES: the rows of a file, labelled TOPIC or other, without
# those that RENAMES leaves out; of a row's labels the finest that is named counts.
relabelled() {
	zstdcat "$1" | python3 -c '
import json, sys
topic, renames = sys.argv[1], dict(r.split("=") for r in sys.argv[2].split(","))
for line in sys.stdin:
    row = json.loads(line)
    labels = row.pop("labels", None) or [row["label"]]
    new = next((renames[l] for l in reversed(labels) if l in renames), labels[0])
    if new:
        row["label"] = topic if new == topic else "other"
        print(json.dumps(row))' "$2" "$3"
}

# figures TOPIC TRAINED.json JUDGED.json: the columns. What classify got wrong it
# lists with the truth; of all else the label is the truth.
figures() {
	python3 -c '
import json, sys
topic = sys.argv[1]
trained, judged = (json.load(open(name)) for name in sys.argv[2:])
wrong = {w["url"]: w["truth"] for w in judged["worst"]}
pages = sorted(((r["score"] if r["label"] == topic else 1 - r["score"],
                 wrong.get(r["name"], r["label"]) == topic) for r in judged["results"]), reverse=True)
on = sum(truth for _, truth in pages)
assert on == judged["per_class"][topic]["support"], "two pages of one URL"

def at(threshold):
    """Precision, recall, F1 of the pages from threshold on."""
    kept = [truth for p, truth in pages if p >= threshold]
    hits = sum(kept)
    return hits / len(kept) if kept else float("nan"), hits / on, 2 * hits / (len(kept) + on)

wins = below = best = hits = 0  # wins: pairs of a page on and one off topic, in right order
i = len(pages)
while i:  # pages of one probability together, from the lowest
    j = i
    while j and pages[j - 1][0] == pages[i - 1][0]:
        j -= 1
    same_on = sum(truth for _, truth in pages[j:i])
    wins += same_on * (below + (i - j - same_on) / 2)
    below += i - j - same_on
    i = j
for k, (p, truth) in enumerate(pages, 1):
    hits += truth
    if k == len(pages) or pages[k][0] != p:
        best = max(best, 2 * hits / (k + on))
folds = trained["per_class"][topic]["f1"]
print("%6d %5d  %.3f  %5.3f %.3f %.3f  %.3f: %5.3f %.3f %.3f  %.3f  %.3f" % (
    len(pages), on, folds, *at(0.5), trained["threshold"], *at(trained["threshold"]), wins / (on * (len(pages) - on)), best))' "$@"
}

# judge TOPIC NAME SET TRAINING-SET...: a line of the table. SET is demo or a file
# of relabelled rows.
judge() {
	local topic=$1 name=$2 set=$3
	shift 3
	learn "$topic" "$work/model" "$@" --all --json --quiet >"$work/trained.json"
	"$fossick" classify --model "$work/model" "$set" --errors 1000000 --json --quiet >"$work/judged.json"
	printf '%-8s %-22s %s\n' "$topic" "$name" "$(figures "$topic" "$work/trained.json" "$work/judged.json")"
}

printf '%-8s %-22s %6s %5s  %5s  %-17s  %-24s  %s\n' topic "judged on" pages on folds "P R F1 at 1/2" "threshold: P R F1" "AUC, best F1"
for topic in banking science sport; do
	for left in $sets; do
		case $topic-$left in
		banking-20news | banking-wiki* | science-debdocs | sport-debdocs | sport-wiki*) continue ;;
		esac
		set=$left
		if [ "$left" != demo ]; then # its themes have the topics' names
			set=$work/left.jsonl
			if [ -d "$left" ]; then file=$left/pages.jsonl.zst; else file=$left; fi
			relabelled "$file" "$topic" "$(rename "$topic")" >"$set"
		fi
		judge "$topic" "$left" "$set" $(for s in $sets; do [ "$s" = "$left" ] || echo "$s"; done)
	done
	case $topic in
	banking) like=business=banking ;;
	sport) like=sport=sport ;;
	*) continue ;;
	esac
	relabelled bbc/pages.jsonl.zst "$topic" "$like" >"$work/left.jsonl"
	judge "$topic" "bbc, ${like%=*}" "$work/left.jsonl" $sets
done
