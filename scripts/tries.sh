#!/usr/bin/env bash
# Prints the tries of all packages' tests by class: how many held and how many fell.
#   scripts/tries.sh                  the tries of the quick tests
#   FOSSICK_FULL=1 scripts/tries.sh   all tries
# The exit code is 1 if one fell or a test failed.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=$(git grep -l 'testkit[.]Tries(' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's|^|./|')
log=$(mktemp)
trap 'rm -f "$log"' EXIT
code=0
go test -count=1 -timeout 60m -v $packages >"$log" 2>&1 || code=1
awk '
	match($0, /tries of .*: [0-9]+ held, [0-9]+ fell/) {
		line = substr($0, RSTART + 9, RLENGTH - 9)
		class = line
		sub(/: [0-9]+ held, [0-9]+ fell$/, "", class)
		counts = substr(line, length(class) + 3)
		split(counts, n, " ")
		if (!(class in held)) order[++classes] = class
		held[class] += n[1]; fell[class] += n[3]; allHeld += n[1]; allFell += n[3]
	}
	END {
		print "| class | held | fell |\n|---|---:|---:|"
		for (i = 1; i <= classes; i++) printf "| %s | %d | %d |\n", order[i], held[order[i]], fell[order[i]]
		printf "| all | %d | %d |\n", allHeld, allFell
	}' "$log"
if [ $code != 0 ]; then
	grep -E '^ *--- FAIL|^FAIL|^panic' "$log" >&2
fi
exit $code
