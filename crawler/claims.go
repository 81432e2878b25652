package crawler

import (
	"fmt"
	"slices"
	"time"

	"fossick/crawler/hosts"
	"fossick/crawler/journal"
)

// claims decide which site owns an address in a crawl that takes one site per address (paper
// C, C2). The first site whose host is looked up owns it, across restarts and agents: the
// owner of the address's part records it. Hosts of other sites there are dropped.
//
// Look-ups run side by side. So that chance does not decide, a host claims its address only
// when all earlier look-ups have ended or have taken longer than claimWait.
type claims struct {
	lookups []*lookup // in order of their start
	asked   []string  // hosts whose claim is not answered yet
}

// lookup is the look-up of one host.
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
		c.addressClaims.lookups = append(c.addressClaims.lookups, &lookup{host: h.Name, began: c.opt.Now()})
	}
}

// waitsForAddress reports whether a host's claim is pending.
func (c *Crawler) waitsForAddress(h *hosts.Host) bool {
	w := &c.addressClaims
	return slices.Contains(w.asked, h.Name) || slices.ContainsFunc(w.lookups, func(l *lookup) bool { return l.host == h.Name })
}

// unclaimed reports whether a host has an address that it never claimed, as after a session
// without the option.
func (c *Crawler) unclaimed(h *hosts.Host) bool {
	return c.opt.OneSitePerAddress && h.AddressSite == "" && h.Address != "" && !c.waitsForAddress(h)
}

// over ends a host's look-up, and returns the hosts that may claim now.
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

// answered takes in which site owns an address.
func (c *claims) answered(t *hosts.Table, b journal.Batch, ad addressNotice) error {
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

// lookedUp ends a host's look-up, and lets the hosts claim that may.
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
		say := c.sendAddress
		if c.opt.Sites == nil {
			say = c.enterAddress
		}
		if err := say(b, ad); err != nil {
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
