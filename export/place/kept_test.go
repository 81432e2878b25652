package place

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestKeep makes a folder in two runs, beside one that wants it too.
func TestKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	first, err := Keep(path, "work")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Keep(path, "work"); !errors.Is(err, ErrInUse) {
		t.Errorf("a second maker gets %v", err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(first.Dir(), "part"), []byte("1"), 0o644), first.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("it has its name before it is whole")
	}
	if err := os.Mkdir(path, 0o755); err != nil { // as people do
		t.Fatal(err)
	}
	second, err := Keep(path, "work")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(second.Commit(), second.Close()); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(path, "part")); string(got) != "1" || err != nil {
		t.Errorf("the first run's part is %q, %v", got, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); len(entries) != 1 || err != nil {
		t.Errorf("beside it there are %v, %v", entries, err)
	}
	if _, err := Keep(path, "work"); !errors.Is(err, ErrThere) {
		t.Errorf("what is there already: %v", err)
	}
	for _, no := range []string{filepath.Join(path, "part"), ".", "..", "../..", "/"} {
		if _, err := Keep(no, "work"); err == nil {
			t.Errorf("%s is taken for a folder to be made", no)
		}
	}
}
