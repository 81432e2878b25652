package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dgraph-io/badger/v4"

	"fossick/store/badgerfiles"
)

// Forget is an owner's request to forget pages: their content is deleted and they are not requested
// again. It does not record who asked.
type Forget struct {
	// Pattern is a host ("example.org", or one with a port), a URL without its scheme
	// ("//example.org/page"), or a prefix ("//example.org/folder*").
	Pattern string `cbor:"1,keyasint"`
	At      int64  `cbor:"2,keyasint"`           // of the first request, Unix milliseconds
	Pages   uint64 `cbor:"3,keyasint"`           // pages whose content was deleted
	Pending bool   `cbor:"4,keyasint,omitempty"` // some of it is still on disk
}

// KeepForget stores a request. Fulfil, or the next opening after a kill, carries it out.
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
	defer b.Cancel()
	for _, f := range all {
		if err := b.put(forgetKey(f.Pattern), f); err != nil {
			return err
		}
	}
	return b.Commit()
}

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

type Forgets []Forget

const ForgottenReason = "its owner asked to forget it"

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

func ForgetsOf(s *Store) (all Forgets, err error) {
	for f, err := range each(s.records, key(keyForget), func(k, v []byte) (f Forget, err error) { return f, decode(k, v, &f) }) {
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// Derived is the folder of data derived from a store's records; Fulfil deletes it.
const Derived = "search"

func pendingForgets(s *Store) (pending []Forget, err error) {
	all, err := ForgetsOf(s)
	for _, f := range all {
		if f.Pending {
			pending = append(pending, f)
		}
	}
	return pending, err
}

// Fulfil carries out the pending requests: it deletes content from the records, ends waiting URLs
// and rewrites the database without the deleted data. For that it closes and reopens the store,
// locked throughout.
//
// It returns the reopened store and, by pattern, the number of pages that lost their content. After
// an error the requests stay pending; the store is nil if it must not be used.
func Fulfil(ctx context.Context, s *Store) (*Store, map[string]uint64, error) {
	pending, err := pendingForgets(s)
	if err != nil || len(pending) == 0 {
		return s, nil, err
	}
	pages, err := withdraw(ctx, s, pending)
	if stopped := ctx.Err(); stopped != nil {
		return s, nil, stopped
	}
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	if err := os.RemoveAll(filepath.Join(s.dir, Derived)); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("store: %w", err), s.Close())
	}
	s, err = anew(ctx, s)
	if err != nil {
		return s, nil, err
	}
	if err := fulfilled(s, pending); err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return s, pages, nil
}

func fulfilled(s *Store, asked []Forget) error {
	for i := range asked {
		if err := s.records.get(forgetKey(asked[i].Pattern), &asked[i]); err != nil {
			return err
		}
		asked[i].Pending = false
	}
	return putForgets(s, asked...)
}

// fulfilPending carries out requests that a kill interrupted. Of a damaged store it returns an
// error, so that nobody sees pages that are to be forgotten.
func fulfilPending(s *Store) (*Store, error) {
	pending, err := pendingForgets(s)
	switch {
	case err != nil || len(pending) == 0:
		return s, nil // Verify reports unreadable requests
	case len(s.damaged) > 0:
		return nil, errors.Join(fmt.Errorf("%s: %w, and some of its pages are still to be forgotten; mend it with fossick repair %s", s.dir, ErrDamaged, s.dir), s.Close())
	}
	s, _, err = Fulfil(context.Background(), s)
	if s != nil {
		return s, nil // for lack of room the old data may still be on disk; the next opening tries again
	}
	return nil, err
}

// anew rewrites and reopens a store's database, if possible also after an error.
func anew(ctx context.Context, s *Store) (*Store, error) {
	dir, held := s.dir, s.db.Keep()
	if err := s.Close(); err != nil {
		return nil, err
	}
	defer held.Release()
	failed := rewrite(ctx, held, dir, anyShare)
	if failed != nil {
		failed = fmt.Errorf("forgotten pages are still on disk: %w", failed)
	}
	s, err := openUnder(held, dir)
	return s, errors.Join(failed, err)
}

// withdrawal deletes content in batches. After a kill the rest is untouched, its request pending.
type withdrawal struct {
	batches
	counts Counts
	asked  []Forget
	pages  map[string]uint64 // number of pages that lost their content, by pattern
}

func withdraw(ctx context.Context, s *Store, asked []Forget) (map[string]uint64, error) {
	w := &withdrawal{batches: batches{s: s}, asked: slices.Clone(asked), pages: map[string]uint64{}}
	defer w.cancel()
	pages, waiting, err := w.find(ctx)
	if err == nil {
		w.counts, err = s.Counts()
	}
	if err == nil {
		err = w.elsewhere(ctx)
	}
	if err == nil {
		err = w.forgetResources(ctx)
	}
	for _, p := range pages {
		if err == nil {
			err = errors.Join(ctx.Err(), w.add(func(b *Batch) error { return w.page(b, p) }))
		}
	}
	for _, u := range waiting {
		if err == nil {
			err = errors.Join(ctx.Err(), w.add(func(b *Batch) error { return w.url(b, u) }))
		}
	}
	if err != nil {
		return nil, err
	}
	if err := w.flush(); err != nil {
		return nil, err
	}
	return w.pages, outdate(s) // changes that wait for a replica hold the content, too
}

func withdrawPending(s *Store) error {
	pending, err := pendingForgets(s)
	if err == nil && len(pending) > 0 {
		_, err = withdraw(context.Background(), s, pending)
	}
	return err
}

func (w *withdrawal) find(ctx context.Context) (pages []found, waiting []foundWaiting, err error) {
	of := func(url string) *Forget {
		for i := range w.asked {
			if w.asked[i].Matches(url) {
				return &w.asked[i]
			}
		}
		return nil
	}
	for p, err := range w.s.Pages() {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return nil, nil, err
		}
		if f := of(p.URL); f != nil && !p.Withdrawn {
			pages = append(pages, found{p.Number, f})
		}
	}
	for u, err := range w.s.URLs().Waiters() {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return nil, nil, err
		}
		if f := of(u.URL); f != nil {
			waiting = append(waiting, foundWaiting{u, f})
		}
	}
	return pages, waiting, nil
}

// elsewhere removes the headers of redirects and duplicates, which have no page.
func (w *withdrawal) elsewhere(ctx context.Context) error {
	for e, err := range w.s.URLs().Elsewhere() {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		discovery, err := w.s.URLs().Discovery(e.ID)
		if errors.Is(err, ErrUnknown) {
			continue
		}
		if err == nil && Forgets(w.asked).Has(discovery.URL) {
			err = w.add(func(b *Batch) error { return b.dropWires(e.ID) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

type found struct {
	page uint64
	by   *Forget
}

type foundWaiting struct {
	Waiter
	by *Forget
}

func (w *withdrawal) page(b *Batch, of found) error {
	p := &Page{}
	if err := get(b.txn, numKey(keyPage, of.page), p); err != nil {
		return err
	}
	p.Number = of.page
	if err := b.WithdrawPage(p); err != nil {
		return fmt.Errorf("page %d: %w", p.Number, err)
	}
	w.counts.Bytes -= uint64(p.Bytes)
	w.pages[of.by.Pattern]++
	of.by.Pages++
	return errors.Join(b.PutCounts(&w.counts), b.put(forgetKey(of.by.Pattern), of.by))
}

func (w *withdrawal) url(b *Batch, u foundWaiting) error {
	w.counts.States[forgottenState]++
	outcome := Outcome{State: forgottenState, Reason: ForgottenReason, Score: u.Score, Parent: u.Parent, At: max(u.by.At, u.Discovery.At)}
	return errors.Join(b.PutOutcome(u.ID, outcome), b.PutCounts(&w.counts))
}

const forgottenState = "none"

func openUnder(held *badgerfiles.Guard, dir string) (*Store, error) {
	db, err := badgerfiles.OpenUnder(held, dir, options(filepath.Join(dir, database)), plain())
	if err != nil {
		return nil, err
	}
	s, err := begin(dir, db)
	if err != nil {
		return nil, err
	}
	return known(s)
}

// deadShare is the share of dead data from which a value log is rewritten.
const deadShare = .1

type Compaction struct {
	Before int64 `json:"before"` // bytes on disk
	After  int64 `json:"after"`
}

// Compact frees the disk space of replaced and deleted records of the closed store in dir. It needs
// room for one value log (128 MiB) and a second copy of all tables. It syncs every write before it
// removes an old log, so neither a kill nor a power cut loses a record. When ctx ends, it stops
// between two logs and keeps what is done.
func Compact(ctx context.Context, dir string) (c Compaction, err error) {
	if !Exists(dir) {
		return c, fmt.Errorf("%s: %w; make one with fossick focus --store %s", dir, ErrNone, dir)
	}
	s, err := Open(dir) // refuses a store that is in use or newer
	if err != nil {
		return c, err
	}
	if err = s.Close(); err != nil {
		return c, err
	}
	path := filepath.Join(dir, database)
	if c.Before, err = sizeOf(path); err != nil {
		return c, err
	}
	var held badgerfiles.Guard
	defer held.Release()
	if err = rewrite(ctx, &held, dir, deadShare); err != nil {
		return c, err
	}
	c.After, err = sizeOf(path)
	return c, err
}

// anyShare rewrites every log that has a dead value.
const anyShare = 1e-9

// rewrite rewrites all tables, and the value logs whose dead share is at least dead.
func rewrite(ctx context.Context, g *badgerfiles.Guard, dir string, dead float64) error {
	path := filepath.Join(dir, database)
	if err := roomToCompact(dir, path); err != nil {
		return err
	}
	err := badgerfiles.Merge(ctx, g, dir, options(path).WithSyncWrites(true), plain())
	if err == nil {
		err = rewriteLogs(ctx, g, dir, path, dead)
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", dir, err)
	}
	return nil
}

func rewriteLogs(ctx context.Context, g *badgerfiles.Guard, dir, path string, dead float64) error {
	if err := badgerfiles.CheckValues(path, plain()); err != nil {
		return err
	}
	db, err := badgerfiles.OpenUnder(g, dir, options(path).WithSyncWrites(true), plain())
	if err != nil {
		return err
	}
	for err == nil {
		if err = ctx.Err(); err == nil && !db.Bounded(func() { err = db.RunValueLogGC(dead) }) {
			return db.Failure()
		}
	}
	if errors.Is(err, badger.ErrNoRewrite) {
		err = nil
	}
	*g = *db.Keep()
	return errors.Join(err, db.Close())
}

func roomToCompact(dir, path string) error {
	size, err := badgerfiles.SizeOf(path)
	if err != nil {
		return err
	}
	want := room{
		minOpenBytes + minCloseBytes + uint64(size.TableBytes+size.LargestLog),
		minFreeFiles + uint64(size.Tables),
	}
	free, err := freeRoom(dir)
	if err != nil {
		return nil // unknown free space does not count as full
	}
	if err := free.shortOf(want, dir); err != nil {
		return fmt.Errorf("%w to compact it; make room first, or compact a copy on another disk", err)
	}
	return nil
}

func sizeOf(dir string) (bytes int64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, fmt.Errorf("store: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // Badger removes files while it closes
		}
		if err != nil {
			return 0, fmt.Errorf("store: %w", err)
		}
		bytes += info.Size()
	}
	return bytes, nil
}
