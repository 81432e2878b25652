package urlfrontier

import (
	"errors"

	"github.com/dgraph-io/badger/v4"
	"google.golang.org/protobuf/proto"

	"fossick/crawler/urlfrontier/api"
	"fossick/crawler/urlfrontier/queues"
)

// put takes in a URL, and says in its status what became of it. An error is the disk's.
func (b *batch) put(p *put) error {
	if p.bad {
		return nil // it is SKIPPED
	}
	if p.learned {
		b.learned++
	}
	set := b.f.set
	q := set.Find(p.info.CrawlID, p.info.Key)
	var u *queues.URL
	var was header
	var known bool
	if q != nil {
		if u, known = q.Find(p.id); !known && q.Completed > 0 || known && p.known {
			var err error
			if was, known, err = b.recall(q, p.id); err != nil {
				return err
			}
		}
	}
	if !p.known && known {
		if u != nil && p.key != 0 { // one link more speaks for it
			set.Score(q, u, float32(p.score), b.now)
		}
		return nil // it is SKIPPED
	}
	if !known && set.Waiting() >= b.f.opt.Waiting && !(p.known && p.refetch == 0) {
		p.status = api.AckMessage_FAIL
		return nil
	}
	if q == nil {
		q = set.Open(p.info.CrawlID, p.info.Key)
		if err := b.set(queueKey(queuePrefix, q.Number), encodeQueue(q.Crawl, q.Name, q.Settings)); err != nil {
			return err
		}
	}
	return b.enter(p, q, u, was, known)
}

// enter writes a URL of which was is known, and queues it where it comes again.
func (b *batch) enter(p *put, q *queues.Queue, u *queues.URL, was header, known bool) error {
	set, h := b.f.set, was
	if !known {
		h = header{created: b.now, seq: b.f.seq}
		b.f.seq++
	}
	h.refetch = b.now
	if p.known {
		h.refetch = p.refetch
	}
	b.value(p, u, &h)
	info, err := proto.MarshalOptions{Deterministic: true}.Marshal(p.info)
	if err == nil {
		err = b.set(urlKey(q.Number, p.id), h.encode(info))
	}
	if err != nil {
		return err
	}
	completed := 0
	if known && was.refetch == 0 {
		completed--
	}
	if h.refetch == 0 {
		completed++
		set.Drop(q, p.id, b.now)
	}
	if completed != 0 {
		set.Complete(q, completed, b.now)
	}
	if h.refetch != 0 {
		set.Put(q, queues.URL{ID: p.id, Key: h.key, Seq: h.seq, Due: h.refetch, Score: h.score}, b.now)
	}
	p.status = api.AckMessage_OK
	return nil
}

// value sets the priority of a URL. One that was fetched has that of its page, if
// anything is said of it, else the one that it had.
func (b *batch) value(p *put, u *queues.URL, h *header) {
	switch {
	case !p.known:
		h.score, h.key = float32(p.score), p.key
	case p.judged:
		h.score, h.key = float32(p.score), 0 // what links promise is told by the page itself
	case u != nil:
		h.score = u.Score
	case h.score == 0 && h.key == 0 && h.refetch != 0: // nobody has found it yet
		if scorer := b.f.scorers.get(p.info.CrawlID); scorer != nil {
			score, key := scorer.Found(p.info)
			h.score, h.key = float32(score), key
		}
	}
}

// recall reads what is known of a URL, also what this commit writes.
func (b *batch) recall(q *queues.Queue, id queues.ID) (h header, known bool, err error) {
	item, err := b.txn.Get(urlKey(q.Number, id))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return h, false, nil
	}
	if err == nil {
		err = item.Value(func(v []byte) (err error) {
			h, _, err = decode(v)
			return err
		})
	}
	return h, err == nil, err
}

// How often waiting URLs are scored anew: a short queue as a whole every rescoreEvery
// pages, a long one by rescorePart URLs a page (docs/relevance.md).
const (
	shortQueue   = 2000
	rescoreEvery = 10
	rescorePart  = 200
)

// relearn asks scorers anew after they have learned from pages.
func (f *Frontier) relearn(pages int, now int64) {
	if pages == 0 {
		return
	}
	before := f.pages
	f.pages += pages
	part := pages * rescorePart
	if waiting := f.set.Waiting(); waiting <= shortQueue {
		if before/rescoreEvery == f.pages/rescoreEvery && before > rescoreEvery {
			return
		}
		part = waiting
	}
	f.set.Rescore(part, f.scorers.rescore, now)
}
