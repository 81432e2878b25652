#!/bin/sh
# Runs the tests of all packages, or of those named: scripts/test.sh ./store ./page.
# go test ends a package after ten minutes, which cmd/fossick needs on a busy machine; one
# package at a time keeps the others' timed tests from waiting for it.
exec go test -timeout 60m -p 1 "${@:-./...}"
