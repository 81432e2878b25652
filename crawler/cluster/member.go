package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"fossick/crawler"
	"fossick/internal/wire"
	"fossick/store"
)

type memberOptions struct {
	Crawl    crawler.Options
	Protocol Protocol
	Exchange Exchange
}

// Member is an agent of a cluster: a crawl with its own store, driven by the protocol.
type Member struct {
	*sites
	opt   memberOptions
	crawl *crawler.Crawler
	agent *crawler.Agent
	start time.Time
	ctx   context.Context // Run's

	tell    chan struct{} // capacity 1: an event waits for the protocol
	wake    chan struct{} // capacity 1: a job waits
	unsent  chan sendMessage
	lessons chan lesson

	keeper  *keeper // the replicas of other agents
	sender  *sender
	adopted map[AgentID]bool // agents already taken over when replicaOwnerDied arrives; owned by work

	mu      sync.Mutex // guards the rest
	node    *node      // nil before Run
	events  []event
	clocks  clocks
	jobs    []func() error
	load    crawler.Load
	rate    float64 // pages a second, a moving mean
	pace    pace
	ahead   ahead
	allowed report // only the last limit and epoch are set
	taken   uint64 // deliveries committed
	handovers
	ending  bool
	labels  [][]byte // given by people here, not yet sent to the others
	repeats [][]byte // duplicates found in stores of earlier owners, not yet sent
}

// clocks detects that the machine slept: a monotonic clock may stop during sleep, so that an
// expired lease would look valid.
type clocks struct {
	sent, accepted time.Duration // how far the wall clock was ahead of the monotonic clock at a heartbeat
}

// slept reports whether the clocks have drifted apart too far since the last accepted heartbeat.
func (c clocks) slept(ahead, lease time.Duration) bool { return ahead-c.accepted > lease/20 }

const (
	mostUnsent      = 256 // messages waiting for the exchange; the protocol sends any others again
	mostEngineBytes = mostMessageBytes - 1<<10
	lookEvery       = 100 * time.Millisecond // how often watch looks at the crawl
	rateOver        = 5 * time.Second        // time constant of the mean rate
	mostFailures    = 6                      // one for each goroutine of Run
)

// New prepares a member of the cluster that shares an exchange. The crawl's MaxPages and
// MinHarvest are limits of all members together. Its store tells whether the agent has been in
// the cluster before.
func New(crawl crawler.Options, protocol Protocol, exchange Exchange) (*Member, error) {
	opt := memberOptions{crawl, protocol, exchange}
	opt.Crawl.Log = cmp.Or(opt.Crawl.Log, slog.New(slog.DiscardHandler))
	opt.Crawl.Workers = cmp.Or(opt.Crawl.Workers, crawler.DefaultWorkers)
	opt.Protocol = opt.Protocol.withDefaults()
	opt.Protocol.maxPages, opt.Protocol.minHarvest = int64(opt.Crawl.MaxPages), opt.Crawl.MinHarvest
	m := &Member{
		sites: newSites(), start: time.Now(), tell: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		unsent: make(chan sendMessage, mostUnsent), lessons: make(chan lesson, maxUnread),
		adopted: map[AgentID]bool{}, handovers: handovers{arriving: map[uint16]*arriving{}, epochs: map[uint16]uint64{}},
	}
	o := opt.Crawl
	o.Sites, o.MaxPages, o.MinHarvest, o.Patience = m, 0, 0, opt.Crawl.WaitsUpTo() // Patience follows the limits of the whole crawl
	w := &worth{most: opt.Protocol.maxPages}
	if o.Patience > 1 {
		opt.Protocol.price = w.price
	}
	m.opt = opt
	var err error
	if m.crawl, err = crawler.New(o); err != nil {
		return nil, err
	}
	m.agent = crawler.AgentOf(m.crawl)
	w.keeper = crawler.NewPatience(crawler.PatienceOptions{Factor: o.Patience, Chances: m.agent.Promises()})
	m.newReplicas()
	return m, nil
}

// Engine returns the member's crawl.
func (m *Member) Engine() *crawler.Crawler { return m.crawl }

// may reports whether a fetch may begin in a partition, and its epoch. The caller holds mu.
func (m *Member) may(p partition) (epoch uint64, ok bool) {
	if m.node == nil || m.clocks.slept(m.clockGap(), m.opt.Protocol.Lease) {
		return 0, false
	}
	return m.node.may(time.Since(m.start), p)
}

// Mine implements crawler.Sites. The node may regain a part before own has run.
func (m *Member) Mine(part uint16) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	epoch, ok := m.may(partition(part))
	return ok && m.arriving[part] == nil && m.epochs[part] == epoch
}

// Held implements crawler.Sites, also for parts without a lease or about to be released.
func (m *Member) Held(part uint16) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.node == nil {
		return false
	}
	_, owned := m.node.owned.parts[partition(part)]
	return owned
}

// Ours implements crawler.Sites. Links to all other parts are sent as parcels.
func (m *Member) Ours(part uint16) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.arriving[part]
	return m.node != nil && m.node.ours(partition(part)) && (c == nil || !c.leaves)
}

// Said implements crawler.Sites.
func (m *Member) Said(label []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.labels = append(m.labels, label)
}

// Repeats implements crawler.Sites.
func (m *Member) Repeats(duplicate []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.repeats = append(m.repeats, duplicate)
}

// clockGap returns how far the wall clock has run ahead of the monotonic clock since the start.
func (m *Member) clockGap() time.Duration {
	now := time.Now()
	return now.Round(0).Sub(m.start.Round(0)) - now.Sub(m.start)
}

// Leave hands over all partitions to other agents, and then Run returns.
func (m *Member) Leave() { m.post(leaveEvent{}) }

func (m *Member) post(ev event) {
	m.mu.Lock()
	m.events = append(m.events, ev)
	m.mu.Unlock()
	signal(m.tell)
}

func (m *Member) do(job func() error) {
	m.mu.Lock()
	m.jobs = append(m.jobs, job)
	m.mu.Unlock()
	signal(m.wake)
}

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run takes part in the crawl until it ends, the member has left, or ctx ends.
func (m *Member) Run(ctx context.Context) (crawler.Result, error) {
	parent := ctx
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	m.ctx = ctx
	var beside sync.WaitGroup
	failed := make(chan error, mostFailures)
	var result crawler.Result
	past := m.agent.LessonsBefore()
	beside.Go(func() {
		defer stop()
		r, err := m.crawl.Run(ctx)
		result = r
		failed <- err
	})
	teach := func(ctx context.Context) error { return m.teach(ctx, past) }
	for _, run := range []func(context.Context) error{m.work, m.watch, teach, m.replicate, m.keeper.run} {
		beside.Go(func() {
			err := ignoreEnd(run(ctx))
			if err != nil {
				stop()
			}
			failed <- err
		})
	}
	err := ignoreEnd(m.follow(ctx))
	if !m.ended() { // the member has left, or the protocol failed
		stop()
	}
	beside.Wait()
	close(failed)
	for e := range failed {
		err = errors.Join(err, ignoreEnd(e))
	}
	if err == nil && (m.ended() || parent.Err() == nil) { // nobody needs the replicas any more
		err = m.keeper.drop()
	}
	return result, err
}

func (m *Member) ended() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ending
}

func ignoreEnd(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, crawler.ErrEnded) {
		return nil
	}
	return err
}

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

// watch polls the crawl's load and tells the protocol about new parcels.
func (m *Member) watch(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	reached := uint64(math.MaxUint64)
	first, err := m.opt.Crawl.Store.Counts()
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.load.Counts = first // pages of an earlier run do not count towards the rate
	m.mu.Unlock()
	for {
		l, err := m.agent.Load(ctx, 0)
		if err != nil {
			return err
		}
		seen, err := m.ahead.look(ctx, m.agent, m.pace.perSecond(m.opt.Crawl.Workers), m.opt.Protocol.Lease, m.opt.Crawl.Delay.Load(0))
		if err != nil {
			return err
		}
		m.mu.Lock()
		m.pace.saw(&m.load, &l, lookEvery)
		m.ahead = seen
		m.rate += (float64(l.Counts.LastPage()-m.load.Counts.LastPage())/lookEvery.Seconds() - m.rate) * lookEvery.Seconds() / rateOver.Seconds()
		m.load = l
		m.mu.Unlock()
		if l.Counts.Parcels != reached {
			reached = l.Counts.Parcels
			if m.sender != nil {
				m.sender.extend(reached)
			}
			for s, err := range store.OutboxOf(m.opt.Crawl.Store).Spans() {
				if err != nil {
					return err
				}
				if s.Part != store.KeeperPart {
					m.post(queuedEvent{partition(s.Part), s.Last})
				}
			}
		}
		m.settleSoon()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (m *Member) follow(ctx context.Context) error {
	recovered, err := m.recover()
	if err != nil {
		return fmt.Errorf("agent %s: %w", m.opt.Protocol.ID, err)
	}
	m.mu.Lock()
	m.node = newNode(m.opt.Protocol, recovered)
	m.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer cancel(nil)
	beside.Go(func() { cancel(m.receive(ctx)) })
	beside.Go(func() { m.send(ctx) })
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var events []event
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-m.tell:
			m.mu.Lock()
			events, m.events = m.events, nil
			m.mu.Unlock()
		case <-timer.C:
			events = append(events, tickEvent{m.report()})
		}
		for _, ev := range events {
			if done, err := m.step(ctx, &beside, ev); done || err != nil {
				return err
			}
		}
		m.mu.Lock()
		now := time.Since(m.start)
		wait := m.node.due(now) - now
		m.mu.Unlock()
		timer.Reset(max(wait, time.Millisecond))
	}
}

// step gives the node an event and carries out the effects. Resulting events come first.
func (m *Member) step(ctx context.Context, beside *sync.WaitGroup, ev event) (done bool, err error) {
	for todo := []event{ev}; len(todo) > 0; todo = todo[1:] {
		m.mu.Lock()
		if s, ok := todo[0].(swapEvent); ok && s.revision != 0 && s.key == agentKeys+string(m.opt.Protocol.ID) {
			m.clocks.accepted = m.clocks.sent
		}
		effects := m.node.step(time.Since(m.start), todo[0])
		m.mu.Unlock()
		for _, e := range effects {
			switch e := e.(type) {
			case swapValue:
				if e.key == agentKeys+string(m.opt.Protocol.ID) {
					m.mu.Lock()
					m.clocks.sent = m.clockGap()
					m.mu.Unlock()
				}
				beside.Go(func() { m.swap(ctx, e) })
			case askValues:
				beside.Go(func() { m.ask(ctx, e.keys) })
			case readOutbox:
				parcels, err := m.outbox(e)
				if err != nil {
					return false, fmt.Errorf("agent %s: %w", m.opt.Protocol.ID, err)
				}
				todo = append(todo, outgoingEvent{e.partition, e.after, parcels[:min(len(parcels), mostParcels)]})
			case endCrawl:
				m.end(e.why)
				return true, nil
			case left:
				return true, nil
			case stop:
				return false, fmt.Errorf("agent %s: %w", m.opt.Protocol.ID, e.reason)
			default:
				m.carryOut(e)
			}
		}
	}
	return false, nil
}

func (m *Member) carryOut(e effect) {
	switch e := e.(type) {
	case sendMessage:
		select {
		case m.unsent <- e:
		default:
		}
	case ownChanged:
		m.own(e.gained, e.lost, e.passed)
	case releasePartition:
		m.release(e.partition, e.epoch)
	case takeParcels:
		m.do(func() error { return m.take(e.delivery) })
	case trimOutbox:
		m.do(func() error { return m.agent.Trim(m.ctx, uint16(e.partition), e.upto) })
	case allowPages:
		m.do(func() error {
			_, err := m.agent.Allow(m.ctx, crawler.Allowance{Pages: uint64(max(0, e.pages)), Price: e.price, Workers: m.opt.Crawl.Workers})
			m.mu.Lock()
			defer m.mu.Unlock()
			m.allowed.Allowed = e.pages
			return err
		})
	case keeperNamed:
		if m.sender != nil {
			m.sender.name(e.id)
		}
	case replicaOwnerDied:
		m.do(func() error {
			if m.adopted[e.id] {
				delete(m.adopted, e.id)
				return nil
			}
			return m.inherit(e.id, nil)
		})
	case engineMessage:
		m.handle(e.from, e.bytes)
	}
}

func (m *Member) end(why string) {
	stop := map[string]crawler.Stop{
		endedEmpty: crawler.StopEmpty, endedPages: crawler.StopMaxPages, endedHarvest: crawler.StopMinHarvest,
	}[why]
	m.mu.Lock()
	m.ending = true
	m.mu.Unlock()
	m.do(func() error { return m.agent.Finish(m.ctx, stop) })
}

// swap writes a value, for at most one lease. After an error it may have been written.
func (m *Member) swap(ctx context.Context, e swapValue) {
	ctx, cancel := context.WithTimeout(ctx, m.opt.Protocol.Lease)
	defer cancel()
	revision, err := m.opt.Exchange.Swap(ctx, e.key, e.value, e.revision)
	if err != nil {
		revision = 0
	}
	m.post(swapEvent{e.key, revision})
}

func (m *Member) ask(ctx context.Context, keys []string) {
	ctx, cancel := context.WithTimeout(ctx, m.opt.Protocol.Lease)
	defer cancel()
	values, err := m.opt.Exchange.Values(ctx, keys...)
	if err != nil {
		values = nil
	} else if values == nil {
		values = map[string]Value{}
	}
	m.post(valuesEvent{values})
}

// send passes messages to the exchange. The protocol sends refused messages again.
func (m *Member) send(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case message := <-m.unsent:
			one, cancel := context.WithTimeout(ctx, m.opt.Protocol.Lease)
			_ = m.opt.Exchange.Send(one, message.to, message.bytes)
			cancel()
		}
	}
}

// receive passes messages on until there will be no more, and returns the reason.
func (m *Member) receive(ctx context.Context) error {
	for {
		b, err := m.opt.Exchange.Receive(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, ErrClosed):
			return fmt.Errorf("agent %s: %w", m.opt.Protocol.ID, err)
		case err != nil: // the exchange may come back
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(m.opt.Protocol.Resend):
			}
			continue
		}
		m.post(messageEvent{b})
	}
}

// sendEngine sends bytes to another member's handle without blocking. It may be called before Run.
func (m *Member) sendEngine(to AgentID, kind byte, b []byte) {
	if len(b) > mostEngineBytes {
		return
	}
	b = append([]byte{kind}, b...)
	m.carryOut(sendMessage{to, wire.Encode(message{Version: wireVersion, Kind: kindEngine, From: m.opt.Protocol.ID, Parcels: []Parcel{{Number: 1, Bytes: b}}})})
}

// peers returns the other agents of the table, sorted by name. run rises with each run of this
// agent; it is 0 until a heartbeat has been accepted.
func (m *Member) peers() (run uint64, others []AgentID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.node == nil {
		return 0, nil
	}
	if t := m.node.owned.table; t != nil {
		others = slices.Sorted(maps.Keys(t.members))
	}
	return m.node.lease.run, slices.DeleteFunc(others, func(id AgentID) bool { return id == m.opt.Protocol.ID })
}

// lives reports whether no table excludes an agent. The caller holds mu.
func (m *Member) lives(id AgentID) bool {
	if m.node == nil {
		return true
	}
	members := m.node.owned.members()
	_, in := members[id]
	return in || members == nil
}

func (m *Member) isKeeperOf(id AgentID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.node == nil {
		return false
	}
	of, in := m.node.owned.members()[id]
	return in && of.keeper == m.opt.Protocol.ID
}

func (m *Member) recover() (r recovered, err error) {
	out := store.OutboxOf(m.opt.Crawl.Store)
	r = recovered{Cursors: map[stream]uint64{}, Outbox: map[partition]span{}, Held: map[partition]uint64{}, Past: map[partition]uint64{}}
	for h, err := range out.Cursors() {
		if err != nil {
			return r, err
		}
		if h.Part != store.KeeperPart {
			r.Cursors[stream{AgentID(h.Sender), partition(h.Part)}] = h.Number
		}
	}
	for s, err := range out.Spans() {
		if err != nil {
			return r, err
		}
		if s.Part != store.KeeperPart {
			r.Outbox[partition(s.Part)] = span{s.First, s.Last}
		}
	}
	held, err := out.Holdings()
	r.Known = held.Known
	for p, epoch := range held.Held {
		r.Held[partition(p)] = epoch
	}
	for p, epoch := range held.Past {
		r.Past[partition(p)] = epoch
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.allowed.Epoch = held.Known
	return r, err
}

func (m *Member) report() report {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := &m.load.Counts
	r := m.allowed
	r.Pages, r.Relevant, r.Requests = int64(n.Pages), int64(n.Relevant), int64(n.Requests)
	r.Waiting, r.InFlight, r.Outbox = int64(m.load.Waiting), int64(m.load.Busy), int64(m.load.Unsent)
	r.Moves = n.Requests + n.URLs + n.Parcels + m.taken + uint64(m.load.Busy)
	r.Lost = int64(n.States[crawler.StateLost])
	r.Workers, r.Rate = m.opt.Crawl.Workers, m.rate
	r.Pace = m.pace.perSecond(r.Workers)
	r.Head, r.Each = m.ahead.head()
	r.Best = m.ahead.best
	on := len(m.jobs) > 0 // jobs and arriving partitions will bring URLs
	for _, c := range m.arriving {
		on = on || !c.leaves
	}
	if on {
		r.InFlight++
	}
	return r
}

// outbox returns waiting parcels of about e.bytes, at least one if any waits.
func (m *Member) outbox(e readOutbox) (parcels []Parcel, err error) {
	for parcel, err := range store.OutboxOf(m.opt.Crawl.Store).Parcels(uint16(e.partition), e.after) {
		if err != nil {
			return nil, err
		}
		if e.bytes -= len(parcel.Data); e.bytes < 0 && len(parcels) > 0 {
			break
		}
		parcels = append(parcels, Parcel{Number: parcel.Number, Bytes: parcel.Data})
	}
	return parcels, nil
}

// take commits parcels, unless the partition's state is on its way to the next owner.
func (m *Member) take(d delivery) error {
	if m.handedOver(d.Partition) {
		m.post(takenEvent{d, false})
		return nil
	}
	from := crawler.Delivery{Sender: string(d.From), Part: uint16(d.Partition)}
	for _, p := range d.Parcels {
		from.Parcels = append(from.Parcels, store.Parcel{Part: from.Part, Number: p.Number, Data: p.Bytes})
	}
	_, whole, err := m.agent.Receive(m.ctx, from)
	if err == nil {
		err = m.whenReplicated(func() { m.post(takenEvent{d, true}) })
	}
	if err != nil {
		m.post(takenEvent{d, false})
		return fmt.Errorf("links from agent %s: %w", d.From, err)
	}
	m.mu.Lock()
	m.taken++
	if whole != "" {
		m.stateArrived(uint16(d.Partition), AgentID(whole))
	}
	m.mu.Unlock()
	if whole != "" {
		return m.settle()
	}
	return nil
}
