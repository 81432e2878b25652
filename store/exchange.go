package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// Purpose says what an exchange that belongs to a host was for.
type Purpose string

// The purposes of exchanges that belong to a host and to none of its pages.
const (
	ForRobots  Purpose = "robots"  // robots.txt, or a hop of its redirects
	ForSitemap Purpose = "sitemap" // a sitemap, or a hop of its redirects
	ForAddress Purpose = "address" // a look-up of the host's address that failed: nothing was sent
	ForLost    Purpose = "lost"    // what repair enters where a record is missing
)

// Exchange is an exchange with a host that is for no URL of the queue. They are
// numbered from 1 for each host, in the order of time; Host.Exchanges has the
// last number.
type Exchange struct {
	For        Purpose `cbor:"1,keyasint"`
	URL        string  `cbor:"2,keyasint,omitempty"` // asked for
	Start      int64   `cbor:"3,keyasint"`           // Unix milliseconds
	Millis     int64   `cbor:"4,keyasint"`           // until the last byte
	State      string  `cbor:"5,keyasint"`
	Code       int     `cbor:"6,keyasint,omitempty"`
	Bytes      int64   `cbor:"7,keyasint,omitempty"` // of the body, as they came
	Location   string  `cbor:"8,keyasint,omitempty"` // where a redirect led
	Error      string  `cbor:"9,keyasint,omitempty"`
	Note       string  `cbor:"10,keyasint,omitempty"` // what came of it
	Owner      string  `cbor:"11,keyasint,omitempty"` // name:port of the host for which this one was asked, when another
	Rest       int64   `cbor:"12,keyasint,omitempty"` // that the host was due afterwards, milliseconds
	RetryAfter int64   `cbor:"13,keyasint,omitempty"` // that the answer asked for, milliseconds
	Own        int64   `cbor:"14,keyasint,omitempty"` // of Rest, what binds the host alone and no other at its address
}

// Drop takes the first pending sitemap off.
func (s *Sitemaps) Drop() { s.Pending = slices.Delete(s.Pending, 0, 1) }

// HostExchange is an exchange and whose it is.
type HostExchange struct {
	Host   string // name:port
	Number uint64
	Exchange
}

// The key of an exchange: the host's name ends with a zero byte, which no name
// has, so that no host's exchanges lie among another's.
func exchangeKey(host string, n uint64) []byte {
	return binary.BigEndian.AppendUint64(exchangePrefix(host), n)
}

func exchangePrefix(host string) []byte {
	return append(bytesKey(keyExchange, []byte(host)), 0)
}

// exchangeOf takes the key of an exchange apart.
func exchangeOf(k []byte) (host string, n uint64, err error) {
	end := bytes.IndexByte(k, 0)
	if end < 1 || len(k) != end+9 {
		return "", 0, fmt.Errorf("store key %q: %w: no exchange has this key", k, ErrDamaged)
	}
	return string(k[1:end]), binary.BigEndian.Uint64(k[end+1:]), nil
}

// PutExchange writes the n-th exchange of a host, from 1.
func (b *Batch) PutExchange(host string, n uint64, x Exchange) error {
	return b.put(exchangeKey(host, n), x)
}

// Exchange returns the n-th exchange of a host.
func (s *Store) Exchange(host string, n uint64) (x Exchange, err error) {
	err = s.records.view(func(txn *badger.Txn) error { return get(txn, exchangeKey(host, n), &x) })
	return x, err
}

// Exchanges yields the exchanges that belong to hosts, host by host in the order
// of their names' bytes, each host's in the order of time.
func (s *Store) Exchanges() iter.Seq2[HostExchange, error] {
	return s.exchanges(key(keyExchange))
}

// ExchangesOf yields the exchanges of one host.
func (s *Store) ExchangesOf(host string) iter.Seq2[HostExchange, error] {
	return s.exchanges(exchangePrefix(host))
}

func (s *Store) exchanges(prefix []byte) iter.Seq2[HostExchange, error] {
	return each(s.records, prefix, func(k, v []byte) (x HostExchange, err error) {
		if x.Host, x.Number, err = exchangeOf(k); err != nil {
			return x, err
		}
		return x, decode(k, v, &x.Exchange)
	})
}

// VisitedURL is a visit and the URL that was visited.
type VisitedURL struct {
	ID  ID
	URL string
	Visit
}

// Visits yields every visit with its URL, in the order of discovery of the URLs,
// each one's in the order of time. It walks visits and births side by side.
func (s *Store) Visits() iter.Seq2[VisitedURL, error] {
	return func(yield func(VisitedURL, error) bool) {
		err := s.records.view(func(txn *badger.Txn) error {
			visits, births := walk(txn, keyVisit), walk(txn, keyBirth)
			defer visits.Close()
			defer births.Close()
			births.Rewind()
			var v VisitedURL
			for visits.Rewind(); visits.Valid(); visits.Next() {
				err := v.read(visits.Item(), births)
				if !yield(v, err) || err != nil {
					return nil
				}
			}
			return nil
		})
		if err != nil {
			yield(VisitedURL{}, err)
		}
	}
}

// read reads a visit; v is the one before, whose URL it may share.
func (v *VisitedURL) read(item *badger.Item, births *badger.Iterator) error {
	k := item.KeyCopy(nil)
	if len(k) != 11 {
		return fmt.Errorf("store key %q: %w: %d bytes, want 11", k, ErrDamaged, len(k))
	}
	id := ID(binary.BigEndian.Uint64(k[1:9]))
	v.Visit = Visit{}
	if err := valueOf(item, k, func(k, b []byte) error { return decode(k, b, &v.Visit) }); err != nil {
		return err
	}
	if id == v.ID {
		return nil
	}
	var birth Birth
	if err := birthAt(births, uint64(id), &birth); err != nil {
		return err
	}
	v.ID, v.URL = id, birth.URL
	return nil
}
