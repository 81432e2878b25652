package crawler

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

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
	if !c.opt.several() || h.Address == "" || !h.Resolved {
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
	return addressNotice{Addr: h.Address, Parts: []uint16{c.opt.Sites.Part("http://" + h.Name + "/")}}
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
	return store.OutboxIn(journal.Stored(b)).Put(part, &c.totals.Counts, data)
}

// enterAddress records which parts have sites at an address, and tells the sender of the
// others. It tells the others too while they are few, and then whenever their number has grown
// by a quarter; otherwise each of thousands would be told of each.
func (c *Crawler) enterAddress(b journal.Batch, ad addressNotice) error {
	records := store.AddressesIn(journal.Stored(b))
	known, err := records.At(ad.Part(c.opt.Sites), ad.Addr)
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
	return c.claimsAnswered(b, ad)
}

// foldAddress returns the factor by which an address rests longer because other agents ask it
// too.
func (c *Crawler) foldAddress(address string) float64 {
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

// In a crawl that takes one site per address, the first site whose host is looked up owns the
// address, across restarts and agents (paper C, C2): the owner of the address's part records
// it. Hosts of other sites there are dropped.
//
// Look-ups run side by side. So that chance does not decide, a host claims its address only
// when all earlier look-ups have ended or have taken longer than claimWait.

// lookup is the look-up of one host that claims its address.
type lookup struct {
	host        string
	began       time.Time
	over, found bool
}

const (
	// claimWait bounds how long a host waits for earlier look-ups.
	claimWait = 2 * time.Second
	// claimAgain is how long a waiting host rests before its claim is checked again.
	claimAgain = 100 * time.Millisecond
)

func (c *Crawler) beginLookup(h *hosts.Host) {
	if c.opt.OneSitePerAddress && h.AddressSite == "" {
		c.lookups = append(c.lookups, &lookup{host: h.Name, began: c.opt.Now()})
	}
}

// waitsForAddress reports whether a host's claim is pending.
func (c *Crawler) waitsForAddress(h *hosts.Host) bool {
	return slices.Contains(c.claims, h.Name) || slices.ContainsFunc(c.lookups, func(l *lookup) bool { return l.host == h.Name })
}

// unclaimed reports whether a host has an address that it never claimed, as after a session
// without the option.
func (c *Crawler) unclaimed(h *hosts.Host) bool {
	return c.opt.OneSitePerAddress && h.AddressSite == "" && h.Address != "" && !c.waitsForAddress(h)
}

// lookupOver ends a host's look-up, and returns the hosts that may claim now.
func (c *Crawler) lookupOver(host string, found bool) (ready []string) {
	for _, l := range c.lookups {
		if l.host == host {
			l.over, l.found = true, found
		}
	}
	left, held := c.lookups[:0], false
	for _, l := range c.lookups {
		switch {
		case !l.over:
			held = held || c.opt.Now().Sub(l.began) < claimWait
		case l.found && held:
		default:
			if l.found {
				ready = append(ready, l.host)
			}
			continue
		}
		left = append(left, l)
	}
	clear(c.lookups[len(left):])
	c.lookups = left
	return ready
}

// claimsAnswered takes in which site owns an address.
func (c *Crawler) claimsAnswered(b journal.Batch, ad addressNotice) error {
	left := c.claims[:0]
	for _, name := range c.claims {
		h, err := c.hosts.Get(name, "http://"+name+"/")
		if err != nil {
			return err
		}
		if h.Address != ad.Addr {
			left = append(left, name)
			continue
		}
		h.AddressSite = ad.Site
		if err := c.hosts.Put(b, h); err != nil {
			return err
		}
	}
	clear(c.claims[len(left):])
	c.claims = left
	return nil
}

// lookedUp ends a host's look-up, and lets the hosts claim that may.
func (c *Crawler) lookedUp(b journal.Batch, h *hosts.Host, found bool) error {
	if !c.opt.OneSitePerAddress {
		return nil
	}
	for _, name := range c.lookupOver(h.Name, found && h.Address != "") {
		c.claims = append(c.claims, name)
		h, err := c.hosts.Get(name, "http://"+name+"/")
		if err != nil {
			return err
		}
		ad := c.addressOf(h)
		ad.Site = h.Site
		if err := c.sendAddress(b, ad); err != nil {
			return err
		}
	}
	return nil
}

// addressDropped says why nothing is asked of a host, "" if it may be asked.
func (c *Crawler) addressDropped(h *hosts.Host) string {
	if !c.opt.OneSitePerAddress || h.AddressSite == "" || h.AddressSite == h.Site {
		return ""
	}
	return fmt.Sprintf("its address %s belongs to the site %s, and the crawl takes one site per address", h.Address, h.AddressSite)
}
