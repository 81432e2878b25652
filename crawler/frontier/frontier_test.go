package frontier

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newFrontier(t testing.TB, opt Options) *Frontier {
	t.Helper()
	f, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func TestNextGivesBestFirstThenEarliestDiscovered(t *testing.T) {
	f := newFrontier(t, Options{})
	f.Push(Item{ID: 1, Host: f.Host("a:80"), Priority: 0.5})
	f.Push(Item{ID: 2, Host: f.Host("b:80"), Priority: 0.9})
	f.Push(Item{ID: 3, Host: f.Host("c:80"), Priority: 0.5})
	f.Push(Item{ID: 4, Host: f.Host("d:80"), Priority: 0.1})
	want := []ID{2, 1, 3, 4}
	for i, id := range want {
		it, ok := f.Next(start)
		if !ok || it.ID != id {
			t.Fatalf("take %d: got %v %v, want URL %d", i, it, ok, id)
		}
	}
}

// TestSeveralOrders compares several orders of one queue with a list. A URL taken by one order is
// gone for all, even if queued again or on disk.
func TestSeveralOrders(t *testing.T) {
	type url struct {
		host       Host
		priorities [3]float64
	}
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 17))
		f, err := New(Options{Dir: t.TempDir(), Memory: 24, Orders: 3})
		if err != nil {
			t.Fatal(err)
		}
		now := time.Unix(0, 0)
		waits, busy := map[ID]url{}, map[Host]bool{}
		push := func(id ID, u url) {
			f.Push(Item{ID: id, Host: u.host, Priority: u.priorities[0]}, u.priorities[1:]...)
			waits[id] = u
		}
		var taken []Item
		made := ID(0)
		for range 600 {
			switch rng.IntN(6) {
			case 0, 1:
				made++
				u := url{host: f.Host(string(rune('a' + rng.IntN(5))))}
				for i := range u.priorities {
					u.priorities[i] = float64(rng.IntN(20))
				}
				push(made, u)
			case 2: // better in one order
				if id := ID(1 + rng.IntN(int(made)+1)); f.Queued(id) {
					u, order := waits[id], rng.IntN(3)
					u.priorities[order] += float64(rng.IntN(3))
					f.Order(order).Raise(Item{ID: id, Host: u.host, Priority: u.priorities[order]})
					waits[id] = u
				}
			case 3:
				if len(taken) > 0 {
					it := taken[0]
					taken = taken[1:]
					busy[it.Host] = false
					f.Done(it.Host, time.Time{})
					if rng.IntN(3) == 0 {
						u := url{host: it.Host}
						for i := range u.priorities {
							u.priorities[i] = float64(rng.IntN(20))
						}
						push(it.ID, u)
					}
				}
			default:
				order := rng.IntN(3)
				best := ID(0)
				for id, u := range waits {
					p, q := u.priorities[order], waits[best].priorities[order]
					if !busy[u.host] && (best == 0 || p > q || p == q && id < best) {
						best = id
					}
				}
				f.Turn(order)
				it, ok := f.Next(now)
				if ok != (best > 0) || ok && it.ID != best {
					t.Fatalf("seed %d: order %d gives %+v %v, want URL %d; %v", seed, order, it, ok, best, f.Err())
				}
				if ok {
					delete(waits, best)
					busy[it.Host] = true
					taken = append(taken, it)
				}
			}
			if f.Len() != len(waits) {
				t.Fatalf("seed %d: %d URLs wait, want %d", seed, f.Len(), len(waits))
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// entries returns all entries of f in place: the tail's buffer and runs, then by party.
func (f *Frontier) entries(t *testing.T) (all []entry) {
	t.Helper()
	all = slices.Clone(f.tail.buffer)
	runs := slices.Clone(f.tail.merge.runs.All)
	slices.SortFunc(runs, func(a, b *run) int { return a.file.number - b.file.number })
	for _, p := range f.hosts.holders() {
		all = append(all, p.queue...)
		runs = append(runs, p.runs...)
	}
	for _, r := range runs {
		all = append(all, r.block[min(r.taken, len(r.block)):]...)
		for at, left := r.at, r.left; left > 0; left -= r.per {
			buf := make([]byte, blockBytes(min(r.per, left)))
			if _, err := r.file.ReadAt(buf, at); err != nil {
				t.Fatal(err)
			}
			var err error
			if all, err = parseBlock(all, buf); err != nil {
				t.Fatal(err)
			}
			at += int64(len(buf))
		}
	}
	return all
}

// agree compares the order of all waiting URLs with the oracle's.
func (p *pair) agree(after string) {
	p.t.Helper()
	best := map[ID]float64{}
	for _, e := range p.f.entries(p.t) {
		if had, ok := best[e.id]; p.f.urls.current(&e) && (!ok || e.priority > had) {
			best[e.id] = e.priority
		}
	}
	for id, it := range p.s.items {
		if got, ok := best[id]; !ok || got != it.Priority {
			p.t.Fatalf("%s: after %s URL %d has priority %v (%v), want %v", p.what, after, id, got, ok, it.Priority)
		}
	}
}

// TestSameCallsSameFrontier: the same calls lead to the same entries at the same places, whatever
// the hash keys. So failures of TestAgainstSlowFrontier are reproducible.
func TestSameCallsSameFrontier(t *testing.T) {
	for seed := range uint64(10) {
		a, b := newPair(t, seed), newPair(t, seed)
		if a.host(1) == b.host(1) {
			t.Fatal("hosts have the same numbers in both, so this test means nothing")
		}
		for step := range 1000 {
			a.what = fmt.Sprintf("seed %d, step %d", seed, step)
			b.what = a.what
			a.step()
			b.step()
			if step%20 == 0 && !slices.EqualFunc(a.f.entries(t), b.f.entries(t), sameButHost) {
				t.Fatalf("%s: the same calls left two frontiers with other entries, or at other places", a.what)
			}
		}
	}
}

func sameButHost(a, b entry) bool { return a.id == b.id && a.priority == b.priority && a.key == b.key }

// TestRenewAsksAboutAll: a pass asks about each waiting URL, even if entries move meanwhile.
func TestRenewAsksAboutAll(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 11))
		f := newFrontier(t, Options{})
		urls := 10 + rng.IntN(60)
		for range 4 * urls { // many have old copies
			id := 1 + rng.IntN(urls)
			f.Push(Item{ID: ID(id), Host: f.Host("h"), Priority: rng.Float64(), Key: uint64(id)})
		}
		asked := map[uint64]bool{}
		for !f.Renew(1+rng.IntN(math.MaxInt), func(key uint64, was float64) (float64, bool) {
			asked[key] = true
			return rng.Float64(), key%3 > 0
		}) {
		}
		for id := 1; id <= urls; id++ {
			if f.Queued(ID(id)) && !asked[uint64(id)] {
				t.Fatalf("seed %d: of %d URLs, number %d was not asked about", seed, f.Len(), id)
			}
		}
	}
}
