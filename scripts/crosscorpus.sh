#!/usr/bin/env bash
# Measures what topic models lose from one corpus to another: docs/data/cross-corpus.tsv.
#
#   FOSSICK_DATA=/path/to/corpora scripts/crosscorpus.sh [TOPIC:SET...]
#
# TOPIC is banking, science, sport or programming; SET is demo, 20news, debdocs,
# wikispeedia/train.jsonl.zst or bbc. The default is the nine pairs below, whose sets have pages on topic.
#
# Models are trained as the built-in ones (models/topics/recipe.sh), on all sets but SET, and judged on
# all pages of SET. The class business of bbc is related to banking, but not the same.
#
# The first of three lines: pages; pages on topic; F1 in folds of the training pages by site; precision,
# recall and F1 from probability 1/2 on, and from the model's threshold on; the area under the ROC curve
# (1/2 is chance); the best F1 of any threshold, which only labels of SET can find. If that is far above
# the others, the order of the pages is good but the probabilities are not. Two more lines judge every
# second page: by the same model, and by one that trained on the other pages too, without labels.
set -euo pipefail
cd "$(dirname "$0")/.."
. models/topics/recipe.sh

refuse() {
	echo "crosscorpus.sh: $1: $2; give TOPIC:SET, as science:wikispeedia/train.jsonl.zst" >&2
	exit 2
}
for pair; do
	case $pair in *:*) ;; *) refuse "$pair" "no colon" ;; esac
	rename "${pair%%:*}" >/dev/null 2>&1 || refuse "$pair" "no topic ${pair%%:*} (banking, programming, science, sport)"
	case " $sets bbc " in *" ${pair#*:} "*) ;; *) refuse "$pair" "no set ${pair#*:} ($sets bbc)" ;; esac
done

work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
fossick=$work/fossick
CGO_ENABLED=0 go build -o "$fossick" ./cmd/fossick
sed 's/"split":"[a-z]*",//' datasets/demo/pages-?.jsonl >"$work/demo.jsonl"
cd "${FOSSICK_DATA:-../shared/data}"

# relabelled SET TOPIC RENAMES: prints a set's rows, labelled TOPIC or other. RENAMES leaves some out; of
# a row's labels the finest one in RENAMES counts.
relabelled() {
	case $1 in
	demo) cat "$work/demo.jsonl" ;;
	*.zst) zstdcat "$1" ;;
	*) zstdcat "$1/pages.jsonl.zst" ;;
	esac | python3 -c '
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

# figures TOPIC TRAINED.json JUDGED.json: prints the columns. A result's label is the truth unless
# classify lists the page as wrong.
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
    len(pages), on, folds, *at(0.5), trained["thresholds"][topic], *at(trained["thresholds"][topic]), wins / (on * (len(pages) - on)), best))' "$@"
}

# line TOPIC WHAT ROWS MODEL: judges MODEL, with MODEL.json beside it, on a file of rows.
line() {
	"$fossick" classify --model "$4" "$3" --errors 1000000 --json --quiet >"$work/judged.json"
	printf '%-8s %-25s %s\n' "$1" "$2" "$(figures "$1" "$4.json" "$work/judged.json")"
}

# judge TOPIC SET RENAMES TRAINING-SET...: prints the lines of a set.
judge() {
	local topic=$1 set=$2 rows=$work/rows
	relabelled "$set" "$topic" "$3" >"$rows.jsonl"
	awk -v half="$rows" '{ print >(half "." NR % 2 ".jsonl") }' "$rows.jsonl"
	shift 3
	learn "$topic" "$work/model" "$@" --all --json --quiet >"$work/model.json"
	line "$topic" "$set" "$rows.jsonl" "$work/model"
	learn "$topic" "$work/adapted" "$@" --all --unlabelled "$rows.1.jsonl" --json --quiet >"$work/adapted.json"
	line "$topic" "  every second page" "$rows.0.jsonl" "$work/model"
	line "$topic" "  the others unlabelled" "$rows.0.jsonl" "$work/adapted"
}

printf '%-8s %-25s %6s %5s  %5s  %-17s  %-24s  %s\n' topic "judged on" pages on folds "P R F1 at 1/2" "threshold: P R F1" "AUC, best F1"
for pair in ${*:-banking:demo banking:debdocs banking:bbc science:demo science:20news \
	science:wikispeedia/train.jsonl.zst sport:demo sport:20news sport:bbc}; do
	topic=${pair%%:*} left=${pair#*:} renames=$(rename "${pair%%:*}")
	case $pair in
	banking:bbc) renames=business=banking ;;
	*:bbc) renames=$topic=$topic ;;
	esac
	judge "$topic" "$left" "$renames" $(for s in $sets; do [ "$s" = "$left" ] || echo "$s"; done)
done
