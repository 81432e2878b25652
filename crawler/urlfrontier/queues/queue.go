package queues

import "math"

// ID names a URL within its queue.
type ID [16]byte

// URL is a URL that waits, or is handed out.
type URL struct {
	ID    ID
	Key   uint64  // what a scorer names it by; 0: its priority stays
	Seq   uint64  // order of discovery, which breaks ties
	Due   int64   // second from which it may be fetched
	Score float32 // its priority, the higher the sooner
	held  bool    // handed out until Due
	place int32   // in the heap that has it
}

// Queue has the URLs of one key of one crawl. Its fields are what is said of it.
type Queue struct {
	Crawl, Name string
	Number      uint64 // in the order in which queues were made
	Completed   int    // URLs that never come again
	Settings

	urls  map[ID]*URL
	ready heap[URL] // due, the best first
	later heap[URL] // not due yet, or handed out: the soonest first
	held  int       // URLs of later that are handed out
	last  int64     // second in which it gave URLs; 0 never

	open              bool  // it may give URLs, and its crawl's heap of those has it
	alarm             int64 // second in which it is to be looked at; never: it is in no heap of alarms
	place, alarmPlace int32
}

// Settings are what clients say of a queue.
type Settings struct {
	Blocked int64 // it gives nothing up to the end of this second
	Delay   int64 // seconds between two times that it gives URLs; Default is that of all
	Limit   int   // it gives nothing once so many URLs are completed; 0: none
}

// Default is the delay of a queue that has none of its own.
const Default = -1

const never = math.MaxInt64

func newQueue(crawl, name string, number uint64) *Queue {
	q := &Queue{Crawl: crawl, Name: name, Number: number, Settings: Settings{Delay: Default}, urls: map[ID]*URL{}, alarm: never}
	where := func(u *URL) *int32 { return &u.place }
	q.ready = heap[URL]{before: better, place: where}
	q.later = heap[URL]{before: sooner, place: where}
	return q
}

func better(a, b *URL) bool {
	if a.Score != b.Score {
		return a.Score > b.Score
	}
	return a.Seq < b.Seq
}

func sooner(a, b *URL) bool {
	if a.Due != b.Due {
		return a.Due < b.Due
	}
	return a.Seq < b.Seq
}

// Find returns a URL that waits or is handed out, which the caller does not change.
func (q *Queue) Find(id ID) (*URL, bool) {
	u, ok := q.urls[id]
	return u, ok
}

// Waiting counts the URLs that wait, those handed out included.
func (q *Queue) Waiting() int { return len(q.urls) }

// put takes in a URL in place of what is known of it.
func (q *Queue) put(u URL) {
	q.drop(u.ID)
	u.held = false
	own := &u
	q.urls[u.ID] = own
	q.later.push(own) // settle moves it on when it is due
}

// drop forgets a URL; false when it did not wait.
func (q *Queue) drop(id ID) bool {
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

func (q *Queue) isReady(u *URL) bool {
	at := int(u.place)
	return at < q.ready.len() && q.ready.all[at] == u
}

// settle moves to ready what is due, also what was handed out and did not come back.
func (q *Queue) settle(now int64) {
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
func (q *Queue) opens(delay int64) int64 {
	if q.Limit > 0 && q.Completed >= q.Limit {
		return never
	}
	if q.Delay != Default {
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
