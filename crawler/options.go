package crawler

import (
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
	"fossick/internal/rights"
	"fossick/store"
)

// Options are a crawl's settings. Store, Fetcher, Scorer and Ordering are needed;
// the zero value of the rest is no limit, or as stated.
type Options struct {
	Store    *store.Store
	Fetcher  Fetcher
	Scorer   Scorer
	Ordering orders.Ordering

	// URLs gives the normal form by which a URL is known; it must be the same in
	// all sessions of a store. [page.DefaultDrop's parameters dropped]
	URLs *page.Normalizer

	Seeds     []string // in normal form; those that the store knows are left as they are
	Scope     Scope
	Threshold float64 // links that score less are dropped (paper A2)

	MaxPages   uint64 // over all sessions of the store
	MaxTime    time.Duration
	MaxWait    time.Duration // for the next rest to end when nothing else is to be done [15m]; negative: none
	MaxPerHost uint64        // pages
	MaxPerSite uint64
	MinHarvest float64 // stop when the next pages' harvest is surely below; see Marginal

	// Patience is how many times as long a crawl may take for better pages, where many hosts
	// have good links: then it waits for hosts that rest rather than spend pages on what
	// happens to be free. 1 never waits; 0 is 3 where MaxPages is a limit, and 1 elsewhere.
	Patience float64

	FollowTraps bool // fetch also what looks like a trap
	KeepNear    bool // store near-duplicates as well

	// Refresh asks for stored pages again that were not seen for so long, before the
	// queue; they don't count for MaxPages.
	Refresh time.Duration
	// Revisits chooses which stored pages are asked for again, before the queue [by
	// Refresh]. With RevisitsOnly the queue is not asked at all: new URLs wait. With NewPages
	// it is asked between revisits, a host's stored pages first; when MaxPages are stored,
	// new URLs wait.
	Revisits               Revisits
	RevisitsOnly, NewPages bool
	KeepVersions           bool // of a stored page that has changed, the former body is kept
	// News has hosts' sitemaps and feeds be asked again for what they say of stored pages,
	// when Revisits says so.
	News bool
	// Text returns a page's main text, to tell whether more of it changed than an advert
	// [nil: nobody asks]. It is called from many goroutines at once.
	Text texter

	// Sites says which part of the web is this agent's, of a crawl that several make [nil:
	// all]. Then the crawl ends only when it is told to, see Finish, and spends what Allow
	// allows.
	Sites Sites
	// Said is given each label that people give here, for Agent.HearLabels of the others
	// [nobody hears of it]. It must not wait.
	Said func(label []byte)
	// Repeats is given each duplicate whose page may be in the store of an agent that had its
	// site before, for HearDuplicates of the others [it stays]. It must not wait, and is
	// called before the commit of what it says.
	Repeats func(duplicate []byte)
	// Replicate puts what each commit changes into the outbox, for another agent to keep; see
	// store.Replica. ReplicateBodies puts the pages there as well.
	Replicate, ReplicateBodies bool
	// RefetchLost has pages asked for again that are gone with another agent; see Agent.Adopt.
	RefetchLost bool

	// OneSitePerAddress drops hosts at an address that another site of the crawl has; see claims.
	OneSitePerAddress bool

	Sitemaps       bool // read the sitemaps that robots.txt names
	MaxSitemapURLs int  // that the sitemaps of one host may add [10000]

	// Frontier says where the queue overflows to: by default in the store's
	// folder.
	Frontier frontier.Options

	Workers int    // [32]
	Delay   Delay  // [auto]
	Agent   string // product token for robots.txt [fossick]

	Purpose rights.Purpose // what pages are wanted for; what owners refuse for it is not fetched ["": all that robots.txt allows]

	Grace    time.Duration // for what is in flight at an interrupt and after MaxTime [5s]
	Now      func() time.Time
	Log      *slog.Logger
	Progress func(Progress) // called twice a second by the owner; must be quick

	// Committed is called by the owner after each commit [nobody hears of it]. It must not wait.
	Committed func()
}

// Delay is the rest of a host after each exchange.
type Delay = hosts.Delay

// may says whether a URL is this agent's to ask for; nil where all are.
func (o *Options) may() func(url string) bool {
	if o.Sites == nil {
		return nil
	}
	return func(url string) bool { return o.Sites.Mine(o.Sites.Part(url)) }
}

// DefaultWorkers is how many exchanges a crawl makes at a time where Options do not say.
const DefaultWorkers = 32

func (o *Options) complete() error {
	if o.Store == nil || o.Fetcher == nil || o.Scorer == nil || o.Ordering == nil {
		return errors.New("crawler: a store, a fetcher, a scorer and an ordering are needed")
	}
	if o.Workers < 0 || o.Threshold < 0 || o.Delay.Rest < 0 {
		return fmt.Errorf("crawler: workers (%d), threshold (%g) and delay (%v) cannot be negative", o.Workers, o.Threshold, o.Delay.Rest)
	}
	if !(o.MinHarvest >= 0 && o.MinHarvest <= 1) {
		return fmt.Errorf("crawler: a harvest of %g is not in [0,1]", o.MinHarvest)
	}
	if o.Revisits == nil && o.Refresh > 0 {
		o.Revisits = refreshNotSeen(o.Store, o.Refresh)
	}
	if o.Frontier.Dir == "" {
		o.Frontier.Dir = filepath.Join(o.Store.Dir(), "frontier")
	}
	o.defaults()
	return nil
}

// ours says whether a URL waits here, and not with another agent.
func (o *Options) ours(url string) bool { return o.Sites.Ours(o.Sites.Part(url)) }

// defaults fills in what is zero.
func (o *Options) defaults() {
	if o.Workers == 0 {
		o.Workers = DefaultWorkers
	}
	if o.URLs == nil {
		o.URLs = page.NewNormalizer(page.DefaultDrop())
	}
	if o.MaxWait == 0 {
		o.MaxWait = defaultMaxWait
	}
	if o.Sites != nil {
		o.MaxWait = math.MaxInt64 // others' links may come meanwhile
	}
	if o.Agent == "" {
		o.Agent = "fossick"
	}
	if o.Grace == 0 {
		o.Grace = 5 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	if o.Committed == nil {
		o.Committed = func() {}
	}
}

// Sites divides the web among the agents of a crawl. All URLs of a site are in one part.
// Safe for concurrent use.
type Sites interface {
	// Part returns the part of the web that a URL is in.
	Part(url string) uint16
	// PartOf returns the part of the web that has to know which pages have a content.
	PartOf(checksum []byte) uint16
	// Mine says whether this agent may ask for URLs of a part now.
	Mine(part uint16) bool
	// Held says whether a part is this agent's, though it may have to wait before it asks, as
	// for a lease to be renewed.
	Held(part uint16) bool
	// Ours says whether URLs of a part wait at this agent, as it may ask for them now or soon.
	Ours(part uint16) bool
}

// Reason is why a URL of another agent's is not asked for here.
const Reason = "its site is another agent's"

// Due is a stored page, or a URL that gave none, whose turn it is to be asked for.
type Due struct {
	ID       store.ID
	URL      string
	Priority float64 // among the stored pages that wait: the highest first
	NoPage   bool    // it is a URL that gave none, and waits among those that are new
}

// Revisits says which stored pages are asked for again. It belongs to the owner of a crawl.
type Revisits interface {
	// Next returns a page that is to be asked for by now. Where there is none, again is when
	// to ask for one; the zero time: not before all pages so far are done with, and then
	// never. idle says that they are. A page that still waits is not asked for twice.
	Next(now time.Time, idle bool) (p *Due, again time.Time, err error)
	// Answered tells what a visit found, while it is being journalled.
	Answered(id store.ID, v store.Visit)
	// Source returns which of a host's sitemaps and feeds is asked for now, before its next
	// page; −1 for none.
	Source(of *store.Announced, now time.Time) int
	// Announced tells that, by such a source, a page has changed since it was seen.
	Announced(id store.ID, now time.Time)
}

// hopeful is a Chooser that goes by the chances of visits.
type hopeful interface {
	// Expect tells the chance, in (0,1], that the next visit of a page that was asked for
	// succeeds, before Answered tells what this one found.
	Expect(id store.ID, chance float64)
}

// counted is a Chooser that works in rounds.
type counted interface {
	Round() int // the number of the round that goes on, or ended last, over all sessions
	Done() bool // all rounds that were asked for have ended
}
