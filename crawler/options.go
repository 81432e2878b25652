package crawler

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"time"

	"fossick/crawler/frontier"
	"fossick/crawler/hosts"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/store"
)

// Options are a crawl's settings. Store, Fetcher, Scorer and Ordering are needed;
// the zero value of the rest is no limit, or as stated.
type Options struct {
	Store    *store.Store
	Fetcher  Fetcher
	Scorer   Scorer
	Ordering orders.Ordering

	// URLs gives the normal form of URLs; it must be the same in all sessions of a store
	// [drops the parameters of page.DefaultDrop].
	URLs *page.Normalizer

	Seeds     []string // in normal form; known ones are left as they are
	Scope     Scope
	Threshold float64 // links with a lower score are dropped (paper A2)

	Paused     bool   // it begins in a pause; see Change
	MaxPages   uint64 // over all sessions of the store
	MaxTime    time.Duration
	MaxWait    time.Duration // longest idle wait for a host to be rested [15m]; negative: none
	MaxPerHost uint64        // pages
	MaxPerSite uint64
	MinHarvest float64 // stop when the harvest of the next pages is surely lower; see Marginal

	// Patience is how many times as long a crawl may take for better pages. Where many hosts
	// have good links, it waits for hosts that rest rather than spend pages on worse links.
	// 1 never waits; 0 means 3 with MaxPages, and 1 without.
	Patience float64

	FollowTraps bool // fetch URLs that look like traps
	KeepNear    bool // store near-duplicates too

	// Refresh asks again, before the queue, for stored pages that were not seen for so long;
	// they do not count for MaxPages.
	Refresh time.Duration
	// Revisits chooses the stored pages that are asked for again, before the queue [by
	// Refresh]. With RevisitsOnly new URLs wait. With NewPages they are fetched too, after a
	// host's stored pages, until MaxPages are stored.
	Revisits               Revisits
	RevisitsOnly, NewPages bool
	KeepVersions           bool // keep the former body of a changed page
	// News fetches hosts' sitemaps and feeds again for news of stored pages, when Revisits
	// says so.
	News bool
	// Text returns a page's main text, to tell a real change from a new advert [not asked].
	// It must be safe for concurrent use.
	Text texter

	// Sites connects this agent with the others, where several agents crawl [a single agent].
	// Then the crawl ends only by Agent.Finish, and spends what Agent.Allow allows.
	Sites Sites
	// Replicate puts the changes of each commit into the outbox, for another agent to keep;
	// see store.Replica. ReplicateBodies adds the pages.
	Replicate, ReplicateBodies bool
	// RefetchLost fetches pages again that were lost with another agent; see Agent.Adopt.
	RefetchLost bool

	// Browser runs the scripts of pages that have some [none do]. RenderRequests bounds the
	// requests of a page's scripts [20]. With RenderPriced they run only where that is worth
	// its seconds; Seed chooses the pages that are rendered nevertheless, as a check.
	Browser        Browser
	RenderRequests int
	// RenderLeft says that the session before may have been killed while pages were rendered. Hosts
	// then rest first for all requests that a page may have made.
	RenderLeft   bool
	RenderPriced bool
	Seed         int64

	// OneSitePerAddress drops hosts at an address that another site owns; see claims.
	OneSitePerAddress bool

	Sitemaps       bool // read the sitemaps that robots.txt names
	MaxSitemapURLs int  // that the sitemaps of one host may add [10000]

	// Frontier says where the queue overflows to [the store's folder].
	Frontier frontier.Options

	Workers int    // [32]
	Delay   Delay  // [auto]
	Agent   string // product token for robots.txt [fossick]

	Purpose page.Purpose // use of the pages; pages whose owners refuse it are not fetched ["": robots.txt decides]

	Grace    time.Duration // for exchanges under way at an interrupt or after MaxTime [5s]
	Now      func() time.Time
	Log      *slog.Logger
	Progress func(Progress) // called twice a second by the owner; must not wait

	// Committed is called by the owner after each commit. It must not wait.
	Committed func()
}

// Delay is the rest of a host after each exchange.
type Delay = hosts.Delay

// DefaultWorkers is the default of Options.Workers.
const DefaultWorkers = 32

func (o *Options) complete() error {
	if o.Store == nil || o.Fetcher == nil || o.Scorer == nil || o.Ordering == nil {
		return errors.New("crawler: set Store, Fetcher, Scorer and Ordering")
	}
	if o.Workers < 0 || o.Threshold < 0 || o.Delay.Rest < 0 {
		return fmt.Errorf("crawler: workers (%d), threshold (%g) and delay (%v) cannot be negative", o.Workers, o.Threshold, o.Delay.Rest)
	}
	if !(o.MinHarvest >= 0 && o.MinHarvest <= 1) {
		return fmt.Errorf("crawler: a harvest of %g is not in [0,1]", o.MinHarvest)
	}
	if o.Revisits == nil && o.Refresh > 0 {
		o.Revisits = newNotSeen(o.Store, o.Refresh)
	}
	if o.Frontier.Dir == "" {
		o.Frontier.Dir = filepath.Join(o.Store.Dir(), "frontier")
	}
	o.defaults()
	return nil
}

// ours reports whether a URL waits at this agent.
func (o *Options) ours(url string) bool { return o.Sites.Ours(o.Sites.Part(url)) }

func (o *Options) defaults() {
	o.Workers = cmp.Or(o.Workers, DefaultWorkers)
	o.MaxWait = cmp.Or(o.MaxWait, defaultMaxWait)
	o.RenderRequests = cmp.Or(o.RenderRequests, defaultRenderRequests)
	o.Agent = cmp.Or(o.Agent, "fossick")
	o.Grace = cmp.Or(o.Grace, 5*time.Second)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.URLs == nil {
		o.URLs = page.NewNormalizer(page.DefaultDrop())
	}
	if o.Sites == nil {
		o.Sites = alone{}
	}
	if o.several() {
		o.MaxWait = math.MaxInt64 // other agents may send links
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	if o.Committed == nil {
		o.Committed = func() {}
	}
}

// Sites divides the web among the agents of a crawl, and tells the others what concerns all of
// them. All URLs of a site are in one part. It is safe for concurrent use.
type Sites interface {
	// Part returns the part of a URL.
	Part(url string) uint16
	// PartOf returns the part whose owner records the pages with a content.
	PartOf(checksum []byte) uint16
	// Mine reports whether this agent may ask for URLs of a part now.
	Mine(part uint16) bool
	// Held reports whether this agent owns a part, even while it must wait, as for a new
	// lease.
	Held(part uint16) bool
	// Ours reports whether URLs of a part wait at this agent, which may ask for them now or
	// soon.
	Ours(part uint16) bool
	// Said receives each label given at this agent, for Agent.HearLabels of the others. It
	// must not wait.
	Said(label []byte)
	// Repeats receives each duplicate whose page may be with an earlier owner of its site, for
	// ReceiveDuplicates of the others. It must not wait, and is called before the commit.
	Repeats(duplicate []byte)
}

// alone is the Sites of a single agent, which owns the whole web as one part.
type alone struct{}

func (alone) Part(string) uint16   { return 0 }
func (alone) PartOf([]byte) uint16 { return 0 }
func (alone) Mine(uint16) bool     { return true }
func (alone) Held(uint16) bool     { return true }
func (alone) Ours(uint16) bool     { return true }
func (alone) Said([]byte)          {}
func (alone) Repeats([]byte)       {}

// several reports whether several agents crawl.
func (o *Options) several() bool {
	_, single := o.Sites.(alone)
	return !single
}

// allowance is what the crawl may spend before Agent.Allow.
func (o *Options) allowance() Allowance {
	if o.several() {
		return Allowance{}
	}
	a := Allowance{Pages: o.MaxPages, Workers: o.Workers, Price: math.Inf(-1)}
	if a.Pages == 0 {
		a.Pages = math.MaxUint64
	}
	return a
}

// Reason is why this agent skips a URL of another agent.
const Reason = "its site is another agent's"
