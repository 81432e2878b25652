package crawler

import (
	"fmt"

	"fossick/fetch"
	"fossick/frontier"
	"fossick/page"
	"fossick/store"
)

// hostCache keeps the hosts that were asked for last. What it forgets is read
// again from the store; what the store does not keep of a host, failures to
// reach it in this session, begins anew.
type hostCache struct {
	young, old map[string]*host // old is given up when young is full
	limit      int              // of young
}

// hostsInMemory is how many hosts each half of the cache holds. Most have some
// hundred bytes; long robots rules, and what a trap is known by, some thousand.
const hostsInMemory = 4096

func newHostCache(limit int) hostCache {
	return hostCache{young: map[string]*host{}, old: map[string]*host{}, limit: limit}
}

func (hc *hostCache) get(name string) *host {
	if h := hc.young[name]; h != nil {
		return h
	}
	h := hc.old[name]
	if h != nil {
		hc.put(h)
	}
	return h
}

// put takes a host in. Hosts with jobs in flight stay: there must be one record
// of a host that is about to change.
func (hc *hostCache) put(h *host) {
	if len(hc.young) >= hc.limit {
		given := hc.old
		hc.old, hc.young = hc.young, map[string]*host{}
		for name, h := range given {
			if h.jobs > 0 && hc.old[name] == nil {
				hc.young[name] = h
			}
		}
	}
	hc.young[h.Name] = h
}

// host returns the record of a host, read from the store when it is not in
// memory. It must not be called while a batch is open that changes the host.
func (c *Crawler) host(name, anyURL string) (*host, error) {
	if h := c.hosts.get(name); h != nil {
		return h, nil
	}
	record, err := c.store.Host(name)
	if err != nil {
		return nil, err
	}
	h, err := c.newHost(record, anyURL)
	if err != nil {
		return nil, err
	}
	c.hosts.put(h)
	return h, nil
}

func (c *Crawler) newHost(record *store.Host, anyURL string) (*host, error) {
	h := &host{Host: record, party: c.frontier.Host(record.Name), site: page.Site(anyURL), known: !record.New}
	_, h.resolved = c.resolved[h.party]
	if record.RobotsAt != 0 {
		h.robots = &fetch.Robots{}
		if err := h.robots.UnmarshalText(record.Robots); err != nil {
			return nil, fmt.Errorf("host %s: stored robots.txt: %w", record.Name, err)
		}
	}
	return h, nil
}

// putHost journals what is known of a host.
func (c *Crawler) putHost(b *store.Batch, h *host) error {
	if !h.known {
		h.known = true
		c.knownHosts++
	}
	return b.PutHost(h.Host)
}

// countSite counts a page of a host's site, or takes one back; only where there
// is a limit, for the sites are kept in memory.
func (c *Crawler) countSite(h *host, pages int) {
	if c.opt.MaxPerSite > 0 {
		c.sites[h.site] += uint64(pages)
	}
}

// places remembers what the journal says of the URLs that were queued last, so
// that a small crawl never asks the disk: one slot for each remainder of the
// URL's number.
type places []placed

type placed struct {
	id       store.ID
	priority float64
	visits   int
}

const placesInMemory = 1 << 16

func (p *places) put(id store.ID, q store.Queued) {
	if *p == nil {
		*p = make(places, placesInMemory)
	}
	(*p)[uint64(id)%placesInMemory] = placed{id, q.Priority, q.Visits}
}

// place returns the priority of a URL that waits, as it was journalled last, and
// the exchanges made for it.
func (c *Crawler) place(b *store.Batch, id store.ID) (priority float64, visits int, err error) {
	if c.places != nil {
		if p := c.places[uint64(id)%placesInMemory]; p.id == id {
			return p.priority, p.visits, nil
		}
	}
	q, err := b.Queued(id)
	if err != nil {
		return 0, 0, fmt.Errorf("URL %d of the queue: %w", id, err)
	}
	c.places.put(id, q)
	return q.Priority, q.Visits, nil
}

// putQueued journals a URL's place.
func (c *Crawler) putQueued(b *store.Batch, id store.ID, q store.Queued) error {
	c.places.put(id, q)
	return b.PutQueued(id, q)
}

// item is a URL as the frontier knows it.
func (c *Crawler) item(id store.ID, host frontier.Host, url string, priority float64) frontier.Item {
	return frontier.Item{ID: frontier.ID(id), Host: host, Priority: priority, Key: page.Key(url)}
}
