package store

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/dgraph-io/badger/v4"
)

// Forget is an owner's request that pages be forgotten: what they hold is deleted, and they
// are not asked for again. Who asked is not kept.
type Forget struct {
	// Pattern is a host ("example.org", with a port that alone), a URL without its scheme
	// ("//example.org/page"), or the beginning of such ("//example.org/folder*").
	Pattern string `cbor:"1,keyasint"`
	At      int64  `cbor:"2,keyasint"`           // Unix milliseconds, of the first request
	Pages   uint64 `cbor:"3,keyasint"`           // whose content was deleted
	Pending bool   `cbor:"4,keyasint,omitempty"` // not all of it is gone from the disk yet
}

// KeepForget keeps a request that pages be forgotten. From now on it is fulfilled whatever
// happens: by Fulfil, or after a kill by the next opening.
func KeepForget(s *Store, pattern string, now int64) error {
	f := Forget{Pattern: pattern, At: now}
	if err := s.records.get(forgetKey(pattern), &f); err != nil && !errors.Is(err, ErrUnknown) {
		return err
	}
	f.Pending = true
	return putForgets(s, f)
}

func putForgets(s *Store, all ...Forget) error {
	b := s.Batch()
	defer b.Cancel() // of no effect after Commit
	for _, f := range all {
		if err := b.put(forgetKey(f.Pattern), f); err != nil {
			return err
		}
	}
	return b.Commit()
}

// Matches says whether a URL in normal form is to be forgotten.
func (f Forget) Matches(address string) bool {
	_, rest, _ := strings.Cut(address, ":")
	if !strings.HasPrefix(f.Pattern, "//") {
		u, err := url.Parse(address)
		return err == nil && (u.Host == f.Pattern || u.Hostname() == f.Pattern)
	}
	if beginning, is := strings.CutSuffix(f.Pattern, "*"); is {
		return strings.HasPrefix(rest, beginning)
	}
	return rest == f.Pattern
}

// Forgets are the requests that a crawl heeds.
type Forgets []Forget

// ForgottenReason is why a URL that an owner wants forgotten is not asked for.
const ForgottenReason = "its owner asked to forget it"

// Has says whether a URL is to be forgotten.
func (fs Forgets) Has(address string) bool {
	for _, f := range fs {
		if f.Matches(address) {
			return true
		}
	}
	return false
}

func forgetKey(pattern string) []byte {
	h := HashURL(pattern)
	return bytesKey(keyForget, h[:])
}

// ForgetsOf returns the requests that a store knows.
func ForgetsOf(s *Store) (all Forgets, err error) {
	for f, err := range each(s.records, key(keyForget), func(k, v []byte) (f Forget, err error) { return f, decode(k, v, &f) }) {
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// forgets looks for requests that cannot be read.
func (in *inspection) forgets(ctx context.Context) error {
	return in.scan(ctx, keyForget, func(_ *badger.Txn, k, v []byte) error {
		if err := decode(k, v, &Forget{}); err != nil {
			return in.remove(k, "a request to forget pages cannot be read: "+err.Error())
		}
		return nil
	})
}
