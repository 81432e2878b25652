package urlfrontier

import (
	"cmp"
	"fossick/internal/heap"
	"iter"
	"maps"
	"math"
	"slices"
)

// set holds the queues of all crawls.
type set struct {
	crawls  map[string]*crawl
	delay   int64
	made    uint64
	waiting int
	cursor  cursor
}

// crawl holds the queues of one crawl. open has those that can give a URL now, best head first.
// alarms has those that will change by themselves, soonest first.
type crawl struct {
	queues map[string]*queue
	open   heap.Heap[*queue]
	alarms heap.Heap[*queue]
}

// newQueues returns an empty set. delay is the default seconds between two takes from a queue.
func newQueues(delay int64) *set { return &set{crawls: map[string]*crawl{}, delay: delay} }

func newCrawl() *crawl {
	return &crawl{
		queues: map[string]*queue{},
		open: heap.Heap[*queue]{Place: func(q *queue) *int32 { return &q.place }, Before: func(a, b *queue) bool {
			return better(a.ready.Top(), b.ready.Top())
		}},
		alarms: heap.Heap[*queue]{Place: func(q *queue) *int32 { return &q.alarmPlace }, Before: func(a, b *queue) bool {
			return a.alarm < b.alarm
		}},
	}
}

func (s *set) Find(crawl, name string) *queue {
	if c := s.crawls[crawl]; c != nil {
		return c.queues[name]
	}
	return nil
}

func (s *set) Open(crawl, name string) *queue {
	if q := s.Find(crawl, name); q != nil {
		return q
	}
	return s.Restore(crawl, name, s.made, queueSettings{Delay: delayOfAll})
}

// Restore makes a queue with the number and settings that it had on disk.
func (s *set) Restore(crawl, name string, number uint64, settings queueSettings) *queue {
	c := s.crawls[crawl]
	if c == nil {
		c = newCrawl()
		s.crawls[crawl] = c
	}
	q := newQueue(crawl, name, number)
	q.queueSettings = settings
	c.queues[name] = q
	s.made = max(s.made, number+1)
	return q
}

// Put adds a URL, or replaces it.
func (s *set) Put(q *queue, u waitingURL, now int64) {
	s.waiting -= q.Waiting()
	s.change(q, now, func() { q.put(u) })
	s.waiting += q.Waiting()
}

// Drop removes a waiting URL; found is false if it was not waiting.
func (s *set) Drop(q *queue, id urlID, now int64) (found bool) {
	s.change(q, now, func() { found = q.drop(id) })
	if found {
		s.waiting--
	}
	return found
}

// Complete adds n to the number of completed URLs, which are never handed out again.
func (s *set) Complete(q *queue, n int, now int64) {
	s.change(q, now, func() { q.Completed += n })
}

func (s *set) Set(q *queue, settings queueSettings, now int64) {
	s.change(q, now, func() { q.queueSettings = settings })
}

func (s *set) SetDelay(delay, now int64) {
	s.delay = delay
	for _, c := range s.crawls {
		for _, q := range c.queues {
			s.change(q, now, func() {})
		}
	}
}

// change calls do, which may change the queue, and then updates the heaps.
func (s *set) change(q *queue, now int64, do func()) {
	c := s.crawls[q.Crawl]
	c.takeOut(q)
	do()
	q.settle(now)
	opens := q.opens(s.delay)
	q.alarm = never
	if next := q.later.Top(); next != nil {
		q.alarm = next.Due
	}
	switch {
	case opens > now:
		if q.Waiting() > 0 {
			q.alarm = opens
		}
	case q.ready.Len() > 0:
		q.open = true
		c.open.Push(q)
	}
	if q.alarm != never {
		c.alarms.Push(q)
	}
}

func (c *crawl) takeOut(q *queue) {
	if q.open {
		q.open = false
		c.open.Remove(q)
	}
	if q.alarm != never {
		c.alarms.Remove(q) // while q.alarm has its old value
		q.alarm = never
	}
}

func (s *set) DropQueue(q *queue) {
	c := s.crawls[q.Crawl]
	c.takeOut(q)
	s.waiting -= q.Waiting()
	if delete(c.queues, q.Name); len(c.queues) == 0 {
		delete(s.crawls, q.Crawl)
	}
}

func (s *set) Crawls() []string { return slices.Sorted(maps.Keys(s.crawls)) }

func (s *set) All(crawl string) iter.Seq[*queue] {
	if c := s.crawls[crawl]; c != nil {
		return maps.Values(c.queues)
	}
	return maps.Values(map[string]*queue(nil))
}

// Queues returns the queues of a crawl in the order in which they were made.
func (s *set) Queues(crawl string) []*queue {
	c := s.crawls[crawl]
	if c == nil {
		return nil
	}
	return slices.SortedFunc(maps.Values(c.queues), func(a, b *queue) int { return cmp.Compare(a.Number, b.Number) })
}

type counts struct {
	Queues, Active     int // Active: with waiting URLs
	Waiting, HandedOut int // Waiting includes HandedOut
	Completed          int
}

func (s *set) Count(all iter.Seq[*queue], now int64) (n counts) {
	for q := range all {
		if next := q.later.Top(); next != nil && next.Due <= now {
			s.change(q, now, func() {}) // its hold is over, so it no longer counts as handed out
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

type urlID [16]byte

// waitingURL is a URL that waits, or is handed out.
type waitingURL struct {
	ID    urlID
	Key   uint64  // the scorer's; 0: the priority never changes
	Seq   uint64  // order of discovery; breaks ties
	Due   int64   // Unix second from which it may be fetched
	Score float32 // priority, higher first
	held  bool    // handed out until Due
	place int32
}

type queue struct {
	Crawl, Name string
	Number      uint64 // order in which queues were made
	Completed   int    // number of URLs never to be handed out again
	queueSettings

	urls  map[urlID]*waitingURL
	ready heap.Heap[*waitingURL] // due, best first
	later heap.Heap[*waitingURL] // not due or handed out, soonest first
	held  int                    // number of URLs handed out
	last  int64                  // second of the last take; 0: never

	open              bool  // it is in its crawl's open heap
	alarm             int64 // second of its next change; never: it is not in the alarms heap
	place, alarmPlace int32
}

type queueSettings struct {
	Blocked int64 // it gives no URLs up to the end of this second
	Delay   int64 // seconds between two takes; delayOfAll: the default
	Limit   int   // it gives no URLs after so many completed ones; 0: no limit
}

// delayOfAll means that a queue has no delay of its own.
const delayOfAll = -1

const never = math.MaxInt64

func newQueue(crawl, name string, number uint64) *queue {
	q := &queue{Crawl: crawl, Name: name, Number: number, queueSettings: queueSettings{Delay: delayOfAll}, urls: map[urlID]*waitingURL{}, alarm: never}
	where := func(u *waitingURL) *int32 { return &u.place }
	q.ready = heap.Heap[*waitingURL]{Before: better, Place: where}
	q.later = heap.Heap[*waitingURL]{Before: sooner, Place: where}
	return q
}

func better(a, b *waitingURL) bool {
	if a.Score != b.Score {
		return a.Score > b.Score
	}
	return a.Seq < b.Seq
}

func sooner(a, b *waitingURL) bool {
	if a.Due != b.Due {
		return a.Due < b.Due
	}
	return a.Seq < b.Seq
}

// Find returns a URL that waits or is handed out. The caller must not change it.
func (q *queue) Find(id urlID) (*waitingURL, bool) {
	u, ok := q.urls[id]
	return u, ok
}

// Waiting returns the number of waiting URLs, including those handed out.
func (q *queue) Waiting() int { return len(q.urls) }

func (q *queue) put(u waitingURL) {
	q.drop(u.ID)
	u.held = false
	own := &u
	q.urls[u.ID] = own
	q.later.Push(own) // settle moves it to ready when due
}

// drop removes a URL; false if it was not waiting.
func (q *queue) drop(id urlID) bool {
	u, ok := q.urls[id]
	if !ok {
		return false
	}
	if delete(q.urls, id); q.isReady(u) {
		q.ready.Remove(u)
		return true
	}
	if u.held {
		q.held--
	}
	q.later.Remove(u)
	return true
}

func (q *queue) isReady(u *waitingURL) bool {
	at := int(u.place)
	return at < q.ready.Len() && q.ready.All[at] == u
}

// settle moves due URLs to ready, including handed-out URLs that were not put back in time.
func (q *queue) settle(now int64) {
	for u := q.later.Top(); u != nil && u.Due <= now; u = q.later.Top() {
		q.later.Remove(u)
		if u.held {
			u.held = false
			q.held--
		}
		q.ready.Push(u)
	}
}

// opens returns the second from which the queue may give URLs, even if it has none.
func (q *queue) opens(delay int64) int64 {
	if q.Limit > 0 && q.Completed >= q.Limit {
		return never
	}
	if q.Delay != delayOfAll {
		delay = q.Delay
	}
	at := int64(0)
	if q.Blocked > 0 {
		at = after(q.Blocked, 1)
	}
	if q.last > 0 && delay > 0 { // so that the full delay passes between takes in whole seconds
		at = max(at, after(q.last, after(delay, 1)))
	}
	return at
}

// after returns a + b, at most never.
func after(a, b int64) int64 {
	if a > never-b {
		return never
	}
	return a + b
}

type request struct {
	Crawl   string // ignored if Any
	Any     bool
	Queue   *queue // only this queue; nil: the best queues
	Queues  int    // most queues; 0: any number
	PerHead int    // most URLs of a queue in this call, and at which a queue's handed-out URLs stop it; 0: any number
	Most    int
	Hold    int64 // seconds until a URL that is not put back is handed out again
}

type takenURL struct {
	Queue *queue
	ID    urlID
}

// Take hands out the best URLs of the queue with the best head, then of the next. It skips queues
// that are blocked, rest, reached their limit, or have PerHead URLs handed out.
func (s *set) Take(r request, now int64) (taken []takenURL) {
	var aside []*queue // queues served or skipped in this call
	if r.Queue != nil {
		s.change(r.Queue, now, func() {})
		if r.Queue.open && !r.full(r.Queue) {
			taken = s.give(r.Queue, r, now, nil)
		}
		return taken
	}
	of := s.crawlsOf(r)
	for _, c := range of {
		s.rouse(c, now)
	}
	for served := 0; (r.Queues == 0 || served < r.Queues) && len(taken) < r.Most; {
		q := best(of)
		if q == nil {
			break
		}
		s.crawls[q.Crawl].takeOut(q)
		aside = append(aside, q)
		if r.full(q) {
			continue
		}
		taken = s.give(q, r, now, taken)
		s.crawls[q.Crawl].takeOut(q)
		served++
	}
	for _, q := range aside {
		s.change(q, now, func() {})
	}
	return taken
}

func (s *set) crawlsOf(r request) (of []*crawl) {
	if !r.Any {
		if c := s.crawls[r.Crawl]; c != nil {
			of = append(of, c)
		}
		return of
	}
	for _, name := range s.Crawls() {
		of = append(of, s.crawls[name])
	}
	return of
}

func (s *set) rouse(c *crawl, now int64) {
	for q := c.alarms.Top(); q != nil && q.alarm <= now; q = c.alarms.Top() {
		s.change(q, now, func() {})
	}
}

func best(of []*crawl) (q *queue) {
	for _, c := range of {
		if top := c.open.Top(); top != nil && (q == nil || better(top.ready.Top(), q.ready.Top())) {
			q = top
		}
	}
	return q
}

// full reports whether a queue has handed out all that it may at a time.
func (r request) full(q *queue) bool { return r.PerHead > 0 && q.held >= r.PerHead }

func (s *set) give(q *queue, r request, now int64, taken []takenURL) []takenURL {
	s.change(q, now, func() {
		for n := 0; (r.PerHead == 0 || n < r.PerHead) && len(taken) < r.Most; n++ {
			u := q.ready.Top()
			if u == nil {
				break
			}
			q.ready.Remove(u)
			u.held, u.Due = true, after(now, r.Hold)
			q.held++
			q.later.Push(u)
			taken = append(taken, takenURL{q, u.ID})
			q.last = now
		}
	})
	return taken
}

// Return makes handed-out URLs wait again that did not reach the client.
func (s *set) Return(all []takenURL, now int64) {
	for _, t := range all {
		if u, ok := t.Queue.urls[t.ID]; ok && u.held && s.Find(t.Queue.Crawl, t.Queue.Name) == t.Queue {
			s.change(t.Queue, now, func() {
				u.Due = now
				t.Queue.later.Fix(u)
			})
		}
	}
}

type cursor struct {
	queues []*queue // left in this pass
	at     int      // index into ready of the first queue
}

// mostSteps bounds the number of queues without due URLs that a call visits.
const mostSteps = 10_000

// Rescore updates the priorities of the next n due URLs. A pass may miss a few that move
// meanwhile. score returns false for a URL whose priority stays.
func (s *set) Rescore(n int, score func(crawl string, key uint64) (float32, bool), now int64) {
	if len(s.cursor.queues) == 0 {
		s.cursor = cursor{}
		for _, crawl := range s.Crawls() {
			s.cursor.queues = append(s.cursor.queues, s.Queues(crawl)...)
		}
	}
	for steps := n + mostSteps; n > 0 && steps > 0 && len(s.cursor.queues) > 0; steps-- {
		q := s.cursor.queues[0]
		if s.Find(q.Crawl, q.Name) != q || s.cursor.at >= q.ready.Len() {
			s.cursor.queues, s.cursor.at = s.cursor.queues[1:], 0
			continue
		}
		part := min(n, q.ready.Len()-s.cursor.at)
		s.change(q, now, func() { q.rescore(s.cursor.at, part, score) })
		s.cursor.at += part
		n -= part
	}
}

func (s *set) Score(q *queue, u *waitingURL, score float32, now int64) {
	if u.Score == score {
		return
	}
	s.change(q, now, func() { q.setScore(u, score) })
}

func (q *queue) rescore(from, n int, score func(crawl string, key uint64) (float32, bool)) {
	part := append([]*waitingURL(nil), q.ready.All[from:min(from+n, q.ready.Len())]...)
	for _, u := range part {
		if u.Key == 0 {
			continue
		}
		if x, ok := score(q.Crawl, u.Key); ok && x != u.Score {
			q.setScore(u, x)
		}
	}
}

func (q *queue) setScore(u *waitingURL, score float32) {
	u.Score = score
	if q.isReady(u) {
		q.ready.Fix(u)
	}
}
