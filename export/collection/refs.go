package collection

import (
	"context"
	"errors"
	"maps"
	"slices"

	"fossick/export/sources"
	"fossick/store"
)

// readRefs tells the numbers of a page's URL and of those that it links to.
func (s *Selection) readRefs(p *Page, one *picked) {
	p.Ref, p.Refs = uint64(one.page.ID), make([]uint64, 0, len(one.page.Links))
	for _, id := range s.linked[one.at].same.Of(nil, one.page.Links) {
		p.Refs = append(p.Refs, uint64(id))
	}
}

// aliases are the store's redirects and duplicates, read once.
func (s *Source) aliases(ctx context.Context) (_ sources.Aliases, err error) {
	if s.same == nil {
		s.same, err = sources.AliasesOf(ctx, s.Store)
	}
	return s.same, err
}

// Alias is a URL that stands for the page of another one.
type Alias struct{ From, To uint64 }

// Aliases returns the redirects and duplicates of the store, by number.
func (s *Source) Aliases(ctx context.Context) ([]Alias, error) {
	same, err := s.aliases(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]Alias, 0, len(same))
	for _, id := range slices.Sorted(maps.Keys(same)) {
		if same[id] != id {
			all = append(all, Alias{uint64(id), uint64(same[id])})
		}
	}
	return all, nil
}

// Walk calls do with a function that names URLs by their numbers, "" where damage took the
// name. Numbers asked for in rising order cost one pass of the store at most.
func (s *Source) Walk(do func(name func(ref uint64) (string, error)) error) error {
	return s.Store.URLs().Walk(func(name func(store.ID) (string, error)) error {
		return do(func(ref uint64) (string, error) {
			url, err := name(store.ID(ref))
			if errors.Is(err, store.ErrUnknown) {
				return "", nil
			}
			return url, err
		})
	})
}
