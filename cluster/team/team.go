package team

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"fossick/cluster/shares"
	"fossick/cluster/sites"
	"fossick/crawler"
	"fossick/crawler/harvest"
	"fossick/store"
)

// Options are a team's settings.
type Options struct {
	// Agents are the settings of each one's crawl. Those of the whole stand in the first:
	// MaxPages, MinHarvest, Workers, Progress and MaxTime.
	Agents []crawler.Options
}

// Team is agents that make one crawl.
type Team struct {
	whole   crawler.Options
	agents  []*agent
	harvest harvest.Watch
	ended   chan *agent
	reach   int // links that are good enough
	pricer  pricer

	commits atomic.Int64  // since the last round
	wake    chan struct{} // one place: there were many
	taught  time.Time     // when scorers told each other what they learned
	pages   uint64        // that were stored then

	telling sync.Mutex // held while the progress is told: by one agent at a time

	mu       sync.Mutex // guards the rest
	progress []crawler.Progress
	next     crawler.Marginal
	past     bool    // labels of sessions before were told
	labels   []label // that people gave, and the others have not heard of
}

// agent is one of them. What follows crawl belongs to the team's rounds.
type agent struct {
	*crawler.Agent
	name  string
	store *store.Store
	crawl *crawler.Crawler

	load     crawler.Load
	parcels  uint64    // of its outbox, when it was emptied last
	allowed  uint64    // pages
	unused   time.Time // since when it does nothing, and might; zero: it does
	pages    uint64    // that the harvest has counted: up to this number
	relevant uint64    // of these, those on topic

	result crawler.Result
	err    error
}

const (
	// round is how often parcels are carried and the budget is divided at least.
	round = 100 * time.Millisecond
	// tellEvery is how often scorers tell each other what they learned at least.
	tellEvery = 2 * time.Second
	// deliveryBytes is about how much one delivery has at most.
	deliveryBytes = 1 << 20
	// tellPages is after how many pages they do so at most: about as many as a queue waits
	// for before it hears of what was learned.
	tellPages = 10
	// commitShare is how many commits make a round, one for so many workers.
	commitShare = 4
	// headLinks is how many links of an agent are looked at, for one worker.
	headLinks = 4
	// keeps is for how long an agent may keep what it does not use.
	keeps = 2 * round
	// farthest is how many links are looked at for one worker, where most of them are of no
	// use now.
	farthest = 64
)

// New prepares a crawl. All agents are given all start pages, and ask for their own.
func New(opt Options) (*Team, error) {
	if len(opt.Agents) == 0 {
		return nil, errors.New("team: no agent")
	}
	t := &Team{whole: opt.Agents[0], ended: make(chan *agent, len(opt.Agents)), harvest: harvest.NewWatch(opt.Agents[0].MinHarvest), wake: make(chan struct{}, 1), progress: make([]crawler.Progress, len(opt.Agents))}
	t.whole.Workers = cmp.Or(t.whole.Workers, crawler.DefaultWorkers)
	all := sites.New()
	for i, o := range opt.Agents {
		o.Sites = share{all, len(opt.Agents), i}
		o.MinHarvest, o.Workers, o.Patience = 0, t.whole.Workers, 1 // as many as all have: what they do is shared out
		o.Progress = func(p crawler.Progress) { t.tell(i, p) }
		o.Said = func(data []byte) { t.said(i, data) }
		o.Committed = t.committed
		c, err := crawler.New(o)
		if err != nil {
			return nil, fmt.Errorf("agent %d: %w", i, err)
		}
		t.progress[i] = c.Progress()
		had := t.progress[i].Counts
		t.agents = append(t.agents, &agent{Agent: crawler.AgentOf(c), name: strconv.Itoa(i), store: o.Store, crawl: c, pages: had.LastPage(), relevant: had.Relevant})
	}
	t.pricer = newPricer(&t.whole, t.agents[0].Promises())
	return t, nil
}

// Engines are the agents' crawls, for who asks one alone.
func (t *Team) Engines() (engines []*crawler.Crawler) {
	for _, a := range t.agents {
		engines = append(engines, a.crawl)
	}
	return engines
}

// Progress returns how far all are together.
func (t *Team) Progress() crawler.Progress {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sum()
}

// sum is Progress under mu.
func (t *Team) sum() crawler.Progress {
	p := sumProgress(t.progress)
	p.Next = t.next
	return p
}

func (t *Team) tell(i int, p crawler.Progress) {
	t.telling.Lock() // Options.Progress is called by one at a time
	defer t.telling.Unlock()
	t.mu.Lock()
	t.progress[i] = p
	sum := t.sum()
	t.mu.Unlock()
	if t.whole.Progress != nil {
		t.whole.Progress(sum)
	}
}

// Run crawls until a limit is met, nothing waits anywhere, or ctx ends. It returns after the
// last agent.
func (t *Team) Run(ctx context.Context) (crawler.Result, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for _, a := range t.agents {
		go func() {
			a.result, a.err = a.crawl.Run(ctx)
			t.ended <- a
		}()
	}
	why, first, err := t.rounds(ctx)
	left := len(t.agents)
	if first != nil {
		why, left = first.result.Stopped, left-1
		stop() // the rest has no reason to go on alone
	} else {
		for _, a := range t.agents {
			err = errors.Join(err, ignoreEnded(a.Finish(ctx, why)))
		}
	}
	for range left {
		a := <-t.ended
		err = errors.Join(err, a.err)
	}
	return t.result(why), err
}

// ignoreEnded is for who asks something of an agent that may have ended.
func ignoreEnded(err error) error {
	if errors.Is(err, crawler.ErrEnded) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// rounds lets the agents work together until there is a reason to stop, or one of them
// ends: first.
func (t *Team) rounds(ctx context.Context) (why crawler.Stop, first *agent, err error) {
	tick := time.NewTicker(round)
	defer tick.Stop()
	t.taught = time.Now()
	t.pricer.began = t.taught
	for slow := true; ; {
		why, err := t.round(ctx, slow)
		if err = ignoreEnded(err); err != nil {
			return crawler.StopError, nil, err
		}
		if why != "" {
			return why, nil, nil
		}
		t.commits.Store(0)
		select {
		case <-tick.C:
			slow = true
		case <-t.wake:
			slow = false
			tick.Reset(round)
		case a := <-t.ended:
			return "", a, a.err
		}
	}
}

// committed has a round begin when much has happened since the last one. So the best links
// of all are known as soon as one crawl would know them, however fast the web answers.
func (t *Team) committed() {
	if t.commits.Add(1) < int64(max(1, t.whole.Workers/commitShare)) {
		return
	}
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// round is one; slow says that little has happened since the last.
func (t *Team) round(ctx context.Context, slow bool) (why crawler.Stop, err error) {
	var moved atomic.Bool
	if err := t.each(func(a *agent) (err error) {
		if a.load, err = a.Load(ctx, 0); err != nil {
			return err
		}
		carried, err := t.carry(ctx, a)
		if carried {
			moved.Store(true)
		}
		return err
	}); err != nil {
		return "", err
	}
	if pages := t.stored(); pages > t.pages+tellPages || time.Since(t.taught) >= tellEvery {
		if err := t.teach(ctx); err != nil {
			return "", err
		}
		t.taught, t.pages = time.Now(), pages
	}
	if err := t.share(ctx, slow); err != nil {
		return "", err
	}
	return t.over(moved.Load()), nil
}

// each does something for all agents at once.
func (t *Team) each(do func(*agent) error) error {
	var all errgroup.Group
	for _, a := range t.agents {
		all.Go(func() error { return do(a) })
	}
	return all.Wait()
}

// stored is how many pages all had, when they were asked last.
func (t *Team) stored() (pages uint64) {
	for _, a := range t.agents {
		pages += a.load.Counts.LastPage()
	}
	return pages
}

// carry empties an agent's outbox, and says whether there was anything in it.
func (t *Team) carry(ctx context.Context, a *agent) (any bool, err error) {
	if a.load.Counts.Parcels == a.parcels && a.parcels > 0 {
		return false, nil
	}
	for part, err := range store.OutboxOf(a.store).Parts() {
		if err != nil {
			return false, err
		}
		any = true
		if err := t.deliver(ctx, a, part); err != nil {
			return false, err
		}
	}
	a.parcels = a.load.Counts.Parcels
	return any, nil
}

// deliver takes an agent's parcels for a part to who has it.
func (t *Team) deliver(ctx context.Context, from *agent, part uint16) error {
	to, d, size := t.agents[int(part)%len(t.agents)], crawler.Delivery{Sender: from.name, Part: part}, 0
	send := func() error {
		taken, _, err := to.Receive(ctx, d)
		if err != nil {
			return err
		}
		d.Parcels, size = d.Parcels[:0], 0
		return from.Trim(ctx, part, taken)
	}
	for p, err := range store.OutboxOf(from.store).Parcels(part, 0) {
		if err != nil {
			return err
		}
		d.Parcels = append(d.Parcels, p)
		if size += len(p.Data); size < deliveryBytes {
			continue
		}
		if err := send(); err != nil {
			return err
		}
	}
	if len(d.Parcels) == 0 {
		return nil
	}
	return send()
}

// share divides what is left of the budget.
func (t *Team) share(ctx context.Context, slow bool) error {
	reports, spent := make([]shares.Report, len(t.agents)), uint64(0)
	for i, a := range t.agents {
		var err error
		if a.load, err = a.Load(ctx, headLinks*t.whole.Workers); err != nil {
			return err
		}
		spent += a.load.Spent
		reports[i] = shares.Report{Spent: a.load.Spent, Busy: a.load.Busy, Head: a.head()}
		t.count(a)
	}
	most := uint64(1) << 62
	if t.whole.MaxPages > 0 {
		most = t.whole.MaxPages
	}
	t.reachOut(reports, slow)
	given := shares.Divide(most-min(most, spent), t.whole.Workers, t.reach, reports)
	price, err := t.pricer.least(ctx, t.agents, most-min(most, spent))
	if err != nil {
		return err
	}
	for i := range given {
		given[i].Price = max(given[i].Price, price)
	}
	return t.allow(ctx, most, given)
}

// head is what the agent has to offer: nothing now and then, while it does not use what it
// may spend, so that others may.
func (a *agent) head() []float64 {
	now := time.Now()
	switch {
	case a.load.Busy > 0 || a.load.Spent >= a.allowed:
		a.unused = time.Time{}
	case a.unused.IsZero():
		a.unused = now
	case now.Sub(a.unused) > keeps:
		a.unused = time.Time{}
		return nil
	}
	return a.load.Head
}

// reachOut looks at more links while workers have nothing to do: the best ones may be of
// hosts that are in use, or of newcomers that wait for their turn. In one crawl an idle
// worker takes the best link that is free.
func (t *Team) reachOut(reports []shares.Report, slow bool) {
	busy := 0
	for _, r := range reports {
		busy += r.Busy
	}
	if slow && 4*busy < 3*t.whole.Workers {
		t.reach = min(2*max(t.reach, 1), farthest*t.whole.Workers)
	} else {
		t.reach = max(t.reach/2, t.whole.Workers)
	}
}

// allow tells the agents their shares, first those that get no more than they had: what
// these have spent meanwhile, others may not.
func (t *Team) allow(ctx context.Context, most uint64, given []shares.Share) error {
	var more []int
	for i, a := range t.agents {
		if given[i].Pages > a.allowed {
			more = append(more, i)
		} else if err := a.may(ctx, given[i]); err != nil {
			return err
		}
	}
	for _, i := range more {
		others := uint64(0)
		for k, a := range t.agents {
			if k != i {
				others += a.allowed
			}
		}
		s := given[i]
		s.Pages = min(s.Pages, most-min(most, others))
		if err := t.agents[i].may(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// may sets what an agent may spend.
func (a *agent) may(ctx context.Context, s shares.Share) (err error) {
	a.allowed, err = a.Allow(ctx, crawler.Allowance{Pages: s.Pages, Price: s.Price, Workers: s.Workers})
	return err
}

// count has the harvest count an agent's new pages.
func (t *Team) count(a *agent) {
	a.relevant = min(a.relevant, a.load.Counts.Relevant) // of one that was dropped
	for ; a.pages < a.load.Counts.LastPage(); a.pages++ {
		relevant := a.relevant < a.load.Counts.Relevant
		if relevant {
			a.relevant++
		}
		t.harvest.Count(relevant)
	}
	next := t.harvest.Estimate()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next = next
}

// over says why the crawl has ended, "" while it goes on.
func (t *Team) over(moved bool) crawler.Stop {
	spent, busy, waiting := uint64(0), 0, 0
	for _, a := range t.agents {
		spent += a.load.Counts.Pages
		busy += a.load.Busy
		waiting += a.load.Waiting
		moved = moved || a.load.Counts.Parcels != a.parcels
	}
	switch {
	case t.harvest.Poor():
		return crawler.StopMinHarvest
	case busy > 0 || moved:
		return ""
	case t.whole.MaxPages > 0 && spent >= t.whole.MaxPages:
		return crawler.StopMaxPages
	case waiting == 0:
		return crawler.StopEmpty
	}
	return ""
}

// share is what one of so many agents has of the web.
type share struct {
	*sites.Sites
	agents, number int
}

// Part is as across.Sites says. There are as many parts as agents, so that all of a page's
// links to one agent go there together.
func (s share) Part(url string) uint16 { return uint16(int(s.Sites.Part(url)) % s.agents) }

// Mine is as across.Sites says; parts of stores that an earlier version made may be any.
func (s share) Mine(part uint16) bool { return int(part)%s.agents == s.number }

// Held is as across.Sites says.
func (s share) Held(part uint16) bool { return s.Mine(part) }

// Ours is as across.Sites says.
func (s share) Ours(part uint16) bool { return s.Mine(part) }
