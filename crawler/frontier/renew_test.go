package frontier

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"fossick/internal/testkit"
)

// TestRenewLosesNothing: whatever happens during a pass, each URL is handed out once.
func TestRenewLosesNothing(t *testing.T) {
	testkit.Only(t, "seconds of processor time")
	passes, rounds := 0, testkit.Rounds(10, 40)
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 7))
		f := newFrontier(t, Options{Dir: t.TempDir(), Memory: 8 + rng.IntN(60)})
		f.tail.block, f.hosts.room.block = 1+rng.IntN(6), 1+rng.IntN(4)
		f.tail.maxRuns, f.hosts.room.files.maxFiles = 1+rng.IntN(9), 1+rng.IntN(9)
		hosts, urls, now := 1+rng.IntN(20), 50+rng.IntN(500), start
		waits, used := map[ID]bool{}, map[Host]bool{}
		item := func() Item {
			id := ID(1 + rng.IntN(urls))
			return Item{ID: id, Host: f.Host(fmt.Sprint(int(id) % hosts)), Priority: float64(rng.IntN(20)), Key: uint64(id)}
		}
		next := func() bool {
			it, ok := f.Next(now)
			if !ok {
				return false
			}
			if !waits[it.ID] || used[it.Host] {
				t.Fatalf("seed %d: URL %d handed out; it waits %v, its host is in use %v", seed, it.ID, waits[it.ID], used[it.Host])
			}
			delete(waits, it.ID)
			used[it.Host] = true
			return true
		}
		for turn := range uint64(3000) {
			switch rng.IntN(10) {
			case 0, 1, 2:
				it := item()
				f.Push(it)
				waits[it.ID] = true
			case 3, 4:
				it := item()
				f.Raise(it)
				waits[it.ID] = true
			case 5, 6:
				next()
			case 7:
				for h := range used {
					f.Done(h, now.Add(time.Duration(rng.IntN(4))*time.Second))
					delete(used, h)
					break
				}
				now = now.Add(time.Second)
			default:
				if f.Renew(1+rng.IntN(8), func(key uint64, _ float64) (float64, bool) {
					return float64((key + turn/100) % 20), (key+turn/50)%4 > 0
				}) {
					passes++
				}
			}
			if f.Len() != len(waits) || f.Err() != nil {
				t.Fatalf("seed %d, turn %d: %d URLs wait, want %d; %v", seed, turn, f.Len(), len(waits), f.Err())
			}
		}
		for len(waits) > 0 {
			for h := range used {
				f.Done(h, now)
				delete(used, h)
			}
			now = now.Add(time.Minute)
			if !next() {
				t.Fatalf("seed %d: %d URLs are lost; %v", seed, len(waits), f.Err())
			}
		}
	}
	if passes < 25*rounds {
		t.Errorf("%d passes came to an end, which is too few", passes)
	}
}

// TestRenewReachesAll: nearly all URLs that wait when a pass begins get their new priority.
func TestRenewReachesAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	f := newFrontier(t, Options{Dir: t.TempDir(), Memory: 2000})
	const before, hosts = 30_000, 500
	push := func(id int) {
		f.Push(Item{ID: ID(id), Host: f.Host(fmt.Sprint(id % hosts)), Priority: rng.Float64(), Key: uint64(id)})
	}
	for id := range before {
		push(id + 1)
	}
	for range hosts / 2 { // rest, so that some are parked
		it, _ := f.Next(start)
		f.Done(it.Host, start.Add(time.Hour))
	}
	asked := map[uint64]bool{}
	parts := 0
	for done := false; !done; parts++ {
		done = f.Renew(300, func(key uint64, _ float64) (float64, bool) {
			asked[key] = true
			return float64(key%97) - 1e6, true
		})
		if it, ok := f.Next(start); ok {
			asked[it.Key] = true
			f.Done(it.Host, start)
		}
		for i := range 5 {
			push(before + parts*5 + i + 1)
		}
	}
	missed := 0
	for id := range before {
		if !asked[uint64(id+1)] && f.Queued(ID(id+1)) {
			missed++
		}
	}
	t.Logf("%d parts, %d of %d were missed", parts, missed, before)
	if missed > before/100 || parts < before/300 {
		t.Errorf("a pass of %d parts missed %d URLs of %d", parts, missed, before)
	}
}

// TestNextIsBounded: URLs of busy hosts are put aside, and the one behind them is found.
func TestNextIsBounded(t *testing.T) {
	f := newFrontier(t, Options{Dir: t.TempDir(), Memory: 1000})
	busy, free := f.Host("busy"), f.Host("free")
	const n = 3*parksATurn + 100
	for id := range n {
		f.Push(Item{ID: ID(id + 1), Host: busy, Priority: 1})
	}
	f.Push(Item{ID: n + 1, Host: free, Priority: 0})
	if it, ok := f.Next(start); !ok || it.Host != busy {
		t.Fatalf("Next = %v, %v", it, ok)
	}
	for part := range 3 {
		if it, ok := f.Next(start); ok {
			t.Fatalf("part %d: Next = %v", part, it)
		}
		if at, ok := f.Wake(); !ok || at.After(start) {
			t.Fatalf("part %d: Wake = %v, %v; want at once", part, at, ok)
		}
	}
	if it, ok := f.Next(start); !ok || it.ID != n+1 {
		t.Errorf("Next = %v, %v; want the URL of the host that is free", it, ok)
	}
}

// TestReprioritiseWritesOnce: files still to be read do not count as waste.
func TestReprioritiseWritesOnce(t *testing.T) {
	f := newFrontier(t, Options{Dir: t.TempDir(), Memory: 1000})
	f.tail.scratch.maxWaste, f.tail.block = 0, 16
	rng := rand.New(rand.NewPCG(5, 6))
	const n = 50_000
	for id := range n {
		f.Push(Item{ID: ID(id + 1), Host: Host(id % 97), Priority: rng.Float64(), Key: uint64(id)})
	}
	before := f.tail.scratch.next
	f.Reprioritise(func(uint64, float64) (float64, bool) { return rng.Float64(), true })
	if files := f.tail.scratch.next - before; f.Err() != nil || files > n/(1000/2)+2 {
		t.Errorf("%d files were written for %d URLs, want one for each 500; %v", files, n, f.Err())
	}
}
