package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// pages checks that the pages are numbered without a gap, can be read, and are
// what their URLs' fates say. A page that cannot be read is taken out, its URL is
// queued again, and the last page takes its number.
func (in *inspection) pages(ctx context.Context) error {
	next := uint64(1)
	err := in.scan(ctx, keyPage, func(txn *badger.Txn, k, v []byte) error {
		n, err := numOf(k)
		if err != nil {
			return in.found(k, err.Error(), "removed", func(b *Batch) error { return b.delete(k) })
		}
		for ; next < n; next++ {
			if err := in.hole(next); err != nil {
				return err
			}
		}
		next = n + 1
		p := &Page{}
		if err := decode(k, v, p); err != nil {
			return in.unreadable(n, &Page{}, err)
		}
		p.Number = n
		if err := in.s.bodyIs(txn, p); errors.Is(err, ErrDamaged) || errors.Is(err, ErrUnknown) {
			return in.unreadable(n, p, fmt.Errorf("the body of %s is lost: %w", p.URL, err))
		} else if err != nil {
			return err
		}
		if err := in.markIs(txn, p); err != nil {
			return err
		}
		in.counts.Pages++
		in.counts.Bytes += uint64(p.Bytes)
		if p.Relevant {
			in.counts.Relevant++
		}
		return in.pageIs(txn, p)
	})
	if err != nil || !in.mend || len(in.holes) == 0 {
		return err
	}
	if err := in.flush(); err != nil {
		return err
	}
	return in.fill(next - 1)
}

// bodyIs checks that a page's body is there and whole.
func (s *Store) bodyIs(txn *badger.Txn, p *Page) error {
	return value(txn, numKey(keyBody, p.Number), func(k, v []byte) error {
		body, err := s.unpack(v)
		if err == nil && int64(len(body)) != p.Bytes {
			err = fmt.Errorf("%d bytes, want %d", len(body), p.Bytes)
		}
		if err != nil {
			return fmt.Errorf("store key %q: %w: %w", k, ErrDamaged, err)
		}
		return nil
	})
}

// pageIs checks what points to a page.
func (in *inspection) pageIs(txn *badger.Txn, p *Page) error {
	var f Fate
	err := get(txn, numKey(keyFate, uint64(p.ID)), &f)
	if err != nil || f.State != "ok" && !f.Stored || f.Page != p.Number {
		what := fmt.Sprintf("page %d is stored, but its URL %s has the fate %+v", p.Number, p.URL, f)
		err := in.found(numKey(keyPage, p.Number), what, "the URL has the page", func(b *Batch) error {
			return b.PutFate(p.ID, Fate{State: "ok", Page: p.Number, At: p.At})
		})
		if err != nil {
			return err
		}
	}
	content := bytesKey(keyContent, p.Checksum)
	item, err := txn.Get(content)
	if err == nil {
		err = item.Value(func(v []byte) error {
			if string(v) != string(numKey(keyPage, p.Number)[1:]) {
				return ErrDamaged
			}
			return nil
		})
	}
	if err == nil {
		return nil
	}
	return in.found(content, fmt.Sprintf("the content of page %d is not known by its checksum", p.Number), "entered", func(b *Batch) error {
		return b.set(content, numKey(keyPage, p.Number)[1:])
	})
}

func (in *inspection) hole(n uint64) error {
	in.holes = append(in.holes, n)
	return in.found(numKey(keyPage, n), fmt.Sprintf("there is no page %d, and there are later ones", n), "the last page takes its number",
		func(*Batch) error { return nil })
}

// unreadable takes page n out and queues its URL again; p has none when the page's
// record cannot tell it.
func (in *inspection) unreadable(n uint64, p *Page, why error) error {
	in.holes = append(in.holes, n)
	defer func(i int) { in.problems[i].URL = p.URL }(len(in.problems))
	return in.found(numKey(keyPage, n), why.Error(), "taken out, and its URL queued again", func(b *Batch) error {
		for _, kind := range []byte{keyPage, keyBody, keyLabel} {
			if err := b.delete(numKey(kind, n)); err != nil {
				return err
			}
		}
		if err := b.dropRank(n); err != nil {
			return err
		}
		if p.ID == 0 {
			return nil // leftovers finds the URL by its fate
		}
		return in.again(b, p.ID)
	})
}

// again queues a URL whose page is gone.
func (in *inspection) again(b *Batch, id ID) error {
	birth, err := in.s.Birth(id)
	if err != nil {
		return nil // a page of no URL: nothing to queue
	}
	var q Queued
	if err := in.s.view(func(txn *badger.Txn) error { q = placeAgain(txn, id, birth); return nil }); err != nil {
		return err
	}
	if err := b.delete(numKey(keyFate, uint64(id))); err != nil {
		return err
	}
	return b.PutQueued(id, q)
}

// placeAgain is the place of a URL that is queued again, with the score and the parent
// that it had when it left the queue. Its visits stay in the journal, and count for
// nothing: it has all its tries.
func placeAgain(txn *badger.Txn, id ID, birth Birth) Queued {
	visits := lastVisit(txn, id)
	q := Queued{Parent: birth.From, Visits: visits, Excused: visits}
	var f Fate
	if get(txn, numKey(keyFate, uint64(id)), &f) == nil { // one that cannot be read says nothing
		q.Priority, q.Score, q.Parent = f.Score, f.Score, cmp.Or(f.Parent, birth.From)
	}
	if birth.Via == ViaSeed {
		q.Priority, q.Score = 1, 1
	}
	return q
}

// lastVisit returns the number of a URL's last visit, 0 when it has none.
func lastVisit(txn *badger.Txn, id ID) (last int) {
	opt := badger.DefaultIteratorOptions
	opt.Prefix, opt.PrefetchValues = numKey(keyVisit, uint64(id)), false
	it := txn.NewIterator(opt)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		if k := it.Item().Key(); len(k) == len(opt.Prefix)+2 {
			last = int(binary.BigEndian.Uint16(k[len(opt.Prefix):]))
		}
	}
	return last
}

// fill gives the numbers that became free to the last pages.
func (in *inspection) fill(last uint64) error {
	for _, hole := range in.holes {
		for last > hole {
			moved, err := in.move(last, hole)
			last--
			if err != nil {
				return err
			}
			if moved {
				break
			}
		}
	}
	return nil
}

// move renumbers a page; false when there is none of that number.
func (in *inspection) move(from, to uint64) (bool, error) {
	p, err := in.s.Page(from)
	if errors.Is(err, ErrUnknown) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	body, err := in.s.Body(from)
	if err != nil {
		return false, err
	}
	label, err := in.s.Label(from)
	if err != nil {
		return false, err
	}
	b := in.s.Batch()
	defer b.Cancel()
	if err := b.dropNear(from, p.Signature); err != nil {
		return false, err
	}
	p.Number = to
	if err := b.PutPage(p, in.s.Compress(body)); err != nil {
		return false, err
	}
	fate, err := b.Fate(p.ID)
	if err != nil || fate.State != "ok" && !fate.Stored {
		fate = Fate{State: "ok", At: p.At}
	}
	fate.Page = to
	if err := b.PutFate(p.ID, fate); err != nil {
		return false, err
	}
	if label != nil {
		if err := b.PutLabel(to, *label); err != nil {
			return false, err
		}
	}
	if err := b.moveRank(from, to); err != nil {
		return false, err
	}
	for _, kind := range []byte{keyPage, keyBody, keyLabel} {
		if err := b.delete(numKey(kind, from)); err != nil {
			return false, err
		}
	}
	return true, b.Commit()
}

// leftovers looks for bodies, labels and checksums of pages that are not there,
// and for fates that name such.
func (in *inspection) leftovers(ctx context.Context) error {
	for _, kind := range []byte{keyBody, keyLabel} {
		err := in.scan(ctx, kind, func(txn *badger.Txn, k, _ []byte) error {
			if _, err := txn.Get(append([]byte{keyPage}, k[1:]...)); err == nil {
				return nil
			}
			return in.found(k, "it belongs to no page", "removed", func(b *Batch) error { return b.delete(k) })
		})
		if err != nil {
			return err
		}
	}
	err := in.scan(ctx, keyContent, func(txn *badger.Txn, k, v []byte) error {
		p := &Page{}
		if get(txn, append([]byte{keyPage}, v...), p) == nil && string(p.Checksum) == string(k[1:]) {
			return nil
		}
		return in.found(k, "the checksum names a page that is not there, or has other content", "removed", func(b *Batch) error { return b.delete(k) })
	})
	if err != nil {
		return err
	}
	return in.scan(ctx, keyFate, func(txn *badger.Txn, k, v []byte) error {
		var f Fate
		if decode(k, v, &f) != nil || f.State != "ok" && !f.Stored {
			return nil // births has judged it
		}
		n, err := numOf(k)
		if err != nil {
			return nil
		}
		p := &Page{}
		if get(txn, numKey(keyPage, f.Page), p) == nil && p.ID == ID(n) {
			return nil
		}
		return in.found(k, fmt.Sprintf("URL %d is said to have page %d, which is not its", n, f.Page), "queued again", func(b *Batch) error {
			return in.again(b, ID(n))
		})
	})
}
