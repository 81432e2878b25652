package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// hosts looks for hosts that cannot be read, and for those that speak of
// exchanges of which there is none; exchanges compares the others.
func (in *inspection) hosts(ctx context.Context) error {
	return in.scan(ctx, keyHost, func(txn *badger.Txn, k, v []byte) error {
		var h Host
		if err := decode(k, v, &h); err != nil {
			in.sitemaps = true // perhaps
			return in.found(k, err.Error(), "removed: robots.txt will be fetched again", func(b *Batch) error { return b.delete(k) })
		}
		h.Name = string(k[1:])
		in.sitemaps = in.sitemaps || h.Sitemaps != nil
		if h.Exchanges == 0 || anyKey(txn, exchangePrefix(h.Name)) {
			return nil
		}
		return in.recount(&h, 0)
	})
}

// anyKey says whether a key begins so.
func anyKey(txn *badger.Txn, prefix []byte) bool {
	opt := badger.DefaultIteratorOptions
	opt.Prefix, opt.PrefetchValues = prefix, false
	it := txn.NewIterator(opt)
	defer it.Close()
	it.Rewind()
	return it.Valid()
}

// recount puts the number of a host's exchanges right.
func (in *inspection) recount(h *Host, n uint64) error {
	what := fmt.Sprintf("host %s speaks of %d exchanges, %d are on record", h.Name, h.Exchanges, n)
	return in.found(bytesKey(keyHost, []byte(h.Name)), what, "counted anew", func(b *Batch) error {
		h.Exchanges = n
		return b.PutHost(h)
	})
}

// maxLost is how many exchanges of a host may be missing in a row; a number
// beyond that is nonsense.
const maxLost = 1000

// exchanges checks that exchanges can be read and are of a host that there is, and that a
// host's are numbered from 1 without a gap to what its record says. One that is missing or cannot be read is entered as lost, since URLs may
// refer to it and to those after it by number.
func (in *inspection) exchanges(ctx context.Context) error {
	var h *Host // of the exchanges before; nil for one that there is not
	name, next := "", uint64(1)
	end := func() error {
		if h == nil || h.Exchanges == next-1 {
			return nil
		}
		return in.recount(h, next-1)
	}
	err := in.scan(ctx, keyExchange, func(txn *badger.Txn, k, v []byte) error {
		remove := func(b *Batch) error { return b.delete(k) }
		host, n, err := exchangeOf(k)
		if err != nil {
			return in.found(k, err.Error(), "removed", remove)
		}
		if host != name {
			if err := end(); err != nil {
				return err
			}
			name, next, h = host, 1, &Host{Name: host}
			if err := get(txn, bytesKey(keyHost, []byte(host)), h); finding(err) != nil {
				return err
			} else if err != nil {
				h = nil // none, or one that is damaged and goes
			}
		}
		if h == nil {
			return in.found(k, "it is of a host that is not there", "removed", remove)
		}
		if n < next || n-next > maxLost {
			return in.found(k, fmt.Sprintf("exchange %d comes after %d", n, next-1), "removed", remove)
		}
		for ; next < n; next++ {
			if err := in.lost(host, next, errors.New("the exchange is missing")); err != nil {
				return err
			}
		}
		next++
		if err := decode(k, v, &Exchange{}); err != nil {
			return in.lost(host, n, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return end()
}

func (in *inspection) lost(host string, n uint64, why error) error {
	return in.found(exchangeKey(host, n), why.Error(), "entered as lost", func(b *Batch) error {
		return b.PutExchange(host, n, Exchange{For: ForLost, State: "none", Error: why.Error()})
	})
}

// named checks that the exchanges that URLs of sitemaps refer to are there.
func (in *inspection) named(ctx context.Context) error {
	if !in.sitemaps {
		return nil // no URL can
	}
	return in.scan(ctx, keyBirth, func(txn *badger.Txn, k, v []byte) error {
		var birth Birth
		if decode(k, v, &birth) != nil || birth.Exchange == 0 {
			return nil // births has judged it
		}
		has, err := hasKey(txn, exchangeKey(birth.AtHost, birth.Exchange))
		if err != nil || has {
			return err
		}
		what := fmt.Sprintf("%s was named in exchange %d of %s, which is not there", birth.URL, birth.Exchange, birth.AtHost)
		return in.found(k, what, "the sitemap is forgotten", func(b *Batch) error {
			birth.Exchange = 0
			return b.put(k, birth)
		})
	})
}
