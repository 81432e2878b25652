#!/usr/bin/env bash
# Renames the Go module in this working tree, to publish it: scripts/module.sh example.org/fossick
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# = 1 ] || { echo "usage: scripts/module.sh PATH" >&2; exit 2; }
[[ $1 =~ ^[a-z0-9.-]+(/[A-Za-z0-9._~-]+)+$ ]] || { echo "module: $1 is no path of a module; give one as example.org/fossick" >&2; exit 2; }
old=$(go list -m)
go mod edit -module "$1"
git ls-files -z '*.go' | xargs -0 sed -i -E \
	-e "s#\"$old/([a-z][a-z0-9/]*)\"#\"$1/\\1\"#g" \
	-e "s#^([[:space:]]*([A-Za-z_.]+ )?|import )\"$old\"\$#\\1\"$1\"#"
gofmt -w $(git ls-files '*.go')
