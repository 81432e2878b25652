package store

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestLongCrawl simulates a broad crawl's load on a store and prints its cost as the store grows,
// to compare database settings. Each page is a random waiting URL on a host that memory has
// dropped, with twenty links to 40 million URLs on 200,000 hosts. It runs some twenty times faster
// than a crawl. FOSSICK_STORE_PAGES sets the number of pages, FOSSICK_STORE_DIR the folder.
func TestLongCrawl(t *testing.T) {
	pages, err := strconv.Atoi(os.Getenv("FOSSICK_STORE_PAGES"))
	if err != nil {
		t.Skip("takes long: set FOSSICK_STORE_PAGES=300000")
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(272 << 20)) // as fossick focus sets it
	dir, err := os.MkdirTemp(os.Getenv("FOSSICK_STORE_DIR"), "long")
	must(t, err)
	defer os.RemoveAll(dir)
	s, err := Create(dir+"/s", Info{})
	must(t, err)
	defer s.Close()
	s.FilterSeen()
	c := newStream(t, s)
	meter := meterMemory()
	defer meter.stop()
	step := max(1, pages/10)
	for n := 1; n <= pages; n++ {
		must(t, c.page())
		if n%step == 0 {
			must(t, s.db.Sync())
			t.Logf("%8d pages, %9d URLs: %s; %s; %s", n, c.urls, c.since(t, step), meter, shape(s))
		}
	}
	runtime.KeepAlive(c.ballast)
}

type stream struct {
	s       *Store
	rng     *rand.Rand
	urls    uint64
	known   uint64 // committed URLs
	pages   uint64
	done    []uint64 // one bit per ID: it left the queue
	lately  []ID     // queue entries that the crawler remembers; see places in crawler/journal
	body    []byte
	batch   *Batch
	ballast []uint64 // heap that the rest of a crawl would use

	cpu   time.Duration // at the last report
	began time.Time
	slow  [2]time.Duration // slowest commit and slowest look-up since the last report
}

const streamHosts, streamPaths, streamLinks = 200_000, 200, 20

func newStream(t *testing.T, s *Store) *stream {
	c := &stream{
		s: s, rng: rand.New(rand.NewPCG(1, 2)), done: make([]uint64, 1<<20),
		lately: make([]ID, 1<<16), body: make([]byte, 1100), ballast: make([]uint64, 90<<20/8),
		cpu: usedTime(t), began: time.Now(),
	}
	for i := range c.ballast {
		c.ballast[i] = 1
	}
	c.batch = s.Batch()
	for range 100 {
		url := c.url()
		_ = c.born(HashURL(url), url, 0)
	}
	_ = c.batch.Commit()
	c.batch, c.known = nil, c.urls
	return c
}

func (c *stream) url() string {
	return fmt.Sprintf("http://h%d.test/%d", c.rng.IntN(streamHosts), c.rng.IntN(streamPaths))
}

func (c *stream) born(h Hash, url string, from ID) error {
	c.urls++
	id := ID(c.urls)
	c.lately[int(id)%len(c.lately)] = id
	return cmp.Or(c.batch.PutDiscovery(id, Discovery{URL: url, From: from, Via: ViaLink, Depth: 9, At: time.Now().UnixMilli()}),
		c.batch.PutSeen(h, id, false), c.batch.PutQueued(id, c.place(from)))
}

func (c *stream) place(from ID) Queued {
	return Queued{Priority: c.rng.Float64(), Score: c.rng.Float64(), Parent: from}
}

// page writes what follows from one exchange, and commits every other time.
func (c *stream) page() error {
	id := c.waits()
	asked := time.Now()
	discovery, _, err := c.s.URLs().Waiting(id)
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(discovery.URL, "http://"), "/")
	host, err := c.s.Host(name)
	if err != nil {
		return err
	}
	hashes, urls := make([]Hash, streamLinks), make([]string, streamLinks)
	for i := range hashes {
		urls[i] = c.url()
		hashes[i] = HashURL(urls[i])
	}
	seen, err := c.s.Lookup(hashes)
	if err != nil {
		return err
	}
	signature := make([]byte, 128)
	for i := 0; i < len(signature); i += 8 {
		binary.LittleEndian.PutUint64(signature[i:], c.rng.Uint64())
	}
	if _, err := c.s.Candidates(signature); err != nil {
		return err
	}
	c.slow[1] = max(c.slow[1], time.Since(asked))
	if c.batch == nil {
		c.batch = c.s.Batch()
	}
	if host.New {
		host.Robots, host.Exchanges = []byte("none"), 1
		if err := c.batch.PutExchange(host.Name, 1, Exchange{For: ForRobots, URL: "http://" + name + "/robots.txt", State: "code", Code: 404}); err != nil {
			return err
		}
	}
	return c.store(id, discovery, host, hashes, urls, seen, signature)
}

func (c *stream) waits() ID {
	for {
		id := uint64(1 + c.rng.Int64N(int64(c.known)))
		if word, bit := id/64, uint64(1)<<(id%64); c.done[word]&bit == 0 {
			c.done[word] |= bit
			return ID(id)
		}
	}
}

func (c *stream) store(id ID, discovery Discovery, host *Host, hashes []Hash, urls []string, seen []Seen, signature []byte) error {
	checksum := signature[100:116]
	if _, err := c.batch.PageWith(checksum); err != nil {
		return err
	}
	c.pages++
	links := make([]ID, 0, streamLinks)
	for i, h := range hashes {
		if seen[i].ID == 0 {
			var err error
			if seen[i], err = c.batch.Lookup(h); err != nil {
				return err
			}
		}
		if err := c.link(h, urls[i], seen[i].ID, id); err != nil {
			return err
		}
		links = append(links, cmp.Or(seen[i].ID, ID(c.urls)))
	}
	for i := range c.body {
		c.body[i] = byte(c.rng.Uint32())
	}
	host.Pages, host.Requests = host.Pages+1, host.Requests+1
	err := cmp.Or(
		c.batch.PutPage(&Page{
			Number: c.pages, ID: id, URL: discovery.URL, ContentType: "text/html; charset=utf-8", Checksum: checksum,
			Title: "three words or so", Links: links, Signature: signature, Bytes: 2500, Depth: discovery.Depth, Rule: "the words that weighed most",
		}, append([]byte(nil), c.body...)),
		c.batch.PutOutcome(id, Outcome{State: "ok", Page: c.pages, At: time.Now().UnixMilli(), Next: 1 << 41}),
		c.batch.PutVisit(id, 1, Visit{Start: time.Now().UnixMilli(), Millis: 5, State: "ok", Code: 200, Bytes: 2500}),
		c.batch.PutHost(host),
		c.batch.PutCounts(&Counts{URLs: c.urls, Pages: c.pages}))
	if err != nil || c.pages%2 != 0 {
		return err
	}
	began := time.Now()
	err = c.batch.Commit()
	c.slow[0] = max(c.slow[0], time.Since(began))
	c.batch, c.known = nil, c.urls
	return err
}

// link enters the target of a link; to is its ID, or 0 if it is new.
func (c *stream) link(h Hash, url string, to, from ID) error {
	if to == 0 {
		return c.born(h, url, from)
	}
	if c.done[to/64]>>(to%64)&1 == 1 {
		return nil
	}
	if slot := &c.lately[int(to)%len(c.lately)]; *slot != to {
		*slot = to
		if _, err := c.batch.Queued(to); err != nil {
			return err
		}
	}
	return c.batch.PutQueued(to, c.place(from))
}

func (c *stream) since(t *testing.T, pages int) string {
	now := usedTime(t)
	line := fmt.Sprintf("%.3f ms a page of the processor, %.3f by the clock; slowest commit %d ms, look-ups %d ms",
		(now-c.cpu).Seconds()*1000/float64(pages), time.Since(c.began).Seconds()*1000/float64(pages), c.slow[0].Milliseconds(), c.slow[1].Milliseconds())
	c.cpu, c.began, c.slow = now, time.Now(), [2]time.Duration{}
	return line
}

func shape(s *Store) string {
	var line strings.Builder
	for _, l := range s.db.Levels() {
		if l.NumTables > 0 {
			fmt.Fprintf(&line, "L%d %d %dM ", l.Level, l.NumTables, l.Size>>20)
		}
	}
	return line.String()
}

// memoryMeter measures the process's memory fifty times a second.
type memoryMeter struct {
	anon, file, all, live [2]atomic.Int64 // MiB: maximum since the last report, and now
	quit                  chan struct{}
	done                  sync.WaitGroup
}

func meterMemory() *memoryMeter {
	m := &memoryMeter{quit: make(chan struct{})}
	m.done.Go(func() {
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-m.quit:
				return
			case <-tick.C:
				m.look()
			}
		}
	})
	return m
}

func (m *memoryMeter) look() {
	status, _ := os.ReadFile("/proc/self/status")
	for name, v := range map[string]*[2]atomic.Int64{"RssAnon:": &m.anon, "RssFile:": &m.file, "VmRSS:": &m.all} {
		_, rest, _ := strings.Cut(string(status), name)
		kib, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		n, _ := strconv.ParseInt(kib, 10, 64)
		m.note(v, n>>10)
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	m.note(&m.live, int64(live[0].Value.Uint64()>>20))
}

func (m *memoryMeter) note(v *[2]atomic.Int64, mib int64) {
	v[1].Store(mib)
	v[0].Store(max(v[0].Load(), mib))
}

func (m *memoryMeter) String() string {
	return fmt.Sprintf("MiB resident %d (most %d), heap %d (%d), of it live %d (%d), files %d (%d)",
		m.all[1].Load(), m.all[0].Swap(0), m.anon[1].Load(), m.anon[0].Swap(0), m.live[1].Load(), m.live[0].Swap(0), m.file[1].Load(), m.file[0].Swap(0))
}

func (m *memoryMeter) stop() { close(m.quit); m.done.Wait() }
