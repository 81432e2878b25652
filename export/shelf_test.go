package export

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"fossick/internal/testkit"
)

var update = flag.Bool("update", false, "write the golden files anew")

type shelf map[string]*bytes.Buffer

func (s shelf) Create(name string) (io.WriteCloser, error) {
	s[name] = &bytes.Buffer{}
	return volume{s[name]}, nil
}

func (s shelf) Path(string) (string, error) { return "", errors.ErrUnsupported }

type volume struct{ *bytes.Buffer }

func (volume) Close() error { return nil }

func written(t testing.TB, open func(target, string) (Sink, error), name string, pages []*Page) shelf {
	t.Helper()
	files := shelf{}
	s := testkit.Call(open(files, name)).Must(t)
	writeAll(t, s, pages)
	return files
}

func writeAll(t testing.TB, s Sink, pages []*Page) {
	t.Helper()
	for _, p := range pages {
		testkit.Must(t, s.Write(t.Context(), p))
	}
	testkit.Must(t, errors.Join(s.Finish(t.Context()), s.Close()))
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		testkit.Must(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s\n%v", name, got, want, err)
	}
}
