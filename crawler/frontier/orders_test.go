package frontier

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestSeveralOrders compares the orders of one queue with a list, in which each order takes
// its best URL of a host that is free: what one takes is gone for all, also where it is
// queued again and where nearly all is on disk.
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
