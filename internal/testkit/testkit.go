// Package testkit is what tests of several rooms share: how much to do, errors that end a test, corpora,
// third-party programs to compare with, tries of attacks, and the coverage of intervals.
//
// With FOSSICK_FULL=1 tests do everything, else a quick selection (docs/CONTRIBUTING.md). scripts/peers.sh
// DIR installs the programs, and FOSSICK_TEST_PEERS=DIR says that it did: then a test without its
// program fails, so that CI misses none; otherwise it is skipped.
//
// Files: testkit.go quick or full, errors, corpora, coverage; peers.go programs; tries.go attacks.
package testkit

import (
	"iter"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
)

// Asked reports whether FOSSICK_FULL asks for everything.
func Asked() bool {
	v := getenv("FOSSICK_FULL")
	return v != "" && v != "0"
}

// getenv returns a variable that decides how much a test does. It makes a file with the test's name in
// the folder FOSSICK_TEST_ASKED, so that .ci/run repeats in full only the tests that do more then.
func getenv(name string) string {
	if dir := os.Getenv("FOSSICK_TEST_ASKED"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, asker()), nil, 0o644); err != nil {
			panic(err)
		}
	}
	return os.Getenv(name)
}

var testName = regexp.MustCompile(`^[^.]*\.((?:Test|Fuzz|Benchmark|Example)\w*)`)

// asker returns the name of the test that called, or a pattern for all tests if none did.
func asker() string {
	callers := make([]uintptr, 100)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for {
		f, more := frames.Next()
		if m := testName.FindStringSubmatch(filepath.Base(f.Function)); m != nil {
			return m[1]
		}
		if !more {
			return ".*"
		}
	}
}

// Rounds returns all if everything is asked for, else few.
func Rounds(few, all int) int {
	if Asked() {
		return all
	}
	return few
}

// Must ends the test with the first error.
func Must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Call takes the results of a call. Its Must returns the value, or ends the test with the error:
//
//	s := testkit.Call(store.Open(dir)).Must(t)
func Call[T any](v T, err error) called[T] { return called[T]{v, err} }

type called[T any] struct {
	value T
	err   error
}

func (c called[T]) Must(t testing.TB) T {
	t.Helper()
	Must(t, c.err)
	return c.value
}

// All passes on the values of a sequence, and ends the test with its first error.
func All[T any](t testing.TB, seq iter.Seq2[T, error]) iter.Seq[T] {
	return func(yield func(T) bool) {
		t.Helper()
		for v, err := range seq {
			if Must(t, err); !yield(v) {
				return
			}
		}
	}
}

// Each is a sequence of values without an error.
func Each[T any](values []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range values {
			if !yield(v, nil) {
				return
			}
		}
	}
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

// Accepted coverage of 95 % intervals, and the error probability at which a count contradicts it.
const (
	leastHeld = 0.90
	mostHeld  = 0.99
	unlikely  = 0.01
)

// Coverage checks that 90 to 99 of 100 intervals hold the truth. It fails if a coverage in that
// range would hardly produce the count.
func Coverage(t testing.TB, what string, held, of int) {
	t.Helper()
	t.Logf("%s: %d of %d intervals hold the truth", what, held, of)
	switch {
	case of == 0:
		t.Errorf("%s: no interval", what)
	case atMost(held, of, leastHeld) < unlikely:
		t.Errorf("%s: %d of %d intervals hold the truth, too few for %g of them", what, held, of, leastHeld)
	case atMost(of-held, of, 1-mostHeld) < unlikely:
		t.Errorf("%s: %d of %d intervals hold the truth, too many for %g of them", what, held, of, mostHeld)
	}
}

// atMost returns the probability of at most k hits in n independent draws of probability p.
func atMost(k, n int, p float64) float64 {
	sum := 0.0
	for i := range k + 1 {
		sum += math.Exp(logChoose(n, i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return sum
}

func logChoose(n, k int) float64 { return logFactorial(n) - logFactorial(k) - logFactorial(n-k) }

func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}
