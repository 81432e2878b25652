// Package fulltest says how much the tests do: what a newcomer's `go test ./...`
// has time for or, with FOSSICK_FULL=1, all of it (docs/testing.md). It also finds the
// corpora that some need.
package fulltest

import (
	"os"
	"path/filepath"
	"testing"
)

// Asked says whether FOSSICK_FULL asks for everything.
func Asked() bool {
	v := os.Getenv("FOSSICK_FULL")
	return v != "" && v != "0"
}

// Rounds returns all when everything is asked for, else few: draws, kills, pages to
// read.
func Rounds(few, all int) int {
	if Asked() {
		return all
	}
	return few
}

// Corpus returns the path of a corpus, or of one of its files. Where it is not at hand the
// test is skipped.
func Corpus(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(corpora(), name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("needs the corpus %s (%v); set FOSSICK_DATA to the folder of corpora", name, err)
	}
	return path
}

// corpora is FOSSICK_DATA or, without it, shared/data beside the module.
func corpora() string {
	if root := os.Getenv("FOSSICK_DATA"); root != "" {
		return root
	}
	return filepath.Join(Module(), "..", "shared", "data")
}

// Module is the folder of the module, from that of a package.
func Module() string {
	module := "."
	for range 5 { // a test begins in the folder of its package
		if _, err := os.Stat(filepath.Join(module, "go.mod")); err == nil {
			break
		}
		module = filepath.Join(module, "..")
	}
	return module
}

// Only skips a test, or a part of one, unless everything is asked for; why says what
// it takes.
func Only(t testing.TB, why string) {
	t.Helper()
	if !Asked() {
		t.Skipf("%s; FOSSICK_FULL=1 runs it", why)
	}
}
