package exporttest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
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

type sink[P any] interface {
	Write(ctx context.Context, p P) error
	Finish(ctx context.Context) error
	Close() error
}

// Write exports all pages in one format. It takes what opens the format: s, and whether
// that went well.
func Write[P any](t testing.TB, s sink[P], err error, pages []P) {
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
