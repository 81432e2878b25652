package fileio

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"fossick/internal/testkit"
)

// TestOpen: Open reports what is at a path before reading a byte, and never blocks.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	testkit.Must(t, errors.Join(
		os.WriteFile(in("file"), []byte("12345"), 0o600), os.WriteFile(in("empty"), nil, 0o600),
		syscall.Mkfifo(in("pipe"), 0o600), os.Mkdir(in("folder"), 0o700),
		os.Symlink("file", in("link")), os.Symlink("pipe", in("to-pipe")), os.Symlink("/dev/zero", in("to-zero")),
		os.Symlink("nowhere", in("to-nothing")), os.Symlink("round", in("round")),
	))
	l := testkit.Call(net.Listen("unix", in("socket"))).Must(t)
	defer l.Close()
	for path, want := range map[string]string{
		in("file"): "12345", in("empty"): "", in("link"): "12345",
		in("pipe"): "is a named pipe", in("to-pipe"): "is a named pipe", in("folder"): "is a folder", in("socket"): "is a socket",
		"/dev/zero": "is a device", in("to-zero"): "is a device", "/dev/null": "is a device",
		in("nothing"): "no such file", in("to-nothing"): "no such file", in("round"): "too many levels",
	} {
		got, err := All(path, 5)
		switch kind := errors.Is(err, ErrKind); {
		case err == nil && string(got) != want, err != nil && !strings.Contains(err.Error(), want):
			t.Errorf("%s: %q, %v; want %s", path, got, err, want)
		case kind != strings.HasPrefix(want, "is a "), errors.Is(err, fs.ErrNotExist) != strings.HasPrefix(want, "no such"):
			t.Errorf("%s: %v", path, err)
		}
		if _, err := fs.ReadFile(Folder(filepath.Dir(path)), filepath.Base(path)); (err == nil) == strings.Contains(want, " ") {
			t.Errorf("%s of its folder: %v", path, err)
		}
	}
	if _, err := All(in("file"), 4); !errors.Is(err, ErrSize) || !strings.Contains(err.Error(), in("file")) {
		t.Errorf("5 bytes where 4 may be: %v", err)
	}
	if b, err := Rest(strings.NewReader("12345"), "x", 4); !errors.Is(err, ErrSize) || b != nil {
		t.Errorf("5 bytes where 4 may be: %q, %v", b, err)
	}
	if _, err := (Folder(dir)).Open("../" + filepath.Base(dir) + "/file"); err == nil {
		t.Error("a name that leads out of the folder was opened")
	}
}

// TestOpenNamed: a person may name a pipe, whose writer is waited for.
func TestOpenNamed(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	testkit.Must(t, syscall.Mkfifo(pipe, 0o600))
	go os.WriteFile(pipe, []byte("written"), 0o600)
	f, err := OpenNamed(pipe)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(f); string(got) != "written" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	f.Close()
	if f, err = OpenNamed("/dev/zero"); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := Rest(f, "/dev/zero", 100); !errors.Is(err, ErrSize) {
		t.Errorf("a device without end: %v", err)
	}
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "nothing")} {
		if _, err := OpenNamed(path); err == nil {
			t.Errorf("%s was opened", path)
		}
	}
}

// TestWithin: a link may lead anywhere in its folder but not out of it.
func TestWithin(t *testing.T) {
	dir := t.TempDir()
	real, folder := filepath.Join(dir, "real"), filepath.Join(dir, "folder")
	testkit.Must(t, errors.Join(os.MkdirAll(filepath.Join(real, "sub"), 0o700), os.Mkdir(filepath.Join(dir, "real2"), 0o700), os.Symlink("real", folder),
		os.WriteFile(filepath.Join(dir, "secret"), nil, 0o600), os.WriteFile(filepath.Join(dir, "real2", "secret"), nil, 0o600), os.WriteFile(filepath.Join(real, "page"), nil, 0o600)))
	for name, to := range map[string]string{
		"a": "page", "b": "sub/../page", "c": real + "/page", "out-a": "../secret", "out-b": dir + "/secret", "out-c": "/etc/passwd", "out-d": "sub/../../secret", "out-e": "../real2/secret",
		"none-a": "nothing", "none-b": "none-b", "not-a": "sub", "out-f": "/dev/zero",
	} {
		testkit.Must(t, os.Symlink(to, filepath.Join(real, name)))
	}
	testkit.Must(t, syscall.Mkfifo(filepath.Join(real, "not-b"), 0o600))
	entries := testkit.Call(os.ReadDir(folder)).Must(t)
	says := map[string]string{"out": "a link that leads out of the folder", "none": "a link that leads nowhere", "not": "not a regular file", "page": ""}
	for _, e := range entries {
		kind, _, _ := strings.Cut(e.Name(), "-")
		if got := Within(folder, filepath.Join(folder, e.Name()), e); got != says[kind] && e.Name() != "sub" {
			t.Errorf("%s: %q, want %q", e.Name(), got, says[kind])
		}
	}
}

// TestCheckTOML: shapes that cost gigabytes are refused, ordinary settings are not.
func TestCheckTOML(t *testing.T) {
	deep, shapes := strings.Repeat("a.", 20)+"a = 1", testkit.Tries(t, "settings of a costly shape")
	for name, text := range map[string]string{
		"dotted key": deep, "dotted table": "[" + strings.Repeat("a .\t", 20) + "a]", "quoted key": strings.Repeat(`"a".`, 20) + "a = 1",
		"lists": "a = " + strings.Repeat("[", 20), "tables": "a = " + strings.Repeat("{a = ", 20), "both": "a = " + strings.Repeat("[{a = ", 10),
		"over lines": "a = " + strings.Repeat("[\n", 20), "after a comment": "# '''\n" + deep, "after a string": "a = '\\'\n" + deep,
		"after quotes": `a = {b = """x"""", c = ` + strings.Repeat("{a = ", 20), "after an empty string": `a = {b = "", c = ` + strings.Repeat("{a = ", 20),
		"after a string without end": "a = \"\n" + deep, "in a string": `a = {b = "\\", c = ` + strings.Repeat("{a = ", 20), "after five quotes": "a = '''x'''''\n" + deep,
	} {
		err := CheckTOML(text)
		shapes.Try(errors.Is(err, ErrShape), "%s: %v", name, err)
	}
	for name, text := range map[string]string{
		"settings": "contact = \"a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s@example.org\"\n[focus]\ndelay = '5s'\nlang = [\"en\", \"de\"]\n[topic.new]\nx = [[1.5, 2.5], [3.5]]\n",
		"numbers":  "x = [" + strings.Repeat("1.5, ", 100) + "]", "comment": "# " + strings.Repeat("[{a.", 100), "text": `x = """` + strings.Repeat("[a.\n\"", 100) + `"""`,
		"nothing": "", "half a string": `x = "a.b`, "many": strings.Repeat("[[a.b]]\nx.y = {z = 1}\n", 1000),
	} {
		if err := CheckTOML(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzCheckTOML: accepted text has no key of more than maxDepth² parts.
func FuzzCheckTOML(f *testing.F) {
	for _, seed := range []string{"a.b = 1", "[a.b.c]\nx = [{y = 1}]", `a = """x"""", b`, "a = '''x'''''\n[b]", strings.Repeat("a.", 20) + "a=1", "\"a.b\".'c' = [[[]]]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 { // longer ones would test the parser's cost
			return
		}
		var values map[string]any
		meta, err := toml.Decode(text, &values)
		if CheckTOML(text) != nil || err != nil {
			return
		}
		for _, key := range meta.Keys() {
			if len(key) > maxDepth*maxDepth {
				t.Errorf("%q: a key of %d parts", text, len(key))
			}
		}
	})
}

// TestSecret: a key that others may read is refused.
func TestSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	testkit.Must(t, os.WriteFile(path, []byte("secret"), 0o600))
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o604: false, 0o666: false, 0o620: false} {
		testkit.Must(t, os.Chmod(path, mode))
		got, err := Secret(path, 10)
		if ok != (err == nil && string(got) == "secret") || ok == errors.Is(err, ErrShared) {
			t.Errorf("%o: %q, %v", mode, got, err)
		}
	}
	testkit.Must(t, errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)))
	if _, err := Secret(path, 10); !errors.Is(err, ErrKind) {
		t.Errorf("a pipe: %v", err)
	}
}

// TestBombs: decompression bombs end before they cost much; text does not end early.
func TestBombs(t *testing.T) {
	class := testkit.Tries(t, "bombs")
	for ext, pack := range map[string]func(io.Writer) io.WriteCloser{
		".gz":  func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		".zst": func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z },
	} {
		for name, c := range map[string]struct {
			mib  int
			bomb bool
		}{"small": {32, false}, "large": {512, true}} {
			path := filepath.Join(t.TempDir(), "x"+ext)
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			z, block := pack(f), make([]byte, 1<<20)
			for range c.mib {
				z.Write(block)
			}
			testkit.Must(t, errors.Join(z.Close(), f.Close()))
			if f, err = Open(path); err != nil {
				t.Fatal(err)
			}
			r, err := Unpacked(f, path, 1)
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, r)
			class.Try(errors.Is(err, ErrBomb) == c.bomb && n <= 128<<20, "%s%s: %d MiB, %v", name, ext, n>>20, err)
			r.Close()
		}
	}
}
