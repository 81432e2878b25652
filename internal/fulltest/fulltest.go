// Package fulltest decides how much the tests do: a quick selection for `go test ./...`, or
// everything with FOSSICK_FULL=1 (docs/testing.md). It also finds the corpora that some tests need.
package fulltest

import (
	"os"
	"path/filepath"
	"testing"
)

// Asked reports whether FOSSICK_FULL asks for everything.
func Asked() bool {
	v := os.Getenv("FOSSICK_FULL")
	return v != "" && v != "0"
}

// Rounds returns all if everything is asked for, else few.
func Rounds(few, all int) int {
	if Asked() {
		return all
	}
	return few
}

// Corpus returns the path of a corpus or of one of its files, or skips the test without it.
func Corpus(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(corpora(), name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("needs the corpus %s (%v); set FOSSICK_DATA to the folder of corpora", name, err)
	}
	return path
}

// corpora returns FOSSICK_DATA or, without it, shared/data beside the module.
func corpora() string {
	if root := os.Getenv("FOSSICK_DATA"); root != "" {
		return root
	}
	return filepath.Join(Module(), "..", "shared", "data")
}

// Module returns the folder of the module.
func Module() string {
	module := "."
	for range 5 { // a test starts in the folder of its package
		if _, err := os.Stat(filepath.Join(module, "go.mod")); err == nil {
			break
		}
		module = filepath.Join(module, "..")
	}
	return module
}

// Only skips a test, or part of one, unless everything is asked for; why says what it costs.
func Only(t testing.TB, why string) {
	t.Helper()
	if !Asked() {
		t.Skipf("%s; FOSSICK_FULL=1 runs it", why)
	}
}
