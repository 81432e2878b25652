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

// Options are a member's settings; the exchange is shared with the others.
type Options struct {
	Crawl    crawler.Options // MaxPages and MinHarvest are for all members, and stand in Protocol
	Protocol Protocol
	Exchange Exchange
}

// Member is an agent of a cluster: a crawl with a store of its own, which the protocol drives.
type Member struct {
	*sites
	opt   Options
	crawl *crawler.Crawler
	agent *crawler.Agent
	start time.Time
	ctx   context.Context // of Run

	tell    chan struct{} // one place: there is an event for the protocol
	wake    chan struct{} // one place: there is a job
	unsent  chan sendMessage
	unheard chan lesson // for teach

	keeper  *keeper          // of the replicas of others
	sender  *sender          // of this one's replica; nil when there is none
	adopted map[AgentID]bool // agents taken over, before keptDied says so; owned by work

	mu      sync.Mutex // guards the rest
	node    *node      // nil before Run
	events  []event
	clocks  clocks
	jobs    []func() error
	load    crawler.Load
	rate    float64 // pages a second, lately
	pace    pace
	ahead   ahead
	allowed report // the last limit and epoch
	taken   uint64 // deliveries
	hands
	ending  bool
	labels  [][]byte // that people gave here, to be sent to the others
	repeats [][]byte // duplicates in stores of earlier owners of the sites, likewise
}

// clocks notice a machine that slept: its monotonic clock may have stood still meanwhile, so
// that a lease that is over looks as if it were not.
type clocks struct {
	sent, accepted time.Duration // how far the wall clock was ahead of the other, at a heartbeat
}

// slept says whether the wall clock has gone further ahead since the last accepted heartbeat
// than two good clocks would differ by.
func (c clocks) slept(ahead, lease time.Duration) bool { return ahead-c.accepted > lease/20 }

const (
	mostUnsent   = 256 // messages that wait for the exchange; the protocol sends the rest again
	mostTold     = mostMessageBytes - 1<<10
	lookEvery    = 100 * time.Millisecond // at the crawl
	rateOver     = 5 * time.Second        // about over how long the rate is a mean
	mostFailures = 6                      // of goroutines of Run
)

// New prepares a member. Its store says whether it is new to the cluster.
func New(opt Options) (*Member, error) {
	opt.Crawl.Log = cmp.Or(opt.Crawl.Log, slog.New(slog.DiscardHandler))
	opt.Crawl.Workers = cmp.Or(opt.Crawl.Workers, crawler.DefaultWorkers)
	opt.Protocol = opt.Protocol.withDefaults()
	m := &Member{
		sites: newSites(), start: time.Now(), tell: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		unsent: make(chan sendMessage, mostUnsent), unheard: make(chan lesson, mostUnheard),
		adopted: map[AgentID]bool{}, hands: hands{coming: map[uint16]*coming{}, epochs: map[uint16]uint64{}},
	}
	o := opt.Crawl
	o.Sites, o.MaxPages, o.MinHarvest, o.Patience = m, 0, 0, opt.Crawl.WaitsUpTo() // Patience goes by the limits of all
	o.Said = func(label []byte) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.labels = append(m.labels, label)
	}
	o.Repeats = func(duplicate []byte) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.repeats = append(m.repeats, duplicate)
	}
	w := &worth{most: opt.Protocol.MaxPages}
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

// may says whether a fetch may begin in a partition now, and under which epoch. The caller
// holds mu.
func (m *Member) may(p partition) (epoch uint64, ok bool) {
	if m.node == nil || m.clocks.slept(m.clockGap(), m.opt.Protocol.Lease) {
		return 0, false
	}
	return m.node.may(time.Since(m.start), p)
}

// Mine is as crawler.Sites says. The node may own a part anew before own has seen it.
func (m *Member) Mine(part uint16) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	epoch, ok := m.may(partition(part))
	return ok && m.coming[part] == nil && m.epochs[part] == epoch
}

// Held is as crawler.Sites says: whether the agent owns a part, even if its lease has run out
// or it is about to release the part.
func (m *Member) Held(part uint16) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.node == nil {
		return false
	}
	_, held := m.node.hand.held[partition(part)]
	return held
}

// Ours is as crawler.Sites says: whether links to a part go into this member's queue. All
// others are sent as parcels.
func (m *Member) Ours(part uint16) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.coming[part]
	return m.node != nil && m.node.ours(partition(part)) && (c == nil || !c.leaves)
}

// clockGap returns how far the wall clock has gone ahead of the monotonic one since the start.
func (m *Member) clockGap() time.Duration {
	now := time.Now()
	return now.Round(0).Sub(m.start.Round(0)) - now.Sub(m.start)
}

// Leave hands all partitions over to the others, and ends Run.
func (m *Member) Leave() { m.post(leaveEvent{}) }

// post gives the protocol an event. It does not wait.
func (m *Member) post(ev event) {
	m.mu.Lock()
	m.events = append(m.events, ev)
	m.mu.Unlock()
	signal(m.tell)
}

// do queues a job for work. It does not wait.
func (m *Member) do(job func() error) {
	m.mu.Lock()
	m.jobs = append(m.jobs, job)
	m.mu.Unlock()
	signal(m.wake)
}

// signal fills a channel of one place.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run takes part in the crawl until the whole has ended, the member has left, or ctx ends. It
// returns after the last goroutine that it started.
func (m *Member) Run(ctx context.Context) (crawler.Result, error) {
	parent := ctx
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	m.ctx = ctx
	var beside sync.WaitGroup
	failed := make(chan error, mostFailures)
	var result crawler.Result
	past := m.agent.ToldBefore()
	beside.Go(func() {
		defer stop() // nothing else goes on without a crawl
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
	if !m.ended() { // it has left, or the protocol failed
		stop()
	}
	beside.Wait()
	close(failed)
	for e := range failed {
		err = errors.Join(err, ignoreEnd(e))
	}
	if err == nil && (m.ended() || parent.Err() == nil) { // it has left
		err = m.keeper.drop()
	}
	return result, err
}

func (m *Member) ended() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ending
}

// ignoreEnd drops errors that say that the crawl has ended.
func ignoreEnd(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, crawler.ErrEnded) {
		return nil
	}
	return err
}

// work does the jobs, in order.
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

// watch looks at the crawl, and tells the protocol of new parcels.
func (m *Member) watch(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	told := uint64(math.MaxUint64)
	first, err := m.opt.Crawl.Store.Counts()
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.load.Counts = first // pages of an earlier run are no pace
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
		if l.Counts.Parcels != told {
			told = l.Counts.Parcels
			if m.sender != nil {
				m.sender.extend(told)
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
		m.hurry()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// follow runs the protocol: it steps the node and carries its effects out.
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

// step gives the node an event and carries the effects out. Events that follow from them come
// before all others.
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

// carryOut carries out an effect that the node needs no answer to at once.
func (m *Member) carryOut(e effect) {
	switch e := e.(type) {
	case sendMessage:
		select {
		case m.unsent <- e:
		default: // the exchange is slow or gone
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
	case keptDied:
		m.do(func() error {
			if m.adopted[e.id] {
				delete(m.adopted, e.id)
				return nil
			}
			return m.inherit(e.id, nil)
		})
	case hearEngine:
		m.hear(e.from, e.told)
	}
}

// end ends the crawl.
func (m *Member) end(why string) {
	stop := map[string]crawler.Stop{
		endedEmpty: crawler.StopEmpty, endedPages: crawler.StopMaxPages, endedHarvest: crawler.StopMinHarvest,
	}[why]
	m.mu.Lock()
	m.ending = true
	m.mu.Unlock()
	m.do(func() error { return m.agent.Finish(m.ctx, stop) })
}

// swap asks the exchange for as long as the answer is of use. After an error the value may have
// been written all the same.
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

// send hands messages to the exchange. A message that it refuses is lost; the protocol sends it
// again.
func (m *Member) send(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case message := <-m.unsent:
			one, cancel := context.WithTimeout(ctx, m.opt.Protocol.Lease)
			_ = m.opt.Exchange.Send(one, message.to, message.bytes) // the same as a message lost on its way
			cancel()
		}
	}
}

// receive takes messages from the exchange. It returns why there will be no more.
func (m *Member) receive(ctx context.Context) error {
	for {
		b, err := m.opt.Exchange.Receive(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, ErrClosed):
			return fmt.Errorf("agent %s: %w", m.opt.Protocol.ID, err)
		case err != nil: // it may come back
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

// say sends bytes of a kind to another member, which hear receives. It does not wait, and may
// be called before Run.
func (m *Member) say(to AgentID, kind byte, b []byte) {
	if len(b) > mostTold {
		return // a mistake of the caller; the others would not read it
	}
	b = append([]byte{kind}, b...)
	m.carryOut(sendMessage{to, wire.Encode(message{Version: wireVersion, Kind: kindTold, From: m.opt.Protocol.ID, Parcels: []Parcel{{Number: 1, Bytes: b}}})})
}

// peers returns the other agents of the table, sorted by name. run identifies this run of the
// agent: it rises with each run, and is 0 until the first heartbeat was accepted.
func (m *Member) peers() (run uint64, others []AgentID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.node == nil {
		return 0, nil
	}
	if t := m.node.hand.table; t != nil {
		others = slices.Sorted(maps.Keys(t.members))
	}
	return m.node.lease.run, slices.DeleteFunc(others, func(id AgentID) bool { return id == m.opt.Protocol.ID })
}

// lives says whether an agent takes part as far as this one knows: nobody has declared it
// dead. The caller holds mu.
func (m *Member) lives(id AgentID) bool {
	if m.node == nil {
		return true
	}
	members := m.node.hand.members()
	_, in := members[id]
	return in || members == nil
}

// keeps says whether the table names this agent as the keeper of another agent's replica.
func (m *Member) keeps(id AgentID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.node == nil {
		return false
	}
	of, in := m.node.hand.members()[id]
	return in && of.keeper == m.opt.Protocol.ID
}

// recover returns the links to other partitions, and the holdings, that the store has.
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

// report returns the state of the crawl.
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
	on := len(m.jobs) > 0 // partitions on their way will bring URLs
	for _, c := range m.coming {
		on = on || !c.leaves
	}
	if on {
		r.InFlight++
	}
	return r
}

// outbox returns parcels that wait.
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

// take commits parcels. It refuses those of a partition whose state is on its way to the next
// owner.
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
		err = m.whenKept(func() { m.post(takenEvent{d, true}) })
	}
	if err != nil {
		m.post(takenEvent{d, false})
		return fmt.Errorf("links from agent %s: %w", d.From, err)
	}
	m.mu.Lock()
	m.taken++
	if whole != "" {
		m.came(uint16(d.Partition), AgentID(whole))
	}
	m.mu.Unlock()
	if whole != "" {
		return m.settle()
	}
	return nil
}
