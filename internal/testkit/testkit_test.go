package testkit

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// counting counts errors without failing.
type counting struct {
	testing.TB
	errors int
}

func (c *counting) Helper()               {}
func (c *counting) Logf(string, ...any)   {}
func (c *counting) Errorf(string, ...any) { c.errors++ }

// TestCoverage: counts plausible for a coverage between .90 and .99 pass, others fail.
func TestCoverage(t *testing.T) {
	for _, c := range []struct {
		held, of int
		good     bool
	}{
		{95, 100, true}, {90, 100, true}, {84, 100, true}, {81, 100, false}, {100, 100, true}, {2, 3, true}, {1, 4, false},
		{0, 0, false}, {300, 300, true}, {600, 600, false}, {580, 600, true}, {500, 600, false},
	} {
		got := &counting{}
		if Coverage(got, "x", c.held, c.of); got.errors == 0 != c.good {
			t.Errorf("%d of %d: good %v, want %v", c.held, c.of, got.errors == 0, c.good)
		}
	}
	if got := atMost(1, 3, 0.5); math.Abs(got-0.5) > 1e-12 {
		t.Errorf("at most one of three: %g", got)
	}
}

// TestAsker: the test is found below helpers and subtests, but not from a goroutine that no closure of a test is.
func TestAsker(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("FOSSICK_TEST_ASKED", dir)
	asked := func(want string) {
		t.Helper()
		for _, e := range Call(os.ReadDir(dir)).Must(t) {
			if e.Name() != want {
				t.Errorf("%q asked, want %q", e.Name(), want)
			}
			Must(t, os.Remove(filepath.Join(dir, e.Name())))
			want = "nothing"
		}
		if want != "nothing" {
			t.Errorf("nothing asked, want %q", want)
		}
	}
	Rounds(1, 2)
	asked("TestAsker")
	t.Run("sub", func(*testing.T) { folder() })
	asked("TestAsker")
	done := make(chan struct{})
	go askAndClose(done)
	<-done
	asked(".*")
}

func askAndClose(done chan struct{}) {
	defer close(done)
	Asked()
}

// notes records a test's messages.
type notes struct {
	testing.TB
	said  []string
	after []func()
}

func (n *notes) Helper()          {}
func (n *notes) Cleanup(f func()) { n.after = append(n.after, f) }
func (n *notes) Logf(format string, args ...any) {
	n.said = append(n.said, fmt.Sprintf(format, args...))
}
func (n *notes) Errorf(format string, args ...any) {
	n.Logf("error: "+format, args...)
}

func TestTally(t *testing.T) {
	n := &notes{TB: t}
	c := Tries(n, "names")
	if !c.Try(true, "never said") || c.Try(false, "%s was let through", "a.internal") || !c.Try(true, "") {
		t.Error("a try says other than it was told")
	}
	c.Known("b.internal: its spelling")
	for _, f := range n.after {
		f()
	}
	want := []string{"error: a.internal was let through", "b.internal: its spelling", "tries of names: 2 held, 2 fell"}
	if fmt.Sprint(n.said) != fmt.Sprint(want) {
		t.Errorf("said %q, want %q", n.said, want)
	}
}

// told records how a test would have ended.
type told struct {
	testing.TB
	skipped, failed bool
}

func (t *told) Helper()               {}
func (t *told) Skipf(string, ...any)  { t.skipped = true }
func (t *told) Fatalf(string, ...any) { t.failed = true }

// TestMissing: a test without its peer fails if peers were installed, and is skipped otherwise.
func TestMissing(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		t.Setenv("FOSSICK_TEST_PEERS", dir)
		for name, find := range map[string]func(testing.TB){
			"program": func(t testing.TB) { Program(t, "no such program") },
			"module":  func(t testing.TB) { NodeModule(t, "no such module", "package.json") },
		} {
			one := &told{TB: t}
			find(one)
			if one.failed != (dir != "") || one.skipped != (dir == "") {
				t.Errorf("FOSSICK_TEST_PEERS=%q, no %s: failed %v, skipped %v", filepath.Base(dir), name, one.failed, one.skipped)
			}
		}
	}
}
