package member

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"sync"
	"time"

	"fossick/crawler"
	"fossick/crawler/cluster"
	"fossick/crawler/cluster/sites"
	"fossick/store"
)

// Options are a member's settings.
type Options struct {
	Crawl    crawler.Options // MaxPages and MinHarvest are the cluster's, and stand in Protocol
	Protocol cluster.Options
	Exchange cluster.Exchange
}

// Member is an agent of a cluster.
type Member struct {
	*sites.Sites
	opt   Options
	crawl *crawler.Crawler
	agent *crawler.Agent
	node  *cluster.Agent

	replicas
	ctx context.Context // of Run

	wake    chan struct{} // one place: there is a job
	unheard chan saying   // for teach

	mu   sync.Mutex // guards the rest
	jobs []func() error
	standing
	hands
	ending  bool
	labels  [][]byte // that people gave here, and nobody was told of yet
	repeats [][]byte // duplicates in stores of those who had the sites before, likewise
}

// standing is how the crawl stands, for Report.
type standing struct {
	load    crawler.Load
	rate    float64 // pages a second, lately
	pace    pace
	ahead   ahead
	allowed cluster.Report // what Allow and Own said last
	taken   uint64         // deliveries
}

const (
	// look is how often the crawl is asked how it goes.
	look = 100 * time.Millisecond
	// headLinks is how many priorities a report has.
	headLinks = 64
	// rateOver is about over how long the pages a second are told.
	rateOver = 5 * time.Second
)

// New prepares a member. Its store says whether it is new to the cluster.
func New(opt Options) (*Member, error) {
	opt.Crawl.Log = cmp.Or(opt.Crawl.Log, slog.New(slog.DiscardHandler))
	opt.Crawl.Workers = cmp.Or(opt.Crawl.Workers, crawler.DefaultWorkers)
	m := &Member{Sites: sites.New(), opt: opt, wake: make(chan struct{}, 1), unheard: make(chan saying, mostUnheard), hands: hands{coming: map[uint16]*coming{}, epochs: map[uint16]uint64{}}}
	o := opt.Crawl
	o.Sites, o.MaxPages, o.MinHarvest, o.Said, o.Repeats = m, 0, 0, m.said, repeat(m)
	o.Patience = opt.Crawl.WaitsUpTo() // by the whole's limits
	w := &worth{most: opt.Protocol.MaxPages}
	if o.Patience > 1 {
		opt.Protocol.Price = w.price
	}
	m.node = cluster.NewAgent(opt.Protocol, opt.Exchange, m)
	var err error
	if m.crawl, err = crawler.New(o); err != nil {
		return nil, err
	}
	m.agent = crawler.AgentOf(m.crawl)
	w.keeper = crawler.NewPatience(crawler.PatienceOptions{Factor: o.Patience, Chances: m.agent.Promises()})
	m.newReplicas()
	return m, nil
}

// Engine is the member's crawl, for who asks it alone.
func (m *Member) Engine() *crawler.Crawler { return m.crawl }

// Mine is as crawler.sites says. The protocol may own a part anew before Own has heard of it.
func (m *Member) Mine(part uint16) bool {
	epoch, ok := m.node.May(cluster.Partition(part))
	if !ok {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.coming[part] == nil && m.epochs[part] == epoch
}

// Held is as crawler.sites says.
func (m *Member) Held(part uint16) bool { return m.node.Held(cluster.Partition(part)) }

// Ours is as crawler.sites says.
func (m *Member) Ours(part uint16) bool {
	if !m.node.Ours(cluster.Partition(part)) {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.coming[part]
	return c == nil || !c.leaves
}

// Leave hands all over to the others, and ends Run.
func (m *Member) Leave() { m.node.Leave() }

// Run takes part in the crawl until the whole has ended, the member has left, or ctx ends. It
// returns after the last goroutine that it started.
func (m *Member) Run(ctx context.Context) (crawler.Result, error) {
	parent := ctx
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	m.ctx = ctx
	var beside sync.WaitGroup
	failed := make(chan error, 6)
	var result crawler.Result
	past := m.agent.ToldBefore()
	beside.Go(func() {
		defer stop() // the rest has no reason to go on without a crawl
		r, err := m.crawl.Run(ctx)
		result = r
		failed <- err
	})
	teach := func(ctx context.Context) error { return m.teach(ctx, past) }
	for _, run := range []func(context.Context) error{m.work, m.watch, teach, m.replicate, m.keeper.Run} {
		beside.Go(func() {
			err := ignoreEnd(run(ctx))
			if err != nil { // the rest has no reason to go on without it
				stop()
			}
			failed <- err
		})
	}
	err := ignoreEnd(m.node.Run(ctx))
	if !m.ended() { // it has left, or the protocol failed
		stop()
	}
	beside.Wait()
	close(failed)
	for e := range failed {
		err = errors.Join(err, ignoreEnd(e))
	}
	if err == nil && (m.ended() || parent.Err() == nil) { // it has left
		err = m.keeper.Drop()
	}
	return result, err
}

func (m *Member) ended() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ending
}

// ignoreEnd is for what ends since all does.
func ignoreEnd(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, crawler.ErrEnded) {
		return nil
	}
	return err
}

// do has a job done after those before it. It does not wait.
func (m *Member) do(job func() error) {
	m.mu.Lock()
	m.jobs = append(m.jobs, job)
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// work does the jobs.
func (m *Member) work(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-m.wake:
		}
		m.mu.Lock()
		jobs := m.jobs
		m.jobs = nil
		m.mu.Unlock()
		for _, job := range jobs {
			if err := job(); err != nil {
				return err
			}
		}
	}
}

// watch asks the crawl how it goes, and tells the protocol of new parcels.
func (m *Member) watch(ctx context.Context) error {
	tick := time.NewTicker(look)
	defer tick.Stop()
	told := uint64(math.MaxUint64)
	first, err := m.opt.Crawl.Store.Counts()
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.load.Counts = first // what was stored before is no pace
	m.mu.Unlock()
	for {
		l, err := m.agent.Load(ctx, 0)
		if err != nil {
			return err
		}
		perSecond := m.pace.perSecond(m.opt.Crawl.Workers)
		seen, err := m.ahead.look(ctx, m.agent, perSecond, cmp.Or(m.opt.Protocol.Lease, cluster.DefaultLease), m.opt.Crawl.Delay.Load(0))
		if err != nil {
			return err
		}
		m.mu.Lock()
		m.pace.saw(&m.load, &l, look)
		m.ahead = seen
		m.rate += (float64(l.Counts.LastPage()-m.load.Counts.LastPage())/look.Seconds() - m.rate) * look.Seconds() / rateOver.Seconds()
		m.load = l
		m.mu.Unlock()
		if l.Counts.Parcels != told {
			told = l.Counts.Parcels
			if m.sender != nil {
				m.sender.Reach(told)
			}
			for s, err := range store.OutboxOf(m.opt.Crawl.Store).Spans() {
				if err != nil {
					return err
				}
				if s.Part == store.KeeperPart {
					continue
				}
				m.node.Queued(cluster.Partition(s.Part), s.Last)
			}
		}
		m.hurry()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
