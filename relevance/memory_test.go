package relevance

import (
	"fmt"
	"runtime"
	"testing"

	"fossick/page"
)

// TestLearnedMemory fills a scorer to a sixteenth of its limits with targets that
// have all that a target can have, and weighs it: sixteen times that must stay under
// 85 MiB.
func TestLearnedMemory(t *testing.T) {
	const part = 16
	before := heap()
	l := NewLearned(goldJudge, LearnedOptions{Cut: 0.5, Explore: 0.02})
	l.evidence.limit, l.fetched.limit, l.places.limit = maxTargets/part, maxFetched/part, maxPlaces/part
	l.vocabulary.words.limit = maxVocabulary / part
	l.history.limit = maxPastWords / part
	l.sayings.slots = make([]heardSaying, maxSayings/part)
	for n := range 2 * maxFetched / part {
		l.fetched.put(uint64(n), known{told: 0.5})
	}
	for n := range 2 * maxVocabulary / part {
		l.vocabulary.learnPage([]token{token(n)}, 0.5, 1)
		l.vocabulary.learnLink([]token{token(n)}, 0.5)
	}
	for n := range maxPastWords / part / 300 { // as running text of 1,000 words has them
		l.history.add(&pastPage{key: uint64(n), words: make([]token, 300), links: make([]token, maxLinkWords+maxEndings), named: make([]naming, maxNamings), source: &source{}})
	}
	const links = 50
	for n := range 2 * maxTargets / part / links {
		p := &page.Page{URL: fmt.Sprintf("http://p%d.test/%d/", n, n)}
		for i := range links {
			p.Links = append(p.Links, page.Link{URL: fmt.Sprintf("http://h%d.test/%d/%d", n, n, i), Anchor: "one two three four five six seven eight nine"})
		}
		l.ScorePage(p, 0.5)
		l.ScoreLinks(nil, p, 0.5)
	}
	used := float64(heap()-before) * part / (1 << 20)
	t.Logf("%.0f MiB at the limits", used)
	if used > 85 {
		t.Errorf("%.0f MiB at the limits, want less than 85", used)
	}
	runtime.KeepAlive(l)
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
