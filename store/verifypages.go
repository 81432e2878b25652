package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// told checks that the URL of each page is there, and tells it again where it is not: a page
// knows its URL.
func (in *inspection) told(ctx context.Context) error {
	return in.scan(ctx, keyPage, func(txn *badger.Txn, k, v []byte) error {
		var p Page
		if decode(k, v, &p) != nil || p.ID == 0 {
			return nil // pages judges it
		}
		born := numKey(keyBirth, uint64(p.ID))
		err := get(txn, born, &Birth{})
		if err == nil || finding(err) != nil {
			return err
		}
		birth := Birth{URL: p.URL, Via: ViaLink, Depth: p.Depth, At: p.At}
		var f Fate
		if err := get(txn, numKey(keyFate, uint64(p.ID)), &f); finding(err) != nil {
			return err
		}
		birth.From = f.Parent
		return in.found(born, err.Error(), "restored from its page "+p.URL, func(b *Batch) error { return b.PutBirth(p.ID, birth) })
	})
}

// pages checks that the pages are numbered without a gap, can be read, and are
// what their URLs' fates say. A page that cannot be read is taken out, its URL is
// queued again, and the last page takes its number.
func (in *inspection) pages(ctx context.Context) error {
	next := uint64(1)
	err := in.scan(ctx, keyPage, func(txn *badger.Txn, k, v []byte) error {
		n, err := numOf(k)
		if err != nil {
			return in.remove(k, err.Error())
		}
		if n-next > maxHoles {
			return in.unreadable(n, &Page{}, fmt.Errorf("page %d comes after %d", n, next-1))
		}
		for ; next < n; next++ {
			if err := in.hole(txn, next); err != nil {
				return err
			}
		}
		next = n + 1
		p := &Page{}
		if err := decode(k, v, p); err != nil {
			return in.unreadable(n, &Page{}, err)
		}
		p.Number = n
		if p.SameAs != "" {
			in.counts.Dropped++
			return nil
		}
		return in.page(txn, p)
	})
	if err != nil || !in.mend || len(in.numbers.holes) == 0 {
		return err
	}
	if err := in.flush(); err != nil {
		return err
	}
	return in.numbers.fill(next - 1)
}

// page checks one page.
func (in *inspection) page(txn *badger.Txn, p *Page) error {
	if err := in.bodyIs(txn, p); errors.Is(err, ErrDamaged) || errors.Is(err, ErrUnknown) {
		return in.unreadable(p.Number, p, fmt.Errorf("the body of %s is lost: %w", p.URL, err))
	} else if err != nil {
		return err
	}
	twin, err := in.twin(txn, p)
	if err != nil {
		return err
	}
	if twin != 0 {
		return in.unreadable(p.Number, &Page{}, fmt.Errorf("%s has page %d and also this page", p.URL, twin))
	}
	if err := in.marksAre(txn, p); err != nil {
		return err
	}
	in.counts.Pages++
	in.counts.Judged(p.Topics, false)
	in.counts.Bytes += uint64(p.Bytes)
	if p.Relevant {
		in.counts.Relevant++
	}
	if err := in.linksAre(txn, p); err != nil {
		return err
	}
	return in.pageIs(txn, p)
}

// twin returns the number of another page of the same URL, which the URL's fate names.
func (in *inspection) twin(txn *badger.Txn, p *Page) (uint64, error) {
	var f Fate
	var other Page
	if err := get(txn, numKey(keyFate, uint64(p.ID)), &f); err != nil || f.Page == p.Number || !f.HasPage() {
		return 0, finding(err)
	}
	if err := get(txn, numKey(keyPage, f.Page), &other); err != nil || other.ID != p.ID {
		return 0, finding(err)
	}
	return f.Page, nil
}

// linksAre checks that the URLs are there that a page links to.
func (in *inspection) linksAre(txn *badger.Txn, p *Page) error {
	var gone []ID
	for _, id := range p.Links {
		there, err := in.isBorn(txn, id)
		if err != nil {
			return err
		}
		if !there {
			gone = append(gone, id)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	p.Links = slices.DeleteFunc(p.Links, func(id ID) bool { return slices.Contains(gone, id) })
	what := fmt.Sprintf("page %d, %s, links to the URLs %v, which are missing", p.Number, p.URL, gone)
	return in.found(numKey(keyPage, p.Number), what, "forgotten", func(b *Batch) error { return b.PutPageRecord(p) })
}

// bodyIs checks that a page's body is there and whole.
func (in *inspection) bodyIs(txn *badger.Txn, p *Page) error {
	body, err := in.s.codec.body(txn, p.Number)
	if err == nil && int64(len(body)) != p.Bytes {
		err = fmt.Errorf("store key %q: %w: %d bytes, want %d", numKey(keyBody, p.Number), ErrDamaged, len(body), p.Bytes)
	}
	return err
}

// pageIs checks what points to a page.
func (in *inspection) pageIs(txn *badger.Txn, p *Page) error {
	var f Fate
	err := get(txn, numKey(keyFate, uint64(p.ID)), &f)
	if finding(err) != nil {
		return err
	}
	if err != nil || !f.HasPage() || f.Page != p.Number {
		what := fmt.Sprintf("page %d is stored, but its URL %s has the fate %+v", p.Number, p.URL, f)
		err := in.found(numKey(keyPage, p.Number), what, "the URL has the page", func(b *Batch) error {
			return b.PutFate(p.ID, Fate{State: "ok", Page: p.Number, At: p.At, Score: f.Score, Parent: f.Parent})
		})
		if err != nil {
			return err
		}
	}
	for _, sum := range p.Sums() {
		if err := in.sumIs(txn, p, sum); err != nil {
			return err
		}
	}
	return nil
}

// sumIs checks that a page is found by one of its checksums.
func (in *inspection) sumIs(txn *badger.Txn, p *Page, sum []byte) error {
	content := bytesKey(keyContent, sum)
	n, err := pageOf(txn, content)
	if finding(err) != nil {
		return err
	}
	if err == nil && n != p.Number {
		var other Page
		if err = get(txn, numKey(keyPage, n), &other); finding(err) != nil {
			return err
		}
		if err == nil && other.Has(sum) {
			return nil // one of two with this content
		}
		err = ErrDamaged
	}
	if err == nil {
		return nil
	}
	return in.found(content, fmt.Sprintf("the checksum of page %d is missing from the index of contents", p.Number), "entered", func(b *Batch) error {
		return b.set(content, numKey(keyPage, p.Number)[1:])
	})
}

// pageOf returns the number of a page that a record of a checksum has.
func pageOf(txn *badger.Txn, k []byte) (n uint64, err error) {
	err = value(txn, k, func(k, v []byte) error {
		if len(v) != 8 {
			return fmt.Errorf("store key %q: %w: %d bytes, want 8", k, ErrDamaged, len(v))
		}
		n = binary.BigEndian.Uint64(v)
		return nil
	})
	return n, err
}

// leftovers looks for bodies, labels and checksums of pages that are not there,
// and for fates that name such.
func (in *inspection) leftovers(ctx context.Context) error {
	for _, kind := range []byte{keyBody, keyLabel} {
		err := in.scan(ctx, kind, func(txn *badger.Txn, k, _ []byte) error {
			if has, err := hasKey(txn, append([]byte{keyPage}, k[1:]...)); err != nil || has {
				return err
			}
			return in.remove(k, "it belongs to no page")
		})
		if err != nil {
			return err
		}
	}
	err := in.scan(ctx, keyContent, func(txn *badger.Txn, k, v []byte) error {
		p := &Page{}
		err := get(txn, append([]byte{keyPage}, v...), p)
		if finding(err) != nil || err == nil && p.Has(k[1:]) && p.SameAs == "" {
			return err
		}
		return in.remove(k, "the checksum names a page that is missing or has other content")
	})
	if err != nil {
		return err
	}
	return in.scan(ctx, keyFate, func(txn *badger.Txn, k, v []byte) error {
		var f Fate
		if decode(k, v, &f) != nil || !f.HasPage() {
			return nil // births has judged it
		}
		n, err := numOf(k)
		if err != nil {
			return nil
		}
		p := &Page{}
		err = get(txn, numKey(keyPage, f.Page), p)
		if finding(err) != nil || err == nil && p.ID == ID(n) && p.SameAs == "" {
			return err
		}
		var birth Birth
		if err := get(txn, numKey(keyBirth, n), &birth); finding(err) != nil {
			return err
		}
		return in.goes(ID(n), birth.URL, k, fmt.Sprintf("URL %d, %s, names page %d, which belongs to another URL", n, birth.URL, f.Page), "queued again", func(b *Batch) error {
			return in.again(b, ID(n))
		})
	})
}

// repeats checks that the page is there that a duplicate repeats, and follows it to its new
// number.
func (in *inspection) repeats(ctx context.Context) error {
	return in.scan(ctx, keyFate, func(txn *badger.Txn, k, v []byte) error {
		var f Fate
		if decode(k, v, &f) != nil || f.HasPage() || f.Page == 0 {
			return nil // urls has judged it
		}
		to, moved := in.numbers.moved[f.Page]
		if !moved {
			if has, err := hasKey(txn, numKey(keyPage, f.Page)); err != nil || has {
				return err
			}
		}
		was := f.Page
		f.Page = to
		return in.found(k, fmt.Sprintf("it repeats page %d, which is missing", was), "put right", func(b *Batch) error { return b.put(k, f) })
	})
}

// hasKey says whether there is a record.
func hasKey(txn *badger.Txn, k []byte) (bool, error) {
	_, err := txn.Get(k)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("store key %q: %w", k, err)
	}
	return true, nil
}
