package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"fossick/store/badgerfiles"
)

// Derived is the folder, in a store's, of what follows from its records: it is thrown away
// when pages are forgotten.
const Derived = "search"

// pendingForgets returns the requests that are not fulfilled.
func pendingForgets(s *Store) (pending []Forget, err error) {
	all, err := ForgetsOf(s)
	for _, f := range all {
		if f.Pending {
			pending = append(pending, f)
		}
	}
	return pending, err
}

// Fulfil does what the pending requests to forget pages ask for: content goes from the
// records, URLs that wait end, and the database is written anew without what was. For that
// the store is closed and opened again; no other process gets it in between.
//
// It returns how many pages lost their content now, by pattern, and the open store in the
// place of the old one. After an error the requests are pending, and the store is nil where
// it must not be used.
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

// fulfilled notes that nothing of what requests asked for is on disk any more.
func fulfilled(s *Store, asked []Forget) error {
	for i := range asked {
		if err := s.records.get(forgetKey(asked[i].Pattern), &asked[i]); err != nil {
			return err
		}
		asked[i].Pending = false
	}
	return putForgets(s, asked...)
}

// fulfilPending does, for who opens a store, what a kill kept from being done. Of a damaged
// store nothing is shown that is to be forgotten.
func fulfilPending(s *Store) (*Store, error) {
	pending, err := pendingForgets(s)
	switch {
	case err != nil || len(pending) == 0:
		return s, nil // one that cannot be read is for Verify to tell
	case len(s.damaged) > 0:
		return nil, errors.Join(fmt.Errorf("%s: %w, and some of its pages are still to be forgotten; mend it with fossick repair %s", s.dir, ErrDamaged, s.dir), s.Close())
	}
	s, _, err = Fulfil(context.Background(), s)
	if s != nil {
		return s, nil // what is still on disk, for lack of room, is nowhere else: the next opening tries again
	}
	return nil, err
}

// anew closes a store, writes its database anew without what nothing needs, and opens it
// again; also after an error, where it can.
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

// withdrawal takes content away, in batches. Only what a batch has is committed together:
// what is left after a kill is as it was, and its request is pending.
type withdrawal struct {
	batches
	counts Counts
	asked  []Forget
	pages  map[string]uint64 // that lost their content, by pattern
}

// withdraw takes the content of all pages away that are to be forgotten, and ends the URLs
// that wait.
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
	return w.pages, outdate(s) // changes that wait have the content, too
}

// withdrawPending takes the content of a copy away that is still to be forgotten.
func withdrawPending(s *Store) error {
	pending, err := pendingForgets(s)
	if err == nil && len(pending) > 0 {
		_, err = withdraw(context.Background(), s, pending)
	}
	return err
}

// find finds what the requests ask to be forgotten: pages with their patterns, and URLs
// that wait.
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

// elsewhere removes what is kept of exchanges for URLs that have no page of their own:
// redirects and duplicates. Pages lose theirs with their content.
func (w *withdrawal) elsewhere(ctx context.Context) error {
	for e, err := range w.s.URLs().Elsewhere() {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		birth, err := w.s.URLs().Birth(e.ID)
		if errors.Is(err, ErrUnknown) {
			continue // repair removes it
		}
		if err == nil && Forgets(w.asked).Has(birth.URL) {
			err = w.add(func(b *Batch) error { return b.dropWires(e.ID) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// found is a stored page and the request that asks for it.
type found struct {
	page uint64
	by   *Forget
}

// foundWaiting is a URL that waits, likewise.
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
	fate := Fate{State: forgottenState, Reason: ForgottenReason, Score: u.Score, Parent: u.Parent, At: max(u.by.At, u.Birth.At)}
	return errors.Join(b.PutFate(u.ID, fate), b.PutCounts(&w.counts))
}

// forgottenState is that of URLs that are not asked for.
const forgottenState = "none"

// openUnder is Open of a store that a guard has kept locked.
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
