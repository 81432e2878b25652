package urlfrontier

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fossick/crawler/urlfrontier/api"
	"fossick/internal/testkit"
)

// naive is a frontier by the API's description: a list of URLs, searched for each call.
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
	due            int64 // 0: completed
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

// best returns the next URL of a crawl, of a queue that has not had its turn.
func (n *naive) best(crawl string, of func(*naiveQueue) bool, now int64) (best *naiveURL) {
	for _, u := range n.urls {
		if (crawl == "" || u.q.crawl == crawl) && of(u.q) && waits(u) && u.due <= now && u.until <= now && (best == nil || before(u, best)) {
			best = u
		}
	}
	return best
}

// before orders URLs; priorities here depend on the URL alone.
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

func (n *naive) remove(which func(*naiveURL) bool) (count int) {
	before := len(n.urls)
	n.urls = slices.DeleteFunc(n.urls, which)
	return before - len(n.urls)
}

func (n *naive) drop(which func(*naiveQueue) bool) int {
	n.queues = slices.DeleteFunc(n.queues, which)
	return n.remove(func(u *naiveURL) bool { return which(u.q) })
}

// TestOracle makes the same random calls to a frontier and a naive one.
func TestOracle(t *testing.T) {
	for seed := range uint64(testkit.Rounds(3, 15)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			d := &duel{t: t, rng: rand.New(rand.NewPCG(seed, 7)), dir: t.TempDir(), n: &naive{delay: defaultDelay}}
			d.r = run(t, d.dir, Options{})
			for range testkit.Rounds(400, 1500) {
				d.step()
			}
		})
	}
}

// duel is a frontier and its naive version.
type duel struct {
	t   *testing.T
	rng *rand.Rand
	dir string
	r   *running
	n   *naive

	now             int64 // time of the step
	crawl, key, url string
}

// moves are the calls, with relative frequencies. Each returns both results.
var moves = []struct {
	name  string
	often int
	do    func(*duel) (got, want any)
}{
	{"time passes", 2, (*duel).pass},
	{"PutURLs", 14, (*duel).put},
	{"PutDiscovered", 2, (*duel).putBatch},
	{"GetURLs", 10, (*duel).take},
	{"GetStats", 2, (*duel).stats},
	{"BlockQueueUntil", 2, (*duel).block},
	{"SetDelay", 2, (*duel).delay},
	{"SetCrawlLimit", 2, (*duel).limit},
	{"SetActive", 1, (*duel).activate},
	{"GetURLStatus", 2, (*duel).status},
	{"ListURLs", 2, (*duel).list},
	{"CountURLs", 2, (*duel).count},
	{"ListQueues", 2, (*duel).queues},
	{"DeleteQueue", 1, (*duel).deleteQueue},
	{"restart", 1, (*duel).restart},
}

// rareMoves would leave little for the others to do.
var rareMoves = []struct {
	name string
	do   func(*duel) (got, want any)
}{{"DeleteCrawl", (*duel).deleteCrawl}, {"PurgeURLs", (*duel).purge}}

func (d *duel) step() {
	d.t.Helper()
	h := d.rng.IntN(5)
	d.now = d.r.clock.seconds.Load()
	d.crawl, d.key = []string{"a", defaultCrawl}[d.rng.IntN(2)], fmt.Sprintf("h%d.test", h)
	d.url = fmt.Sprintf("http://%s/%d", d.key, d.rng.IntN(12))
	name, do := d.choose()
	if got, want := do(d); fmt.Sprint(got) != fmt.Sprint(want) {
		d.t.Fatalf("%s at %d, crawl %s, queue %s, %s: got\n%v\nwant\n%v", name, d.now, d.crawl, d.key, d.url, got, want)
	}
}

func (d *duel) choose() (name string, do func(*duel) (got, want any)) {
	if d.rng.IntN(120) == 0 {
		m := rareMoves[d.rng.IntN(len(rareMoves))]
		return m.name, m.do
	}
	all := 0
	for _, m := range moves {
		all += m.often
	}
	at := d.rng.IntN(all)
	for _, m := range moves {
		if at -= m.often; at < 0 {
			return m.name, m.do
		}
	}
	panic("unreachable")
}

func (d *duel) pass() (got, want any) {
	d.r.clock.seconds.Add(int64(d.rng.IntN(8)))
	return nil, nil
}

func (d *duel) put() (got, want any) {
	isKnown, refetch := d.rng.IntN(3) == 0, int64(0)
	item := found(d.crawl, "", d.url)
	if isKnown {
		if d.rng.IntN(2) == 0 {
			refetch = d.now + int64(d.rng.IntN(20)) - 5
		}
		item = known(d.crawl, d.key, d.url, refetch)
	}
	return d.r.put(item)[0], d.n.put(d.crawl, d.key, d.url, isKnown, refetch, d.now)
}

func (d *duel) putBatch() (got, want any) {
	b := &api.DiscoveredBatch{}
	var statuses []api.AckMessage_Status
	for range d.rng.IntN(6) {
		url := fmt.Sprintf("http://%s/%d", d.key, d.rng.IntN(12))
		b.Items = append(b.Items, &api.URLInfo{Url: url, CrawlID: d.crawl})
		statuses = append(statuses, d.n.put(d.crawl, d.key, url, false, 0, d.now))
	}
	return exchange[api.BatchAck](d.r.client, "PutDiscovered", []*api.DiscoveredBatch{b})[0].GetStatuses(), statuses
}

func (d *duel) take() (got, want any) {
	queues, per, hold := d.rng.IntN(4), d.rng.IntN(4), int64(1+d.rng.IntN(10))
	p := &api.GetParams{MaxQueues: uint32(queues), MaxUrlsPerQueue: uint32(per), DelayRequestable: uint32(hold)}
	of, one := "", ""
	switch d.rng.IntN(6) {
	case 0:
	case 1:
		p.Item = &api.GetParams_AnyCrawlID{AnyCrawlID: &api.AnyCrawlID{}}
	case 2:
		one, p.Key = d.key, d.key
		fallthrough
	default:
		of, p.Item = d.crawl, &api.GetParams_CrawlID{CrawlID: d.crawl}
	}
	return d.r.take(p), d.n.take(of, one, queues, per, hold, d.now)
}

func (d *duel) stats() (got, want any) {
	s := ask[api.Stats](d.r.client, "GetStats", &api.QueueWithinCrawlParams{CrawlID: d.crawl})
	size, held, completed, queues, active := 0, 0, 0, 0, 0
	for _, q := range d.n.queues {
		if q.crawl != d.crawl {
			continue
		}
		queues++
		waiting := d.n.count(q, waits)
		size += waiting
		if waiting > 0 {
			active++
		}
		held += d.n.count(q, func(u *naiveURL) bool { return u.until > d.now })
		completed += d.n.count(q, func(u *naiveURL) bool { return !waits(u) })
	}
	return fmt.Sprint(s.GetSize(), s.GetInProcess(), s.GetNumberOfQueues(), s.GetCounts()),
		fmt.Sprint(size, held, queues, map[string]uint64{"completed": uint64(completed), "active_queues": uint64(active)})
}

func (d *duel) block() (got, want any) {
	until := d.now + int64(d.rng.IntN(8)) - 2
	ask[api.Empty](d.r.client, "BlockQueueUntil", &api.BlockQueueParams{Key: d.key, CrawlID: d.crawl, Time: uint64(until)})
	if q := d.n.queue(d.crawl, d.key); q != nil {
		q.blocked = until
	}
	return nil, nil
}

func (d *duel) delay() (got, want any) {
	delay, key := int64(d.rng.IntN(4)), d.key
	if d.rng.IntN(2) == 0 {
		key, d.n.delay = "", delay
	} else if q := d.n.queue(d.crawl, key); q != nil {
		q.delay = delay
	}
	ask[api.Empty](d.r.client, "SetDelay", &api.QueueDelayParams{Key: key, CrawlID: d.crawl, DelayRequestable: uint32(delay)})
	return nil, nil
}

func (d *duel) limit() (got, want any) {
	if q := d.n.queue(d.crawl, d.key); q != nil {
		q.limit = d.rng.IntN(6)
		ask[api.Empty](d.r.client, "SetCrawlLimit", &api.CrawlLimitParams{Key: d.key, CrawlID: d.crawl, Limit: uint32(q.limit)})
	}
	return nil, nil
}

func (d *duel) activate() (got, want any) {
	d.n.paused = d.rng.IntN(4) == 0
	ask[api.Empty](d.r.client, "SetActive", &api.Active{State: !d.n.paused})
	return ask[api.Boolean](d.r.client, "GetActive", &api.Local{}).GetState(), !d.n.paused
}

func (u *naiveURL) String() string { return fmt.Sprint(u.url, " ", u.due, " ", u.created) }

func told(item *api.URLItem) string {
	return fmt.Sprint(item.GetKnown().GetInfo().GetUrl(), " ", item.GetKnown().GetRefetchableFromDate(), " ", item.GetCreationDate())
}

func (d *duel) status() (got, want any) {
	want = codes.NotFound
	for _, u := range d.n.urls {
		if u.q.crawl == d.crawl && u.url == d.url {
			want = u
		}
	}
	item := new(api.URLItem)
	if err := d.r.conn.Invoke(d.t.Context(), service+"GetURLStatus", &api.URLStatusRequest{Url: d.url, CrawlID: d.crawl}, item); err != nil {
		return status.Code(err), want
	}
	return told(item), want
}

func (d *duel) list() (got, want any) {
	var is, should []string
	for _, u := range d.n.urls {
		if u.q.crawl == d.crawl {
			should = append(should, u.String())
		}
	}
	for _, item := range stream[api.URLItem](d.r.client, "ListURLs", &api.ListUrlParams{CrawlID: d.crawl, Size: 1000}) {
		is = append(is, told(item))
	}
	slices.Sort(is)
	slices.Sort(should)
	return strings.Join(is, "\n"), strings.Join(should, "\n")
}

func (d *duel) count() (got, want any) {
	filter, ignore, n := fmt.Sprintf("H%d.test/", d.rng.IntN(5)), d.rng.IntN(2) == 0, 0
	for _, u := range d.n.urls {
		if u.q.crawl == d.crawl && ignore && strings.Contains(u.url, strings.ToLower(filter)) {
			n++
		}
	}
	return ask[api.Long](d.r.client, "CountURLs", &api.CountUrlParams{CrawlID: d.crawl, Filter: &filter, IgnoreCase: &ignore}).GetValue(), n
}

func (d *duel) queues() (got, want any) {
	all := d.rng.IntN(2) == 0
	l := ask[api.QueueList](d.r.client, "ListQueues", &api.Pagination{CrawlID: d.crawl, IncludeInactive: all, Start: 1, Size: 2})
	var keys []string
	for _, q := range d.n.queues {
		if q.crawl == d.crawl && (all || d.n.count(q, waits) > 0 && q.blocked < d.now) {
			keys = append(keys, q.key)
		}
	}
	return fmt.Sprint(l.GetValues(), l.GetTotal()), fmt.Sprint(keys[min(1, len(keys)):min(3, len(keys))], len(keys))
}

func (d *duel) deleteQueue() (got, want any) {
	got = ask[api.Long](d.r.client, "DeleteQueue", &api.QueueWithinCrawlParams{Key: d.key, CrawlID: d.crawl}).GetValue()
	return got, d.n.drop(func(q *naiveQueue) bool { return q.crawl == d.crawl && q.key == d.key })
}

func (d *duel) deleteCrawl() (got, want any) {
	got = ask[api.Long](d.r.client, "DeleteCrawl", &api.DeleteCrawlMessage{Value: d.crawl}).GetValue()
	return got, d.n.drop(func(q *naiveQueue) bool { return q.crawl == d.crawl })
}

func (d *duel) purge() (got, want any) {
	d.r.clock.seconds.Add(secondsOfDay - 100)
	got = ask[api.Long](d.r.client, "PurgeURLs", &api.PurgeUrlParams{Key: d.key, CrawlID: d.crawl, Days: 1}).GetValue()
	oldest, q := d.r.clock.seconds.Load()-secondsOfDay, d.n.queue(d.crawl, d.key)
	return got, d.n.remove(func(u *naiveURL) bool { return u.q == q && u.created < oldest })
}

// restart restarts the frontier, which forgets what was handed out.
func (d *duel) restart() (got, want any) {
	d.r.stop()
	d.r = run(d.t, d.dir, Options{})
	d.r.clock.seconds.Store(d.now)
	for _, u := range d.n.urls {
		u.until = 0
	}
	for _, q := range d.n.queues {
		q.last = 0
	}
	d.n.paused = false
	return nil, nil
}
