package urlfrontier

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
)

func id(n int) (x urlID) {
	binary.BigEndian.PutUint64(x[:], uint64(n))
	return x
}

func taken(s *set, r request, now int64) (ids []int) {
	r.Any, r.Most = true, 1000
	for _, t := range s.Take(r, now) {
		ids = append(ids, int(binary.BigEndian.Uint64(t.ID[:])))
	}
	return ids
}

// TestRescore changes priorities in several parts.
func TestRescore(t *testing.T) {
	s := newQueues(0)
	q := s.Open("c", "a.test")
	for i := range 100 {
		s.Put(q, waitingURL{ID: id(i), Key: uint64(i), Seq: uint64(i), Due: 1, Score: 1 - float32(i)/100}, 5)
	}
	for range 5 { // key 0: its priority stays
		s.Rescore(20, func(_ string, key uint64) (float32, bool) { return float32(key) / 1000, key%2 == 1 }, 5)
	}
	moved, last := 0, float32(2)
	for _, u := range q.ready.All {
		if u.Key%2 == 1 && u.Score == float32(u.Key)/1000 {
			moved++
		}
	}
	if moved < 30 {
		t.Errorf("%d of 50 URLs have their new priority; a pass may miss a few", moved)
	}
	for u := q.ready.Top(); u != nil; u = q.ready.Top() {
		if u.Score > last {
			t.Fatalf("%v comes after %v", u.Score, last)
		}
		last = u.Score
		q.drop(u.ID)
	}
}

// TestReturn: a returned URL is handed out again at once.
func TestReturn(t *testing.T) {
	s := newQueues(0)
	s.Put(s.Open("c", "a.test"), waitingURL{ID: id(7), Due: 1}, 5)
	all := s.Take(request{Any: true, Most: 1, Hold: 100}, 5)
	if again := taken(s, request{}, 6); len(again) != 0 {
		t.Errorf("handed out twice: %v", again)
	}
	s.Return(all, 7)
	if again := taken(s, request{Hold: 1}, 7); fmt.Sprint(again) != "[7]" {
		t.Errorf("after it was returned: %v, want [7]", again)
	}
}

// TestHeapGivesBack: a queue that was long frees its memory.
func TestHeapGivesBack(t *testing.T) {
	s := newQueues(0)
	q := s.Open("c", "a.test")
	for i := range 10_000 {
		s.Put(q, waitingURL{ID: id(i), Due: 1}, 5)
	}
	for i := range 9_990 {
		if !s.Drop(q, id(i), 5) {
			t.Fatalf("URL %d is not there", i)
		}
	}
	if c := cap(q.ready.All); c > 100 || s.waiting != 10 {
		t.Errorf("room for %d URLs, %d wait", c, s.waiting)
	}
}

// BenchmarkTake puts a URL into one of 1,000 queues and takes the best of 100,000.
func BenchmarkTake(b *testing.B) {
	s, rng := newQueues(0), rand.New(rand.NewPCG(1, 1))
	n, names := 0, make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	put := func() {
		s.Put(s.Open("c", names[n%len(names)]), waitingURL{ID: id(n), Seq: uint64(n), Due: 1, Score: rng.Float32()}, 5)
		n++
	}
	for range 100_000 {
		put()
	}
	b.ReportAllocs()
	for b.Loop() {
		put()
		for _, t := range s.Take(request{Crawl: "c", Queues: 1, PerHead: 0, Most: 1, Hold: 1 << 40}, 5) {
			s.Drop(t.Queue, t.ID, 5)
		}
	}
}

// BenchmarkMemory reports the memory of a waiting URL, with a million in 1,000 queues.
func BenchmarkMemory(b *testing.B) {
	const urls = 1_000_000
	var each float64
	for b.Loop() {
		before := heapNow()
		s := newQueues(0)
		for i := range urls {
			s.Put(s.Open("c", fmt.Sprint(i%1000)), waitingURL{ID: id(i), Seq: uint64(i), Due: 1, Score: float32(i)}, 5)
		}
		each = float64(heapNow()-before) / urls
		runtime.KeepAlive(s)
	}
	b.ReportMetric(each, "B/URL")
}

func heapNow() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
