package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"fossick/crawler"
	"fossick/crawler/frontier"
	"fossick/store"
)

// Team is one crawl of several agents in one process, each with a store and a scorer of its
// own. Each agent has the sites of some partitions for the whole crawl. In rounds, links go
// from outboxes to owners, scorers and people's labels reach all agents, and the team divides
// what is left of the budget, so that the agents together fetch the links that one crawl would.
type Team struct {
	whole   crawler.Options
	agents  []*teamAgent
	harvest crawler.Watch
	ended   chan *teamAgent
	reach   int // links that are good enough
	turn    int // of the agent that comes first among equals
	pricer  pricer

	commits atomic.Int64  // since the last round
	wake    chan struct{} // one place: there were many
	taught  time.Time     // when scorers last told each other what they learned
	pages   uint64        // that were stored then

	telling sync.Mutex // held while the progress is told: by one agent at a time

	mu       sync.Mutex // guards the rest
	progress []crawler.Progress
	next     crawler.Marginal
	patience *crawler.Patience // nil: it never waits
	past     bool              // labels of earlier sessions were told
	labels   []teamLabel       // that people gave, and the others were not told
}

// teamLabel is a label that people gave at an agent.
type teamLabel struct {
	agent int
	data  []byte
}

// teamAgent is an agent of a team. The team's rounds own all that follows crawl.
type teamAgent struct {
	*crawler.Agent
	name  string
	store *store.Store
	crawl *crawler.Crawler

	load     crawler.Load
	parcels  uint64 // of its outbox, when it was emptied last
	allowed  crawler.Allowance
	unused   time.Time // since when it does nothing, and might; zero: it does something
	pages    uint64    // that the harvest has counted: up to this number
	relevant uint64    // of them, those on topic

	result crawler.Result
	err    error
}

const (
	teamRound     = 100 * time.Millisecond // rounds come at least so often
	teamKeeps     = 2 * teamRound          // for so long an agent may keep an allowance that it does not use
	tellPages     = 10                     // pages after which scorers tell each other what they learned, or teachEvery
	deliveryBytes = 1 << 20                // of one delivery, about
	commitShare   = 4                      // a round comes after one commit for so many workers
	headLinks     = 4                      // links of an agent that are looked at, for one worker
	farthest      = 64                     // and where most of them are of no use now
	// spareShare is for how many links beyond those that find a free worker the price is low
	// enough: one for so many workers, as some get free until the next round.
	spareShare = 4
)

// share divides the web: as many parts as agents, so that all of a page's links to one agent go
// there together. It is a team agent's crawler.Sites.
type share struct {
	*sites
	agents, number int
}

func (s share) Part(url string) uint16 { return uint16(int(s.sites.Part(url)) % s.agents) }

// Mine says whether a part is the agent's. Stores that an earlier version made may have any parts.
func (s share) Mine(part uint16) bool { return int(part)%s.agents == s.number }
func (s share) Held(part uint16) bool { return s.Mine(part) }
func (s share) Ours(part uint16) bool { return s.Mine(part) }

// NewTeam prepares a crawl of an agent for each of the options. The first of them has the
// settings of the whole: MaxPages, MinHarvest, Workers, Progress and MaxTime. All agents are
// given all start pages, and fetch their own.
func NewTeam(agents []crawler.Options) (*Team, error) {
	if len(agents) == 0 {
		return nil, errors.New("team: no agent")
	}
	t := &Team{
		whole: agents[0], ended: make(chan *teamAgent, len(agents)), harvest: crawler.NewWatch(agents[0].MinHarvest),
		wake: make(chan struct{}, 1), progress: make([]crawler.Progress, len(agents)),
	}
	t.whole.Workers = cmp.Or(t.whole.Workers, crawler.DefaultWorkers)
	all := newSites()
	for i, o := range agents {
		o.Sites = share{all, len(agents), i}
		o.MinHarvest, o.Workers, o.Patience = 0, t.whole.Workers, 1 // each has as many as all have: rounds divide them
		o.Progress = func(p crawler.Progress) { t.tell(i, p) }
		o.Said = func(data []byte) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.labels = append(t.labels, teamLabel{i, data})
		}
		o.Committed = t.committed
		c, err := crawler.New(o)
		if err != nil {
			return nil, fmt.Errorf("agent %d: %w", i, err)
		}
		t.progress[i] = c.Progress()
		had := t.progress[i].Counts
		t.agents = append(t.agents, &teamAgent{Agent: crawler.AgentOf(c), name: strconv.Itoa(i), store: o.Store, crawl: c, pages: had.LastPage(), relevant: had.Relevant})
	}
	t.pricer = newPricer(&t.whole, t.agents[0].Promises())
	return t, nil
}

// Engines returns the agents' crawls.
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
func (t *Team) sum() (sum crawler.Progress) {
	for _, p := range t.progress {
		sum.Counts = sum.Counts.Plus(p.Counts)
		sum.Queue += p.Queue
		sum.Hosts += p.Hosts
		sum.Busy += p.Busy
		sum.Elapsed = max(sum.Elapsed, p.Elapsed)
		sum.Pages += p.Pages
		sum.Turns = sum.Turns.Plus(p.Turns)
		sum.Resting += p.Resting
		sum.RestUntil = sooner(sum.RestUntil, p.RestUntil)
		sum.DownSince = sooner(sum.DownSince, p.DownSince)
		sum.Outages = max(sum.Outages, p.Outages)
		sum.OutageTime = max(sum.OutageTime, p.OutageTime)
	}
	if sum.Busy > 0 {
		sum.RestUntil = time.Time{} // somebody works
	}
	sum.Next, sum.Patience = t.next, t.patience
	return sum
}

// sooner returns the earlier of two times; zero is none.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func (t *Team) tell(i int, p crawler.Progress) {
	t.telling.Lock()
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
func (t *Team) Run(ctx context.Context) (sum crawler.Result, err error) {
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
			err = errors.Join(err, ignoreEnd(a.Finish(ctx, why)))
		}
	}
	for range left {
		a := <-t.ended
		err = errors.Join(err, a.err)
	}
	nothing := true
	for _, a := range t.agents {
		r := &a.result
		sum.Counts = sum.Counts.Plus(r.Counts)
		sum.Hosts += r.Hosts
		sum.Attempts = sum.Attempts.After(r.Attempts)
		sum.Outages = max(sum.Outages, r.Outages)
		sum.OutageTime = max(sum.OutageTime, r.OutageTime)
		nothing = nothing && r.Stopped == crawler.StopNothing
	}
	sum.Next, sum.Stopped = t.harvest.Estimate(), why
	if nothing {
		sum.Stopped = crawler.StopNothing
	}
	return sum, err
}

// rounds goes on until there is a reason to stop, or an agent ends: first.
func (t *Team) rounds(ctx context.Context) (why crawler.Stop, first *teamAgent, err error) {
	tick := time.NewTicker(teamRound)
	defer tick.Stop()
	t.taught = time.Now()
	t.pricer.began = t.taught
	for slow := true; ; {
		why, err := t.round(ctx, slow)
		if err = ignoreEnd(err); err != nil {
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
			tick.Reset(teamRound)
		case a := <-t.ended:
			return "", a, a.err
		}
	}
}

// committed begins a round when much has happened since the last one. So the best links of all
// are known as soon as one crawl would know them, however fast the web answers.
func (t *Team) committed() {
	if t.commits.Add(1) >= int64(max(1, t.whole.Workers/commitShare)) {
		signal(t.wake)
	}
}

// round is one; slow says that little has happened since the last.
func (t *Team) round(ctx context.Context, slow bool) (why crawler.Stop, err error) {
	var moved atomic.Bool
	if err := t.each(func(a *teamAgent) (err error) {
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
	var pages uint64
	for _, a := range t.agents {
		pages += a.load.Counts.LastPage()
	}
	if pages > t.pages+tellPages || time.Since(t.taught) >= teachEvery {
		if err := t.teach(ctx); err != nil {
			return "", err
		}
		t.taught, t.pages = time.Now(), pages
	}
	if err := t.divide(ctx, slow); err != nil {
		return "", err
	}
	return t.over(moved.Load()), nil
}

// each calls do for all agents at once.
func (t *Team) each(do func(*teamAgent) error) error {
	var all errgroup.Group
	for _, a := range t.agents {
		all.Go(func() error { return do(a) })
	}
	return all.Wait()
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

// carry empties an agent's outbox, and says whether there was anything in it.
func (t *Team) carry(ctx context.Context, a *teamAgent) (any bool, err error) {
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

// deliver takes an agent's parcels for a part to its owner.
func (t *Team) deliver(ctx context.Context, from *teamAgent, part uint16) error {
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

// teach tells each agent what the others have learned, and the labels that people gave there;
// the first time also those of earlier sessions.
func (t *Team) teach(ctx context.Context) error {
	told := make(map[*teamAgent][]byte, len(t.agents))
	for _, from := range t.agents {
		told[from] = from.Told()
	}
	if err := t.each(func(to *teamAgent) (err error) {
		for _, from := range t.agents { // in one order, as new words push out old ones
			if from != to && told[from] != nil {
				err = errors.Join(err, to.Hear(told[from]))
			}
		}
		return err
	}); err != nil {
		return err
	}
	t.mu.Lock()
	labels, past := t.labels, t.past
	t.labels, t.past = nil, true
	t.mu.Unlock()
	for i, from := range t.agents {
		if past {
			break
		}
		before, err := from.Labels(mostLabels)
		if err != nil {
			return err
		}
		for _, data := range before {
			labels = append(labels, teamLabel{i, data})
		}
	}
	for i, to := range t.agents {
		var others [][]byte
		for _, l := range labels {
			if l.agent != i {
				others = append(others, l.data)
			}
		}
		if refused, err := to.HearLabels(ctx, others); refused != nil || err != nil {
			return errors.Join(refused, err)
		}
	}
	return nil
}

// divide divides what is left of the budget.
func (t *Team) divide(ctx context.Context, slow bool) error {
	t.turn = (t.turn + 1) % len(t.agents)
	agents := slices.Concat(t.agents[t.turn:], t.agents[:t.turn])
	reports, spent, busy := make([]standing, len(agents)), uint64(0), 0
	for i, a := range agents {
		var err error
		if a.load, err = a.Load(ctx, headLinks*t.whole.Workers); err != nil {
			return err
		}
		spent += a.load.Spent
		reports[i] = standing{spent: a.load.Spent, busy: a.load.Busy - a.load.Slow, head: a.head()}
		busy += reports[i].busy
		t.count(a)
	}
	most := uint64(1) << 62
	if t.whole.MaxPages > 0 {
		most = t.whole.MaxPages
	}
	// While workers have nothing to do, more links are good enough: the best ones may be of
	// newcomers that wait for their turn, or of hosts that rest. In one crawl an idle worker
	// takes the best link that is free.
	if slow && 4*busy < 3*t.whole.Workers {
		t.reach = min(max(2*t.reach, t.whole.Workers), farthest*t.whole.Workers)
	} else {
		t.reach /= 2
	}
	left := most - min(most, spent)
	given := divide(left, t.whole.Workers, t.reach, reports)
	price, err := t.pricer.least(ctx, t.agents, left)
	if err != nil {
		return err
	}
	free := math.Inf(-1) // the best link below the price
	for i, a := range agents {
		given[i].Price = max(given[i].Price, price)
		if below := slices.IndexFunc(a.load.Head, func(p float64) bool { return p < price }); below >= 0 {
			free = max(free, a.load.Head[below])
		}
	}
	p := t.pricer.waits(busy < t.whole.Workers && !math.IsInf(free, -1), free)
	t.mu.Lock()
	t.patience = p
	t.mu.Unlock()
	return allow(ctx, agents, given, crawler.Allowance{Pages: most, Workers: t.whole.Workers})
}

// head returns the links that the agent offers: none now and then, while it does not use its
// allowance, so that others may.
func (a *teamAgent) head() []float64 {
	now := time.Now()
	switch {
	case a.load.Busy > 0 || a.load.Spent >= a.allowed.Pages || a.allowed.Workers == 0:
		a.unused = time.Time{}
	case a.unused.IsZero():
		a.unused = now
	case now.Sub(a.unused) > teamKeeps:
		a.unused = time.Time{}
		return nil
	}
	return a.load.Head
}

// allow tells the agents their shares of the whole: first reductions, as others may not have
// pages that these have spent meanwhile. So there is never more than the whole under way.
func allow(ctx context.Context, agents []*teamAgent, given []crawler.Allowance, whole crawler.Allowance) (err error) {
	for i, a := range agents {
		less := given[i]
		less.Pages, less.Workers = min(less.Pages, a.allowed.Pages), min(less.Workers, a.allowed.Workers)
		if a.allowed, err = a.Allow(ctx, less); err != nil {
			return err
		}
		whole.Pages -= min(whole.Pages, a.allowed.Pages)
		whole.Workers -= a.allowed.Workers
	}
	for i, a := range agents {
		had, more := a.allowed, given[i]
		more.Pages = max(had.Pages, min(more.Pages, had.Pages+whole.Pages))
		more.Workers = max(had.Workers, min(more.Workers, had.Workers+whole.Workers))
		if more == had {
			continue
		}
		if a.allowed, err = a.Allow(ctx, more); err != nil {
			return err
		}
		whole.Pages -= more.Pages - had.Pages
		whole.Workers -= more.Workers - had.Workers
	}
	return nil
}

// count has the harvest count an agent's new pages.
func (t *Team) count(a *teamAgent) {
	a.relevant = min(a.relevant, a.load.Counts.Relevant) // one may have been dropped
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

// standing is the state of an agent as divide sees it.
type standing struct {
	spent uint64    // pages stored, and those under way
	busy  int       // fetches under way
	head  []float64 // the best waiting priorities, one a host, of hosts that are free or soon will be; the best first
}

// divide gives out what is left of the budget, as far as it is needed until the next round.
// Free workers go where the best links are, and the price is such that few more may be taken,
// but for ahead links at least. About as many pages as there are workers are stored by then:
// they go to the best links, and as many more by turns, for links may come. The pages given out
// are never more than are left, the workers never more than there are.
func divide(left uint64, workers, ahead int, reports []standing) []crawler.Allowance {
	type link struct {
		priority    float64
		agent, turn int // the turn-th best there
	}
	shares := make([]crawler.Allowance, len(reports))
	free := workers
	var waiting []link
	for i, r := range reports {
		free -= r.busy
		shares[i] = crawler.Allowance{Pages: r.spent, Price: math.Inf(-1), Workers: r.busy}
		for turn, p := range r.head {
			waiting = append(waiting, link{p, i, turn})
		}
	}
	free = max(0, free)
	slices.SortFunc(waiting, func(a, b link) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), a.turn-b.turn, a.agent-b.agent)
	})
	if most := max(ahead, free+workers/spareShare, 1); len(waiting) > most {
		for i := range shares {
			shares[i].Price = waiting[most-1].priority
		}
	}
	pages := uint64(max(ahead, workers))
	n := min(left, pages, uint64(len(waiting)))
	for _, w := range waiting[:n] {
		shares[w.agent].Pages++
	}
	for i := range min(left-n, pages) {
		shares[i%uint64(len(shares))].Pages++
	}
	for _, w := range waiting[:min(free, len(waiting))] {
		shares[w.agent].Workers++
	}
	for i := range max(0, free-len(waiting)) { // an agent that finds a link need not wait for the next round
		shares[i%len(shares)].Workers++
	}
	return shares
}

// pricer finds the price below which no agent takes a link, since better ones of any of them
// are worth a wait: as one crawl does that has all of these (docs/frontier.md).
type pricer struct {
	keeper *crawler.Keeper // nil: agents take any link that is free
	limit  time.Duration   // of the crawl; 0: none
	work   int             // workers of all agents
	began  time.Time

	price float64
	asked time.Time // when it was found
	spent uint64    // pages then
	had   uint64    // pages, the last time
	moved time.Time // when their number last rose
	links []frontier.Waiting

	since time.Time     // when a free worker began to wait; zero: none does
	held  time.Duration // before that
}

// A price is found anew after so many pages, or after so long.
const (
	pricePages = 4
	priceHolds = time.Second
)

func newPricer(whole *crawler.Options, promises bool) pricer {
	p := pricer{limit: whole.MaxTime, work: whole.Workers, price: math.Inf(-1)}
	if factor := whole.WaitsUpTo(); factor > 1 {
		p.keeper = crawler.NewPatience(crawler.PatienceOptions{Factor: factor, Chances: promises})
	}
	return p
}

// least returns the price, with so many pages left of the budget.
func (p *pricer) least(ctx context.Context, agents []*teamAgent, left uint64) (float64, error) {
	if p.keeper == nil {
		return p.price, nil
	}
	var sum crawler.Load
	for _, a := range agents {
		sum.Counts = sum.Counts.Plus(a.load.Counts)
		sum.Spent += a.load.Spent
		sum.Busy += a.load.Busy
		sum.Resting = sum.Resting || a.load.Resting
		sum.Cycle += a.load.Cycle / time.Duration(len(agents))
		sum.Took += a.load.Took / time.Duration(len(agents))
	}
	now := time.Now()
	if sum.Spent != p.had || p.moved.IsZero() {
		p.had, p.moved = sum.Spent, now
	}
	switch {
	case sum.Busy == 0 && !sum.Resting, now.Sub(p.moved) >= crawler.LongestWait:
		return math.Inf(-1), nil // waiting brings nothing
	case sum.Spent < p.spent+pricePages && now.Sub(p.asked) < priceHolds:
		return p.price, nil
	}
	p.asked, p.spent = now, sum.Spent
	if err := p.survey(ctx, agents); err != nil {
		return 0, err
	}
	n := &sum.Counts
	p.price = p.keeper.Price(crawler.Budget{
		Pages: int(min(left, math.MaxInt32)), Harvest: float64(n.Relevant) / float64(max(1, n.Pages)),
		Requests: float64(1+n.Requests) / float64(1+n.Pages),
		Cycle:    sum.Cycle, Took: sum.Took, Workers: p.work, Limited: p.limit > 0, Time: p.limit - now.Sub(p.began),
	}, func(dst []frontier.Waiting, most int) []frontier.Waiting {
		return append(dst, p.links[:min(most, len(p.links))]...)
	})
	return p.price, nil
}

// waits notes whether a free worker waits now, and the best link that it leaves. It returns the
// sum of all waits; nil where there are none.
func (p *pricer) waits(now bool, free float64) *crawler.Patience {
	if p.keeper == nil {
		return nil
	}
	w := &crawler.Patience{Waits: now, Price: p.price, Free: free, Held: p.held}
	w.Best, w.Hosts = p.keeper.Best(p.price)
	switch {
	case now && p.since.IsZero():
		p.since = time.Now()
	case now:
		w.Held += time.Since(p.since)
	case !p.since.IsZero():
		p.held += time.Since(p.since)
		w.Held, p.since = p.held, time.Time{}
	}
	return w
}

// survey finds the best links of all agents, the best first.
func (p *pricer) survey(ctx context.Context, agents []*teamAgent) (err error) {
	p.links = p.links[:0]
	for i, a := range agents {
		from := len(p.links)
		if p.links, err = a.Best(ctx, p.links, bestLinks, crawler.LongestWait); err != nil {
			return err
		}
		for k := range p.links[from:] { // a party is one agent's
			w := &p.links[from+k]
			w.Party = w.Party*frontier.Host(len(agents)) + frontier.Host(i)
		}
	}
	slices.SortStableFunc(p.links, func(a, b frontier.Waiting) int { return cmp.Compare(b.Priority, a.Priority) })
	return nil
}
