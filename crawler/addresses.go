package crawler

import (
	"cmp"
	"math"
	"slices"

	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/internal/page"
	"fossick/store"
)

// addressesInMemory is how many addresses are remembered at least. Forgetting a host costs one
// repeated notice to the other agents. A forgotten address rests as if no other agent had
// sites there, until a host there is looked up again.
const addressesInMemory = 1 << 14

// addressFound announces at which address a host is.
func (c *Crawler) addressFound(b journal.Batch, h *hosts.Host) error {
	if c.opt.Sites == nil || h.Address == "" || !h.Resolved {
		return nil
	}
	key := page.Key(h.Name + " " + h.Address)
	if _, known := c.addressesTold.Get(key); known {
		return nil
	}
	c.addressesTold.Put(key, struct{}{})
	return c.sendAddress(b, c.addressOf(h))
}

func (c *Crawler) addressOf(h *hosts.Host) addressNotice {
	ad := addressNotice{Addr: h.Address, Parts: []uint16{0}}
	if c.opt.Sites != nil {
		ad.Parts[0] = c.opt.Sites.Part("http://" + h.Name + "/")
	}
	return ad
}

// sendAddress sends a notice to the owner of the address's part.
func (c *Crawler) sendAddress(b journal.Batch, ad addressNotice) error {
	return c.sendAddressTo(b, ad.Part(c.opt.Sites), ad)
}

// sendAddressTo sends a notice to the owner of a part, which may be this agent.
func (c *Crawler) sendAddressTo(b journal.Batch, part uint16, ad addressNotice) error {
	if c.opt.Sites.Ours(part) {
		if ad.Shared {
			return c.shareAddress(b, ad)
		}
		return c.enterAddress(b, ad)
	}
	data := (&Parcel{Addresses: []addressNotice{ad}}).Pack()
	return store.OutboxIn(journal.Stored(b)).Put(part, c.totals.Counts(), data)
}

// enterAddress records which parts have sites at an address, and tells the sender of the
// others. It tells the others too while they are few, and then whenever their number has grown
// by a quarter; otherwise each of thousands would be told of each.
func (c *Crawler) enterAddress(b journal.Batch, ad addressNotice) error {
	records, part := store.AddressesIn(journal.Stored(b)), uint16(0)
	if c.opt.Sites != nil {
		part = ad.Part(c.opt.Sites)
	}
	known, err := records.At(part, ad.Addr)
	if err != nil {
		return err
	}
	had, all := known.Sites, slices.Clone(known.Sites)
	for _, p := range ad.Parts {
		if at, known := slices.BinarySearch(all, p); !known && len(all) < mostParts {
			all = slices.Insert(all, at, p)
		}
	}
	if first := cmp.Or(known.First, ad.Site); len(all) > len(had) || first != known.First {
		known.Sites, known.First = all, first
		if err := records.Put(known); err != nil {
			return err
		}
	}
	if c.opt.Sites == nil {
		return c.shareAddress(b, addressNotice{Addr: ad.Addr, Parts: all, Shared: true, Site: known.First})
	}
	if len(all) < 2 && ad.Site == "" {
		return nil
	}
	tell := ad.Parts
	if len(all) > len(had) && (len(all) <= fewSites || rung(len(all)) > rung(len(had))) {
		tell = all
	}
	for _, p := range tell {
		if err := c.sendAddressTo(b, p, addressNotice{Addr: ad.Addr, Parts: all, Shared: true, Site: known.First}); err != nil {
			return err
		}
	}
	return nil
}

// fewSites is up to how many parts all are told of each new one.
const fewSites = 16

// rung grows by one whenever n has grown by about a quarter.
func rung(n int) int { return int(3 * math.Log2(float64(max(1, n)))) }

// shareAddress takes in which parts have sites at an address, and which site owns it.
func (c *Crawler) shareAddress(b journal.Batch, ad addressNotice) error {
	key := page.Key(ad.Addr)
	if had, known := c.addressesShared.Get(key); !known {
		c.addressesShared.Put(key, ad.Parts)
	} else if len(had) <= len(ad.Parts) {
		c.addressesShared.Set(key, ad.Parts)
	}
	if ad.Site == "" {
		return nil
	}
	return c.addressClaims.answered(c.hosts, b, ad)
}

// foldAddress returns the factor by which an address rests longer because other agents ask it
// too.
func (c *Crawler) foldAddress(address string) float64 {
	if c.opt.Sites == nil {
		return 1
	}
	parts, known := c.addressesShared.Peek(page.Key(address))
	if !known {
		return 1
	}
	ours := 0
	for _, p := range parts {
		if c.opt.Sites.Held(p) {
			ours++
		}
	}
	return float64(len(parts)) / float64(max(1, ours))
}
