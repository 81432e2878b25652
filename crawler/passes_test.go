package crawler

import (
	"testing"

	"fossick/graph/orders"
)

// TestAfter: the URLs rescored a page are bounded, and the queue never waits
// for more than a hundredth of its length.
func TestAfter(t *testing.T) {
	for _, c := range []struct {
		queue, inMemory, onDisk int // pages
	}{
		{0, 10, 10}, {1_000, 10, 10}, {2_000, 10, 20}, {4_598, 22, 45}, {8_000, 40, 80}, {10_000, 60, 100}, {20_000, 160, 200},
		{40_000, 360, 400}, {262_144, 2581, 2621}, {4_000_000, 39_960, 40_000},
	} {
		if got := after(c.queue, 0, false); got != c.inMemory {
			t.Errorf("%d URLs in memory: after %d pages, want %d", c.queue, got, c.inMemory)
		}
		if got := after(c.queue, 0, true); got != c.onDisk {
			t.Errorf("%d URLs on disk: after %d pages, want %d", c.queue, got, c.onDisk)
		}
	}
	for pages, want := range map[uint64]int{229: 14, 480: 30, 520: 32, 1_150: 71, 4_000: 100, 1 << 40: 100} {
		if got := after(2_500, pages, false); got != want {
			t.Errorf("2,500 URLs in memory: after %d pages of %d, want %d", got, pages, want)
		}
	}
}

// topics is a scorer of so many topics that have had their first lesson.
type topics int

func (topics) Rescore(uint64) (float64, bool) { return 0, false }

func (t *topics) Begun() int { return int(*t) }

// TestFirstLesson: each topic's first lesson is told until a pass has begun.
func TestFirstLesson(t *testing.T) {
	begun := topics(0)
	p := newRescore(&begun, orders.Latest)
	for lessons, want := range []bool{false, true, true} {
		if begun = topics(lessons); p.firstLesson() != want {
			t.Errorf("%d topics have begun: %v, want %v", lessons, !want, want)
		}
		p.Begin(uint64(lessons))
		if p.firstLesson() {
			t.Errorf("the first lesson of topic %d is told twice", lessons)
		}
	}
	if newRescore(nil, orders.Latest).firstLesson() {
		t.Error("what does not rescore has a first lesson")
	}
}
