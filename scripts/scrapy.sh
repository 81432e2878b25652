#!/usr/bin/env bash
# Compares fossick focus with Scrapy on the same served web, in turns: pages a second and processor time
# a page.
#   scripts/scrapy.sh [ROUNDS]     default: 3
# The web is all that the first page of wikispeedia leads to (FOSSICK_DATA). Scrapy (Debian's, or SCRAPY)
# follows all links and obeys robots.txt, with 32 requests at once, one a host, no delay, the queue that
# its manual advises for many hosts, bodies written to disk, no cookies and no telnet. fossick does the
# same, and also classifies pages and links by the topic science, orders its queue by what it learns,
# and keeps a journal. Both start with an empty disk; all files are in TMPDIR.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-3} scrapy=${SCRAPY:-scrapy}
work=$(mktemp -d)
trap 'kill ${server:-} 2>/dev/null; wait; rm -rf "$work"' EXIT

fossick=${FOSSICK:-$work/fossick}
[ -n "${FOSSICK:-}" ] || CGO_ENABLED=0 go build -o "$work/fossick" ./cmd/fossick
cp scripts/spider.py "$work/"
data=${FOSSICK_DATA:-../shared/data}/wikispeedia
seed=$(zstdcat "$data/pages.jsonl.zst" 2>/dev/null | head -1 | sed 's/.*"url": *"\([^"]*\)".*/\1/' || true)
"$fossick" serve "$data" --json >"$work/serve.json" 2>/dev/null &
server=$!
until [ -s "$work/serve.json" ]; do sleep 0.2; done
proxy=http://$(sed 's/.*"addr":"\([^"]*\)".*/\1/' "$work/serve.json")

# row NAME PAGES: prints the figures of the last crawl, over the whole run of the program.
row() {
	awk -v name="$1" -v pages="$2" '{ printf "%s %d %.0f %.3f\n", name, pages, pages / $1, 1000 * ($2 + $3) / pages }' "$work/times" |
		tee -a "$work/rows" | awk '{ printf "%-8s %5d pages %6.0f pages/s  %.3f ms of processor time a page\n", $1, $2, $3, $4 }'
}

TIMEFORMAT='%R %U %S'
for round in $(seq "$rounds"); do
	rm -rf "$work/crawl" "$work/items.jsonl"
	{ time "$fossick" focus --topic science --seed "$seed" --proxy "$proxy" --delay 0 --max-pages 4598 --store "$work/crawl" \
		--json --quiet >"$work/focus.json" 2>"$work/err"; } 2>"$work/times" || { cat "$work/err" >&2; exit 1; }
	row fossick "$(grep -o '"fetched":[0-9]*' "$work/focus.json" | cut -d: -f2)"
	(cd "$work" && export http_proxy="$proxy" && time "$scrapy" runspider spider.py -a seed="$seed" -o items.jsonl -L WARNING 2>"$work/err") \
		2>"$work/times" || { cat "$work/err" >&2; exit 1; }
	row scrapy "$(wc -l <"$work/items.jsonl")"
done
awk '{ n[$1]++; speed[$1] += $3; cost[$1] += $4 }
	END { printf "pages/s: %.0f and %.0f, %.1f times; processor time a page: %.2f and %.2f ms, 1 to %.1f\n",
		speed["fossick"] / n["fossick"], speed["scrapy"] / n["scrapy"], speed["fossick"] / speed["scrapy"],
		cost["fossick"] / n["fossick"], cost["scrapy"] / n["scrapy"], cost["scrapy"] / cost["fossick"] }' "$work/rows"
