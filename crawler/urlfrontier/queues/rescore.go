package queues

// cursor is where rescoring goes on.
type cursor struct {
	queues []*Queue // of the pass that is under way
	at     int      // in the ready URLs of the first of them
}

// mostSteps is how many queues without URLs that are due one call passes over.
const mostSteps = 10_000

// Rescore asks for new priorities of so many URLs that are due, and goes on next time
// where it ended; a pass over all may miss a few that change places meanwhile. score
// returns false for a URL whose priority stays.
func (s *Set) Rescore(n int, score func(crawl string, key uint64) (float32, bool), now int64) {
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
func (s *Set) Score(q *Queue, u *URL, score float32, now int64) {
	if u.Score == score {
		return
	}
	s.change(q, now, func() { q.setScore(u, score) })
}

func (q *Queue) rescore(from, n int, score func(crawl string, key uint64) (float32, bool)) {
	part := append([]*URL(nil), q.ready.all[from:min(from+n, q.ready.len())]...)
	for _, u := range part {
		if u.Key == 0 {
			continue
		}
		if x, ok := score(q.Crawl, u.Key); ok && x != u.Score {
			q.setScore(u, x)
		}
	}
}

func (q *Queue) setScore(u *URL, score float32) {
	u.Score = score
	if q.isReady(u) {
		q.ready.fix(u)
	}
}
