package fileio

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fossick/internal/testkit"
)

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	text := func(s string, then error) func(*os.File) error {
		return func(f *os.File) error {
			_, err := f.WriteString(s)
			if got, read := os.ReadFile(f.Name()); read != nil || string(got) != s {
				t.Errorf("it has %q before it has its name, %v", got, read)
			}
			return errors.Join(err, then)
		}
	}
	testkit.Must(t, Write(path, 0o644, text("old", nil)))
	failed := errors.New("no more")
	if err := Write(path, 0o644, text("half", failed)); !errors.Is(err, failed) {
		t.Errorf("%v, want %v", err, failed)
	}
	holds(t, path, "old")
	testkit.Must(t, Write(path, 0o600, text("new", nil)))
	holds(t, path, "new")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v; want 0600", info.Mode(), err)
	}
	if err := Write(filepath.Join(path, "below"), 0o644, text("", nil)); err == nil {
		t.Error("a file has a file in it")
	}
}

// holds checks that the file has this content, and its folder no other file.
func holds(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("it holds %q, %v; want %q", got, err, want)
	}
	if beside, err := os.ReadDir(filepath.Dir(path)); err != nil || len(beside) != 1 {
		t.Errorf("beside it there are %v, %v", beside, err)
	}
}

func TestPage(t *testing.T) {
	hello := func(w io.Writer) error { _, err := io.WriteString(w, "hello"); return err }
	path := filepath.Join(t.TempDir(), "page.html")
	testkit.Must(t, WritePage(path, hello))
	holds(t, path, "hello")
	if err := WritePage(filepath.Join(path+".d", "page.html"), hello); err == nil || !strings.HasSuffix(err.Error(), "give a file in an existing folder") {
		t.Errorf("in no folder: %v", err)
	}
}
