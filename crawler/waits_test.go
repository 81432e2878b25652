package crawler

import (
	"math/rand/v2"
	"testing"
	"time"

	"fossick/crawler/frontier"
	"fossick/store"
)

// TestWaits: what was left for better links stands refused until it is asked for; the first
// link after a wait was waited for, unless it was left before or is not worth the price.
func TestWaits(t *testing.T) {
	w, at := newWaits(), time.UnixMilli(1000)
	poor, good := frontier.Item{ID: 1, Key: 1, Priority: 0.1}, frontier.Item{ID: 2, Key: 2, Priority: 0.9}
	asked := 0
	best := func(float64) (float64, int) { asked++; return 0.9, 3 }
	w.taken(at, good)
	if w.of(2, at) != nil {
		t.Error("a link that nobody waited for has a wait")
	}
	w.refused(at, poor, 0.5, best)
	w.refused(at.Add(time.Second), poor, 0.6, best)
	if waits, free, held := w.now(at.Add(2 * time.Second)); !waits || free != 0.1 || held != 2*time.Second {
		t.Errorf("waits %v, %g is free, %v; want true, 0.1, 2 s", waits, free, held)
	}
	w.taken(at.Add(2*time.Second), good)
	want := store.Wait{Since: 1000, Millis: 2000, Price: 0.6, Best: 0.9, Free: 0.1}
	if got := w.End(2, at.Add(3*time.Second)); got == nil || *got != want {
		t.Errorf("waited for: %+v, want %+v", got, want)
	}
	w.taken(at.Add(5*time.Second), poor)
	want = store.Wait{Since: 1000, Millis: 4000, Refused: true, Price: 0.5, Best: 0.9, Free: 0.1, Hosts: 3}
	if got := w.End(1, at.Add(4*time.Second)); got == nil || *got != want || asked != 1 {
		t.Errorf("left: %+v, asked %d times; want %+v, once", got, asked, want)
	}
	if w.of(1, at) != nil || w.of(2, at) != nil {
		t.Error("what was asked for is not forgotten")
	}
	if waits, _, held := w.now(at.Add(time.Hour)); waits || held != 2*time.Second {
		t.Errorf("waits %v, %v in all; want false, 2 s", waits, held)
	}
	w.refused(at, poor, 0.5, best)
	w.taken(at.Add(time.Second), frontier.Item{ID: 3, Key: 3, Priority: 0.3})
	if w.of(3, at) != nil {
		t.Error("a link below the price was waited for")
	}
	w.refused(at, poor, 0.5, best)
	w.taken(at.Add(time.Second), frontier.Item{ID: 3, Key: 3, Priority: 0.5})
	if got := w.End(3, at.Add(time.Second)); got == nil || got.Millis != 1000 {
		t.Errorf("a link that is just worth the price: %+v", got)
	}
	// A link that was refused is taken once the price has fallen: it is still the one that was left.
	left := frontier.Item{ID: 6, Key: 6, Priority: 0.4}
	w.refused(at, left, 0.5, best)
	w.refused(at.Add(time.Second), poor, 0.3, best)
	w.taken(at.Add(2*time.Second), left)
	if got := w.End(6, at.Add(2*time.Second)); got == nil || !got.Refused || got.Price != 0.5 {
		t.Errorf("a link that was left and then taken: %+v", got)
	}
	w.refused(at, frontier.Item{ID: 4, Key: 4}, 0.5, best)
	w.taken(at.Add(time.Millisecond), frontier.Item{ID: 5, Key: 5, Priority: 0.9})
	if w.of(4, at.Add(time.Millisecond)) != nil || w.of(5, at) != nil {
		t.Error("a wait of a moment is told of")
	}
}

// TestWaitsAreBounded: however many links are left, few are remembered, the latest of all.
func TestWaitsAreBounded(t *testing.T) {
	w, rng := newWaits(), rand.New(rand.NewPCG(1, 2))
	const many = 20 * remembered
	for range many {
		w.refused(time.UnixMilli(1), frontier.Item{ID: 1, Key: rng.Uint64()}, 1, func(float64) (float64, int) { return 1, 1 })
	}
	n := 0
	for range w.links.All() {
		n++
	}
	if n < remembered || n > 2*remembered {
		t.Errorf("%d links are remembered, want %d to %d", n, remembered, 2*remembered)
	}
}
