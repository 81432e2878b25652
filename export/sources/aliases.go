package sources

import (
	"context"

	"fossick/crawler/fetch"
	"fossick/store"
)

// Aliases say which URL's page a URL of a store stands for: of a redirect what it led
// to, of a duplicate the page that it repeats. In the graph of a store such a URL has no
// node of its own; what links to it links to that page.
type Aliases map[store.ID]store.ID

// AliasesOf reads a store's redirects and duplicates. A URL whose own page is stored
// stands for itself, whatever became of it since.
func AliasesOf(ctx context.Context, s *store.Store) (Aliases, error) {
	to := Aliases{}
	for v, err := range s.URLs().Visits() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if v.Location != 0 {
			to[v.ID] = v.Location // the last one is what it led to
		}
	}
	for e, err := range s.URLs().Ended("") {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		switch {
		case e.State == string(fetch.StateRedirect) && !e.Stored:
		case e.State == string(fetch.StateDuplicate) && !e.Stored && e.Page != 0:
			p, err := s.Page(e.Page)
			if err != nil {
				return nil, err
			}
			to[e.ID] = p.ID
		default: // it was a redirect once
			delete(to, e.ID)
		}
	}
	to.settle()
	return to, nil
}

// settle makes each URL stand for its end at once: a redirect may lead to a further one,
// or to a duplicate. Those in a circle stand for themselves, and those that lead into one
// for the URL at which they come into it. O(URLs).
func (a Aliases) settle() {
	settled := make(map[store.ID]bool, len(a))
	var path []store.ID
	for id := range a { // the ends are the same in any order
		if settled[id] {
			continue
		}
		path = path[:0]
		on := map[store.ID]int{} // places in the path
		at := id
		for {
			_, is := a[at]
			_, circle := on[at]
			if !is || settled[at] || circle {
				break
			}
			on[at] = len(path)
			path = append(path, at)
			at = a[at]
		}
		if from, circle := on[at]; circle {
			for _, x := range path[from:] {
				a[x], settled[x] = x, true
			}
			path = path[:from]
		} else if settled[at] {
			at = a[at]
		}
		for _, x := range path {
			a[x], settled[x] = at, true
		}
	}
}

// Of returns what URLs stand for after settle, in dst.
func (a Aliases) Of(dst, ids []store.ID) []store.ID {
	dst = dst[:0]
	for _, id := range ids {
		if end, ok := a[id]; ok {
			id = end
		}
		dst = append(dst, id)
	}
	return dst
}
