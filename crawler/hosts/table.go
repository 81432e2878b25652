package hosts

import (
	"fmt"
	"math"
	"net/netip"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/frontier"
	"fossick/crawler/journal"
	"fossick/internal/page"
	"fossick/store"
)

// Host is the owner's state of one host.
type Host struct {
	*store.Host
	Party    frontier.Host
	Jobs     int // jobs in flight that use it
	Site     string
	Health   health
	Trap     trapState          // owns Cuts, News and Start of the record; see Table.Put
	Maps     sitemapState       // owns its Sitemaps
	Resolved bool               // its address is known, or a proxy knows it
	Rules    *fetch.Robots      // nil until fetched in this session or read from the store
	Reserved fetch.Reservations // from its tdmrep.json, where the crawl asks for it
	Hop      string             // robots.txt redirected to this URL
	Hops     int

	known bool // has a record in the journal
}

// Options hold for all hosts; see crawler.Options.
type Options struct {
	Agent      string
	Delay      Delay
	MaxPerHost uint64
	MaxPerSite uint64
	Now        func() time.Time
	Further    int // requests that a page may have made beside the first when the session before was killed

	// Fold multiplies the rest of an address at which several agents may have sites.
	Fold func(address string) float64
}

// Table holds the owner's state of hosts: records, addresses, rules, rests, and pages per
// site. It maintains the frontier's parties; the queue decides which URL of a host is next.
type Table struct {
	opt      Options
	journal  journal.Journal
	frontier *frontier.Frontier
	network  *Network
	traps    *TrapDetector

	cache    cache
	resolved map[frontier.Host]int64 // hosts whose address was looked up, and when; Unix seconds
	sites    map[string]uint64       // pages per site, including those in flight; see CountSite
	known    int                     // hosts with a record in the journal
	gave     int                     // of these, those with a page
}

// New returns an empty table.
func New(opt Options, j journal.Journal, f *frontier.Frontier, n *Network, d *TrapDetector) *Table {
	return &Table{opt: opt, journal: j, frontier: f, network: n, traps: d,
		cache: newCache(hostsInMemory), resolved: map[frontier.Host]int64{}, sites: map[string]uint64{}}
}

// Get returns a host from memory or from the journal. It must not be called while an open
// batch changes the host.
func (t *Table) Get(name, anyURL string) (*Host, error) {
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

func (t *Table) newHost(record *store.Host, anyURL string) (*Host, error) {
	site := page.Site(anyURL)
	h := &Host{Host: record, Party: t.frontier.Host(record.Name), Site: site, known: !record.New,
		Health: newHealth(record, site),
		Trap:   trapState{Name: record.Name, Site: site, Cuts: record.Cuts, News: record.News, Start: record.Start},
		Maps:   sitemapState{Record: record.Sitemaps}}
	_, h.Resolved = t.resolved[h.Party]
	forgetOthersRules(record, t.opt.Agent)
	if record.RobotsAt != 0 {
		h.Rules = &fetch.Robots{}
		if err := h.Rules.UnmarshalText(record.Robots); err != nil {
			return nil, fmt.Errorf("host %s: stored robots.txt: %w", record.Name, err)
		}
	}
	if len(record.TDM) > 0 {
		var err error
		if h.Reserved, err = fetch.ParseReservations(record.TDM); err != nil {
			return nil, fmt.Errorf("host %s: stored %w", record.Name, err)
		}
	}
	return h, nil
}

// Put journals the state of a host.
func (t *Table) Put(b journal.Batch, h *Host) error {
	if !h.known {
		h.known = true
		t.known++
	}
	h.Cuts, h.News, h.Start = h.Trap.Cuts, h.Trap.News, h.Trap.Start
	h.Sitemaps = h.Maps.Record
	return b.PutHost(h.Host)
}

// Restore lets a host of an earlier session rest as if all exchanges for a page had just ended. They may
// have been in flight when that session was killed. The frontier is told only of hosts that rest longer
// than the delay. Nothing else of the host stays in memory.
func (t *Table) Restore(record *store.Host, now time.Time) (*Host, error) {
	h, err := t.newHost(record, "http://"+record.Name+"/")
	if err != nil {
		return nil, err
	}
	if record.Pages > 0 {
		t.gave++
		t.CountSite(h, int(record.Pages))
	}
	t.known++
	t.traps.restore(&h.Trap, record.Pages, record.Relevant)
	left := max(t.opt.Delay.of(h.Failures, &fetch.Response{Further: t.opt.Further}, 0, t.crawlDelay(h)).Host, RestLeft(record, now))
	if left <= t.opt.Delay.Load(0) {
		return h, nil
	}
	if h.Failures > 0 {
		t.frontier.RestInDoubt(h.Party, now.Add(left))
	} else {
		t.frontier.Rest(h.Party, now.Add(left))
	}
	if record.Address != "" && t.opt.Delay.byTime() { // the record does not say which part is the address's
		t.frontier.RestAddress(record.Address, now.Add(min(left, addressRestMost)))
	}
	return h, nil
}

// Cut says why a URL belongs to a known trap of its host; "" if it does not.
func (t *Table) Cut(url string) string {
	if h := t.cache.get(page.Host(url)); h != nil {
		return t.traps.Cut(&h.Trap, url)
	}
	return ""
}

// CountPage counts a stored page of a host.
func (t *Table) CountPage(h *Host) {
	if h.Pages == 0 {
		t.gave++
	}
	h.Pages++
	t.CountSite(h, 1)
}

// DropPage uncounts a page of a host.
func (t *Table) DropPage(h *Host, relevant bool) {
	if h.Pages == 0 {
		return // stored before its host's record was lost
	}
	if h.Pages--; h.Pages == 0 {
		t.gave--
	}
	if relevant && h.Relevant > 0 {
		h.Relevant--
	}
	t.CountSite(h, -1)
}

// CountSite changes a site's count of pages. It counts only where there is a limit, since the
// sites are kept in memory.
func (t *Table) CountSite(h *Host, pages int) {
	if t.opt.MaxPerSite > 0 {
		t.sites[h.Site] += uint64(pages)
	}
}

// Full says why a host may give no more pages; "" when it may.
func (t *Table) Full(h *Host) string {
	switch {
	case t.opt.MaxPerHost > 0 && h.Pages >= t.opt.MaxPerHost:
		return fmt.Sprintf("the host has reached its limit of %d pages", t.opt.MaxPerHost)
	case t.opt.MaxPerSite > 0 && t.sites[h.Site] >= t.opt.MaxPerSite:
		return fmt.Sprintf("the site has reached its limit of %d pages", t.opt.MaxPerSite)
	}
	return ""
}

// forgetOthersRules drops stored rules that were narrowed to another user agent, or by a build that kept less
// of robots.txt: a 304 would keep them for ever.
func forgetOthersRules(record *store.Host, agent string) {
	if record.RobotsAt != 0 && (record.RobotsAgent != agent || record.RobotsVersion != fetch.RobotsVersion) {
		record.Robots, record.RobotsAt, record.RobotsCode = nil, 0, 0
		record.RobotsETag, record.RobotsModified = "", ""
	}
}

// RobotsFresh reports whether the rules of h are known and less than a day old.
func (t *Table) RobotsFresh(h *Host) bool {
	return h.Rules != nil && t.fresh(h.RobotsAt)
}

// ReservedFresh reports whether the host's tdmrep.json was requested less than a day ago.
func (t *Table) ReservedFresh(h *Host) bool { return h.TDMAt != 0 && t.fresh(h.TDMAt) }

func (t *Table) fresh(at int64) bool {
	age := t.opt.Now().Sub(time.UnixMilli(at))
	return age < fetch.RobotsTTL && age >= -clockSlack
}

// Known returns the number of hosts in the journal.
func (t *Table) Known() int { return t.known }

// Gave returns the number of hosts that gave a page.
func (t *Table) Gave() int { return t.gave }

// KeepAll keeps all hosts in memory, for a journal that is in memory itself.
func (t *Table) KeepAll() { t.KeepAtMost(math.MaxInt) }

// KeepAtMost sets the size of each half of the cache.
func (t *Table) KeepAtMost(hosts int) { t.cache.limit = hosts }

// InMemory returns the number of hosts in memory.
func (t *Table) InMemory() int { return len(t.cache.young) + len(t.cache.old) }

// Hosts at one address form one party. The address is the one that answers, since a name
// server may list unrelated ones first. So a look-up tests which address takes a connection.
// Exchanges connect to that address alone, while its party is leased. When it no longer takes
// connections, the host leaves the party and is looked up again.

// lookUpAgain is how long an address holds, as for robots.txt.
const lookUpAgain = fetch.RobotsTTL

// SettleAddress records a host's address and joins it to the party at that address. No
// exchange with the host may be in progress.
func (t *Table) SettleAddress(h *Host, addr netip.Addr) {
	h.Resolved = true
	t.resolved[h.Party] = t.opt.Now().Unix()
	if !addr.IsValid() {
		return // a proxy looks it up
	}
	if is := addr.String(); is != h.Address {
		if h.Address != "" {
			h.Moved = t.opt.Now().UnixMilli()
		}
		h.Address = is
	}
	t.frontier.Join(h.Party, h.Address)
}

func (t *Table) forgetAddress(h *Host) {
	h.Resolved = false
	delete(t.resolved, h.Party)
	t.frontier.Leave(h.Party)
}

// ReviewAddress checks a host's address against a finished exchange.
func (t *Table) ReviewAddress(h *Host, r *fetch.Response, due Rest) {
	if !h.Resolved {
		return
	}
	now := t.opt.Now()
	switch {
	case r.Addr.IsValid() && r.Addr.String() != h.Address: // on an earlier connection
		t.SettleAddress(h, r.Addr)
		t.frontier.RestAddress(h.Address, now.Add(due.Address))
	case r.State == fetch.StateConnectError, r.State == fetch.StateConnectTimeout,
		now.Sub(time.Unix(t.resolved[h.Party], 0)) > lookUpAgain:
		t.forgetAddress(h)
	}
}

// Addr returns the address for exchanges with a host; the zero address when a proxy looks it
// up or it is unknown.
func (h *Host) Addr() netip.Addr {
	if !h.Resolved || h.Address == "" {
		return netip.Addr{}
	}
	addr, err := netip.ParseAddr(h.Address)
	if err != nil {
		return netip.Addr{}
	}
	return addr
}

// cache keeps the hosts asked for last. A forgotten host is read again from the store; its
// failures in this session start anew.
type cache struct {
	young, old map[string]*Host // old is dropped when young is full
	limit      int              // of young
}

// hostsInMemory is the size of each half of the cache. Most hosts take some hundred bytes;
// long robots rules and trap state take some thousand.
const hostsInMemory = 4096

func newCache(limit int) cache {
	return cache{young: map[string]*Host{}, old: map[string]*Host{}, limit: limit}
}

func (hc *cache) get(name string) *Host {
	if h := hc.young[name]; h != nil {
		return h
	}
	h := hc.old[name]
	if h != nil {
		hc.put(h)
	}
	return h
}

// put adds a host. Hosts with jobs in flight stay: a host about to change must have one record
// only.
func (hc *cache) put(h *Host) {
	if len(hc.young) >= hc.limit {
		given := hc.old
		hc.old, hc.young = hc.young, map[string]*Host{}
		for name, h := range given {
			if h.Jobs > 0 && hc.old[name] == nil {
				hc.young[name] = h
			}
		}
	}
	hc.young[h.Name] = h
}
