package relevance

import (
	"fmt"
	"testing"

	"fossick/page"
)

func TestRecentForgetsTheOldest(t *testing.T) {
	r := newRecent[int](3)
	for key := range uint64(3) {
		r.put(key, int(key))
	}
	r.put(3, 3) // 0, 1, 2 are the older half now
	if v, ok := r.get(0); !ok || v != 0 {
		t.Errorf("get(0) = %d, %v; want 0", v, ok)
	}
	r.put(4, 4)
	r.peek(1) // is no use
	r.put(5, 5)
	for key, want := range map[uint64]bool{0: true, 1: false, 2: false, 3: true, 4: true, 5: true} {
		if v, ok := r.peek(key); ok != want || ok && v != int(key) {
			t.Errorf("peek(%d) = %d, %v; want %v", key, v, ok, want)
		}
	}
	r.remove(3)
	r.remove(5)
	if _, ok := r.get(3); ok {
		t.Error("an entry of the older half was not removed")
	}
	if _, ok := r.get(5); ok {
		t.Error("an entry of the younger half was not removed")
	}
}

// TestLearnedIsBounded tells a scorer of more targets than it may remember.
func TestLearnedIsBounded(t *testing.T) {
	l := NewLearned(goldJudge, LearnedOptions{Cut: 0.5, Explore: 0.02})
	l.evidence.limit, l.fetched.limit, l.places.limit = 50, 50, 50
	last := ""
	for i := range 2000 {
		last = fmt.Sprintf("http://h%d.test/%d", i%70, i)
		l.ScoreLinks(nil, linked(fmt.Sprintf("http://p.test/%d", i), last, "gold"), 0.9)
		l.ScorePage(&page.Page{URL: fmt.Sprintf("http://p.test/%d", i)}, 0.9)
	}
	for name, n := range map[string]int{
		"targets": len(l.evidence.young) + len(l.evidence.old),
		"pages":   len(l.fetched.young) + len(l.fetched.old),
		"places":  len(l.places.young) + len(l.places.old),
	} {
		if n < 50 || n > 100 {
			t.Errorf("%s: %d in memory, want between 50 and 100", name, n)
		}
	}
	if _, known := l.Rescore(page.Key(last)); !known {
		t.Error("the last target is forgotten")
	}
	if _, known := l.Rescore(page.Key("http://h0.test/0")); known {
		t.Error("the first target is known still")
	}
}
