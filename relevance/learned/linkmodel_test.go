package learned

import (
	"fmt"
	"math"
	"testing"

	"fossick/internal/page"
)

// TestUndersampling: the words of a young crawl's pages and of pages on topic count once.
// Those of a grown crawl's other pages count not at all or twice, as many of each.
func TestUndersampling(t *testing.T) {
	off := func(crawl float32) (sum, pages float64) {
		for n := range 2000 {
			c := wordWeight(crawl, page.Key(fmt.Sprintf("http://t.test/%d", n)), 0.01)
			if sum += c; c > 0 {
				pages++
			}
		}
		return sum, pages
	}
	if sum, pages := off(undersampleFrom - 1); sum != 2000 || pages != 2000 {
		t.Errorf("a young crawl counts the words of 2,000 pages as those of %v, %v of them", sum, pages)
	}
	if sum, pages := off(undersampleFrom); math.Abs(sum-2000) > 200 || math.Abs(pages-1000) > 100 {
		t.Errorf("a grown crawl counts the words of 2,000 pages as those of %v, %v of them", sum, pages)
	}
	for n := range 20 {
		if c := wordWeight(undersampleFrom, uint64(n), undersampleBelow); c != 1 {
			t.Errorf("the words of a page that may be on topic count %v times", c)
		}
	}
}

// TestUndersampledLabelled: of a page that people mark the words count as they say, however they
// counted before.
func TestUndersampledLabelled(t *testing.T) {
	for _, counted := range []float64{0, 1, 2} {
		l := New(goldJudge, Options{Cut: 0.5})
		const word = token(7)
		p := &pastPage{words: []token{word}, now: 0.05, weight: 1, counted: counted, host: &record{}, folder: &record{}, source: &source{}}
		l.model.words.learnPage([]token{word}, 0.5, 3) // by other pages
		if counted > 0 {
			l.model.words.learnPage(p.words, p.now, counted)
		}
		l.recount(p, 1, 5)
		w := l.model.words.words.find(word)
		if math.Abs(float64(w.page.pages)-8) > 1e-6 || math.Abs(float64(w.page.onTopic)-6.5) > 1e-6 {
			t.Errorf("counted %v times before: %+v, want 8 pages, 6.5 on topic", counted, w.page)
		}
	}
}
