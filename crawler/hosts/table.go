package hosts

import (
	"fmt"
	"math"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/frontier"
	"fossick/crawler/journal"
	"fossick/internal/page"
	"fossick/store"
)

// Host is what the owner knows of one host.
type Host struct {
	*store.Host
	Party    frontier.Host
	Jobs     int // in flight that use it
	Site     string
	Health   host
	Trap     trapsHost          // Cuts, News and Start of the record are here; see Table.Put
	Maps     sitemapsHost       // and its Sitemaps
	Resolved bool               // its address is known, or a proxy knows it
	Rules    *fetch.Robots      // nil until fetched in this session or read from the store
	Reserved fetch.Reservations // by its tdmrep.json, where the crawl asks for it
	Hop      string             // robots.txt was redirected to this URL
	Hops     int

	known bool // to the journal
}

// Options are what holds for all hosts; see crawler.Options.
type Options struct {
	Agent      string
	Delay      Delay
	MaxPerHost uint64
	MaxPerSite uint64
	Now        func() time.Time

	// Fold is how many times as long an address rests as others do: sites of several agents
	// may be there.
	Fold func(address string) float64
}

// Table is what the owner knows of hosts: their records, addresses, rules and rests,
// and how many pages each site gave. It leads the frontier's parties; which URL of a host
// is next, the queue decides.
type Table struct {
	opt      Options
	journal  journal.Journal
	frontier *frontier.Frontier
	network  *Network
	traps    *Detector

	cache    cache
	resolved map[frontier.Host]int64 // hosts whose address was looked up, and when; Unix seconds
	sites    map[string]uint64       // pages a site, those in flight included; see CountSite
	known    int                     // with a record in the journal
	gave     int                     // of these, those that gave a page
}

// New returns a table that knows no host yet.
func New(opt Options, j journal.Journal, f *frontier.Frontier, n *Network, d *Detector) *Table {
	return &Table{opt: opt, journal: j, frontier: f, network: n, traps: d,
		cache: newCache(hostsInMemory), resolved: map[frontier.Host]int64{}, sites: map[string]uint64{}}
}

// Get returns a host, read from the journal when it is not in memory. It must not be
// called while a batch is open that changes the host.
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
		Health: newHost(record, site),
		Trap:   trapsHost{Name: record.Name, Site: site, Cuts: record.Cuts, News: record.News, Start: record.Start},
		Maps:   sitemapsHost{Record: record.Sitemaps}}
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

// Put journals what is known of a host.
func (t *Table) Put(b journal.Batch, h *Host) error {
	if !h.known {
		h.known = true
		t.known++
	}
	h.Cuts, h.News, h.Start = h.Trap.Cuts, h.Trap.News, h.Trap.Start
	h.Sitemaps = h.Maps.Record
	return b.PutHost(h.Host)
}

// Restore has a host of an earlier session rest as if an exchange had just ended. Whether
// one was in flight when that session was killed, nobody knows. All rest the delay anyway,
// so the frontier is told only of those that rest longer. Nothing else of the host stays in
// memory.
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
	left := max(t.opt.Delay.After(h.Failures, 0, t.crawlDelay(h), 0).Host, RestLeft(record, now))
	if left <= t.opt.Delay.Load(0) {
		return h, nil
	}
	if h.Failures > 0 {
		t.frontier.RestInDoubt(h.Party, now.Add(left))
	} else {
		t.frontier.Rest(h.Party, now.Add(left))
	}
	if record.Address != "" && t.opt.Delay.byTime() { // the record does not say how much of it is due to the address
		t.frontier.RestAddress(record.Address, now.Add(min(left, addressRestMost)))
	}
	return h, nil
}

// Cut says why a URL is a trap's by what is known of its host, "" when it is not.
func (t *Table) Cut(url string) string {
	if h := t.cache.get(page.Host(url)); h != nil {
		return t.traps.Cut(&h.Trap, url)
	}
	return ""
}

// CountPage counts a page that a host gave.
func (t *Table) CountPage(h *Host) {
	if h.Pages == 0 {
		t.gave++
	}
	h.Pages++
	t.CountSite(h, 1)
}

// DropPage takes back a page that a host gave.
func (t *Table) DropPage(h *Host, relevant bool) {
	if h.Pages == 0 {
		return // it was stored before its host's record was lost
	}
	if h.Pages--; h.Pages == 0 {
		t.gave--
	}
	if relevant && h.Relevant > 0 {
		h.Relevant--
	}
	t.CountSite(h, -1)
}

// CountSite counts a page of a host's site, or takes one back; only where there
// is a limit, for the sites are kept in memory.
func (t *Table) CountSite(h *Host, pages int) {
	if t.opt.MaxPerSite > 0 {
		t.sites[h.Site] += uint64(pages)
	}
}

// Full says why a host may give no more pages, "" when it may.
func (t *Table) Full(h *Host) string {
	switch {
	case t.opt.MaxPerHost > 0 && h.Pages >= t.opt.MaxPerHost:
		return fmt.Sprintf("the host has reached its limit of %d pages", t.opt.MaxPerHost)
	case t.opt.MaxPerSite > 0 && t.sites[h.Site] >= t.opt.MaxPerSite:
		return fmt.Sprintf("the site has reached its limit of %d pages", t.opt.MaxPerSite)
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

// RobotsFresh says whether the rules of h are known and less than a day old.
func (t *Table) RobotsFresh(h *Host) bool {
	return h.Rules != nil && t.fresh(h.RobotsAt)
}

// ReservedFresh says whether the host's tdmrep.json was asked for less than a day ago.
func (t *Table) ReservedFresh(h *Host) bool { return h.TDMAt != 0 && t.fresh(h.TDMAt) }

func (t *Table) fresh(at int64) bool {
	age := t.opt.Now().Sub(time.UnixMilli(at))
	return age < fetch.RobotsTTL && age >= -clockSlack
}

// Known is how many hosts the journal has.
func (t *Table) Known() int { return t.known }

// Gave is how many hosts gave a page.
func (t *Table) Gave() int { return t.gave }

// KeepAll has the table forget no host: for a journal in memory, which would keep what is
// forgotten here.
func (t *Table) KeepAll() { t.KeepAtMost(math.MaxInt) }

// KeepAtMost sets how many hosts each half of the memory has room for.
func (t *Table) KeepAtMost(hosts int) { t.cache.limit = hosts }

// InMemory is how many hosts are in memory.
func (t *Table) InMemory() int { return len(t.cache.young) + len(t.cache.old) }
