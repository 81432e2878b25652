#!/bin/sh
# Trains the models of the built-in topics again, byte for byte:
#
#	FOSSICK_DATA=/path/to/corpora models/topics/build.sh [TOPIC...]
#
# With JUDGE=1 it makes nothing but the figures of the cards: it trains on the
# training halves only, then on all sets but one, and tests on what was left out.
#
# recipe.sh says what they are trained on.
set -eu
cd "$(dirname "$0")/../.."
out=$PWD/models/topics
tmp=$(mktemp -d)
trap 'rm -r "$tmp"' EXIT
fossick=$tmp/fossick
CGO_ENABLED=0 go build -o "$fossick" ./cmd/fossick
cd "${FOSSICK_DATA:-../shared/data}" # so that cards name the sets, not where they are
. "$out/recipe.sh"

for topic in ${*:-banking programming science sport}; do
	if [ -z "${JUDGE:-}" ]; then
		learn "$topic" "$out/$topic/model.fossick" $sets --all
		continue
	fi
	echo "== $topic: the sets' own test halves"
	learn "$topic" "$tmp/model" $sets
	for left in $sets; do
		echo "== $topic: trained without $left, tested on it"
		learn "$topic" "$tmp/model" $(echo "$sets" | sed "s|$left||") --test "$left"
	done
done
