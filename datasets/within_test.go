package datasets

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fossick/internal/tries"
)

// TestNoFilesOfOthers: links out of a folder, pipes and devices are no pages of a set, in
// whatever layout; they are counted, and named in a note. The folder itself may be a link.
func TestNoFilesOfOthers(t *testing.T) {
	const secret = "root:x:0:0"
	files := tries.Of(t, "files that are none of a corpus")
	for _, c := range []struct {
		layout, page string // where a page stands
		pages        int    // that are read
	}{
		{"files", "page.html", 2},
		{"folders", "class/page.html", 2},
		{"folders", "class/sub/page.html", 2},
		{"webkb", "class/university/http:^^a.test^page.html", 2},
		{"20news", "class/1234", 2},
	} {
		t.Run(c.layout, func(t *testing.T) {
			top := t.TempDir()
			real := filepath.Join(top, "real")
			page := filepath.Join(real, filepath.FromSlash(c.page))
			dir, ext := filepath.Dir(page), filepath.Ext(page)
			beside := func(name string) string { // a file that the layout takes for a page
				if c.layout == "20news" {
					return filepath.Join(dir, map[string]string{"a": "1", "b": "2", "c": "3", "d": "4", "e": "5", "f": "6"}[name])
				}
				return filepath.Join(dir, strings.TrimSuffix(filepath.Base(page), ext)+name+ext)
			}
			err := errors.Join(
				os.WriteFile(filepath.Join(top, "secret.html"), []byte(secret), 0o600), os.MkdirAll(dir, 0o700),
				os.WriteFile(page, []byte("Subject: x\n\n<title>x</title> a page"), 0o600),
				os.Symlink(page, beside("a")), os.Symlink(filepath.Join(top, "secret.html"), beside("b")), os.Symlink("/dev/zero", beside("c")),
				syscall.Mkfifo(beside("d"), 0o600), os.Symlink(beside("d"), beside("e")), os.Symlink("nowhere", beside("f")),
				os.Symlink("real", filepath.Join(top, "set")),
			)
			if err != nil {
				t.Fatal(err)
			}
			set, err := Open(filepath.Join(top, "set"), Options{})
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for e, err := range set.Examples() {
				if err != nil {
					t.Error(err)
					continue
				}
				n++
				files.Try(!strings.Contains(e.HTML+e.Text, secret), "%s has words of a file that is none of the set", e.File)
			}
			if n != c.pages || set.layout != c.layout {
				t.Errorf("%d pages in layout %s, want %d in %s", n, set.layout, c.pages, c.layout)
			}
			report, err := set.Report()
			if err != nil {
				t.Fatal(err)
			}
			notes := strings.Join(report.Notes(), "\n")
			for _, want := range []string{"2 files skipped: a link that leads out of the folder, first ", "2 files skipped: not a regular file", "1 file skipped: a link that leads nowhere"} {
				files.Try(strings.Contains(notes, want), "notes %q, want %q", notes, want)
			}
		})
	}

	dir := t.TempDir()
	for _, name := range []string{"pages.jsonl", "links.tsv", "labels.tsv"} {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "pages.jsonl"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		os.Remove(filepath.Join(dir, name))
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir, Options{})
		files.Try(errors.Is(err, ErrLayout) && strings.Contains(err.Error(), name), "%s is a pipe: %v", name, err)
	}
}
