package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// lookedUp returns what the seen-set knows of one URL.
func lookedUp(s *Store, h Hash) (Seen, error) {
	seen, err := s.Lookup([]Hash{h})
	if err != nil {
		return Seen{}, err
	}
	return seen[0], nil
}

func create(t testing.TB) *Store {
	t.Helper()
	s, err := Create(filepath.Join(t.TempDir(), "s"), Info{Version: "1.2.3", Topic: "banking", Settings: []byte(`{"rho":0.3}`)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// alter commits what f puts.
func alter(t testing.TB, s *Store, f func(b *Batch)) {
	t.Helper()
	b := s.Batch()
	f(b)
	must(t, b.Commit())
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}

const u1, u2 = "http://a.example/", "http://b.example/x"

// somePage is page 1, of URL 2, with all fields set.
func somePage() *Page {
	return &Page{
		Number: 1, ID: 2, URL: u2, ContentType: "text/html", RobotsTag: "noarchive", Checksum: bytes.Repeat([]byte{7}, 16),
		Sketch: 1<<63 + 5, Title: "T", Lang: "en", Links: []ID{3, 9}, Score: 0.58, Terms: []Term{{"lambda", 0.4, "8 of 20"}},
		Relevant: true, Label: "banking", Probability: 0.9, Bytes: 11, At: 1234, ETag: `"e"`, Modified: "Sat", Depth: 3,
	}
}

func TestRoundTrips(t *testing.T) {
	s := create(t)
	birth := Birth{URL: u2, From: 1, Via: ViaLink, Depth: 1, Hops: 2, At: 99}
	fate := Fate{State: "ok", Reason: "r", Page: 1, At: 100, Score: 0.7, Parent: 1}
	visits := []Visit{{Start: 1, Millis: 2, State: "code", Code: 503, Error: "busy"}, {Start: 5, Millis: 1, State: "ok", Code: 200, Location: 4, Bytes: 11}}
	host := &Host{Name: "b.example:80", Robots: []byte("r"), RobotsAt: 1, Next: 2, Failures: 3, Pages: 4, Requests: 5, Address: "192.0.2.1", RobotsCode: 200}
	counts := Counts{URLs: 2, Pages: 1, Relevant: 1, Requests: 3, States: map[string]uint64{"ok": 1}, Codes: map[int]uint64{503: 1}, Skipped: 1, Bytes: 11, Elapsed: 5, Schemes: 6}
	label := Label{Label: "banking", Score: 0.97, Kept: true, Rule: "loan > 1", Model: "m"}
	body := bytes.Repeat([]byte("body "), 1000)
	alter(t, s, func(b *Batch) {
		must(t, b.PutBirth(1, Birth{URL: u1, Via: ViaSeed, At: 98}), b.PutSeen(HashURL(u1), 1, false))
		must(t, b.PutBirth(2, birth), b.PutSeen(HashURL(u2), 2, true), b.PutVisit(2, 1, visits[0]), b.PutVisit(2, 2, visits[1]))
		must(t, b.PutPage(somePage(), s.Compress(body)), b.PutFate(2, fate), b.PutHost(host), b.PutCounts(&counts), b.PutLabel(1, label))
	})

	got, err := s.Body(1)
	must(t, err)
	equal(t, "body", string(got), string(body))
	p, err := s.Page(1)
	must(t, err)
	equal(t, "page", p, somePage())
	h, err := s.Host("b.example:80")
	must(t, err)
	equal(t, "host", h, host)
	c, err := s.Counts()
	must(t, err)
	equal(t, "counts", c, counts)
	l, err := s.Label(1)
	must(t, err)
	equal(t, "label", l, &label)
	urls, err := s.URLs().Names([]ID{2, 1})
	must(t, err)
	equal(t, "URLs", urls, []string{u2, u1})
	equal(t, "pages", all(t, s.Pages()), []*Page{somePage()})
	equal(t, "hosts", all(t, s.Hosts()), []*Host{host})
	equal(t, "labels", all(t, s.Labels()), []NumberedLabel{{1, label}})

	life, err := s.URLs().Life(u2)
	must(t, err)
	equal(t, "life", life, &Life{ID: 2, Birth: birth, FoundBy: u1, Visits: visits, Fate: &fate, Parent: u1, Page: somePage(), Label: &label})
}

// Strings that servers send need not be UTF-8, and come back to the letter.
func TestStringsOfBytes(t *testing.T) {
	s := create(t)
	odd := "\xff\xfe \"\x80\""
	page := somePage()
	page.ETag, page.Modified, page.ContentType, page.RobotsTag, page.Title = odd, odd, odd, odd, odd
	host := &Host{Name: "a.example:80", RobotsETag: odd}
	visit := Visit{State: "header_error", Error: odd}
	alter(t, s, func(b *Batch) {
		must(t, b.PutBirth(2, Birth{URL: u2, Via: ViaSeed}), b.PutSeen(HashURL(u2), 2, false), b.PutVisit(2, 1, visit))
		must(t, b.PutPage(page, s.Compress([]byte("body"))), b.PutHost(host))
	})
	equal(t, "pages", all(t, s.Pages()), []*Page{page})
	equal(t, "hosts", all(t, s.Hosts()), []*Host{host})
	life, err := s.URLs().Life(u2)
	must(t, err)
	equal(t, "visits", life.Visits, []Visit{visit})
}

func all[T any](t *testing.T, seq func(func(T, error) bool)) (records []T) {
	t.Helper()
	for r, err := range seq {
		must(t, err)
		records = append(records, r)
	}
	return records
}

func TestUnknown(t *testing.T) {
	s := create(t)
	if _, err := s.Page(1); !errors.Is(err, ErrUnknown) {
		t.Errorf("page: got %v, want ErrUnknown", err)
	}
	if _, err := s.Body(1); !errors.Is(err, ErrUnknown) {
		t.Errorf("body: got %v, want ErrUnknown", err)
	}
	if _, err := s.URLs().Life(u1); !errors.Is(err, ErrUnknown) {
		t.Errorf("life: got %v, want ErrUnknown", err)
	}
	if l, err := s.Label(1); l != nil || err != nil {
		t.Errorf("label: got %v, %v; want none and no error", l, err)
	}
	seen, err := lookedUp(s, HashURL(u1))
	must(t, err)
	equal(t, "lookup", seen, Seen{})
	h, err := s.Host("x:80")
	must(t, err)
	equal(t, "host", h, &Host{Name: "x:80", New: true})
	c, err := s.Counts()
	must(t, err)
	if c.States == nil || c.Codes == nil || c.URLs != 0 {
		t.Errorf("counts: got %+v, want empty maps", c)
	}
}

func TestLookup(t *testing.T) {
	s := create(t)
	alter(t, s, func(b *Batch) {
		must(t, b.PutSeen(HashURL(u1), 7, false))
		seen, err := b.Lookup(HashURL(u1))
		must(t, err)
		equal(t, "a batch sees its own writes", seen, Seen{ID: 7})
		seen, err = lookedUp(s, HashURL(u1))
		must(t, err)
		equal(t, "others do not, before Commit", seen, Seen{})
		must(t, b.PutSeen(HashURL(u2), 8, true))
	})
	seen, err := s.Lookup([]Hash{HashURL(u2), HashURL("http://c/"), HashURL(u1)})
	must(t, err)
	equal(t, "all", seen, []Seen{{8, true}, {}, {7, false}})
	alter(t, s, func(b *Batch) { must(t, b.Unskip(HashURL(u2), 8)) })
	two, err := lookedUp(s, HashURL(u2))
	must(t, err)
	equal(t, "no longer skipped", two, Seen{8, false})
}

// A URL waits from PutQueued to PutFate, and the waiters come in the order of
// their discovery.
func TestWaiters(t *testing.T) {
	s := create(t)
	alter(t, s, func(b *Batch) {
		for _, id := range []ID{300, 2, 1, 70000} {
			must(t, b.PutBirth(id, Birth{URL: fmt.Sprint("http://h/", id), Via: ViaLink}), b.PutQueued(id, Queued{Priority: float64(id)}))
		}
		must(t, b.PutFate(2, Fate{State: "ok"}))
	})
	alter(t, s, func(b *Batch) { must(t, b.PutQueued(1, Queued{Priority: 0.5, Score: 0.25, Parent: 300, Visits: 2})) })
	var ids []ID
	for _, w := range all(t, s.URLs().Waiters()) {
		ids = append(ids, w.ID)
		if w.URL != fmt.Sprint("http://h/", w.ID) {
			t.Errorf("waiter %d has the URL %s", w.ID, w.URL)
		}
	}
	equal(t, "waiters", ids, []ID{1, 300, 70000})
	birth, queued, err := s.URLs().Waiting(1)
	must(t, err)
	equal(t, "birth", birth.URL, "http://h/1")
	equal(t, "queued", queued, Queued{Priority: 0.5, Score: 0.25, Parent: 300, Visits: 2})
	if _, _, err := s.URLs().Waiting(2); !errors.Is(err, ErrUnknown) {
		t.Errorf("a URL with a fate waits: %v", err)
	}
}

func TestPageWithSameContent(t *testing.T) {
	s := create(t)
	p := somePage()
	b := s.Batch()
	n, err := b.PageWith(p.Checksum)
	must(t, err)
	equal(t, "before", n, uint64(0))
	must(t, b.PutPage(p, s.Compress(nil)))
	n, err = b.PageWith(p.Checksum)
	must(t, err)
	equal(t, "in the batch", n, uint64(1))
	must(t, b.Commit())
	body, err := s.Body(1)
	must(t, err)
	equal(t, "an empty body", len(body), 0)
}

func TestPagesInOrder(t *testing.T) {
	s := create(t)
	numbers := []uint64{1, 2, 255, 256, 65536, 1 << 40}
	alter(t, s, func(b *Batch) {
		for _, i := range []int{5, 1, 3, 0, 4, 2} {
			p := somePage()
			p.Number, p.Checksum = numbers[i], fmt.Append(nil, i)
			must(t, b.PutPage(p, s.Compress([]byte("x"))))
		}
	})
	var got []uint64
	for p, err := range s.Pages() {
		must(t, err)
		got = append(got, p.Number)
	}
	if !slices.Equal(got, numbers) {
		t.Errorf("got %v, want %v", got, numbers)
	}
	for range s.Pages() {
		break // leaving early must not hang or panic
	}
}

func TestCancelLeavesNothing(t *testing.T) {
	s := create(t)
	b := s.Batch()
	must(t, b.PutSeen(HashURL(u1), 1, false), b.PutBirth(1, Birth{URL: u1}), b.PutPage(somePage(), s.Compress([]byte("x"))), b.PutCounts(&Counts{URLs: 1}))
	if b.Size() == 0 {
		t.Error("a batch with records has no size")
	}
	b.Cancel()
	b.Cancel() // of no effect
	seen, err := lookedUp(s, HashURL(u1))
	must(t, err)
	c, err := s.Counts()
	must(t, err)
	if seen.ID != 0 || c.URLs != 0 || len(all(t, s.Pages())) != 0 {
		t.Errorf("a cancelled batch left %v, %+v", seen, c)
	}
}

// What follows from one exchange always fits on top of a batch that is nearly
// full. Here that is a page of 10,000 links (page.MaxLinks), each of them new
// and about as long as costs most. A batch counts a value in full below the
// value log's threshold and as a pointer above it, so short of it is the worst.
func TestHostilePageFitsABatch(t *testing.T) {
	s := create(t)
	for _, length := range []int{1, 200, 500, 960, 2083} {
		b := s.Batch()
		id := ID(1)
		for b.Size() <= MaxBatchBytes {
			must(t, b.PutQueued(id, Queued{Priority: 0.1, Score: 0.2, Parent: 3}))
			id++
		}
		base := strings.Repeat("x", length)
		links := make([]ID, 10_000)
		for i := range links {
			links[i] = id
			url := fmt.Sprint("http://h.example/", base, i)
			if err := errors.Join(
				b.PutBirth(id, Birth{URL: url, From: 1, Via: ViaLink, Depth: 9, At: 1 << 41}),
				b.PutSeen(HashURL(url), id, false),
				b.PutQueued(id, Queued{Priority: 0.1, Score: 0.2, Parent: 1 << 33})); err != nil {
				t.Fatalf("URLs of %d bytes: link %d: %v", length, i, err)
			}
			id++
		}
		p := somePage()
		p.Links, p.Title = links, strings.Repeat("t", 1024)
		must(t, b.PutPage(p, make([]byte, 4<<20)), b.PutFate(2, Fate{State: "ok", Page: 1}),
			b.PutWire(2, 1, WireRecord{Kind: WirePage, Packed: make([]byte, 40<<10)}), b.PutCounts(&Counts{URLs: uint64(id)}))
		must(t, b.Commit())
	}
}

// BenchmarkCommit writes what follows from fetching a page of 26 links, half of
// them new: the mean of a stored encyclopedia. Bodies of 21 KB, compressed before.
func BenchmarkCommit(b *testing.B) {
	s := create(b)
	body := s.Compress([]byte(strings.Repeat("some words of a page, over and over, ", 570)))
	n := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		n++
		batch := s.Batch()
		if err := putExchange(s, batch, n); err != nil {
			b.Fatal(err)
		}
		for i := range uint64(13) {
			url := fmt.Sprint("http://h.example/link/", n, "/", i)
			id := ID(1<<32 + n*13 + i)
			must(b, batch.PutSeen(HashURL(url), id, false), batch.PutBirth(id, Birth{URL: url, From: ID(n)}), batch.PutQueued(id, Queued{Priority: 0.5}))
		}
		p := somePage()
		p.Number, p.ID = n, ID(n)
		must(b, batch.PutPage(p, body), batch.PutCounts(&Counts{URLs: n}), batch.Commit())
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "pages/s")
}

// TestMakingCutOff leaves behind what a kill can leave of a database in the
// making, also what Badger cannot read, and makes a store all the same.
func TestMakingCutOff(t *testing.T) {
	for name, manifest := range map[string]string{"empty": "", "half": "Bdgr", "nonsense": "this is no manifest of anything"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, making), 0o755); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{"MANIFEST", "000001.vlog", "00001.mem"} {
				if err := os.WriteFile(filepath.Join(dir, making, file), []byte(manifest), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := Open(dir); !errors.Is(err, ErrNone) {
				t.Fatalf("open: %v, want no store", err)
			}
			s, err := Create(dir, Info{Topic: "x"})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(dir, making)); err == nil {
				t.Error("the folder of the making is still there")
			}
			if s, err = Open(dir); err != nil || s.Info().Topic != "x" {
				t.Fatalf("opened again: %v", err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
