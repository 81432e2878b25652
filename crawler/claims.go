package crawler

import (
	"fmt"
	"slices"
	"time"

	"fossick/crawler/hosts"
	"fossick/crawler/journal"
)

// claims decide which site has an address, of a crawl that takes one site an address (paper
// C, C2). The first site whose host is looked up has it, and keeps it, over restarts and among
// agents: whoever has the part of the address remembers it. Hosts of other sites there are
// dropped.
//
// Look-ups go on side by side. So that chance does not decide, a host claims its address when
// the look-ups that began before its own are over, or have taken longer than claimWait.
type claims struct {
	lookups []*lookup // in the order in which they began
	asked   []string  // hosts of which nobody has said yet who has their address
}

// lookup is one host's.
type lookup struct {
	host        string
	began       time.Time
	over, found bool
}

const (
	// claimWait is how long a host waits for earlier look-ups at most.
	claimWait = 2 * time.Second
	// claimAgain is when a host that waits for its claim is looked at again.
	claimAgain = 100 * time.Millisecond
)

// beginLookup notes that a host is being looked up.
func (c *Crawler) beginLookup(h *hosts.Host) {
	if c.opt.OneSitePerAddress && h.AddressSite == "" {
		c.addressClaims.lookups = append(c.addressClaims.lookups, &lookup{host: h.Name, began: c.opt.Now()})
	}
}

// waitsForAddress says whether a host waits for its claim, or for what becomes of it.
func (c *Crawler) waitsForAddress(h *hosts.Host) bool {
	w := &c.addressClaims
	return slices.Contains(w.asked, h.Name) || slices.ContainsFunc(w.lookups, func(l *lookup) bool { return l.host == h.Name })
}

// unclaimed says that a host has an address which it never claimed, as one of an earlier
// session without the option.
func (c *Crawler) unclaimed(h *hosts.Host) bool {
	return c.opt.OneSitePerAddress && h.AddressSite == "" && h.Address != "" && !c.waitsForAddress(h)
}

// over notes the end of a host's look-up, and returns the hosts that may claim now.
func (c *claims) over(host string, found bool, now time.Time) (ready []string) {
	for _, l := range c.lookups {
		if l.host == host {
			l.over, l.found = true, found
		}
	}
	left, held := c.lookups[:0], false
	for _, l := range c.lookups {
		switch {
		case !l.over:
			held = held || now.Sub(l.began) < claimWait
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

// answered takes in which site has an address.
func (c *claims) answered(t *hosts.Table, b journal.Batch, ad acrossAddress) error {
	left := c.asked[:0]
	for _, name := range c.asked {
		h, err := t.Get(name, "http://"+name+"/")
		if err != nil {
			return err
		}
		if h.Address != ad.Addr {
			left = append(left, name)
			continue
		}
		h.AddressSite = ad.Site
		if err := t.Put(b, h); err != nil {
			return err
		}
	}
	clear(c.asked[len(left):])
	c.asked = left
	return nil
}

// lookedUp notes the end of a host's look-up, and has the hosts claim that may.
func (c *Crawler) lookedUp(b journal.Batch, h *hosts.Host, found bool) error {
	if !c.opt.OneSitePerAddress {
		return nil
	}
	for _, name := range c.addressClaims.over(h.Name, found && h.Address != "", c.opt.Now()) {
		c.addressClaims.asked = append(c.addressClaims.asked, name)
		h, err := c.hosts.Get(name, "http://"+name+"/")
		if err != nil {
			return err
		}
		ad := c.addressOf(h)
		ad.Site = h.Site
		say := c.sayAddress
		if c.opt.Sites == nil {
			say = c.enterAddress
		}
		if err := say(b, ad); err != nil {
			return err
		}
	}
	return nil
}

// addressDropped says why a host is not asked for anything, "" when it may be.
func (c *Crawler) addressDropped(h *hosts.Host) string {
	if !c.opt.OneSitePerAddress || h.AddressSite == "" || h.AddressSite == h.Site {
		return ""
	}
	return fmt.Sprintf("its address %s belongs to the site %s, and the crawl takes one site per address", h.Address, h.AddressSite)
}
