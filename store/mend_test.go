package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMend: a store that lacks a table is refused with what to do, and can be
// opened after that.
func TestMend(t *testing.T) {
	dir := copyOf(t, crawled(t).Dir())
	s, err := Open(dir) // which writes what the logs have into a table when it is closed
	must(t, err)
	must(t, s.Close())
	tables, err := filepath.Glob(filepath.Join(dir, database, "*.sst"))
	must(t, err)
	if len(tables) == 0 {
		t.Fatal("there is no table")
	}
	must(t, os.Remove(tables[0]))
	if _, err = Open(dir); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "fossick repair") {
		t.Fatalf("open: %v, want ErrDamaged and what to do", err)
	}
	problems, err := mendTables(dir)
	must(t, err)
	if len(problems) != 1 || !strings.HasPrefix(problems[0].Key, "0000") {
		t.Errorf("found %v, want the table", problems)
	}
	if problems, err := mendTables(dir); err != nil || len(problems) != 0 {
		t.Errorf("a second time: %v, %v", problems, err)
	}
	if problems, err := mendTables(t.TempDir()); err != nil || len(problems) != 0 {
		t.Errorf("no store: %v, %v", problems, err)
	}
}
