package journal

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

// TestJournalsAgree does the same random work with a journal on disk, which is closed
// and opened again at times, and with one in memory: every answer is the same.
func TestJournalsAgree(t *testing.T) {
	for seed := range uint64(testkit.Rounds(4, 20)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newPair(t, seed)
			for range 150 {
				w.batch()
				w.readAll()
				if w.rng.IntN(20) == 0 {
					w.reopen()
				}
			}
			if w.counts.URLs < 100 || w.counts.Pages < 20 || w.cancelled < 10 || w.requeued < 20 {
				t.Errorf("made only %d URLs, %d pages, %d cancelled batches, %d requeued URLs", w.counts.URLs, w.counts.Pages, w.cancelled, w.requeued)
			}
		})
	}
}

// pair is a journal on disk and one in memory, and what was committed to both.
type pair struct {
	t      *testing.T
	rng    *rand.Rand
	dir    string
	store  *store.Store
	both   [2]Journal
	counts store.Counts
	urls   []known // by number; the first is none

	cancelled, requeued int
}

// known is what the test needs to know of a URL to do nothing that a crawl would not.
type known struct {
	hash                   store.Hash
	waits, skipped, repeat bool
}

func newPair(t *testing.T, seed uint64) *pair {
	dir := filepath.Join(t.TempDir(), "crawl")
	s := testkit.Call(store.Create(dir, store.Info{})).Must(t)
	w := &pair{t: t, rng: rand.New(rand.NewPCG(seed, 1)), dir: dir, store: s, urls: []known{{}}}
	w.both = [2]Journal{w.disk(), NewMemory()}
	w.counts = store.Counts{States: map[string]uint64{}, Codes: map[int]uint64{}}
	t.Cleanup(func() { _ = w.store.Close() })
	return w
}

// disk remembers so few places that URLs push each other out.
func (w *pair) disk() *disk {
	d := NewDisk(w.store)
	d.places = d.places[:3]
	return d
}

func (w *pair) reopen() {
	w.t.Helper()
	if err := w.store.Close(); err != nil {
		w.t.Fatal(err)
	}
	var err error
	if w.store, err = store.Open(w.dir); err != nil {
		w.t.Fatal(err)
	}
	w.both[0] = w.disk()
}

// same asks both for something and fails when they differ.
func same[J, A any](t *testing.T, what string, both [2]J, ask func(J) (A, error)) A {
	t.Helper()
	a, errA := ask(both[0])
	b, errB := ask(both[1])
	if errors.Is(errA, store.ErrUnknown) != errors.Is(errB, store.ErrUnknown) || (errA == nil) != (errB == nil) || errA == nil && !reflect.DeepEqual(a, b) {
		t.Fatalf("%s: on disk %+v, %v; in memory %+v, %v", what, a, errA, b, errB)
	}
	return a
}

func (w *pair) hash(n int) store.Hash { return store.HashURL(fmt.Sprint("http://a.test/", n)) }

// batch makes some changes, and drops them at times.
func (w *pair) batch() {
	before, counts := slices.Clone(w.urls), w.counts
	counts.States = maps.Clone(counts.States)
	b := [2]Batch{w.both[0].Batch(), w.both[1].Batch()}
	for range w.rng.IntN(12) {
		w.step(b)
	}
	if w.rng.IntN(5) == 0 {
		b[0].Cancel()
		b[1].Cancel()
		w.urls, w.counts = before, counts
		w.cancelled++
		return
	}
	same(w.t, "commit", b, func(b Batch) (bool, error) { return true, b.Commit(&w.counts) })
	b[0].Cancel()
	b[1].Cancel()
}

func (w *pair) step(b [2]Batch) {
	do := func(what string, f func(Batch) error) {
		w.t.Helper()
		same(w.t, what, b, func(b Batch) (bool, error) { return true, f(b) })
	}
	id := store.ID(w.rng.IntN(len(w.urls)))
	u := &w.urls[id]
	switch n := w.rng.IntN(10); {
	case n < 3 || len(w.urls) < 5:
		w.discover(b, do)
	case n < 5 && u.waits:
		do("queue", func(b Batch) error { return b.Queue(id, w.place(id)) })
	case n < 6 && u.waits:
		state := []string{"ok", "code", "trap"}[w.rng.IntN(3)]
		w.counts.States[state]++
		u.waits, u.repeat = false, true
		do("end", func(b Batch) error { return b.End(id, store.Outcome{State: state, At: 1, Page: 2}) })
	case n < 7 && (u.skipped || u.repeat):
		u.waits, u.skipped, u.repeat = true, false, false
		w.requeued++
		if w.rng.IntN(2) == 0 {
			discovery := w.discovery(id)
			do("rediscover", func(b Batch) error { return b.Rediscover(id, discovery) })
		}
		do("requeue", func(b Batch) error { return b.Requeue(u.hash, id, w.place(id)) })
	case n < 8:
		h := &store.Host{Name: fmt.Sprint("h", w.rng.IntN(5)), Pages: w.rng.Uint64N(9), Cuts: map[string]string{"/a": "b"},
			Sitemaps: &store.Sitemaps{Files: 3, Known: []uint64{4}}}
		do("host", func(b Batch) error { return b.PutHost(h) })
		h.Cuts["/c"], h.Sitemaps.Known[0], h.Pages = "d", 5, 77 // which the journal is not told
		do("visit", func(b Batch) error { return b.PutVisit(id, 1, store.Visit{}) })
		do("exchange", func(b Batch) error { return b.PutExchange(h.Name, 1, store.Exchange{}) })
	default:
		w.page(b, do)
	}
	w.readBatch(b, id)
	w.readBatch(b, store.ID(w.rng.IntN(len(w.urls)+2)))
}

// place is made of the number, so that both get the same.
func (w *pair) place(id store.ID) store.Queued {
	x := w.counts.URLs*31 + uint64(id)
	return store.Queued{Priority: float64(x) / 7, Score: float64(x%100) / 100, Parent: id / 2, Visits: int(x % 3), Excused: int(x % 2)}
}

func (w *pair) discover(b [2]Batch, do func(string, func(Batch) error)) {
	id := store.ID(len(w.urls))
	u := known{hash: w.hash(len(w.urls)), skipped: w.rng.IntN(4) == 0}
	discovery := w.discovery(id)
	do("discover", func(b Batch) error { return b.Discover(u.hash, id, discovery, u.skipped) })
	w.counts.URLs++
	if u.waits = !u.skipped; u.waits {
		do("queue", func(b Batch) error { return b.Queue(id, w.place(id)) })
	} else {
		do("end", func(b Batch) error { return b.End(id, store.Outcome{State: "none"}) })
	}
	w.urls = append(w.urls, u)
}

// discovery is one of those that a URL may have.
func (w *pair) discovery(id store.ID) store.Discovery {
	at := id + store.ID(w.rng.IntN(3))
	discovery := store.Discovery{
		URL: fmt.Sprint("http://a.test/", id), From: at / 3, Via: []store.Via{store.ViaSeed, store.ViaLink, store.ViaRedirect, store.ViaSitemap}[w.rng.IntN(4)],
		Depth: int(at % 7), Hops: int(at % 3), At: int64(at),
	}
	if discovery.Via == store.ViaSitemap {
		discovery.Exchange, discovery.AtHost, discovery.Modified = 3, "a.test:80", 9
	}
	return discovery
}

// page stores one whose signature shares bands with others' at times.
func (w *pair) page(b [2]Batch, do func(string, func(Batch) error)) {
	w.counts.Pages++
	n := w.counts.Pages
	r := &store.Page{Number: n, ID: 1, URL: fmt.Sprint("http://a.test/page", n), ContentType: "text/html", Title: "T",
		Checksum: checksum(n), Signature: w.signature()}
	do("page", func(b Batch) error { return b.PutPage(r, Content{Page: &page.Page{}, Body: []byte("x")}) })
}

func checksum(n uint64) []byte { return slices.Repeat([]byte{byte(n), byte(n >> 8)}, 8) }

func (w *pair) signature() []byte {
	s := make([]byte, page.SignatureSize)
	for i := range s {
		s[i] = byte(i / 6 * w.rng.IntN(3)) // bands of six
	}
	for band := 0; band+6 <= len(s); band += 6 {
		copy(s[band:], slices.Repeat([]byte{byte(w.rng.IntN(4))}, 6))
	}
	return s
}

// readBatch compares what the open batches say of a URL, and of any page.
func (w *pair) readBatch(b [2]Batch, id store.ID) {
	same(w.t, "lookup", b, func(b Batch) (store.Seen, error) { return b.Lookup(w.hash(int(id))) })
	same(w.t, "queued", b, func(b Batch) (store.Queued, error) { return b.Queued(id) })
	same(w.t, "ended", b, func(b Batch) (string, error) { return b.Ended(id) })
	sum := checksum(w.rng.Uint64N(w.counts.Pages + 2))
	same(w.t, "page with", b, func(b Batch) (uint64, error) { return b.PageWith(sum) })
}

// readAll compares all that the journals say while no batch is open.
func (w *pair) readAll() {
	w.t.Helper()
	counts := same(w.t, "counts", w.both, func(j Journal) (store.Counts, error) { return j.Counts() })
	if counts.URLs != w.counts.URLs || counts.Pages != w.counts.Pages {
		w.t.Fatalf("%d URLs, %d pages committed; want %d, %d", counts.URLs, counts.Pages, w.counts.URLs, w.counts.Pages)
	}
	id := store.ID(w.rng.IntN(len(w.urls) + 2))
	same(w.t, "discovery", w.both, func(j Journal) (store.Discovery, error) { return j.Discovery(id) })
	same(w.t, "waiting", w.both, func(j Journal) (store.Waiter, error) {
		b, q, err := j.Waiting(id)
		return store.Waiter{Discovery: b, Queued: q}, err
	})
	same(w.t, "waiters", w.both, func(j Journal) (all []store.Waiter, _ error) {
		for u, err := range j.Waiters() {
			if err != nil {
				return nil, err
			}
			all = append(all, u)
		}
		return all, nil
	})
	same(w.t, "host", w.both, func(j Journal) (*store.Host, error) { return j.Host(fmt.Sprint("h", id%6)) })
	same(w.t, "hosts", w.both, func(j Journal) (all []*store.Host, _ error) {
		for h, err := range j.Hosts() {
			if err != nil {
				return nil, err
			}
			all = append(all, h)
		}
		return all, nil
	})
	hashes := []store.Hash{w.hash(int(id)), w.hash(int(id) + 1), w.hash(0)}
	same(w.t, "lookup", w.both, func(j Journal) ([]store.Seen, error) { return j.Lookup(hashes) })
	signature := w.signature()
	found := same(w.t, "candidates", w.both, func(j Journal) ([]store.Candidate, error) { return j.Candidates(signature) })
	if len(found) > 16 {
		w.t.Fatalf("%d candidates, want 16 at most", len(found))
	}
}
