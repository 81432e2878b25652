package peers

import (
	"path/filepath"
	"testing"
)

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
			"module":  func(t testing.TB) { Module(t, "no such module", "package.json") },
		} {
			one := &told{TB: t}
			find(one)
			if one.failed != (dir != "") || one.skipped != (dir == "") {
				t.Errorf("FOSSICK_TEST_PEERS=%q, no %s: failed %v, skipped %v", filepath.Base(dir), name, one.failed, one.skipped)
			}
		}
	}
}
