package frontier

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"fossick/internal/testkit"
)

// TestSurvey: a survey lists the best waiting URLs, as a sorted list would, and changes nothing.
// It omits hosts whose rest is too long or in doubt.
func TestSurvey(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	f := testkit.Call(New(Options{})).Must(t)
	type url struct {
		priority float64
		host     Host
	}
	now, waiting, rests, doubts := time.Unix(1000, 0), map[ID]url{}, map[Host]time.Time{}, map[Host]time.Time{}
	inUse := []Host{}
	for id := ID(1); id < 3000; id++ {
		h := Host(rng.IntN(40) + 1)
		switch rng.IntN(6) {
		case 0:
			now = now.Add(time.Duration(rng.IntN(3000)) * time.Millisecond)
			for _, h := range inUse {
				until := now.Add(time.Duration(rng.IntN(100)) * time.Second)
				f.Done(h, until)
				rests[h] = until
				if rng.IntN(4) == 0 {
					doubts[h] = now.Add(time.Duration(rng.IntN(20)) * time.Second)
					f.RestInDoubt(h, doubts[h])
				}
			}
			inUse = nil
		case 1:
			it, ok := f.Next(now)
			for h, until := range doubts { // Next sees which rests are over
				if !until.After(now) {
					delete(doubts, h)
				}
			}
			if ok {
				delete(waiting, it.ID)
				inUse = append(inUse, it.Host)
			}
		case 2:
			for old, u := range waiting {
				p := rng.Float64()
				if rng.IntN(2) == 0 {
					p = max(p, u.priority)
					f.Raise(Item{ID: old, Host: u.host, Priority: p})
				} else {
					f.Push(Item{ID: old, Host: u.host, Priority: p})
				}
				waiting[old] = url{p, u.host}
				break
			}
		default:
			u := url{rng.Float64(), h}
			f.Push(Item{ID: id, Host: h, Priority: u.priority})
			waiting[id] = u
		}
		if id%50 != 0 {
			continue
		}
		until := now.Add(time.Duration(rng.IntN(100)) * time.Second)
		var want []Waiting
		for id, u := range waiting {
			if _, doubt := doubts[u.host]; !doubt && !rests[u.host].After(until) {
				want = append(want, Waiting{id, u.priority, u.host})
			}
		}
		slices.SortFunc(want, func(a, b Waiting) int { return cmp.Compare(b.Priority, a.Priority) })
		n := 1 + rng.IntN(200)
		want = want[:min(n, len(want))]
		got := f.Survey(nil, n, until)
		if !slices.Equal(got, want) {
			t.Fatalf("after %d steps: got %v, want %v", id, got, want)
		}
		if f.Len() != len(waiting) {
			t.Fatalf("%d wait, want %d", f.Len(), len(waiting))
		}
	}
}

// TestNextFrom: a URL below the price keeps its place.
func TestNextFrom(t *testing.T) {
	f := testkit.Call(New(Options{})).Must(t)
	now := time.Unix(1000, 0)
	f.Push(Item{ID: 1, Host: 1, Priority: 0.9})
	f.Push(Item{ID: 2, Host: 1, Priority: 0.8})
	f.Push(Item{ID: 3, Host: 2, Priority: 0.3})
	if it, ok := f.NextFrom(now, 0.5); !ok || it.ID != 1 {
		t.Fatalf("got %v, %v", it, ok)
	}
	f.Done(1, now.Add(time.Second))
	for range 2 {
		if it, ok := f.NextFrom(now, 0.5); ok || it.ID != 3 || f.Len() != 2 {
			t.Fatalf("got %v, %v", it, ok)
		}
	}
	if rest, resting := f.NextRest(); !resting || !rest.Equal(now.Add(time.Second)) {
		t.Errorf("next rest ends %v, %v", rest, resting)
	}
	if it, ok := f.NextFrom(now.Add(time.Second), 0.5); !ok || it.ID != 2 {
		t.Errorf("got %v, %v", it, ok)
	}
	if it, ok := f.Next(now); !ok || it.ID != 3 {
		t.Errorf("got %v, %v", it, ok)
	}
}
