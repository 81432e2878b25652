package crawler

import (
	"fmt"
	"time"

	"fossick/crawler/health"
	"fossick/crawler/journal"
	"fossick/crawler/sitemaps"
	"fossick/crawler/traps"
	"fossick/fetch"
	"fossick/frontier"
	"fossick/page"
	"fossick/store"
)

// host is what the owner knows of one host.
type host struct {
	*store.Host
	party    frontier.Host
	known    bool // to the store
	jobs     int  // in flight that use it
	site     string
	health   health.Host
	trap     traps.Host    // Cuts, News and Start of the record are here; see hostTable.put
	sitemaps sitemaps.Host // and its Sitemaps
	resolved bool          // its address is known, or a proxy knows it
	robots   *fetch.Robots // nil until fetched in this session or read from the store
	hop      string        // robots.txt was redirected to this URL
	hops     int
}

// hostTable is what the owner knows of hosts: their records, addresses, rules and rests,
// and how many pages each site gave. It leads the frontier's parties; which URL of a host
// is next, the queue decides.
type hostTable struct {
	opt      *Options
	journal  journal.Journal
	frontier *frontier.Frontier
	network  *health.Network
	traps    *traps.Detector

	cache    hostCache
	resolved map[frontier.Host]int64 // hosts whose address was looked up, and when; Unix seconds
	sites    map[string]uint64       // pages a site, those in flight included; see countSite
	known    int                     // with a record in the journal
	gave     int                     // of these, those that gave a page
}

func newHostTable(opt *Options, j journal.Journal, f *frontier.Frontier, n *health.Network, d *traps.Detector) *hostTable {
	return &hostTable{opt: opt, journal: j, frontier: f, network: n, traps: d,
		cache: newHostCache(hostsInMemory), resolved: map[frontier.Host]int64{}, sites: map[string]uint64{}}
}

// get returns a host, read from the journal when it is not in memory. It must not be
// called while a batch is open that changes the host.
func (t *hostTable) get(name, anyURL string) (*host, error) {
	if h := t.cache.get(name); h != nil {
		return h, nil
	}
	record, err := t.journal.Host(name)
	if err != nil {
		return nil, err
	}
	h, err := t.newHost(record, anyURL)
	if err != nil {
		return nil, err
	}
	t.cache.put(h)
	return h, nil
}

func (t *hostTable) newHost(record *store.Host, anyURL string) (*host, error) {
	site := page.Site(anyURL)
	h := &host{Host: record, party: t.frontier.Host(record.Name), site: site, known: !record.New,
		health:   health.NewHost(record, site),
		trap:     traps.Host{Name: record.Name, Site: site, Cuts: record.Cuts, News: record.News, Start: record.Start},
		sitemaps: sitemaps.Host{Record: record.Sitemaps}}
	_, h.resolved = t.resolved[h.party]
	forgetOthersRules(record, t.opt.Agent)
	if record.RobotsAt != 0 {
		h.robots = &fetch.Robots{}
		if err := h.robots.UnmarshalText(record.Robots); err != nil {
			return nil, fmt.Errorf("host %s: stored robots.txt: %w", record.Name, err)
		}
	}
	return h, nil
}

// put journals what is known of a host.
func (t *hostTable) put(b journal.Batch, h *host) error {
	if !h.known {
		h.known = true
		t.known++
	}
	h.Cuts, h.News, h.Start = h.trap.Cuts, h.trap.News, h.trap.Start
	h.Sitemaps = h.sitemaps.Record
	return b.PutHost(h.Host)
}

// restore has a host of an earlier session rest as if an exchange had just ended. Whether
// one was in flight when that session was killed, nobody knows. All rest the delay anyway,
// so the frontier is told only of those that rest longer. Nothing else of the host stays in
// memory.
func (t *hostTable) restore(record *store.Host, now time.Time) (*host, error) {
	h, err := t.newHost(record, "http://"+record.Name+"/")
	if err != nil {
		return nil, err
	}
	if record.Pages > 0 {
		t.gave++
		t.countSite(h, int(record.Pages))
	}
	t.known++
	t.traps.Restore(&h.trap, record.Pages, record.Relevant)
	left := max(t.opt.Delay.After(h.Failures, 0, t.crawlDelay(h), 0).Host, health.RestLeft(record, now))
	if left <= t.opt.Delay.Load(0) {
		return h, nil
	}
	t.frontier.Rest(h.party, now.Add(left))
	if record.Address != "" && !t.opt.Delay.Fixed { // the record does not say how much of it is due to the address
		t.frontier.RestAddress(record.Address, now.Add(min(left, health.AddressRestMost)))
	}
	return h, nil
}

// cut says why a URL is a trap's by what is known of its host, "" when it is not.
func (t *hostTable) cut(url string) string {
	if h := t.cache.get(page.Host(url)); h != nil {
		return t.traps.Cut(&h.trap, url)
	}
	return ""
}

// countPage counts a page that a host gave.
func (t *hostTable) countPage(h *host) {
	if h.Pages == 0 {
		t.gave++
	}
	h.Pages++
	t.countSite(h, 1)
}

// countSite counts a page of a host's site, or takes one back; only where there
// is a limit, for the sites are kept in memory.
func (t *hostTable) countSite(h *host, pages int) {
	if t.opt.MaxPerSite > 0 {
		t.sites[h.site] += uint64(pages)
	}
}

// full says why a host may give no more pages, "" when it may.
func (t *hostTable) full(h *host) string {
	switch {
	case t.opt.MaxPerHost > 0 && h.Pages >= t.opt.MaxPerHost:
		return fmt.Sprintf("the host has its %d pages", t.opt.MaxPerHost)
	case t.opt.MaxPerSite > 0 && t.sites[h.site] >= t.opt.MaxPerSite:
		return fmt.Sprintf("the site has its %d pages", t.opt.MaxPerSite)
	}
	return ""
}

// forgetOthersRules drops stored rules that were narrowed to another user agent,
// as of a session under another name: what the file says of ours is not in them.
func forgetOthersRules(record *store.Host, agent string) {
	if record.RobotsAt != 0 && record.RobotsAgent != agent {
		record.Robots, record.RobotsAt, record.RobotsCode = nil, 0, 0
		record.RobotsETag, record.RobotsModified = "", ""
	}
}

// robotsFresh says whether the rules of h are known and less than a day old.
func (t *hostTable) robotsFresh(h *host) bool {
	age := t.opt.Now().Sub(time.UnixMilli(h.RobotsAt))
	return h.robots != nil && age < fetch.RobotsTTL && age >= -health.ClockSlack
}
