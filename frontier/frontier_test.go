package frontier

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func TestNextGivesBestFirstThenEarliestDiscovered(t *testing.T) {
	f := New()
	f.Push(Item{ID: 1, Host: "a:80", Priority: 0.5})
	f.Push(Item{ID: 2, Host: "b:80", Priority: 0.9})
	f.Push(Item{ID: 3, Host: "c:80", Priority: 0.5})
	f.Push(Item{ID: 4, Host: "d:80", Priority: 0.1})
	want := []ID{2, 1, 3, 4}
	for i, id := range want {
		it, ok := f.Next(start)
		if !ok || it.ID != id {
			t.Fatalf("take %d: got %v %v, want URL %d", i, it, ok, id)
		}
	}
}

func TestHostInUseIsPassedOver(t *testing.T) {
	f := New()
	f.Push(Item{ID: 1, Host: "a:80", Priority: 0.9})
	f.Push(Item{ID: 2, Host: "a:80", Priority: 0.8})
	f.Push(Item{ID: 3, Host: "b:80", Priority: 0.1})
	first, _ := f.Next(start)
	second, _ := f.Next(start)
	if first.ID != 1 || second.ID != 3 {
		t.Fatalf("got %d then %d, want 1 then 3: host a is in use", first.ID, second.ID)
	}
	if it, ok := f.Next(start); ok {
		t.Fatalf("got %v while both hosts are in use", it)
	}
	f.Done("a:80", start.Add(2*time.Second))
	if it, ok := f.Next(start.Add(time.Second)); ok {
		t.Fatalf("got %v while host a rests", it)
	}
	if at, ok := f.Wake(); !ok || !at.Equal(start.Add(2*time.Second)) {
		t.Fatalf("Wake = %v %v, want in 2 s", at, ok)
	}
	if it, ok := f.Next(start.Add(2 * time.Second)); !ok || it.ID != 2 {
		t.Fatalf("got %v %v after the rest, want URL 2", it, ok)
	}
}

func TestQueuedURLTakesBestParent(t *testing.T) {
	order, err := OrderingByName("relevance")
	if err != nil {
		t.Fatal(err)
	}
	f := New()
	push := func(id ID, score float64) {
		old, queued := f.Priority(id)
		f.Push(Item{ID: id, Host: "a:80", Priority: order.Priority(Link{Score: score, Queued: queued, Old: old})})
	}
	push(1, 0.3)
	push(2, 0.4)
	push(1, 0.6) // a better parent raises it
	push(2, 0.1) // a worse one does not lower it
	if p, _ := f.Priority(1); p != 0.6 {
		t.Errorf("priority of URL 1 = %v, want 0.6", p)
	}
	if p, _ := f.Priority(2); p != 0.4 {
		t.Errorf("priority of URL 2 = %v, want 0.4", p)
	}
	if it, _ := f.Next(start); it.ID != 1 {
		t.Errorf("first is %d, want 1", it.ID)
	}
}

func TestHostsAtOneAddressAreOneParty(t *testing.T) {
	f := New()
	f.Push(Item{ID: 1, Host: "a:80", Priority: 0.9})
	f.Push(Item{ID: 2, Host: "b:80", Priority: 0.8})
	f.Join("a:80", "192.0.2.1")
	f.Join("b:80", "192.0.2.1")
	f.Next(start)
	if it, ok := f.Next(start); ok {
		t.Fatalf("got %v while its address is in use", it)
	}
	f.Done("a:80", time.Time{})
	if it, ok := f.Next(start); !ok || it.ID != 2 || it.Host != "b:80" {
		t.Fatalf("got %v %v, want URL 2 of b", it, ok)
	}
}

func TestTake(t *testing.T) {
	f := New()
	f.Push(Item{ID: 1, Host: "a:80", Priority: 0.9})
	f.Push(Item{ID: 2, Host: "b:80", Priority: 0.8})
	f.Next(start)
	if !f.Take("b:80", "a:80", start) {
		t.Fatal("b is free and was not given")
	}
	if it, ok := f.Next(start); ok {
		t.Fatalf("got %v of a host that was taken", it)
	}
	if f.Take("b:80", "a:80", start) {
		t.Error("b was given twice")
	}
	f.Done("b:80", start.Add(time.Second))
	if f.Take("b:80", "a:80", start) {
		t.Error("b was given while it rests")
	}
	if !f.Take("b:80", "a:80", start.Add(time.Second)) {
		t.Error("b was not given after its rest")
	}
	f.Done("b:80", time.Time{})
	if f.Next(start.Add(time.Second)); !f.Take("a:80", "a:80", start) {
		t.Error("a host could not be taken on its own behalf")
	}
}

// slow is the frontier written so that it is obviously right: it looks at
// everything at every step.
type slow struct {
	items map[ID]Item
	party map[string]string
	busy  map[string]bool
	until map[string]time.Time
	at    map[string]string // address → a host there
}

func (s *slow) find(host string) string {
	for s.party[host] != "" {
		host = s.party[host]
	}
	return host
}

func (s *slow) next(now time.Time) (Item, bool) {
	var best Item
	for _, it := range s.items {
		p := s.find(it.Host)
		if s.busy[p] || s.until[p].After(now) {
			continue
		}
		if best.ID == 0 || it.Priority > best.Priority || it.Priority == best.Priority && it.ID < best.ID {
			best = it
		}
	}
	if best.ID == 0 {
		return best, false
	}
	delete(s.items, best.ID)
	s.busy[s.find(best.Host)] = true
	return best, true
}

func TestAgainstSlowFrontier(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		f := New()
		s := &slow{map[ID]Item{}, map[string]string{}, map[string]bool{}, map[string]time.Time{}, map[string]string{}}
		now := start
		var used []string
		hosts := 1 + rng.IntN(12)
		host := func() string { return fmt.Sprintf("h%d:80", rng.IntN(hosts)) }
		for step := range 400 {
			switch rng.IntN(9) {
			case 0, 1, 2:
				id := ID(1 + rng.IntN(100))
				it := Item{ID: id, Host: fmt.Sprintf("h%d:80", int(id)%hosts), Priority: float64(rng.IntN(10)) / 10, Key: uint64(id)}
				f.Push(it)
				s.items[id] = it
			case 3, 4:
				got, gotOK := f.Next(now)
				want, wantOK := s.next(now)
				if got != want || gotOK != wantOK {
					t.Fatalf("seed %d, step %d: Next = %v %v, want %v %v", seed, step, got, gotOK, want, wantOK)
				}
				if gotOK {
					used = append(used, got.Host)
				}
			case 5:
				if len(used) > 0 {
					h := used[0]
					used = used[1:]
					until := now.Add(time.Duration(rng.IntN(5)) * time.Second)
					f.Done(h, until)
					s.busy[s.find(h)] = false
					s.rest(h, until)
				}
			case 8:
				if rng.IntN(4) > 0 {
					break
				}
				turn := func(key uint64) (float64, bool) { return float64(key*7%10) / 10, key%3 > 0 }
				f.Reprioritise(turn)
				for id, it := range s.items {
					if p, ok := turn(it.Key); ok {
						it.Priority = p
						s.items[id] = it
					}
				}
			case 6:
				now = now.Add(time.Duration(rng.IntN(3)) * time.Second)
			case 7:
				if a := host(); rng.IntN(10) == 0 && !s.busy[s.find(a)] {
					address := fmt.Sprintf("192.0.2.%d", rng.IntN(4))
					f.Join(a, address)
					s.join(a, address)
				}
			}
			if f.Len() != len(s.items) {
				t.Fatalf("seed %d, step %d: Len = %d, want %d", seed, step, f.Len(), len(s.items))
			}
		}
	}
}

func (s *slow) join(host, address string) {
	from, to := s.find(host), s.at[address]
	if to == "" {
		s.at[address] = from
	} else if to = s.find(to); to != from {
		s.party[from] = to
		s.rest(to, s.until[from])
	}
}

func (s *slow) rest(host string, until time.Time) {
	p := s.find(host)
	s.until[p] = later(s.until[p], until)
}

func TestOrderings(t *testing.T) {
	// Paper B's ten vertices: 1…5 visited in that order; the visited neighbours
	// of the rest. Ties leave in the order of discovery.
	neighbours := map[ID][]uint64{6: {1}, 7: {1, 2}, 8: {2, 3, 4}, 9: {4, 5}, 10: {5}}
	for name, want := range map[string]ID{"bfs": 6, "dfs": 9} {
		order, err := OrderingByName(name)
		if err != nil {
			t.Fatal(err)
		}
		f := New()
		for step := uint64(1); step <= 5; step++ {
			for id := ID(6); id <= 10; id++ {
				for _, n := range neighbours[id] {
					if n == step {
						old, queued := f.Priority(id)
						f.Push(Item{ID: id, Host: "a:80", Priority: order.Priority(Link{Step: step, Queued: queued, Old: old})})
					}
				}
			}
		}
		if it, _ := f.Next(start); it.ID != want {
			t.Errorf("%s visits %d next, want %d", name, it.ID, want)
		}
	}
	if _, err := OrderingByName("best"); err == nil {
		t.Error("an unknown ordering was accepted")
	}
}

func BenchmarkPushNextDone(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	f := New()
	hosts := make([]string, 10_000)
	for i := range hosts {
		hosts[i] = fmt.Sprintf("h%d:80", i)
	}
	id := ID(0)
	for range 200_000 {
		id++
		f.Push(Item{ID: id, Host: hosts[rng.IntN(len(hosts))], Priority: rng.Float64()})
	}
	b.ReportAllocs()
	for b.Loop() {
		id++
		f.Push(Item{ID: id, Host: hosts[rng.IntN(len(hosts))], Priority: rng.Float64()})
		it, _ := f.Next(start)
		f.Done(it.Host, time.Time{})
	}
}
