package collection

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"fossick/export/sources"
	"fossick/internal/rights"
	"fossick/internal/usage"
	"fossick/store"
)

// Options say how stores are read.
type Options struct {
	// Open opens a store at one moment; done ends its use.
	Open func(dir string) (s *store.Store, done func() error, err error)
	// Text makes the text of a page; nil: pages have none.
	Text MainText
	// Partial leaves out what cannot be read, and counts it.
	Partial bool
	// Looked is told of each page of the pass, chosen or not; nil when nobody asks.
	Looked func()
}

// Collection is one or several stores, each at one moment. Close it in the end.
type Collection struct {
	opt     Options
	sources []*Source
}

// Source is one store of a collection.
type Source struct {
	Name  string // of the store: its folder's, or the path where several have the same
	Store *store.Store

	info    store.Info
	purpose rights.Purpose // of the crawl
	counts  store.Counts
	partial bool
	same    sources.Aliases // nil until aliases
	done    func() error
}

// Open opens stores, in the order in which their pages come.
func Open(ctx context.Context, dirs []string, opt Options) (_ *Collection, err error) {
	if opt.Text == nil {
		opt.Text = func([]byte, *Page, Want) (string, string) { return "", "" }
	}
	if opt.Looked == nil {
		opt.Looked = func() {}
	}
	names, err := Names(dirs)
	if err != nil {
		return nil, err
	}
	opened := &Collection{opt: opt}
	defer func() {
		if err != nil {
			err = errors.Join(err, opened.Close())
		}
	}()
	for i, dir := range dirs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s, done, err := opt.Open(dir)
		if err != nil {
			return nil, err
		}
		from := &Source{Name: names[i], Store: s, info: s.Info(), purpose: purposeOf(s.Info()), partial: opt.Partial, done: done}
		opened.sources = append(opened.sources, from)
		if err := s.Damaged(); err != nil && !opt.Partial {
			return nil, fmt.Errorf("%w; --partial exports what can be read", err)
		}
		if from.counts, err = s.Counts(); err != nil {
			return nil, err
		}
	}
	return opened, nil
}

// Names names stores by their folders, or by their paths where that would name two alike.
func Names(dirs []string) ([]string, error) {
	paths, names := make([]string, 0, len(dirs)), make([]string, 0, len(dirs))
	for _, dir := range dirs {
		path, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		if slices.Contains(paths, path) {
			return nil, usage.Errorf("%s is given twice; give each store once", dir)
		}
		paths, names = append(paths, path), append(names, filepath.Base(path))
	}
	for i, name := range names {
		if slices.Index(names, name) != i {
			for i, dir := range dirs {
				names[i] = filepath.ToSlash(filepath.Clean(dir))
			}
			break
		}
	}
	return names, nil
}

// Sources are the stores, in order.
func (c *Collection) Sources() []*Source { return c.sources }

// Len is how many pages the stores have, chosen or not.
func (c *Collection) Len() int {
	n := uint64(0)
	for _, s := range c.sources {
		n += s.counts.Pages
	}
	return int(n)
}

// Close ends the use of the stores.
func (c *Collection) Close() error {
	var all error
	for _, s := range c.sources {
		if err := s.done(); err != nil && !(c.opt.Partial && errors.Is(err, store.ErrDamaged)) {
			all = errors.Join(all, err)
		}
	}
	c.sources = nil
	return all
}
