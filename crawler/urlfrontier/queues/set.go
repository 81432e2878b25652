package queues

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// Set has the queues of all crawls.
type Set struct {
	crawls  map[string]*crawl
	delay   int64  // of queues without one of their own
	made    uint64 // queues so far
	waiting int
	cursor  cursor
}

// crawl has the queues of one crawl. Those that may give a URL now are open, the best
// head first. All that change by themselves, because a rest ends or a URL falls due, have
// an alarm, the soonest first.
type crawl struct {
	queues map[string]*Queue
	open   heap[Queue]
	alarms heap[Queue]
}

// New returns a set without queues. Delay is the seconds between two times that a queue
// without a delay of its own gives URLs.
func New(delay int64) *Set { return &Set{crawls: map[string]*crawl{}, delay: delay} }

func newCrawl() *crawl {
	return &crawl{
		queues: map[string]*Queue{},
		open: heap[Queue]{place: func(q *Queue) *int32 { return &q.place }, before: func(a, b *Queue) bool {
			return better(a.ready.top(), b.ready.top())
		}},
		alarms: heap[Queue]{place: func(q *Queue) *int32 { return &q.alarmPlace }, before: func(a, b *Queue) bool {
			return a.alarm < b.alarm
		}},
	}
}

// Waiting counts the URLs that wait in all queues.
func (s *Set) Waiting() int { return s.waiting }

// Delay is what New or SetDelay said last.
func (s *Set) Delay() int64 { return s.delay }

// Find returns a queue, nil when there is none.
func (s *Set) Find(crawl, name string) *Queue {
	if c := s.crawls[crawl]; c != nil {
		return c.queues[name]
	}
	return nil
}

// Open returns a queue, and makes it if need be.
func (s *Set) Open(crawl, name string) *Queue {
	if q := s.Find(crawl, name); q != nil {
		return q
	}
	return s.Restore(crawl, name, s.made, Settings{Delay: Default})
}

// Restore makes a queue that had this number and these settings in another life.
func (s *Set) Restore(crawl, name string, number uint64, settings Settings) *Queue {
	c := s.crawls[crawl]
	if c == nil {
		c = newCrawl()
		s.crawls[crawl] = c
	}
	q := newQueue(crawl, name, number)
	q.Settings = settings
	c.queues[name] = q
	s.made = max(s.made, number+1)
	return q
}

// Put takes in a URL in place of what its queue has of it.
func (s *Set) Put(q *Queue, u URL, now int64) {
	s.waiting -= q.Waiting()
	s.change(q, now, func() { q.put(u) })
	s.waiting += q.Waiting()
}

// Drop forgets a URL; false when it did not wait.
func (s *Set) Drop(q *Queue, id ID, now int64) (found bool) {
	s.change(q, now, func() { found = q.drop(id) })
	if found {
		s.waiting--
	}
	return found
}

// Complete counts so many more URLs of a queue, or fewer, that never come again.
func (s *Set) Complete(q *Queue, n int, now int64) {
	s.change(q, now, func() { q.Completed += n })
}

// Set changes what clients say of a queue.
func (s *Set) Set(q *Queue, settings Settings, now int64) {
	s.change(q, now, func() { q.Settings = settings })
}

// SetDelay sets the delay of all queues that have none of their own.
func (s *Set) SetDelay(delay, now int64) {
	s.delay = delay
	for _, c := range s.crawls {
		for _, q := range c.queues {
			s.change(q, now, func() {})
		}
	}
}

// change changes a queue, and puts it where it then belongs.
func (s *Set) change(q *Queue, now int64, do func()) {
	c := s.crawls[q.Crawl]
	c.takeOut(q)
	do()
	q.settle(now)
	opens := q.opens(s.delay)
	q.alarm = never
	if next := q.later.top(); next != nil {
		q.alarm = next.Due
	}
	switch {
	case opens > now:
		if q.Waiting() > 0 {
			q.alarm = opens
		}
	case q.ready.len() > 0:
		q.open = true
		c.open.push(q)
	}
	if q.alarm != never {
		c.alarms.push(q)
	}
}

// takeOut takes a queue out of the crawl's heaps.
func (c *crawl) takeOut(q *Queue) {
	if q.open {
		q.open = false
		c.open.remove(q)
	}
	if q.alarm != never {
		c.alarms.remove(q) // by the alarm that it had
		q.alarm = never
	}
}

// DropQueue forgets a queue with all that it has.
func (s *Set) DropQueue(q *Queue) {
	c := s.crawls[q.Crawl]
	c.takeOut(q)
	s.waiting -= q.Waiting()
	if delete(c.queues, q.Name); len(c.queues) == 0 {
		delete(s.crawls, q.Crawl)
	}
}

// Crawls returns the names of the crawls, sorted.
func (s *Set) Crawls() []string { return slices.Sorted(maps.Keys(s.crawls)) }

// All returns the queues of a crawl, in no order.
func (s *Set) All(crawl string) iter.Seq[*Queue] {
	if c := s.crawls[crawl]; c != nil {
		return maps.Values(c.queues)
	}
	return maps.Values(map[string]*Queue(nil))
}

// Queues returns those of a crawl, in the order in which they were made.
func (s *Set) Queues(crawl string) []*Queue {
	c := s.crawls[crawl]
	if c == nil {
		return nil
	}
	return slices.SortedFunc(maps.Values(c.queues), func(a, b *Queue) int { return cmp.Compare(a.Number, b.Number) })
}

// Counts say what queues have.
type Counts struct {
	Queues, Active     int // Active have URLs that wait
	Waiting, HandedOut int // HandedOut are among those Waiting
	Completed          int
}

// Count adds up what queues have at a time.
func (s *Set) Count(all iter.Seq[*Queue], now int64) (n Counts) {
	for q := range all {
		if next := q.later.top(); next != nil && next.Due <= now {
			s.change(q, now, func() {}) // what is not out any more does not count
		}
		n.Queues++
		n.Waiting += q.Waiting()
		n.HandedOut += q.held
		n.Completed += q.Completed
		if q.Waiting() > 0 {
			n.Active++
		}
	}
	return n
}
