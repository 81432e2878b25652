package store

import (
	"errors"

	"github.com/dgraph-io/badger/v4"
)

// Announced is what a watch knows of a host's sitemaps and feeds, and how far to believe them.
type Announced struct {
	Sources []Source `cbor:"1,keyasint,omitempty"`
	Checks  int      `cbor:"2,keyasint,omitempty"` // visits that a lastmod could be held against
	Failed  int      `cbor:"3,keyasint,omitempty"` // of these, those that contradict it
}

// Source is a sitemap or a feed.
type Source struct {
	URL      string `cbor:"1,keyasint"`           // in normal form
	At       int64  `cbor:"2,keyasint,omitempty"` // when it was asked for last, Unix milliseconds
	ETag     string `cbor:"3,keyasint,omitempty"` // version that was read last
	Modified string `cbor:"4,keyasint,omitempty"` // Last-Modified, likewise
}

// Seen returns when a URL's page was last seen to be as it is stored, in Unix milliseconds;
// 0 where none is stored.
func (u URLs) Seen(id ID) (at int64, err error) {
	var f Fate
	var p Page
	err = u.records.view(func(txn *badger.Txn) error {
		if err := get(txn, numKey(keyFate, uint64(id)), &f); err != nil || !f.HasPage() {
			return err
		}
		return get(txn, numKey(keyPage, f.Page), &p)
	})
	if errors.Is(err, ErrUnknown) {
		return 0, nil // it waits, or is gone
	}
	return p.Seen(), err
}
