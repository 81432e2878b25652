package frontier

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// entries returns all entries of f, where they are: in the tail's buffer, in its runs by
// file, then party by party.
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

// agree compares the place of each URL that waits with the oracle's.
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

// TestSameCallsSameFrontier: two frontiers whose hosts have other numbers hold the same
// entries at the same places after the same calls, whatever the hash keys of the process.
// So a failure of TestAgainstSlowFrontier comes again wherever it is run.
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

// TestRenewAsksAboutAll: a pass that nothing interrupts asks about each URL that waits,
// though entries that are dropped on the way let others rise to places it has been at.
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
