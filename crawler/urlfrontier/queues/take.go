package queues

// Request says what URLs are asked for.
type Request struct {
	Crawl   string // whose queues; of all when Any
	Any     bool
	Queue   *Queue // this one alone; nil: the best
	Queues  int    // at most; 0 is any number
	PerHead int    // URLs of a queue at most, those that it has handed out before not counted; 0 is any number
	Most    int    // URLs at most
	Hold    int64  // seconds until one that is not put back comes again
}

// Taken is a URL that was handed out.
type Taken struct {
	Queue *Queue
	ID    ID
}

// Take hands out URLs: of the queue with the best head its best ones, then of the next.
// A queue comes once a call, and not while it is blocked, rests after the last time, has
// reached its limit, or has PerHead URLs handed out already.
func (s *Set) Take(r Request, now int64) (taken []Taken) {
	var aside []*Queue // had their turn
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

func (s *Set) crawlsOf(r Request) (of []*crawl) {
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
func (s *Set) rouse(c *crawl, now int64) {
	for q := c.alarms.top(); q != nil && q.alarm <= now; q = c.alarms.top() {
		s.change(q, now, func() {})
	}
}

// best is the open queue with the best head.
func best(of []*crawl) (q *Queue) {
	for _, c := range of {
		if top := c.open.top(); top != nil && (q == nil || better(top.ready.top(), q.ready.top())) {
			q = top
		}
	}
	return q
}

// full says whether a queue has handed out all that it may at a time.
func (r Request) full(q *Queue) bool { return r.PerHead > 0 && q.held >= r.PerHead }

// give hands out the best URLs of a queue.
func (s *Set) give(q *Queue, r Request, now int64, taken []Taken) []Taken {
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
			taken = append(taken, Taken{q, u.ID})
			q.last = now
		}
	})
	return taken
}

// Return takes back what was handed out and reached nobody.
func (s *Set) Return(all []Taken, now int64) {
	for _, t := range all {
		if u, ok := t.Queue.urls[t.ID]; ok && u.held && s.Find(t.Queue.Crawl, t.Queue.Name) == t.Queue {
			s.change(t.Queue, now, func() {
				u.Due = now
				t.Queue.later.fix(u)
			})
		}
	}
}
