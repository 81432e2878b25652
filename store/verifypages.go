package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// undiscovered checks that the URL of each page has a discovery record, and restores it from the page.
func (in *inspection) undiscovered(ctx context.Context) error {
	return in.scan(ctx, keyPage, func(txn *badger.Txn, k, v []byte) error {
		var p Page
		if decode(k, v, &p) != nil || p.ID == 0 {
			return nil
		}
		discovered := numKey(keyDiscovery, uint64(p.ID))
		err := get(txn, discovered, &Discovery{})
		if err == nil || finding(err) != nil {
			return err
		}
		discovery := Discovery{URL: p.URL, Via: ViaLink, Depth: p.Depth, At: p.At}
		var f Outcome
		if err := get(txn, numKey(keyOutcome, uint64(p.ID)), &f); finding(err) != nil {
			return err
		}
		discovery.From = f.Parent
		return in.found(discovered, err.Error(), "restored from its page "+p.URL, func(b *Batch) error { return b.PutDiscovery(p.ID, discovery) })
	})
}

// pages checks that page numbers have no gaps and pages agree with their URLs' outcomes. It removes
// an unreadable page, queues its URL and gives its number to the last page.
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

// twin returns the number of the page that the outcome of p's URL names instead of p, or 0.
func (in *inspection) twin(txn *badger.Txn, p *Page) (uint64, error) {
	var f Outcome
	var other Page
	if err := get(txn, numKey(keyOutcome, uint64(p.ID)), &f); err != nil || f.Page == p.Number || !f.HasPage() {
		return 0, finding(err)
	}
	if err := get(txn, numKey(keyPage, f.Page), &other); err != nil || other.ID != p.ID {
		return 0, finding(err)
	}
	return f.Page, nil
}

func (in *inspection) linksAre(txn *badger.Txn, p *Page) error {
	var gone []ID
	for _, id := range p.Links {
		there, err := in.isDiscovered(txn, id)
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

func (in *inspection) bodyIs(txn *badger.Txn, p *Page) error {
	body, err := in.s.codec.body(txn, p.Number)
	if err == nil && int64(len(body)) != p.Bytes {
		err = fmt.Errorf("store key %q: %w: %d bytes, want %d", numKey(keyBody, p.Number), ErrDamaged, len(body), p.Bytes)
	}
	return err
}

func (in *inspection) pageIs(txn *badger.Txn, p *Page) error {
	var f Outcome
	err := get(txn, numKey(keyOutcome, uint64(p.ID)), &f)
	if finding(err) != nil {
		return err
	}
	if err != nil || !f.HasPage() || f.Page != p.Number {
		what := fmt.Sprintf("page %d is stored, but its URL %s has the outcome %+v", p.Number, p.URL, f)
		err := in.found(numKey(keyPage, p.Number), what, "the URL has the page", func(b *Batch) error {
			return b.PutOutcome(p.ID, Outcome{State: "ok", Page: p.Number, At: p.At, Score: f.Score, Parent: f.Parent})
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
			return nil
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

func (in *inspection) leftovers(ctx context.Context) error {
	for _, kind := range []byte{keyBody, keyLabel, keyResource} {
		err := in.scan(ctx, kind, func(txn *badger.Txn, k, v []byte) error {
			if has, err := hasKey(txn, append([]byte{keyPage}, k[1:min(len(k), 9)]...)); err != nil || has {
				if err == nil && kind == keyResource && decode(k, v, &Resource{}) != nil {
					return in.remove(k, "an exchange of a rendered page cannot be read")
				}
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
	return in.scan(ctx, keyOutcome, func(txn *badger.Txn, k, v []byte) error {
		var f Outcome
		if decode(k, v, &f) != nil || !f.HasPage() {
			return nil
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
		var discovery Discovery
		if err := get(txn, numKey(keyDiscovery, n), &discovery); finding(err) != nil {
			return err
		}
		return in.foundRequeued(ID(n), discovery.URL, k, fmt.Sprintf("URL %d, %s, names page %d, which belongs to another URL", n, discovery.URL, f.Page), "queued again", func(b *Batch) error {
			return in.requeue(b, ID(n))
		})
	})
}

// repeats checks the pages that duplicates refer to, and updates their numbers.
func (in *inspection) repeats(ctx context.Context) error {
	return in.scan(ctx, keyOutcome, func(txn *badger.Txn, k, v []byte) error {
		var f Outcome
		if decode(k, v, &f) != nil || f.HasPage() || f.Page == 0 {
			return nil
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

func (in *inspection) marks(ctx context.Context) error {
	if err := in.marksOf(ctx, keyMark); err != nil {
		return err
	}
	return in.marksOf(ctx, keyMarkFor)
}

func (in *inspection) marksOf(ctx context.Context, kind byte) error {
	return in.scan(ctx, kind, func(txn *badger.Txn, k, v []byte) error {
		var discovery Discovery
		id, _, err := markOf(k)
		if err == nil {
			err = decode(k, v, &Mark{})
		}
		if err == nil {
			in.refers(id)
			if err = get(txn, numKey(keyDiscovery, uint64(id)), &discovery); errors.Is(err, ErrDamaged) {
				return nil
			}
			if finding(err) != nil {
				return err
			}
		}
		if errors.Is(err, ErrUnknown) {
			err = fmt.Errorf("a mark of URL %d, which is missing", id)
		}
		if err == nil {
			return nil
		}
		return in.remove(k, err.Error())
	})
}

func (in *inspection) outbox(ctx context.Context) error {
	if err := in.scan(ctx, keyCursor, func(_ *badger.Txn, k, v []byte) error {
		if _, err := receivedOf(k, v); err != nil {
			return in.remove(k, err.Error()) // the agent sends those links again
		}
		return nil
	}); err != nil {
		return err
	}
	return in.scan(ctx, keyParcel, func(_ *badger.Txn, k, _ []byte) error {
		if len(k) != parcelKeyLen {
			return in.remove(k, "want a part of the web and a number")
		}
		return nil
	})
}

// marksAre checks that a page's relevance follows its marks, and corrects p.
func (in *inspection) marksAre(txn *badger.Txn, p *Page) error {
	if len(p.Topics) == 0 {
		return in.markIs(txn, p, 0)
	}
	for i := range p.Topics {
		if err := in.markIs(txn, p, i+1); err != nil {
			return err
		}
	}
	return nil
}

func (in *inspection) markIs(txn *badger.Txn, p *Page, topic int) error {
	m := Mark{Topic: topic}
	if err := get(txn, markKey(p.ID, topic), &m); err != nil || m.Gone || !p.heed(m) {
		return finding(err)
	}
	what := fmt.Sprintf("page %d, %s, is %s by its mark, but its record differs", p.Number, p.URL, m)
	return in.found(numKey(keyPage, p.Number), what, "it is as the mark says", func(b *Batch) error { return b.PutPageRecord(p) })
}

type hostCheck struct {
	*findings
	sitemaps bool
}

// hosts finds unreadable host records, and hosts that count exchanges but have none.
func (c *hostCheck) hosts(ctx context.Context) error {
	return c.scan(ctx, keyHost, func(txn *badger.Txn, k, v []byte) error {
		var h Host
		if err := decode(k, v, &h); err != nil {
			c.sitemaps = true // the lost record may have had some
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

func anyKey(txn *badger.Txn, prefix []byte) bool {
	for range items(txn, prefix) {
		return true
	}
	return false
}

func (c *hostCheck) recount(h *Host, n uint64) error {
	what := fmt.Sprintf("host %s claims %d exchanges, but %d are on record", h.Name, h.Exchanges, n)
	return c.found(bytesKey(keyHost, []byte(h.Name)), what, "counted again", func(b *Batch) error {
		h.Exchanges = n
		return b.PutHost(h)
	})
}

// maxLost bounds the consecutive missing exchanges of a host; a larger gap means a corrupt number.
const maxLost = 1000

// exchanges checks that each host's exchanges are readable and numbered from 1 to its count. It
// enters a missing one as lost, because URLs refer to exchanges by number.
func (c *hostCheck) exchanges(ctx context.Context) error {
	var h *Host // host of the exchanges before; nil if its record is missing
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
				h = nil
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

// named checks that URLs from sitemaps refer to existing exchanges.
func (c *hostCheck) named(ctx context.Context) error {
	if !c.sitemaps {
		return nil
	}
	return c.scan(ctx, keyDiscovery, func(txn *badger.Txn, k, v []byte) error {
		var discovery Discovery
		if decode(k, v, &discovery) != nil || discovery.Exchange == 0 {
			return nil
		}
		has, err := hasKey(txn, exchangeKey(discovery.AtHost, discovery.Exchange))
		if err != nil || has {
			return err
		}
		what := fmt.Sprintf("%s was named in exchange %d of %s, which is missing", discovery.URL, discovery.Exchange, discovery.AtHost)
		return c.found(k, what, "the sitemap is forgotten", func(b *Batch) error {
			discovery.Exchange = 0
			return b.put(k, discovery)
		})
	})
}

// derived checks what could be computed again: labels, ranks and the index of near-duplicates.
type derived struct{ *findings }

// ranks checks the ranking, and that its ranks lie in [0,1] and belong to existing pages. The
// other side may hold an interrupted ranking, which nobody reads.
func (d derived) ranks(ctx context.Context) error {
	ranking, err := d.s.Ranks().Last()
	if err == nil && ranking != nil && ranking.Side > 1 {
		err = fmt.Errorf("store key %q: %w: side %d", key(keyRanking), ErrDamaged, ranking.Side)
	}
	if errors.Is(err, ErrDamaged) {
		return d.found(key(keyRanking), err.Error(), "removed: rank the pages again", func(b *Batch) error { return b.delete(key(keyRanking)) })
	}
	if err != nil {
		return err
	}
	return d.scan(ctx, keyRank, func(txn *badger.Txn, k, v []byte) error {
		what := ""
		var rank Rank
		switch {
		case len(k) != 10 || k[1] > 1:
			what = "the key is not a page's"
		case ranking == nil || k[1] != ranking.Side:
			return nil
		case decode(k, v, &rank) != nil:
			what = "the rank cannot be read"
		case !isShare(rank.Score) || !isShare(rank.Hub):
			what = fmt.Sprintf("the rank is %g and %g, want shares", rank.Score, rank.Hub)
		default:
			if has, err := hasKey(txn, numKey(keyPage, binary.BigEndian.Uint64(k[2:]))); err != nil || has {
				return err
			}
			what = "it belongs to no page"
		}
		return d.remove(k, what)
	})
}

func isShare(x float64) bool { return x >= 0 && x <= 1+1e-9 && !math.IsNaN(x) }

// near checks that each record of the near-duplicate index names existing pages with that band.
// Every page with a signature must be listed, unless newer pages fill the record.
func (d derived) near(ctx context.Context) error {
	err := d.scan(ctx, keyNear, d.nearRecord)
	if err == nil {
		err = d.flush() // removals make room for the pages below
	}
	if err != nil {
		return err
	}
	return d.scan(ctx, keyPage, func(txn *badger.Txn, k, v []byte) error {
		var c Candidate
		n, err := numOf(k)
		if err != nil || decode(k, v, &c) != nil {
			return nil
		}
		return d.nearHas(txn, n, c.Signature)
	})
}

func (d derived) nearRecord(txn *badger.Txn, k, v []byte) error {
	pages, err := decodeNear(k, v)
	if err != nil {
		return d.remove(k, err.Error())
	}
	right := slices.DeleteFunc(slices.Clone(pages), func(n uint64) bool {
		if n == pushedOut {
			return false
		}
		var c Candidate
		getErr := get(txn, numKey(keyPage, n), &c)
		err = cmp.Or(err, finding(getErr))
		return getErr != nil ||
			!slices.ContainsFunc(nearKeys(c.Signature), func(own []byte) bool { return bytes.Equal(own, k) })
	})
	if err != nil {
		return err
	}
	if len(right) == len(pages) {
		return nil
	}
	what := fmt.Sprintf("the index of near-duplicates names the pages %v, of which only %v have the band", pages, right)
	return d.found(k, what, "removed", func(b *Batch) error { return b.setNear(k, right) })
}

func (d derived) nearHas(txn *badger.Txn, n uint64, signature []byte) error {
	for _, k := range nearKeys(signature) {
		pages, err := nearPages(txn, k)
		if finding(err) != nil {
			return err
		}
		if err != nil {
			continue
		}
		if slices.Contains(pages, n) || len(pages) == nearBucket && pages[0] > n || len(pages) > 0 && pages[0] == pushedOut {
			continue
		}
		return d.found(k, fmt.Sprintf("page %d is missing from the index of near-duplicates", n), "entered",
			func(b *Batch) error { return b.addNear(n, signature) })
	}
	return nil
}
