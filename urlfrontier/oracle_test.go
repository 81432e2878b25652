package urlfrontier

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fossick/internal/fulltest"
	"fossick/urlfrontier/api"
)

// naive is a frontier as the API describes it: a list of URLs, and every question answered
// by looking at all of them.
type naive struct {
	urls   []*naiveURL
	queues []*naiveQueue
	delay  int64
	paused bool
	made   int
}

type naiveURL struct {
	q              *naiveQueue
	url            string
	due            int64 // 0 is completed
	created, until int64
	seq            int
}

type naiveQueue struct {
	crawl, key           string
	blocked, delay, last int64
	limit                int
}

func (n *naive) queue(crawl, key string) *naiveQueue {
	for _, q := range n.queues {
		if q.crawl == crawl && q.key == key {
			return q
		}
	}
	return nil
}

func (n *naive) put(crawl, key, url string, known bool, refetch, now int64) api.AckMessage_Status {
	q := n.queue(crawl, key)
	if q == nil {
		q = &naiveQueue{crawl: crawl, key: key, delay: -1}
		n.queues = append(n.queues, q)
	}
	i := slices.IndexFunc(n.urls, func(u *naiveURL) bool { return u.q == q && u.url == url })
	switch {
	case i >= 0 && !known:
		return api.AckMessage_SKIPPED
	case i < 0:
		n.made++
		n.urls = append(n.urls, &naiveURL{q: q, url: url, created: now, seq: n.made})
		i = len(n.urls) - 1
	}
	n.urls[i].due, n.urls[i].until = now, 0
	if known {
		n.urls[i].due = refetch
	}
	return api.AckMessage_OK
}

func (n *naive) count(q *naiveQueue, which func(*naiveURL) bool) (count int) {
	for _, u := range n.urls {
		if u.q == q && which(u) {
			count++
		}
	}
	return count
}

func waits(u *naiveURL) bool { return u.due > 0 }

// best returns the URL that is next of a crawl, whose queue has not had its turn.
func (n *naive) best(crawl string, of func(*naiveQueue) bool, now int64) (best *naiveURL) {
	for _, u := range n.urls {
		if (crawl == "" || u.q.crawl == crawl) && of(u.q) && waits(u) && u.due <= now && u.until <= now && (best == nil || before(u, best)) {
			best = u
		}
	}
	return best
}

// before says whether a comes first: priorities here are made of URLs. Known URLs that
// were not judged, nor found before, are worth what a link to them is.
func before(a, b *naiveURL) bool {
	if c := cmp.Compare(float32(worth(a.url)), float32(worth(b.url))); c != 0 {
		return c > 0
	}
	return a.seq < b.seq
}

func (n *naive) take(crawl, key string, queues, perQueue int, hold, now int64) (urls []string) {
	turned := map[*naiveQueue]bool{}
	for served := 0; (queues == 0 || served < queues) && !n.paused; served++ {
		first := n.best(crawl, func(q *naiveQueue) bool {
			delay := cmp.Or(n.delay, 0)
			if q.delay >= 0 {
				delay = q.delay
			}
			handedOut := n.count(q, func(u *naiveURL) bool { return u.until > now })
			completed := n.count(q, func(u *naiveURL) bool { return !waits(u) })
			return !turned[q] && (key == "" || q.key == key) && q.blocked < now && (q.limit == 0 || completed < q.limit) &&
				(q.last == 0 || delay == 0 || q.last+delay < now) && (perQueue == 0 || handedOut < perQueue)
		}, now)
		if first == nil {
			break
		}
		turned[first.q] = true
		for k := 0; perQueue == 0 || k < perQueue; k++ {
			u := n.best(crawl, func(q *naiveQueue) bool { return q == first.q }, now)
			if u == nil {
				break
			}
			u.until = now + hold
			first.q.last = now
			urls = append(urls, u.url)
		}
	}
	return urls
}

// remove deletes URLs, and says how many.
func (n *naive) remove(which func(*naiveURL) bool) (count int) {
	before := len(n.urls)
	n.urls = slices.DeleteFunc(n.urls, which)
	return before - len(n.urls)
}

// TestOracle does the same things, at random, to a frontier and to a naive one.
func TestOracle(t *testing.T) {
	for seed := range uint64(fulltest.Rounds(2, 40)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { compare(t, seed, fulltest.Rounds(250, 1500)) })
	}
}

func compare(t *testing.T, seed uint64, steps int) {
	rng := rand.New(rand.NewPCG(seed, 7))
	dir := t.TempDir()
	r, n := run(t, dir, Options{}), &naive{delay: defaultDelay}
	pick := func() (crawl, key, url string) {
		h := rng.IntN(5)
		return []string{"a", defaultCrawl}[rng.IntN(2)], fmt.Sprintf("h%d.test", h), fmt.Sprintf("http://h%d.test/%d", h, rng.IntN(40))
	}
	for step := range steps {
		now := r.clock.seconds.Load()
		crawl, key, url := pick()
		var got, want any
		what := rng.IntN(22)
		switch what {
		default:
			r.clock.seconds.Add(int64(rng.IntN(4)))
			continue
		case 0, 1, 2, 3, 4, 5, 6:
			isKnown, refetch := rng.IntN(3) == 0, int64(0)
			item := found(crawl, "", url)
			if isKnown {
				if rng.IntN(2) == 0 {
					refetch = now + int64(rng.IntN(20)) - 5
				}
				item = known(crawl, key, url, refetch)
			}
			got, want = r.put(item)[0], n.put(crawl, key, url, isKnown, refetch, now)
		case 7, 8, 9, 10, 11:
			queues, per, hold := rng.IntN(4), rng.IntN(4), int64(1+rng.IntN(10))
			p := &api.GetParams{MaxQueues: uint32(queues), MaxUrlsPerQueue: uint32(per), DelayRequestable: uint32(hold)}
			of, one := "", ""
			if rng.IntN(3) > 0 {
				of = crawl
				p.Item = &api.GetParams_CrawlID{CrawlID: crawl}
				if rng.IntN(3) == 0 {
					one, p.Key = key, key
				}
			} else if rng.IntN(2) == 0 {
				p.Item = &api.GetParams_AnyCrawlID{AnyCrawlID: &api.AnyCrawlID{}}
			}
			got, want = r.take(p), n.take(of, one, queues, per, hold, now)
		case 12:
			s := ask[api.Stats](r.client, "GetStats", &api.QueueWithinCrawlParams{CrawlID: crawl})
			got = fmt.Sprint(s.GetSize(), s.GetInProcess(), s.GetCounts(), s.GetNumberOfQueues())
			size, held, completed, queues, active := 0, 0, 0, 0, 0
			for _, q := range n.queues {
				if q.crawl == crawl {
					queues++
					w := n.count(q, waits)
					size += w
					if w > 0 {
						active++
					}
					held += n.count(q, func(u *naiveURL) bool { return u.until > now })
					completed += n.count(q, func(u *naiveURL) bool { return !waits(u) })
				}
			}
			want = fmt.Sprint(size, held, map[string]uint64{"completed": uint64(completed), "active_queues": uint64(active)}, queues)
		case 13:
			until := now + int64(rng.IntN(8)) - 2
			ask[api.Empty](r.client, "BlockQueueUntil", &api.BlockQueueParams{Key: key, CrawlID: crawl, Time: uint64(until)})
			if q := n.queue(crawl, key); q != nil {
				q.blocked = until
			}
		case 14:
			delay := int64(rng.IntN(4))
			if rng.IntN(2) == 0 {
				key = ""
				n.delay = delay
			} else if q := n.queue(crawl, key); q != nil {
				q.delay = delay
			}
			ask[api.Empty](r.client, "SetDelay", &api.QueueDelayParams{Key: key, CrawlID: crawl, DelayRequestable: uint32(delay)})
		case 15:
			if q := n.queue(crawl, key); q != nil {
				q.limit = rng.IntN(6)
				ask[api.Empty](r.client, "SetCrawlLimit", &api.CrawlLimitParams{Key: key, CrawlID: crawl, Limit: uint32(q.limit)})
			}
		case 16:
			var lines []string
			for _, u := range n.urls {
				if u.q.crawl == crawl {
					lines = append(lines, fmt.Sprint(u.url, u.due, u.created))
				}
			}
			slices.Sort(lines)
			want = strings.Join(lines, "\n")
			lines = nil
			for _, item := range stream[api.URLItem](r.client, "ListURLs", &api.ListUrlParams{CrawlID: crawl, Size: 1000}) {
				lines = append(lines, fmt.Sprint(item.GetKnown().GetInfo().GetUrl(), item.GetKnown().GetRefetchableFromDate(), item.GetCreationDate()))
			}
			slices.Sort(lines)
			got = strings.Join(lines, "\n")
			filter := fmt.Sprintf("H%d.test/", rng.IntN(5))
			ignore := rng.IntN(2) == 0
			count := 0
			for _, u := range n.urls {
				if u.q.crawl == crawl && (strings.Contains(u.url, filter) || ignore && strings.Contains(u.url, strings.ToLower(filter))) {
					count++
				}
			}
			if c := ask[api.Long](r.client, "CountURLs", &api.CountUrlParams{CrawlID: crawl, Filter: &filter, IgnoreCase: &ignore}).GetValue(); int(c) != count {
				t.Fatalf("step %d: %d URLs with %s, want %d", step, c, filter, count)
			}
		case 17:
			if rng.IntN(4) > 0 {
				continue
			}
			got = int(ask[api.Long](r.client, "DeleteQueue", &api.QueueWithinCrawlParams{Key: key, CrawlID: crawl}).GetValue())
			q := n.queue(crawl, key)
			want = n.remove(func(u *naiveURL) bool { return u.q == q })
			n.queues = slices.DeleteFunc(n.queues, func(o *naiveQueue) bool { return o == q })
		case 18:
			if rng.IntN(10) > 0 {
				continue
			}
			got = int(ask[api.Long](r.client, "DeleteCrawl", &api.DeleteCrawlMessage{Value: crawl}).GetValue())
			want = n.remove(func(u *naiveURL) bool { return u.q.crawl == crawl })
			n.queues = slices.DeleteFunc(n.queues, func(o *naiveQueue) bool { return o.crawl == crawl })
		case 19:
			all := rng.IntN(2) == 0
			l := ask[api.QueueList](r.client, "ListQueues", &api.Pagination{CrawlID: crawl, IncludeInactive: all, Start: 1, Size: 2})
			var keys []string
			for _, q := range n.queues {
				if q.crawl == crawl && (all || n.count(q, waits) > 0 && q.blocked < now) {
					keys = append(keys, q.key)
				}
			}
			got = fmt.Sprint(l.GetValues(), l.GetTotal())
			want = fmt.Sprint(keys[min(1, len(keys)):min(3, len(keys))], len(keys))
		case 20:
			if rng.IntN(8) > 0 {
				continue
			}
			r.clock.seconds.Add(secondsOfDay - 100)
			got = int(ask[api.Long](r.client, "PurgeURLs", &api.PurgeUrlParams{Key: key, CrawlID: crawl, Days: 1}).GetValue())
			oldest := r.clock.seconds.Load() - secondsOfDay
			q := n.queue(crawl, key)
			want = n.remove(func(u *naiveURL) bool { return u.q == q && u.created < oldest })
		case 21:
			if rng.IntN(6) > 0 {
				continue
			}
			at := r.clock.seconds.Load()
			r.stop()
			r = run(t, dir, Options{})
			r.clock.seconds.Store(at)
			for _, u := range n.urls {
				u.until = 0 // what was handed out is not kept
			}
			for _, q := range n.queues {
				q.last = 0
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("step %d, kind %d, crawl %s, queue %s: got\n%v\nwant\n%v", step, what, crawl, key, got, want)
		}
	}
}
