// Package fulltest says how much the tests do: what a newcomer's `go test ./...`
// has time for or, with FOSSICK_FULL=1, all of it (docs/testing.md).
package fulltest

import (
	"os"
	"testing"
)

// Asked says whether FOSSICK_FULL asks for everything.
func Asked() bool {
	v := os.Getenv("FOSSICK_FULL")
	return v != "" && v != "0"
}

// Rounds returns all when everything is asked for, else few: how often to draw, how
// many processes to kill, how many pages of a corpus to read.
func Rounds(few, all int) int {
	if Asked() {
		return all
	}
	return few
}

// Only skips a test, or a part of one, unless everything is asked for; why says what
// it takes.
func Only(t testing.TB, why string) {
	t.Helper()
	if !Asked() {
		t.Skipf("%s; FOSSICK_FULL=1 runs it", why)
	}
}
