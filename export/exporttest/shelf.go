package exporttest

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"fossick/export"
	"fossick/export/collection"
)

// Shelf keeps the files of an export in memory, by name. It is an export.Place.
type Shelf map[string]*bytes.Buffer

// Create begins a file, anew where one has that name.
func (s Shelf) Create(name string) (io.WriteCloser, error) {
	s[name] = &bytes.Buffer{}
	return volume{s[name]}, nil
}

type volume struct{ *bytes.Buffer }

func (volume) Close() error { return nil }

// Write exports all pages in one format. It takes what opens the format: s, and whether
// that went well.
func Write(t testing.TB, s export.Sink, err error, pages []*collection.Page) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if err := s.Write(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.Finish(t.Context()), s.Close()); err != nil {
		t.Fatal(err)
	}
}
