package crawler

import (
	"fmt"

	"fossick/crawler/health"
	"fossick/crawler/journal"
	"fossick/crawler/sitemaps"
	"fossick/crawler/traps"
	"fossick/fetch"
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
	record, err := c.journal.Host(name)
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
	site := page.Site(anyURL)
	h := &host{Host: record, party: c.frontier.Host(record.Name), site: site, known: !record.New,
		health:   health.NewHost(record, site),
		trap:     traps.Host{Name: record.Name, Site: site, Cuts: record.Cuts, News: record.News, Start: record.Start},
		sitemaps: sitemaps.Host{Record: record.Sitemaps}}
	_, h.resolved = c.resolved[h.party]
	c.forgetOthersRules(record)
	if record.RobotsAt != 0 {
		h.robots = &fetch.Robots{}
		if err := h.robots.UnmarshalText(record.Robots); err != nil {
			return nil, fmt.Errorf("host %s: stored robots.txt: %w", record.Name, err)
		}
	}
	return h, nil
}

// putHost journals what is known of a host.
func (c *Crawler) putHost(b journal.Batch, h *host) error {
	if !h.known {
		h.known = true
		c.knownHosts++
	}
	h.Cuts, h.News, h.Start = h.trap.Cuts, h.trap.News, h.trap.Start
	h.Sitemaps = h.sitemaps.Record
	return b.PutHost(h.Host)
}

// countSite counts a page of a host's site, or takes one back; only where there
// is a limit, for the sites are kept in memory.
func (c *Crawler) countSite(h *host, pages int) {
	if c.opt.MaxPerSite > 0 {
		c.sites[h.site] += uint64(pages)
	}
}
