package member

import (
	"context"
	"errors"
	"slices"
	"time"

	"fossick/crawler"
	"fossick/crawler/cluster"
	"fossick/crawler/cluster/broadcast"
)

// teaching is what members tell each other besides links: what their scorers learn, what
// people say, and duplicates that any of them may have. One goroutine has it, beside the crawl.
type teaching struct {
	*Member
	broadcast *broadcast.Broadcast // nil until the first heartbeat was accepted
	past      [][]byte             // what the scorer learned of the store's pages, before this run
	labels    [][]byte             // said in this run, the latest: not all of them are in the store
}

// saying is what another member told.
type saying struct {
	from  cluster.AgentID
	bytes []byte
}

const (
	// tellEvery is how often members tell what they learned, while they are few.
	tellEvery = 2 * time.Second
	// tellEach is how much longer that takes with each member, so that a member sends half
	// a megabyte a second at most.
	tellEach = 250 * time.Millisecond
	// mostUnheard is how many messages wait to be heard; what is beyond comes again.
	mostUnheard = 64
	// mostLabels is how many labels of the store, and of this run, are told to who comes.
	mostLabels = 2000
)

// Kinds of items, which their first byte tells.
const (
	itemSums   = 's'
	itemLabel  = 'l'
	itemRepeat = 'r'
)

// item is bytes of a kind.
func item(kind byte, bytes []byte) broadcast.Item {
	return broadcast.Item{Bytes: append([]byte{kind}, bytes...)}
}

// said takes a label that people gave here. It does not wait.
func (m *Member) said(label []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.labels = append(m.labels, label)
}

// repeat returns what takes duplicates whose pages another member may have stored. It does not
// wait.
func repeat(m *Member) func(duplicate []byte) {
	return func(duplicate []byte) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.repeats = append(m.repeats, duplicate)
	}
}

// hear takes a message from the exchange. It does not wait.
func (m *Member) hear(from cluster.AgentID, bytes []byte) {
	select {
	case m.unheard <- saying{from, bytes}:
	default:
	}
}

// teach tells the others what this member learns, and takes in what they say.
func (m *Member) teach(ctx context.Context, past [][]byte) error {
	t := &teaching{Member: m, past: past}
	timer := time.NewTimer(tellEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case s := <-m.unheard:
			if err := t.listen(ctx, s); err != nil {
				return err
			}
		case <-timer.C:
			every, err := t.round(ctx)
			if err != nil {
				return err
			}
			timer.Reset(every)
		}
	}
}

// round tells, and says when to do it next.
func (t *teaching) round(ctx context.Context) (every time.Duration, err error) {
	run, living := t.node.Peers()
	every = max(tellEvery, time.Duration(len(living))*tellEach)
	if run == 0 {
		return every, nil
	}
	if t.broadcast == nil {
		t.broadcast = broadcast.New(run)
	}
	t.mu.Lock()
	labels, repeats := t.Member.labels, t.repeats
	t.Member.labels, t.repeats = nil, nil
	t.mu.Unlock()
	for _, r := range repeats { // who comes later misses it, and keeps a page that others have
		t.broadcast.Say(item(itemRepeat, r))
	}
	for _, l := range labels {
		t.broadcast.Say(item(itemLabel, l))
	}
	t.labels = append(t.labels, labels...)
	t.labels = t.labels[max(0, len(t.labels)-mostLabels):]
	if told := t.agent.Told(); told != nil {
		sums := item(itemSums, told)
		sums.Spare = true
		t.broadcast.Say(sums)
	}
	messages, err := t.broadcast.Round(living, t.soFar)
	for _, m := range messages {
		t.node.Tell(m.To, append([]byte{toldLesson}, m.Bytes...))
	}
	return every, err
}

// soFar is for a member that knows nothing yet. Who heard an earlier run of this one was told
// then what is of the past.
func (t *teaching) soFar() (items []broadcast.Item, err error) {
	for _, told := range t.past {
		past := item(itemSums, told)
		past.Old = true
		items = append(items, past)
	}
	for _, told := range t.agent.ToldSoFar() {
		items = append(items, item(itemSums, told))
	}
	labels, err := t.agent.Labels(mostLabels)
	for _, l := range slices.Concat(labels, t.labels) {
		items = append(items, item(itemLabel, l))
	}
	return items, err
}

// listen takes in a message. What cannot be read teaches nothing.
func (t *teaching) listen(ctx context.Context, s saying) error {
	if t.broadcast == nil {
		return nil
	}
	items, wrong := t.broadcast.Hear(s.from, s.bytes)
	var labels, repeats [][]byte
	for _, it := range items {
		switch it[0] {
		case itemSums:
			wrong = errors.Join(wrong, t.agent.Hear(it[1:]))
		case itemLabel:
			labels = append(labels, it[1:])
		case itemRepeat:
			repeats = append(repeats, it[1:])
		}
	}
	refused, err := t.agent.HearLabels(ctx, labels)
	if err != nil {
		return err
	}
	unread, err := crawler.HearDuplicates(ctx, t.agent, repeats)
	if wrong = errors.Join(wrong, refused, unread); wrong != nil {
		t.opt.Crawl.Log.Warn("a message from another agent is ignored", "agent", s.from, "err", wrong)
	}
	return err
}
