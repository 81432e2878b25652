package export

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fossick/internal/fileio"
	"fossick/internal/testkit"
)

func fill(t *testing.T, p *filePlace, files map[string]string) {
	t.Helper()
	for name, text := range files {
		w, err := p.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		testkit.Must(t, errors.Join(err, w.Close()))
	}
}

func begin(t *testing.T, path string, single bool) *filePlace {
	t.Helper()
	p := testkit.Call(OpenPlace(path, single)).Must(t)
	return p
}

func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	testkit.Must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, readErr := os.ReadFile(path)
			err = readErr
			name, _ := filepath.Rel(dir, path)
			files[filepath.ToSlash(name)] = string(text)
		}
		return err
	}))
	return files
}

// TestNothingBeforeCommit: a folder or file appears at Commit, and Discard leaves nothing.
func TestNothingBeforeCommit(t *testing.T) {
	for _, single := range []bool{false, true} {
		dir := t.TempDir()
		path := filepath.Join(dir, "out")
		p := begin(t, path, single)
		fill(t, p, map[string]string{"a/b.txt": "text"})
		if _, err := os.Stat(path); err == nil {
			t.Error("there is something before Commit")
		}
		testkit.Must(t, p.Commit())
		want := "out/a/b.txt"
		if single {
			want = "out"
		}
		if got := content(t, dir); len(got) != 1 || got[want] != "text" {
			t.Errorf("single %v: %v", single, got)
		}
		if files, bytes := p.Made(); files != 1 || bytes != 4 {
			t.Errorf("made %d files of %d bytes", files, bytes)
		}
		p = begin(t, path+"2", single)
		fill(t, p, map[string]string{"b": "text"})
		testkit.Must(t, p.Discard())
		if got := content(t, dir); len(got) != 1 {
			t.Errorf("single %v: after Discard %v", single, got)
		}
	}
}

// TestSecondRun exports to an existing path with equal and with other content.
func TestSecondRun(t *testing.T) {
	for _, single := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "out")
		for i, test := range []struct {
			text string
			want error
		}{{"text", nil}, {"text", nil}, {"Text", ErrThere}, {"longer text", ErrThere}} {
			p := begin(t, path, single)
			fill(t, p, map[string]string{"a": test.text})
			if err := p.Commit(); !errors.Is(err, test.want) {
				t.Errorf("single %v, run %d: %v, want %v", single, i, err, test.want)
			}
			text, err := os.ReadFile(map[bool]string{true: path, false: filepath.Join(path, "a")}[single])
			if err != nil || string(text) != "text" {
				t.Errorf("single %v, run %d left %q, %v", single, i, text, err)
			}
			if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
				t.Errorf("single %v, run %d left %v", single, i, entries)
			}
		}
	}
}

// TestStrangersFolder: a folder with other files is refused early.
func TestStrangersFolder(t *testing.T) {
	dir := t.TempDir()
	testkit.Must(t, os.WriteFile(filepath.Join(dir, "mine"), nil, 0o644))
	p := begin(t, dir, false)
	defer p.Discard()
	if _, err := p.Create("pages.jsonl"); !errors.Is(err, ErrThere) {
		t.Errorf("into a folder of other files: %v", err)
	}
	if _, err := OpenPlace(dir, true); err == nil || !strings.Contains(err.Error(), "give a file") {
		t.Errorf("a file where a folder is: %v", err)
	}
	if _, err := OpenPlace(filepath.Join(dir, "mine"), false); err == nil || !strings.Contains(err.Error(), "give a folder") {
		t.Errorf("a folder where a file is: %v", err)
	}
}

// TestStaleIsRemoved: leftovers of a killed export are removed, those of a running one are not.
func TestStaleIsRemoved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	other := begin(t, path, true) // still being written
	stale := filepath.Join(dir, ".out.export-123")
	testkit.Must(t, os.MkdirAll(filepath.Join(stale, "x"), 0o755))
	p := begin(t, path, true)
	if _, err := os.Stat(stale); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what a kill left is still there: %v", err)
	}
	fill(t, other, map[string]string{"a": "text"})
	if err := errors.Join(p.Discard(), other.Commit()); err != nil {
		t.Error(err)
	}
}

// TestPacked: files are compressed by name, with the same bytes each time.
func TestPacked(t *testing.T) {
	for _, name := range []string{"a.txt", "a.txt.gz", "a.txt.zst"} {
		path := filepath.Join(t.TempDir(), name)
		for range 2 { // the second run finds equal content
			p := begin(t, path, true)
			fill(t, p, map[string]string{"pages": strings.Repeat("text ", 1000)})
			if err := p.Commit(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := fileio.Unpacked(f, name, 1)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil || len(text) != 5000 {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
	}
}

func TestStream(t *testing.T) {
	var out bytes.Buffer
	p := Stream(&out)
	fill(t, p, map[string]string{"a": "text"})
	if _, err := p.Create("b"); err == nil {
		t.Error("a second file in a stream")
	}
	if err := errors.Join(p.Commit(), p.Discard()); err != nil || out.String() != "text" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// TestKeep writes a folder in two runs, against a concurrent writer.
func TestKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	first := testkit.Call(Keep(path, "work")).Must(t)
	if _, err := Keep(path, "work"); !errors.Is(err, errInUse) {
		t.Errorf("a second maker gets %v", err)
	}
	testkit.Must(t, errors.Join(os.WriteFile(filepath.Join(first.Dir(), "part"), []byte("1"), 0o644), first.Close()))
	if _, err := os.Stat(path); err == nil {
		t.Error("it has its name before it is whole")
	}
	if err := os.Mkdir(path, 0o755); err != nil { // an empty folder that a user made
		t.Fatal(err)
	}
	second := testkit.Call(Keep(path, "work")).Must(t)
	testkit.Must(t, errors.Join(second.Commit(), second.Close()))
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
