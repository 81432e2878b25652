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

// addressesInMemory is how many are remembered at least. Of a host that was forgotten the
// others are told once more; an address that was forgotten is asked as if it were ours alone
// until a host there is looked up again.
const addressesInMemory = 1 << 14

// addressFound says at which address a host is.
func (c *Crawler) addressFound(b journal.Batch, h *hosts.Host) error {
	if c.opt.Sites == nil || h.Address == "" || !h.Resolved {
		return nil
	}
	key := page.Key(h.Name + " " + h.Address)
	if _, known := c.addressesTold.Get(key); known {
		return nil
	}
	c.addressesTold.Put(key, struct{}{})
	return c.sayAddress(b, c.addressOf(h))
}

// addressOf is what there is to say of a host's address.
func (c *Crawler) addressOf(h *hosts.Host) acrossAddress {
	ad := acrossAddress{Addr: h.Address, Parts: []uint16{0}}
	if c.opt.Sites != nil {
		ad.Parts[0] = c.opt.Sites.Part("http://" + h.Name + "/")
	}
	return ad
}

// sayAddress takes what is known of an address to who has its part.
func (c *Crawler) sayAddress(b journal.Batch, ad acrossAddress) error {
	return c.sayAddressTo(b, ad.Part(c.opt.Sites), ad)
}

// sayAddressTo takes it to who has a part: that may be this agent.
func (c *Crawler) sayAddressTo(b journal.Batch, part uint16, ad acrossAddress) error {
	if c.opt.Sites.Ours(part) {
		if ad.Shared {
			return c.shareAddress(b, ad)
		}
		return c.enterAddress(b, ad)
	}
	data := (&Parcel{Addresses: []acrossAddress{ad}}).Pack()
	return store.OutboxIn(journal.Stored(b)).Put(part, c.totals.Counts(), data)
}

// enterAddress notes who has sites at an address. Whoever says so is told of the others. While they
// are few these are told each time, and then when there are a quarter more: else, of thousands,
// each would be told of each.
func (c *Crawler) enterAddress(b journal.Batch, ad acrossAddress) error {
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
		return c.shareAddress(b, acrossAddress{Addr: ad.Addr, Parts: all, Shared: true, Site: known.First})
	}
	if len(all) < 2 && ad.Site == "" {
		return nil
	}
	tell := ad.Parts
	if len(all) > len(had) && (len(all) <= fewSites || rung(len(all)) > rung(len(had))) {
		tell = all
	}
	for _, p := range tell {
		if err := c.sayAddressTo(b, p, acrossAddress{Addr: ad.Addr, Parts: all, Shared: true, Site: known.First}); err != nil {
			return err
		}
	}
	return nil
}

// fewSites is how many parts are told of each further one.
const fewSites = 16

// rung rises whenever a number has grown by a quarter.
func rung(n int) int { return int(3 * math.Log2(float64(max(1, n)))) }

// shareAddress takes in who has sites at an address, and which site has it.
func (c *Crawler) shareAddress(b journal.Batch, ad acrossAddress) error {
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

// foldAddress is how many times as long an address rests as if all of its sites were this agent's.
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
