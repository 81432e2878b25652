package store

import (
	"context"
	"errors"
	"fmt"
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
	At      int64  `cbor:"2,keyasint"` // Unix milliseconds, of the first request
	Pages   uint64 `cbor:"3,keyasint"` // whose content was deleted
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
const ForgottenReason = "its owner asked that it be forgotten"

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

// ForgetPages keeps a request and takes the content of all its pages away; what was is on disk
// until Purge. The request is there before the first page goes, so a kill leaves what the
// same call finishes. It returns how many pages lost their content now.
func ForgetPages(ctx context.Context, s *Store, pattern string, now int64) (pages uint64, err error) {
	f := Forget{Pattern: pattern, At: now}
	if err := s.records.get(forgetKey(pattern), &f); err != nil && !errors.Is(err, ErrUnknown) {
		return 0, err
	}
	if err := putForget(s, f); err != nil {
		return 0, err
	}
	var numbers []uint64
	for p, err := range s.Pages() {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return 0, err
		}
		if !p.Withdrawn && f.Matches(p.URL) {
			numbers = append(numbers, p.Number)
		}
	}
	counts, err := s.Counts()
	if err != nil {
		return 0, err
	}
	for len(numbers) > 0 {
		n, err := forgetSome(s, &f, &counts, numbers)
		if err := errors.Join(err, ctx.Err()); err != nil {
			return pages, err
		}
		pages, numbers = pages+uint64(n), numbers[n:]
	}
	return pages, s.forgetWires(&f)
}

func putForget(s *Store, f Forget) error {
	b := s.Batch()
	defer b.Cancel() // of no effect after Commit
	if err := b.put(forgetKey(f.Pattern), f); err != nil {
		return err
	}
	return b.Commit()
}

// forgetSome takes the content away of as many pages as a batch takes.
func forgetSome(s *Store, f *Forget, counts *Counts, numbers []uint64) (n int, err error) {
	b := s.Batch()
	defer b.Cancel() // of no effect after Commit
	for n < len(numbers) && b.Size() <= MaxBatchBytes {
		p := &Page{}
		if err := get(b.txn, numKey(keyPage, numbers[n]), p); err != nil {
			return 0, err
		}
		p.Number = numbers[n]
		if err := b.WithdrawPage(p); err != nil {
			return 0, fmt.Errorf("page %d: %w", p.Number, err)
		}
		counts.Bytes -= uint64(p.Bytes)
		f.Pages++
		n++
	}
	if err := errors.Join(b.put(forgetKey(f.Pattern), f), b.PutCounts(counts)); err != nil {
		return 0, err
	}
	return n, b.Commit()
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
