package store

import (
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// Life is one URL's whole story.
type Life struct {
	ID ID
	Birth
	FoundBy string  // URL of Birth.From, or of the sitemap
	Queued  *Queued // nil when it waits no more
	Visits  []Visit // in order of time
	Fate    *Fate   // nil while it waits
	Parent  string  // URL of the best parent so far
	Page    *Page   // nil when it has none
	Label   *Label  // nil when refine has not seen it
	Mark    *Mark   // nil when nobody marked it, or several topics share the crawl
	Marks   []Mark  `json:",omitempty"` // for topics that share the crawl, at most one each, in their order
}

// Life tells the story of a URL in normal form; ErrUnknown when it was never seen.
func (u URLs) Life(url string) (*Life, error) {
	l := &Life{}
	err := u.records.view(func(txn *badger.Txn) error {
		seen, err := lookup(txn, HashURL(url))
		if err != nil {
			return err
		}
		if l.ID = seen.ID; l.ID == 0 {
			return fmt.Errorf("%s: %w: no page of the crawl links to it", url, ErrUnknown)
		}
		if err := l.read(txn); err != nil {
			return err
		}
		return l.nameParents(txn)
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (l *Life) read(txn *badger.Txn) error {
	id := uint64(l.ID)
	if err := get(txn, numKey(keyBirth, id), &l.Birth); err != nil {
		return err
	}
	if err := optional(txn, numKey(keyQueued, id), &l.Queued); err != nil {
		return err
	}
	if err := optional(txn, numKey(keyFate, id), &l.Fate); err != nil {
		return err
	}
	if err := optional(txn, numKey(keyMark, id), &l.Mark); err != nil {
		return err
	}
	if err := l.readMarks(txn); err != nil {
		return err
	}
	var err error
	if l.Visits, err = visitsOf(txn, l.ID); err != nil {
		return err
	}
	if l.Fate == nil || l.Fate.Page == 0 {
		return nil
	}
	if err := optional(txn, numKey(keyPage, l.Fate.Page), &l.Page); err != nil {
		return err
	}
	if l.Page != nil {
		l.Page.Number = l.Fate.Page
	}
	return optional(txn, numKey(keyLabel, l.Fate.Page), &l.Label)
}

// readMarks reads what people said of the URL for each topic that shares the crawl.
func (l *Life) readMarks(txn *badger.Txn) error {
	for item := range items(txn, numKey(keyMarkFor, uint64(l.ID))) {
		var m Mark
		err := valueOf(item, item.KeyCopy(nil), func(k, v []byte) (err error) {
			if _, m.Topic, err = markOf(k); err != nil {
				return err
			}
			return decode(k, v, &m)
		})
		if err != nil {
			return err
		}
		l.Marks = append(l.Marks, m)
	}
	return nil
}

// nameParents fills in the URLs of the parents, and the sitemap that named the URL.
func (l *Life) nameParents(txn *badger.Txn) error {
	parent := ID(0)
	switch {
	case l.Queued != nil:
		parent = l.Queued.Parent
	case l.Fate != nil:
		parent = l.Fate.Parent
	}
	for _, n := range []struct {
		id  ID
		url *string
	}{{l.From, &l.FoundBy}, {parent, &l.Parent}} {
		if n.id == 0 {
			continue
		}
		var b Birth
		if err := finding(get(txn, numKey(keyBirth, uint64(n.id)), &b)); err != nil {
			return err
		}
		*n.url = b.URL // "" of one that damage took
	}
	if l.Exchange == 0 {
		return nil
	}
	var x Exchange
	err := get(txn, exchangeKey(l.AtHost, l.Exchange), &x)
	if errors.Is(err, ErrUnknown) {
		return nil // taken out by repair
	}
	l.FoundBy = x.URL
	return err
}

// optional reads a record that need not be there.
func optional[T any](txn *badger.Txn, k []byte, record **T) error {
	v := new(T)
	err := get(txn, k, v)
	if errors.Is(err, ErrUnknown) {
		return nil
	}
	if err == nil {
		*record = v
	}
	return err
}
