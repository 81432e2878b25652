package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// urls checks that each URL is in the seen-set and either waits or has a fate.
func (in *inspection) urls(ctx context.Context) error {
	return in.scan(ctx, keyBirth, func(txn *badger.Txn, k, v []byte) error {
		id, birth, err := ID(0), Birth{}, error(nil)
		if n, keyErr := numOf(k); keyErr != nil {
			err = keyErr
		} else {
			id, err = ID(n), decode(k, v, &birth)
		}
		if err != nil {
			in.refers(id)
			return in.remove(k, err.Error())
		}
		in.refers(id)
		in.births++
		in.born.add(id)
		if err := in.foundBy(txn, id, &birth); err != nil {
			return err
		}
		skipped, err := in.story(txn, id, birth)
		if err != nil {
			return err
		}
		return in.seenIs(txn, id, birth.URL, skipped)
	})
}

// refers notes that a record speaks of a URL: its number is never given again.
func (in *inspection) refers(id ID) {
	if id < 1<<40 { // a number beyond that is nonsense
		in.counts.URLs = max(in.counts.URLs, uint64(id))
	}
}

// foundBy checks that the URL is there that named another first.
func (in *inspection) foundBy(txn *badger.Txn, id ID, birth *Birth) error {
	there, err := in.isBorn(txn, birth.From)
	if err != nil || there {
		return err
	}
	from := birth.From
	birth.From = 0
	return in.found(numKey(keyBirth, uint64(id)), fmt.Sprintf("%s was found by URL %d, which is missing", birth.URL, from), "forgotten",
		func(b *Batch) error { return b.PutBirth(id, *birth) })
}

// isBorn says whether a URL is there; 0 is none, and nothing lacks it. That it is not
// is asked of the database itself: a walk over it may end early.
func (in *inspection) isBorn(txn *badger.Txn, id ID) (bool, error) {
	if id == 0 || in.born.has(id) {
		return true, nil
	}
	in.refers(id)
	err := value(txn, numKey(keyBirth, uint64(id)), func(k, v []byte) error { return decode(k, v, &Birth{}) })
	return err == nil, finding(err)
}

// story checks that a URL waits or has a fate, and not both.
func (in *inspection) story(txn *badger.Txn, id ID, birth Birth) (skipped bool, err error) {
	var q Queued
	var f Fate
	qErr := get(txn, numKey(keyQueued, uint64(id)), &q)
	fErr := get(txn, numKey(keyFate, uint64(id)), &f)
	if err := cmp.Or(finding(qErr), finding(fErr)); err != nil {
		return false, err
	}
	seen, err := lookup(txn, HashURL(birth.URL))
	if finding(err) != nil {
		return false, err
	}
	k := numKey(keyBirth, uint64(id))
	switch {
	case qErr == nil && errors.Is(fErr, ErrUnknown):
		return false, nil
	case fErr == nil && errors.Is(qErr, ErrUnknown):
		// What was left aside when it was found has no state of a visited URL, but
		// for a trap's, which is counted all the same.
		skipped = (f.State == "none" || f.State == "trap") && seen.Skipped
		if skipped && f.State == "none" {
			in.counts.Skipped++
		} else {
			in.counts.States[f.State]++
		}
		if f.Resemblance > 0 {
			in.counts.NearDuplicates++
		}
		return skipped, nil
	case fErr == nil && qErr == nil:
		in.counts.States[f.State]++
		if f.Resemblance > 0 {
			in.counts.NearDuplicates++
		}
		return false, in.found(k, birth.URL+" waits and has ended too", "it has ended", func(b *Batch) error {
			return b.delete(numKey(keyQueued, uint64(id)))
		})
	}
	return false, in.goes(id, birth.URL, k, birth.URL+" neither waits nor has it ended", "queued again", func(b *Batch) error {
		if err := b.delete(numKey(keyFate, uint64(id))); err != nil {
			return err
		}
		return b.PutQueued(id, placeAgain(txn, id, birth))
	})
}

// goes is found of a URL that is queued again.
func (in *inspection) goes(id ID, url string, k []byte, what, repair string, fix func(b *Batch) error) error {
	if id != 0 && !in.requeued.has(id) {
		in.requeued.add(id)
		in.queued++
	}
	defer func(i int) { in.problems[i].URL = url }(len(in.problems))
	return in.found(k, what, repair, fix)
}

func (in *inspection) seenIs(txn *badger.Txn, id ID, url string, skipped bool) error {
	h := HashURL(url)
	seen, err := lookup(txn, h)
	if finding(err) != nil {
		return err
	}
	if err == nil && seen == (Seen{id, skipped}) {
		return nil
	}
	return in.found(bytesKey(keySeen, h[:]), fmt.Sprintf("the seen-set has %+v for %s, want URL %d", seen, url, id), "entered",
		func(b *Batch) error { return b.PutSeen(h, id, skipped) })
}

// strays looks for records of URLs that were never born, or that speak of such.
func (in *inspection) strays(ctx context.Context) error {
	for _, kind := range []byte{keyQueued, keyFate, keyVisit, keyHistory, keyWire} {
		err := in.scan(ctx, kind, func(txn *badger.Txn, k, v []byte) error {
			what := ""
			if len(k) < 9 {
				what = "the key is too short"
			} else if there, err := in.isBorn(txn, ID(binary.BigEndian.Uint64(k[1:]))); err != nil {
				return err
			} else if !there {
				what = "it belongs to no URL"
			} else if kind == keyVisit && decode(k, v, &Visit{}) != nil {
				what = "the visit cannot be read"
			} else if kind == keyHistory {
				return in.history(txn, k, v)
			} else if kind == keyWire {
				what, err = wireIs(txn, k, v)
				if err != nil {
					return err
				}
			}
			if what != "" {
				return in.remove(k, what)
			}
			if kind == keyWire {
				return nil
			}
			return in.pointer(txn, k, v)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// pointer checks that the URL is there that a place, a fate or a visit names.
func (in *inspection) pointer(txn *badger.Txn, k, v []byte) error {
	var q Queued
	var f Fate
	var x Visit
	to, record := &q.Parent, any(&q)
	switch k[0] {
	case keyFate:
		to, record = &f.Parent, &f
	case keyVisit:
		to, record = &x.Location, &x
	}
	if decode(k, v, record) != nil {
		return nil // urls has judged it
	}
	there, err := in.isBorn(txn, *to)
	if err != nil || there {
		return err
	}
	what := fmt.Sprintf("it names URL %d, which is missing", *to)
	*to = 0
	return in.found(k, what, "forgotten", func(b *Batch) error { return b.put(k, record) })
}

// seen looks for entries of the seen-set that name no URL, or another.
func (in *inspection) seen(ctx context.Context) error {
	return in.scan(ctx, keySeen, func(txn *badger.Txn, k, v []byte) error {
		var birth Birth
		ok := len(k) == 17 && len(v) == 9
		if ok {
			in.refers(ID(binary.BigEndian.Uint64(v)))
			err := get(txn, append([]byte{keyBirth}, v[:8]...), &birth)
			if finding(err) != nil {
				return err
			}
			h := HashURL(birth.URL)
			ok = err == nil && string(h[:]) == string(k[1:])
		}
		if ok {
			return nil
		}
		return in.remove(k, "the seen-set names a URL that is missing")
	})
}

// wireIs says what is wrong with the headers of an exchange, "" where nothing is.
func wireIs(txn *badger.Txn, k, v []byte) (what string, err error) {
	var x Exchanged
	var birth Birth
	if x.ID, x.Visit, err = wireKeyOf(k); err != nil {
		return err.Error(), nil
	}
	if err := get(txn, numKey(keyBirth, uint64(x.ID)), &birth); err != nil {
		return "", finding(err)
	}
	if err := x.read(k, v); errors.Is(err, ErrDamaged) {
		return "the headers cannot be read: " + err.Error(), nil
	}
	if _, err := visitAt(txn, x.ID, x.Visit); err == nil || finding(err) != nil {
		return "", finding(err)
	}
	return "it belongs to no exchange", nil
}
