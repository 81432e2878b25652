#!/usr/bin/env bash
# Learns the order of relevance/learned from crawls of the lab, and judges it on webs left out.
#   scripts/learnorder.sh DIR
# DIR, empty or new, receives everything; DIR/orders/all.order becomes relevance/learned/order.bin. Takes two
# to three hours on two cores, nearly all for training the rows' judges and crawling. FOSSICK_DATA is the
# folder of corpora, WEBS and DRAWS make a smaller trial.
set -euo pipefail
dir=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/.."
data=$(cd "${FOSSICK_DATA:-../shared/data}" && pwd)
webs=${WEBS:-wikispeedia webkb debdocs mdn msdocs uci}
export CGO_ENABLED=0 FOSSICK_ORDER=$dir
mkdir -p "$dir"/{webs,models,orders,results,sights}
[ -e "$dir/webs/uci.jsonl" ] || python3 scripts/orderwebs.py "$data" "$dir/webs"
go build -o "$dir/learnorder" scripts/learnorder.go
go test -c -o "$dir/lab.test" ./eval/lab
crawl() { (cd eval/lab && nice "$dir/lab.test" -test.run 'TestOrder$' -test.timeout 24h); }

"$dir/learnorder" hand "$dir/orders/hand.order"
for web in $webs; do
	WEB=$web DRAWS=${DRAWS:-3} RESULT=known ORDER=hand DRIVERS=bfs,shark,learned \
		POLICIES=bfs,best-first,shark,ache,hits,infospiders crawl
done
"$dir/learnorder" learn "$dir"
for web in $webs; do WEB=$web DRAWS=${DRAWS:-3} RESULT=learned ORDER=$web POLICIES=learned crawl; done
python3 scripts/judgeorder.py "$dir/results" | tee "$dir/table.tsv"
