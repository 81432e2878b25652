package learned

import (
	"fmt"
	"runtime"
	"testing"

	"fossick/internal/page"
)

// TestLearnedMemory fills a scorer to a sixteenth of its limits with targets
// that have all that a target can have, and weighs it. Sixteen times that must
// stay under 85 MiB.
func TestLearnedMemory(t *testing.T) {
	const part = 16
	before := heapInUse()
	l := New(goldJudge, Options{Cut: 0.5, Explore: 0.02})
	l.divide(2 * part)
	for n := range 2 * maxFetched / part {
		l.links.fetched.Put(uint64(n), known{probability: 0.5})
	}
	for n := range 2 * maxVocabulary / part {
		l.model.words.learnPage([]token{token(n)}, 0.5, 1)
		l.model.words.learnLink([]token{token(n)}, 0.5)
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
	used := float64(heapInUse()-before) * part / (1 << 20)
	t.Logf("%.0f MiB at the limits", used)
	if used > 85 {
		t.Errorf("%.0f MiB at the limits, want less than 85", used)
	}
	runtime.KeepAlive(l)
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestLearnedIsBounded tells a scorer of more targets than it may remember.
func TestLearnedIsBounded(t *testing.T) {
	l := New(goldJudge, Options{Cut: 0.5, Explore: 0.02})
	l.links.waiting, l.links.fetched, l.links.places = page.NewRecent[*evidence](50), page.NewRecent[known](50), page.NewRecent[*record](50)
	last := ""
	for i := range 2000 {
		last = fmt.Sprintf("http://h%d.test/%d", i%70, i)
		l.ScoreLinks(nil, linked(fmt.Sprintf("http://p.test/%d", i), last, "gold"), 0.9)
		l.ScorePage(&page.Page{URL: fmt.Sprintf("http://p.test/%d", i)}, 0.9)
	}
	for name, n := range map[string]int{
		"targets": count(&l.links.waiting),
		"pages":   count(&l.links.fetched),
		"places":  count(&l.links.places),
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

func count[V any](m *page.Recent[V]) (n int) {
	for range m.All() {
		n++
	}
	return n
}
