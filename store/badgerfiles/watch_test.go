package badgerfiles

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDamageFoundLater: a block that is damaged while the database is open ends its use, and
// says where and what to do. A table that a compaction replaces is no damage.
func TestDamageFoundLater(t *testing.T) {
	path, name, text := oneTable(t, smallTables, 300)
	d := openSmall(t, path)
	defer func() {
		d.held.release() // Badger is left behind, as after a disk that failed
		d.Release()
	}()
	for range 3 {
		if !d.CheckNext() {
			t.Error("it ends without damage")
		}
	}
	must(t, d.Failure(), put(d, []byte("key"), []byte("value")))
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	must(t, err)
	_, err = f.WriteAt([]byte{text[len(text)/2] ^ 1}, int64(len(text)/2))
	must(t, err, f.Close())
	if d.CheckNext() {
		t.Error("it goes on")
	}
	if err := d.Failure(); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), filepath.Base(name)) || !strings.Contains(err.Error(), "fossick repair") {
		t.Errorf("it goes on: %v, want ErrDamaged, the table and what to do", err)
	}
}

// TestCheckValues: a value log is not to be written anew when a part of it cannot be read.
func TestCheckValues(t *testing.T) {
	path, _ := database(t)
	must(t, CheckValues(path, false))
	names, err := logsOf(path, valueFiles)
	must(t, err)
	text, err := os.ReadFile(names[0])
	must(t, err)
	if len(text) < 100 {
		t.Fatalf("%s has %d bytes", names[0], len(text))
	}
	text[60] ^= 1
	must(t, os.WriteFile(names[0], text, 0o600))
	if err := CheckValues(path, false); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), filepath.Base(names[0])) {
		t.Errorf("got %v, want ErrDamaged and the log", err)
	}
}
