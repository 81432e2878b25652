package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// hostCheck checks hosts, their exchanges, and what URLs say of these.
type hostCheck struct {
	*findings
	sitemaps bool // a host has read some
}

// hosts looks for hosts that cannot be read, and for those that speak of
// exchanges of which there is none; exchanges compares the others.
func (c *hostCheck) hosts(ctx context.Context) error {
	return c.scan(ctx, keyHost, func(txn *badger.Txn, k, v []byte) error {
		var h Host
		if err := decode(k, v, &h); err != nil {
			c.sitemaps = true // perhaps
			return c.found(k, err.Error(), "removed: robots.txt will be fetched again", func(b *Batch) error { return b.delete(k) })
		}
		h.Name = string(k[1:])
		c.sitemaps = c.sitemaps || h.Sitemaps != nil
		if h.Exchanges == 0 || anyKey(txn, exchangePrefix(h.Name)) {
			return nil
		}
		return c.recount(&h, 0)
	})
}

// anyKey says whether a key begins so.
func anyKey(txn *badger.Txn, prefix []byte) bool {
	for range items(txn, prefix) {
		return true
	}
	return false
}

// recount puts the number of a host's exchanges right.
func (c *hostCheck) recount(h *Host, n uint64) error {
	what := fmt.Sprintf("host %s claims %d exchanges, but %d are on record", h.Name, h.Exchanges, n)
	return c.found(bytesKey(keyHost, []byte(h.Name)), what, "counted again", func(b *Batch) error {
		h.Exchanges = n
		return b.PutHost(h)
	})
}

// maxLost is how many exchanges of a host may be missing in a row; a number
// beyond that is nonsense.
const maxLost = 1000

// exchanges checks that exchanges can be read and are of a host that there is.
// A host's must be numbered from 1 without a gap to what its record says. One
// that is missing or cannot be read is entered as lost, since URLs may refer to
// it and to those after it by number.
func (c *hostCheck) exchanges(ctx context.Context) error {
	var h *Host // of the exchanges before; nil for one that there is not
	name, next := "", uint64(1)
	end := func() error {
		if h == nil || h.Exchanges == next-1 {
			return nil
		}
		return c.recount(h, next-1)
	}
	err := c.scan(ctx, keyExchange, func(txn *badger.Txn, k, v []byte) error {
		host, n, err := exchangeOf(k)
		if err != nil {
			return c.remove(k, err.Error())
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
			return c.remove(k, "it belongs to a host that is missing")
		}
		if n < next || n-next > maxLost {
			return c.remove(k, fmt.Sprintf("exchange %d comes after %d", n, next-1))
		}
		for ; next < n; next++ {
			if err := c.lost(host, next, errors.New("the exchange is missing")); err != nil {
				return err
			}
		}
		next++
		if err := decode(k, v, &Exchange{}); err != nil {
			return c.lost(host, n, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return end()
}

func (c *hostCheck) lost(host string, n uint64, why error) error {
	return c.found(exchangeKey(host, n), why.Error(), "entered as lost", func(b *Batch) error {
		return b.PutExchange(host, n, Exchange{For: ForLost, State: "none", Error: why.Error()})
	})
}

// named checks that the exchanges that URLs of sitemaps refer to are there.
func (c *hostCheck) named(ctx context.Context) error {
	if !c.sitemaps {
		return nil // no URL can
	}
	return c.scan(ctx, keyBirth, func(txn *badger.Txn, k, v []byte) error {
		var birth Birth
		if decode(k, v, &birth) != nil || birth.Exchange == 0 {
			return nil // births has judged it
		}
		has, err := hasKey(txn, exchangeKey(birth.AtHost, birth.Exchange))
		if err != nil || has {
			return err
		}
		what := fmt.Sprintf("%s was named in exchange %d of %s, which is missing", birth.URL, birth.Exchange, birth.AtHost)
		return c.found(k, what, "the sitemap is forgotten", func(b *Batch) error {
			birth.Exchange = 0
			return b.put(k, birth)
		})
	})
}
