#!/usr/bin/env bash
# Runs all fuzz targets, or those of one package, in turn, each on one processor, in rounds until the
# time is used up; then prints a table. The packages' order is random, so that concurrent runs differ.
#   scripts/fuzz.sh [HOURS [PACKAGE]]     8 by default; .5 is half an hour
#   FUZZTIME=5s scripts/fuzz.sh 0    one round of five seconds a target
# A round gives each target FUZZTIME (default 60s). go test keeps a failing input in testdata/fuzz; its
# target is left out of later rounds, and the exit code is 1. An interrupt prints the table, too.
set -euo pipefail
cd "$(dirname "$0")/.."

hours=${1:-8}
slice=${FUZZTIME:-60s}
end=$(awk -v now="$(date +%s)" -v hours="$hours" 'BEGIN { printf "%d", now + hours * 3600 }')
log=$(mktemp)
binary=$(mktemp) # the instrumented tests of a package
corpora=$(go env GOCACHE)/fuzz # where go test keeps interesting inputs
module=$(go list -m)
declare -A seconds executions found
targets=()

build() { go test "./$1" -c -fuzz . -o "$binary"; }

run() {
	(cd "$1" && "$binary" -test.run '^$' -test.fuzz "^$2\$" -test.fuzztime "$slice" -test.fuzzminimizetime 5x -test.parallel 1 \
		-test.paniconexit0 -test.fuzzcachedir "$corpora/$module/$1") >"$log" 2>&1
}

# passed PACKAGE: the failing input passes alone, and is removed: a busy machine made it exceed the
# fuzzer's ten seconds.
passed() {
	local input
	input=$(sed -nE 's/^ *Failing input written to //p' "$log" | tail -n 1)
	[ -n "$input" ] && grep -q 'hung or terminated' "$log" &&
		go test "./$1" -run "^$(basename "$(dirname "$input")")\$/$(basename "$input")" >/dev/null 2>&1 &&
		rm "$1/$input"
}

# timedOut: the fuzzer's time ended in the middle of an input, which it calls a failure.
timedOut() { grep -q 'context deadline exceeded' "$log" && ! grep -q 'Failing input' "$log"; }

# fuzz PACKAGE TARGET: one turn, repeated if timedOut.
fuzz() {
	local key="$1 $2" began=$SECONDS runs
	if ! run "$@" && ! passed "$1" && { ! timedOut || ! run "$@"; }; then
		found[$key]=$((found[$key] + 1))
		echo "-- $key"
		tail -n 40 "$log"
	fi
	runs=$(sed -nE 's/.*execs: ([0-9]+).*/\1/p' "$log" | tail -n 1)
	executions[$key]=$((executions[$key] + ${runs:-0}))
	seconds[$key]=$((seconds[$key] + SECONDS - began))
}

table() {
	local key code=$?
	trap - EXIT INT TERM
	printf '| target | seconds | executions | found |\n|---|---:|---:|---:|\n'
	for key in "${targets[@]}"; do
		printf '| %s | %d | %d | %d |\n' "$key" "${seconds[$key]}" "${executions[$key]}" "${found[$key]}"
		[ "${found[$key]}" = 0 ] || code=1
	done
	rm -f "$log" "$binary"
	exit "$code"
}

while read -r file name; do
	key="$(dirname "$file") $name"
	targets+=("$key")
	seconds[$key]=0 executions[$key]=0 found[$key]=0
done < <(git grep -oE '^func Fuzz[A-Za-z0-9_]+' -- "${2:+:(glob)$2/}*_test.go" | sed 's/:func / /')
mapfile -t packages < <(printf '%s\n' "${targets[@]% *}" | sort -u | shuf)

trap table EXIT
trap 'exit 130' INT TERM
while :; do
	for package in "${packages[@]}"; do
		build "$package"
		for key in "${targets[@]}"; do
			[ "${key% *}" = "$package" ] && [ "${found[$key]}" = 0 ] || continue
			fuzz "$package" "${key#* }"
			if [ "$(date +%s)" -ge "$end" ] && [ "$hours" != 0 ]; then
				exit 0
			fi
		done
	done
	[ "$(date +%s)" -lt "$end" ] || exit 0
	[[ " ${found[*]} " == *" 0 "* ]] || exit 0 # every target has failed
done
