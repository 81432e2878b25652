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

// Team is one crawl of several agents in one process, each with its own store and scorer, and its
// own sites. Rounds move links to their owners, share what was learned, and divide the budget. So
// the agents together fetch the links that one crawl would.
type Team struct {
	whole   crawler.Options
	agents  []*teamAgent
	harvest crawler.Watch
	ended   chan *teamAgent
	reach   int // links that the price admits at least
	first   int // index of the agent that comes first among equals
	pricer  pricer

	commits atomic.Int64  // since the last round
	wake    chan struct{} // capacity 1: enough commits for a round
	taught  time.Time     // when scorers last shared what they learned
	pages   uint64        // stored at that time

	telling sync.Mutex // serializes calls of Progress

	mu       sync.Mutex // guards the rest
	progress []crawler.Progress
	rates    []float64 // pages a second, moving means
	next     crawler.Marginal
	patience *crawler.Patience
	past     bool        // labels of earlier sessions were shared
	labels   []teamLabel // given by people and not yet shared
}

type teamLabel struct {
	agent int
	data  []byte
}

// teamAgent is an agent of a team. The team's rounds own the fields after crawl.
type teamAgent struct {
	*crawler.Agent
	name  string
	store *store.Store
	crawl *crawler.Crawler

	load     crawler.Load
	parcels  uint64 // number of the last parcel, when the outbox was last emptied
	allowed  crawler.Allowance
	unused   time.Time // since when it leaves its allowance unused; zero: it does not
	pages    uint64    // pages that the harvest has counted
	relevant uint64    // of these, on topic

	result crawler.Result
	err    error
}

const (
	teamRound     = 100 * time.Millisecond // longest time between rounds
	idleGrace     = 2 * teamRound          // how long an agent may leave its allowance unused
	tellPages     = 10                     // scorers share what they learned after this many pages, or after teachEvery
	deliveryBytes = 1 << 20                // approximate size of a delivery
	commitShare   = 4                      // a round starts after Workers/commitShare commits
	headLinks     = 4                      // links of an agent to look at, for each worker
	farthest      = 64                     // limit of reach, for each worker
	// The price also admits Workers/spareShare links for workers that become free before the next
	// round.
	spareShare = 4
)

// share is a team agent's crawler.Sites, with one part per agent: a page's links to an agent form
// one parcel.
type share struct {
	*sites
	team           *Team
	agents, number int
}

func (s share) Part(url string) uint16 { return uint16(int(s.sites.Part(url)) % s.agents) }

// Mine reports whether a part is the agent's. Stores of earlier versions may have any parts.
func (s share) Mine(part uint16) bool { return int(part)%s.agents == s.number }
func (s share) Held(part uint16) bool { return s.Mine(part) }
func (s share) Ours(part uint16) bool { return s.Mine(part) }

// Said passes a label on to the other agents.
func (s share) Said(label []byte) {
	s.team.mu.Lock()
	defer s.team.mu.Unlock()
	s.team.labels = append(s.team.labels, teamLabel{s.number, label})
}

// Repeats does nothing, because no site changes its agent.
func (s share) Repeats([]byte) {}

// NewTeam prepares a crawl with one agent for each of the options. The first has the settings of
// the whole: MaxPages, MinHarvest, Workers, Progress and MaxTime. Each agent fetches its own
// start pages.
func NewTeam(agents []crawler.Options) (*Team, error) {
	if len(agents) == 0 {
		return nil, errors.New("team: no agent")
	}
	t := &Team{
		whole: agents[0], ended: make(chan *teamAgent, len(agents)), harvest: crawler.NewWatch(agents[0].MinHarvest),
		wake: make(chan struct{}, 1), progress: make([]crawler.Progress, len(agents)), rates: make([]float64, len(agents)),
	}
	t.whole.Workers = cmp.Or(t.whole.Workers, crawler.DefaultWorkers)
	all := newSites()
	for i, o := range agents {
		o.Sites = share{all, t, len(agents), i}
		o.MinHarvest, o.Workers, o.Patience = 0, t.whole.Workers, 1 // each may use all workers; rounds divide them
		o.Progress = func(p crawler.Progress) { t.tell(i, p) }
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

// Progress returns the progress of all agents together.
func (t *Team) Progress() crawler.Progress {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sum()
}

// Each returns the progress of each agent, without the limits of the whole.
func (t *Team) Each() []crawler.Progress {
	t.mu.Lock()
	defer t.mu.Unlock()
	each := slices.Clone(t.progress)
	for i := range each {
		each[i].MaxPages = 0
	}
	return each
}

// sum adds up the agents' progress. The caller holds mu.
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
		sum.RestUntil = time.Time{}
	}
	sum.Next, sum.Patience, sum.Shared = t.next, t.patience, true
	return sum
}

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
	was := t.progress[i]
	if took := (p.Elapsed - was.Elapsed).Seconds(); took > 0 {
		t.rates[i] += (float64(p.Pages-min(p.Pages, was.Pages))/took - t.rates[i]) * -math.Expm1(-took/rateOver.Seconds())
	}
	t.progress[i] = p
	sum := t.sum()
	t.mu.Unlock()
	if t.whole.Progress != nil {
		t.whole.Progress(sum)
	}
}

// Run crawls until a limit is met, no URL waits at any agent, or ctx ends.
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
		stop()
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

// rounds runs rounds until there is a reason to stop, or an agent, first, ends.
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

// committed starts a round early after enough commits, so that the team soon knows the best
// links.
func (t *Team) committed() {
	if t.commits.Add(1) >= int64(max(1, t.whole.Workers/commitShare)) {
		signal(t.wake)
	}
}

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

func (t *Team) each(do func(*teamAgent) error) error {
	var all errgroup.Group
	for _, a := range t.agents {
		all.Go(func() error { return do(a) })
	}
	return all.Wait()
}

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

// carry empties an agent's outbox, and reports whether it held anything.
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

// teach shares what scorers learned and people's labels, at first also those of earlier sessions.
func (t *Team) teach(ctx context.Context) error {
	lessons := make(map[*teamAgent][]byte, len(t.agents))
	for _, from := range t.agents {
		lessons[from] = from.Lesson()
	}
	if err := t.each(func(to *teamAgent) (err error) {
		for _, from := range t.agents { // in a fixed order, as new words push out old ones
			if from != to && lessons[from] != nil {
				err = errors.Join(err, to.Learn(lessons[from]))
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

func (t *Team) divide(ctx context.Context, slow bool) error {
	t.first = (t.first + 1) % len(t.agents)
	agents := slices.Concat(t.agents[t.first:], t.agents[:t.first])
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
	// Idle workers admit more links: the best may be on hosts that rest, or on new ones that wait
	// for their turn. In one crawl an idle worker takes the best free link.
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

// head returns the links that the agent offers. It now and then returns none while the agent
// leaves its allowance unused.
func (a *teamAgent) head() []float64 {
	now := time.Now()
	switch {
	case a.load.Busy > 0 || a.load.Spent >= a.allowed.Pages || a.allowed.Workers == 0:
		a.unused = time.Time{}
	case a.unused.IsZero():
		a.unused = now
	case now.Sub(a.unused) > idleGrace:
		a.unused = time.Time{}
		return nil
	}
	return a.load.Head
}

// allow makes reductions first, since agents may meanwhile have spent pages that others would
// get. So the sum never exceeds the whole.
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

func (t *Team) count(a *teamAgent) {
	a.relevant = min(a.relevant, a.load.Counts.Relevant) // a relevant page may have been dropped
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

type standing struct {
	spent uint64
	busy  int
	head  []float64 // priorities, descending, of the best link of each host that is free or soon will be
}

// divide divides the budget needed until the next round. Free workers go to the agents with the
// best links. The price admits few more links than free workers, but at least ahead. About as
// many pages as there are workers go to the best links, and as many to the agents in turn, for
// links that may yet arrive. It gives out at most left pages and workers workers.
func divide(left uint64, workers, ahead int, reports []standing) []crawler.Allowance {
	type link struct {
		priority    float64
		agent, turn int // turn: rank of the link at its agent
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
	for i := range max(0, free-len(waiting)) { // so that an agent that finds a link need not wait for a round
		shares[i%len(shares)].Workers++
	}
	return shares
}

// pricer finds the price below which agents skip links, as better ones of any agent are worth a
// wait: as one crawl with all these links would (docs/frontier.md).
type pricer struct {
	keeper *crawler.Keeper // nil: agents take any link that is free
	limit  time.Duration   // of the crawl; 0: none
	work   int
	began  time.Time

	price float64
	asked time.Time // when the price was last computed
	spent uint64
	had   uint64    // pages at the last call
	moved time.Time // when the number of pages last changed
	links []frontier.Waiting

	since time.Time     // since when a free worker waits; zero: none waits
	held  time.Duration // sum of earlier waits
}

const (
	pricePages = 4
	priceAge   = time.Second
)

func newPricer(whole *crawler.Options, promises bool) pricer {
	p := pricer{limit: whole.MaxTime, work: whole.Workers, price: math.Inf(-1)}
	if factor := whole.WaitsUpTo(); factor > 1 {
		p.keeper = crawler.NewPatience(crawler.PatienceOptions{Factor: factor, Chances: promises})
	}
	return p
}

// least returns the price, given the pages left of the budget.
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
		return math.Inf(-1), nil // waiting gains nothing
	case sum.Spent < p.spent+pricePages && now.Sub(p.asked) < priceAge:
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

// waits records whether a free worker waits, and the best link below the price. It returns the
// sum of all waits, or nil.
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

// survey collects the best links of all agents, best first.
func (p *pricer) survey(ctx context.Context, agents []*teamAgent) (err error) {
	p.links = p.links[:0]
	for i, a := range agents {
		from := len(p.links)
		if p.links, err = a.Best(ctx, p.links, bestLinks, crawler.LongestWait); err != nil {
			return err
		}
		for k := range p.links[from:] { // make party numbers unique across agents
			w := &p.links[from+k]
			w.Party = w.Party*frontier.Host(len(agents)) + frontier.Host(i)
		}
	}
	slices.SortStableFunc(p.links, func(a, b frontier.Waiting) int { return cmp.Compare(b.Priority, a.Priority) })
	return nil
}
