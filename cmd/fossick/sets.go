package main

import (
	"bytes"
	"fmt"
	"io"
	"iter"

	"golang.org/x/net/html/charset"

	"fossick/datasets"
	"fossick/store"
)

// stream opens sets and chains their rows; see datasets.Opener.
func (a *app) stream(paths, where []string, level int) (datasets.Stream, error) {
	return datasets.Opener(a.openSet).Stream(paths, where, level, nil)
}

// openSet opens a labelled set or a corpus; a crawl's store is one too. What it
// opened is closed when the verb ends.
func (a *app) openSet(path string, opt datasets.Options) (*datasets.Set, error) {
	if !store.Exists(path) {
		return datasets.Open(path, opt)
	}
	s, done, err := a.openToRead(path)
	if err != nil {
		return nil, err
	}
	a.onClose(done)
	return datasets.FromSeq(path, storedPages(s, path), opt), nil
}

// storedPages yields the pages of a store in the order of the crawl, each with the
// label that refine gave it, else that of the crawl's model. Pages that were withdrawn
// are none.
func storedPages(s *store.Store, name string) iter.Seq2[*datasets.Example, error] {
	return func(yield func(*datasets.Example, error) bool) {
		for p, err := range s.Pages() {
			if err != nil {
				yield(nil, err)
				return
			}
			if p.Withdrawn {
				continue
			}
			if e, err := storedExample(s, p, name); !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func storedExample(s *store.Store, p *store.Page, name string) (*datasets.Example, error) {
	body, err := s.Body(p.Number)
	if err != nil {
		return nil, err
	}
	decoded, err := charset.NewReader(bytes.NewReader(body), p.ContentType)
	if err != nil {
		return nil, fmt.Errorf("%s: page %s: %w", name, p.URL, err)
	}
	text, err := io.ReadAll(decoded)
	if err != nil {
		return nil, fmt.Errorf("%s: page %s: %w", name, p.URL, err)
	}
	e := &datasets.Example{URL: p.URL, Label: p.Label, Title: p.Title, HTML: string(text), File: name, Line: int(p.Number)}
	refined, err := s.Label(p.Number)
	if err != nil {
		return nil, err
	}
	if refined != nil {
		e.Label = refined.Label
	}
	if e.Label != "" {
		e.Labels = []string{e.Label}
	}
	return e, nil
}
