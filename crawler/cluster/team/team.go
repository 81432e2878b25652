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

	"fossick/crawler"
	"fossick/crawler/cluster/sites"
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
	harvest crawler.Watch
	ended   chan *agent
	reach   int // links that are good enough
	turn    int // of the agent that comes first, where all are alike
	pricer  pricer

	commits atomic.Int64  // since the last round
	wake    chan struct{} // one place: there were many
	taught  time.Time     // when scorers told each other what they learned
	pages   uint64        // that were stored then

	telling sync.Mutex // held while the progress is told: by one agent at a time

	mu       sync.Mutex // guards the rest
	progress []crawler.Progress
	next     crawler.Marginal
	patience *crawler.Patience // nil: it never waits
	past     bool              // labels of sessions before were told
	labels   []label           // that people gave, and the others have not heard of
}

// agent is one of them. What follows crawl belongs to the team's rounds.
type agent struct {
	*crawler.Agent
	name  string
	store *store.Store
	crawl *crawler.Crawler

	load     crawler.Load
	parcels  uint64 // of its outbox, when it was emptied last
	allowed  crawler.Allowance
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
	t := &Team{whole: opt.Agents[0], ended: make(chan *agent, len(opt.Agents)), harvest: crawler.NewWatch(opt.Agents[0].MinHarvest), wake: make(chan struct{}, 1), progress: make([]crawler.Progress, len(opt.Agents))}
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
	p.Next, p.Patience = t.next, t.patience
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
