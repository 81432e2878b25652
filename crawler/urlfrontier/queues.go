package urlfrontier

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"
)

// set has the queues of all crawls.
type set struct {
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
	queues map[string]*queue
	open   heap[queue]
	alarms heap[queue]
}

// newQueues returns a set without queues. Delay is the seconds between two times that a queue
// without a delay of its own gives URLs.
func newQueues(delay int64) *set { return &set{crawls: map[string]*crawl{}, delay: delay} }

func newCrawl() *crawl {
	return &crawl{
		queues: map[string]*queue{},
		open: heap[queue]{place: func(q *queue) *int32 { return &q.place }, before: func(a, b *queue) bool {
			return better(a.ready.top(), b.ready.top())
		}},
		alarms: heap[queue]{place: func(q *queue) *int32 { return &q.alarmPlace }, before: func(a, b *queue) bool {
			return a.alarm < b.alarm
		}},
	}
}

// Waiting counts the URLs that wait in all queues.
func (s *set) Waiting() int { return s.waiting }

// Delay is what New or SetDelay said last.
func (s *set) Delay() int64 { return s.delay }

// Find returns a queue, nil when there is none.
func (s *set) Find(crawl, name string) *queue {
	if c := s.crawls[crawl]; c != nil {
		return c.queues[name]
	}
	return nil
}

// Open returns a queue, and makes it if need be.
func (s *set) Open(crawl, name string) *queue {
	if q := s.Find(crawl, name); q != nil {
		return q
	}
	return s.Restore(crawl, name, s.made, queueSettings{Delay: delayOfAll})
}

// Restore makes a queue that had this number and these settings in another life.
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

// Put takes in a URL in place of what its queue has of it.
func (s *set) Put(q *queue, u waitingURL, now int64) {
	s.waiting -= q.Waiting()
	s.change(q, now, func() { q.put(u) })
	s.waiting += q.Waiting()
}

// Drop forgets a URL; false when it did not wait.
func (s *set) Drop(q *queue, id urlID, now int64) (found bool) {
	s.change(q, now, func() { found = q.drop(id) })
	if found {
		s.waiting--
	}
	return found
}

// Complete counts so many more URLs of a queue, or fewer, that never come again.
func (s *set) Complete(q *queue, n int, now int64) {
	s.change(q, now, func() { q.Completed += n })
}

// Set changes what clients say of a queue.
func (s *set) Set(q *queue, settings queueSettings, now int64) {
	s.change(q, now, func() { q.queueSettings = settings })
}

// SetDelay sets the delay of all queues that have none of their own.
func (s *set) SetDelay(delay, now int64) {
	s.delay = delay
	for _, c := range s.crawls {
		for _, q := range c.queues {
			s.change(q, now, func() {})
		}
	}
}

// change changes a queue, and puts it where it then belongs.
func (s *set) change(q *queue, now int64, do func()) {
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
func (c *crawl) takeOut(q *queue) {
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
func (s *set) DropQueue(q *queue) {
	c := s.crawls[q.Crawl]
	c.takeOut(q)
	s.waiting -= q.Waiting()
	if delete(c.queues, q.Name); len(c.queues) == 0 {
		delete(s.crawls, q.Crawl)
	}
}

// Crawls returns the names of the crawls, sorted.
func (s *set) Crawls() []string { return slices.Sorted(maps.Keys(s.crawls)) }

// All returns the queues of a crawl, in no order.
func (s *set) All(crawl string) iter.Seq[*queue] {
	if c := s.crawls[crawl]; c != nil {
		return maps.Values(c.queues)
	}
	return maps.Values(map[string]*queue(nil))
}

// Queues returns those of a crawl, in the order in which they were made.
func (s *set) Queues(crawl string) []*queue {
	c := s.crawls[crawl]
	if c == nil {
		return nil
	}
	return slices.SortedFunc(maps.Values(c.queues), func(a, b *queue) int { return cmp.Compare(a.Number, b.Number) })
}

// counts say what queues have.
type counts struct {
	Queues, Active     int // Active have URLs that wait
	Waiting, HandedOut int // HandedOut are among those Waiting
	Completed          int
}

// Count adds up what queues have at a time.
func (s *set) Count(all iter.Seq[*queue], now int64) (n counts) {
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

// urlID names a URL within its queue.
type urlID [16]byte

// waitingURL is a URL that waits, or is handed out.
type waitingURL struct {
	ID    urlID
	Key   uint64  // what a scorer names it by; 0: its priority stays
	Seq   uint64  // order of discovery, which breaks ties
	Due   int64   // second from which it may be fetched
	Score float32 // its priority, the higher the sooner
	held  bool    // handed out until Due
	place int32   // in the heap that has it
}

// queue has the URLs of one key of one crawl. Its fields are what is said of it.
type queue struct {
	Crawl, Name string
	Number      uint64 // in the order in which queues were made
	Completed   int    // URLs that never come again
	queueSettings

	urls  map[urlID]*waitingURL
	ready heap[waitingURL] // due, the best first
	later heap[waitingURL] // not due yet, or handed out: the soonest first
	held  int              // URLs of later that are handed out
	last  int64            // second in which it gave URLs; 0 never

	open              bool  // it may give URLs, and its crawl's heap of those has it
	alarm             int64 // second in which it is to be looked at; never: it is in no heap of alarms
	place, alarmPlace int32
}

// queueSettings are what clients say of a queue.
type queueSettings struct {
	Blocked int64 // it gives nothing up to the end of this second
	Delay   int64 // seconds between two times that it gives URLs; Default is that of all
	Limit   int   // it gives nothing once so many URLs are completed; 0: none
}

// delayOfAll is the delay of a queue that has none of its own.
const delayOfAll = -1

const never = math.MaxInt64

func newQueue(crawl, name string, number uint64) *queue {
	q := &queue{Crawl: crawl, Name: name, Number: number, queueSettings: queueSettings{Delay: delayOfAll}, urls: map[urlID]*waitingURL{}, alarm: never}
	where := func(u *waitingURL) *int32 { return &u.place }
	q.ready = heap[waitingURL]{before: better, place: where}
	q.later = heap[waitingURL]{before: sooner, place: where}
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

// Find returns a URL that waits or is handed out, which the caller does not change.
func (q *queue) Find(id urlID) (*waitingURL, bool) {
	u, ok := q.urls[id]
	return u, ok
}

// Waiting counts the URLs that wait, those handed out included.
func (q *queue) Waiting() int { return len(q.urls) }

// put takes in a URL in place of what is known of it.
func (q *queue) put(u waitingURL) {
	q.drop(u.ID)
	u.held = false
	own := &u
	q.urls[u.ID] = own
	q.later.push(own) // settle moves it on when it is due
}

// drop forgets a URL; false when it did not wait.
func (q *queue) drop(id urlID) bool {
	u, ok := q.urls[id]
	if !ok {
		return false
	}
	if delete(q.urls, id); q.isReady(u) {
		q.ready.remove(u)
		return true
	}
	if u.held {
		q.held--
	}
	q.later.remove(u)
	return true
}

func (q *queue) isReady(u *waitingURL) bool {
	at := int(u.place)
	return at < q.ready.len() && q.ready.all[at] == u
}

// settle moves to ready what is due, also what was handed out and did not come back.
func (q *queue) settle(now int64) {
	for u := q.later.top(); u != nil && u.Due <= now; u = q.later.top() {
		q.later.remove(u)
		if u.held {
			u.held = false
			q.held--
		}
		q.ready.push(u)
	}
}

// opens is the second from which the queue may give URLs, whether it has any or not.
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
	if q.last > 0 && delay > 0 { // whole seconds of a delay lie between two that are told apart
		at = max(at, after(q.last, after(delay, 1)))
	}
	return at
}

// after is a + b, at most never.
func after(a, b int64) int64 {
	if a > never-b {
		return never
	}
	return a + b
}

// request says what URLs are asked for.
type request struct {
	Crawl   string // whose queues; of all when Any
	Any     bool
	Queue   *queue // this one alone; nil: the best
	Queues  int    // at most; 0 is any number
	PerHead int    // URLs of a queue at most, those that it has handed out before not counted; 0 is any number
	Most    int    // URLs at most
	Hold    int64  // seconds until one that is not put back comes again
}

// takenURL is a URL that was handed out.
type takenURL struct {
	Queue *queue
	ID    urlID
}

// Take hands out URLs: of the queue with the best head its best ones, then of the next.
// A queue comes once a call, and not while it is blocked, rests after the last time, has
// reached its limit, or has PerHead URLs handed out already.
func (s *set) Take(r request, now int64) (taken []takenURL) {
	var aside []*queue // had their turn
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

// rouse looks at the queues whose rest is over, or whose URLs fell due.
func (s *set) rouse(c *crawl, now int64) {
	for q := c.alarms.top(); q != nil && q.alarm <= now; q = c.alarms.top() {
		s.change(q, now, func() {})
	}
}

// best is the open queue with the best head.
func best(of []*crawl) (q *queue) {
	for _, c := range of {
		if top := c.open.top(); top != nil && (q == nil || better(top.ready.top(), q.ready.top())) {
			q = top
		}
	}
	return q
}

// full says whether a queue has handed out all that it may at a time.
func (r request) full(q *queue) bool { return r.PerHead > 0 && q.held >= r.PerHead }

// give hands out the best URLs of a queue.
func (s *set) give(q *queue, r request, now int64, taken []takenURL) []takenURL {
	s.change(q, now, func() {
		for n := 0; (r.PerHead == 0 || n < r.PerHead) && len(taken) < r.Most; n++ {
			u := q.ready.top()
			if u == nil {
				break
			}
			q.ready.remove(u)
			u.held, u.Due = true, after(now, r.Hold)
			q.held++
			q.later.push(u)
			taken = append(taken, takenURL{q, u.ID})
			q.last = now
		}
	})
	return taken
}

// Return takes back what was handed out and reached nobody.
func (s *set) Return(all []takenURL, now int64) {
	for _, t := range all {
		if u, ok := t.Queue.urls[t.ID]; ok && u.held && s.Find(t.Queue.Crawl, t.Queue.Name) == t.Queue {
			s.change(t.Queue, now, func() {
				u.Due = now
				t.Queue.later.fix(u)
			})
		}
	}
}

// cursor is where rescoring goes on.
type cursor struct {
	queues []*queue // of the pass that is under way
	at     int      // in the ready URLs of the first of them
}

// mostSteps is how many queues without URLs that are due one call passes over.
const mostSteps = 10_000

// Rescore asks for new priorities of so many URLs that are due, and goes on next time
// where it ended; a pass over all may miss a few that change places meanwhile. score
// returns false for a URL whose priority stays.
func (s *set) Rescore(n int, score func(crawl string, key uint64) (float32, bool), now int64) {
	if len(s.cursor.queues) == 0 {
		s.cursor = cursor{}
		for _, crawl := range s.Crawls() {
			s.cursor.queues = append(s.cursor.queues, s.Queues(crawl)...)
		}
	}
	for steps := n + mostSteps; n > 0 && steps > 0 && len(s.cursor.queues) > 0; steps-- {
		q := s.cursor.queues[0]
		if s.Find(q.Crawl, q.Name) != q || s.cursor.at >= q.ready.len() {
			s.cursor.queues, s.cursor.at = s.cursor.queues[1:], 0
			continue
		}
		part := min(n, q.ready.len()-s.cursor.at)
		s.change(q, now, func() { q.rescore(s.cursor.at, part, score) })
		s.cursor.at += part
		n -= part
	}
}

// Score gives a URL that waits another priority.
func (s *set) Score(q *queue, u *waitingURL, score float32, now int64) {
	if u.Score == score {
		return
	}
	s.change(q, now, func() { q.setScore(u, score) })
}

func (q *queue) rescore(from, n int, score func(crawl string, key uint64) (float32, bool)) {
	part := append([]*waitingURL(nil), q.ready.all[from:min(from+n, q.ready.len())]...)
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
		q.ready.fix(u)
	}
}

// heap is a binary heap whose members know their places, so that any of them can be
// moved or taken out in O(log n).
type heap[T any] struct {
	all    []*T
	before func(a, b *T) bool
	place  func(*T) *int32 // where a member notes its place
}

func (h *heap[T]) len() int { return len(h.all) }

// top is the first, nil when there is none.
func (h *heap[T]) top() *T {
	if len(h.all) == 0 {
		return nil
	}
	return h.all[0]
}

func (h *heap[T]) push(x *T) {
	h.all = append(h.all, x)
	h.up(len(h.all)-1, x)
}

// remove takes out x, which must be in the heap.
func (h *heap[T]) remove(x *T) {
	at, last := int(*h.place(x)), len(h.all)-1
	moved := h.all[last]
	h.all[last] = nil
	h.all = h.all[:last]
	if at != last {
		h.set(at, moved)
		h.fix(moved)
	}
	if cap(h.all) > 64 && last < cap(h.all)/4 { // what a flood needed is given back
		h.all = append(make([]*T, 0, cap(h.all)/2), h.all...)
	}
}

// fix moves x to where it belongs after a change.
func (h *heap[T]) fix(x *T) {
	at := int(*h.place(x))
	h.down(at, x)
	if int(*h.place(x)) == at {
		h.up(at, x)
	}
}

func (h *heap[T]) set(at int, x *T) {
	h.all[at] = x
	*h.place(x) = int32(at)
}

func (h *heap[T]) up(at int, x *T) {
	for at > 0 {
		parent := (at - 1) / 2
		if !h.before(x, h.all[parent]) {
			break
		}
		h.set(at, h.all[parent])
		at = parent
	}
	h.set(at, x)
}

func (h *heap[T]) down(at int, x *T) {
	for {
		child := 2*at + 1
		if child >= len(h.all) {
			break
		}
		if right := child + 1; right < len(h.all) && h.before(h.all[right], h.all[child]) {
			child = right
		}
		if !h.before(h.all[child], x) {
			break
		}
		h.set(at, h.all[child])
		at = child
	}
	h.set(at, x)
}
