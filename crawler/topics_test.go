package crawler

import (
	"slices"
	"testing"

	"fossick/store"
)

// sharers are the topics' scorers; the first is the crawl's.
type sharers struct {
	*learner
	own []Scorer
}

func (s sharers) OfTopic(topic int) Scorer {
	if topic > len(s.own) {
		return nil
	}
	return s.own[topic-1]
}

// TestTell: each topic's scorer gets its own marks.
func TestTell(t *testing.T) {
	a, b := &learner{}, &learner{}
	several := sharers{a, []Scorer{a, b, forgetful{}}}
	mark := func(url string, topic int) Marked { return Marked{URL: url, OnTopic: true, Topic: topic} }
	for _, c := range []struct {
		name    string
		scorer  Scorer
		marks   []Marked
		learned bool
		a, b    []string
	}{
		{"each its own", several, []Marked{mark("x", 1), mark("y", 1), mark("x", 2)}, true, []string{"x true page false and y true page false"}, []string{"x true page false"}},
		{"one that does not learn", several, []Marked{mark("x", 2), mark("x", 3)}, false, nil, []string{"x true page false"}},
		{"no such topic", several, []Marked{mark("x", 4)}, false, nil, nil},
		{"of no topic, and several share", several, []Marked{mark("x", 0)}, false, nil, nil},
		{"of a topic, and none share", a, []Marked{mark("x", 1)}, false, nil, nil},
		{"one topic alone", a, []Marked{mark("x", 0)}, true, []string{"x true page false"}, nil},
	} {
		a.told, b.told = nil, nil
		if got := Tell(c.scorer, c.marks); got != c.learned || !slices.Equal(a.told, c.a) || !slices.Equal(b.told, c.b) {
			t.Errorf("%s: learned %v, told %q and %q; want %v, %q, %q", c.name, got, a.told, b.told, c.learned, c.a, c.b)
		}
	}
}

// TestOverruleTopics: a mark of one topic keeps the others' verdicts.
func TestOverruleTopics(t *testing.T) {
	b := NewBook(nil, nil)
	b.marks[subject{1, 1}], b.marks[subject{2, 2}], b.marks[subject{2, 1}] = false, true, false
	for id, want := range map[store.ID][3]bool{1: {false, false, false}, 2: {true, false, true}, 3: {true, true, false}} {
		score := Score{Relevant: true, Topics: []store.Verdict{{Relevant: true}, {}}}
		b.overrule(id, &score)
		if got := [3]bool{score.Relevant, score.Topics[0].Relevant, score.Topics[1].Relevant}; got != want {
			t.Errorf("URL %d: %v, want %v", id, got, want)
		}
	}
}
