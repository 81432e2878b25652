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

func TestHostInUseIsPassedOver(t *testing.T) {
	f := newFrontier(t, Options{})
	f.Push(Item{ID: 1, Host: f.Host("a:80"), Priority: 0.9})
	f.Push(Item{ID: 2, Host: f.Host("a:80"), Priority: 0.8})
	f.Push(Item{ID: 3, Host: f.Host("b:80"), Priority: 0.1})
	first, _ := f.Next(start)
	second, _ := f.Next(start)
	if first.ID != 1 || second.ID != 3 {
		t.Fatalf("got %d then %d, want 1 then 3: host a is in use", first.ID, second.ID)
	}
	if it, ok := f.Next(start); ok {
		t.Fatalf("got %v while both hosts are in use", it)
	}
	f.Done(f.Host("a:80"), start.Add(2*time.Second))
	if it, ok := f.Next(start.Add(time.Second)); ok {
		t.Fatalf("got %v while host a rests", it)
	}
	if at, ok := f.Wake(); !ok || !at.Equal(start.Add(2*time.Second)) {
		t.Fatalf("Wake = %v %v, want in 2 s", at, ok)
	}
	if n := f.Resting(); n != 1 {
		t.Errorf("%d hosts rest with URLs, want a alone: b has none left", n)
	}
	if it, ok := f.Next(start.Add(2 * time.Second)); !ok || it.ID != 2 {
		t.Fatalf("got %v %v after the rest, want URL 2", it, ok)
	}
}

func TestQueuedURLTakesBestParent(t *testing.T) {
	f := newFrontier(t, Options{})
	raise := func(id ID, priority float64) { f.Raise(Item{ID: id, Host: f.Host("a:80"), Priority: priority}) }
	raise(1, 0.3)
	raise(2, 0.4)
	raise(1, 0.6) // a better parent raises it
	raise(2, 0.1) // a worse one does not lower it
	if n := f.Len(); n != 2 {
		t.Errorf("Len = %d, want 2", n)
	}
	for _, want := range []Item{{ID: 1, Priority: 0.6}, {ID: 2, Priority: 0.4}} {
		want.Host = f.Host("a:80")
		if it, _ := f.Next(start); it != want {
			t.Errorf("next is %+v, want %+v", it, want)
		}
		f.Done(f.Host("a:80"), time.Time{})
	}
	if it, ok := f.Next(start); ok {
		t.Errorf("got %+v again", it)
	}
}

func TestRestAll(t *testing.T) {
	f := newFrontier(t, Options{})
	f.RestAll(start.Add(time.Second))
	f.Push(Item{ID: 1, Host: f.Host("a:80")})
	f.Push(Item{ID: 2, Host: f.Host("b:80")})
	f.Rest(f.Host("b:80"), start.Add(3*time.Second))
	if it, ok := f.Next(start); ok {
		t.Fatalf("got %v while all rest", it)
	}
	for i, seconds := range []int{1, 3} {
		at, ok := f.Wake()
		if want := start.Add(time.Duration(seconds) * time.Second); !ok || !at.Equal(want) {
			t.Fatalf("Wake = %v %v, want %v", at, ok, want)
		}
		if it, ok := f.Next(at); !ok || it.ID != ID(i+1) {
			t.Fatalf("got %v %v at %v, want URL %d", it, ok, at, i+1)
		}
		f.Next(at) // parks URLs of resting hosts
	}
}

func TestHostsAtOneAddressAreOneParty(t *testing.T) {
	f := newFrontier(t, Options{})
	f.Push(Item{ID: 1, Host: f.Host("a:80"), Priority: 0.9})
	f.Push(Item{ID: 2, Host: f.Host("b:80"), Priority: 0.8})
	f.Join(f.Host("a:80"), "192.0.2.1")
	f.Join(f.Host("b:80"), "192.0.2.1")
	f.Next(start)
	if it, ok := f.Next(start); ok {
		t.Fatalf("got %v while its address is in use", it)
	}
	f.Done(f.Host("a:80"), time.Time{})
	if it, ok := f.Next(start); !ok || it.ID != 2 || it.Host != f.Host("b:80") {
		t.Fatalf("got %v %v, want URL 2 of b", it, ok)
	}
}

func TestTake(t *testing.T) {
	f := newFrontier(t, Options{})
	f.Push(Item{ID: 1, Host: f.Host("a:80"), Priority: 0.9})
	f.Push(Item{ID: 2, Host: f.Host("b:80"), Priority: 0.8})
	f.Next(start)
	if !f.Take(f.Host("b:80"), f.Host("a:80"), start) {
		t.Fatal("b is free and was not given")
	}
	if it, ok := f.Next(start); ok {
		t.Fatalf("got %v of a host that was taken", it)
	}
	if f.Take(f.Host("b:80"), f.Host("a:80"), start) {
		t.Error("b was given twice")
	}
	f.Done(f.Host("b:80"), start.Add(time.Second))
	if f.Take(f.Host("b:80"), f.Host("a:80"), start) {
		t.Error("b was given while it rests")
	}
	if !f.Take(f.Host("b:80"), f.Host("a:80"), start.Add(time.Second)) {
		t.Error("b was not given after its rest")
	}
	f.Done(f.Host("b:80"), time.Time{})
	if f.Next(start.Add(time.Second)); !f.Take(f.Host("a:80"), f.Host("a:80"), start) {
		t.Error("a host could not be taken on its own behalf")
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
	runs := slices.Clone(f.tail.merge.runs.items)
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
