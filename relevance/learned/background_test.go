package learned

import (
	"fmt"
	"maps"
	"math"
	"testing"

	"fossick/internal/page"
)

func TestBackgroundOver(t *testing.T) {
	b := NewBackground(maps.All(map[string]float64{"japan": 0.4, "fern": 0.01, "none": 0, "much": 2, "nothing": math.NaN()}))
	for _, test := range []struct {
		word    string
		on, all float32
		want    float64
	}{
		{"japan", 0, 0, 0}, // nothing is known yet
		{"fern", 0, 0, 0},
		{"japan", 40, 98, math.Log(40.8 / 100 / 0.4)},
		{"fern", 40, 98, math.Log(40.02 / 100 / 0.01)},
		{"new", 40, 98, math.Log((40 + 2*0.01/8) / 100 / (0.01 / 8))}, // rarer than the rarest that is known
		{"much", 40, 98, math.Log((40 + 2*0.01/8) / 100 / (0.01 / 8))},
	} {
		if got := b.over(tokenOf(test.word), test.on, test.all); math.Abs(got-test.want) > 1e-6 {
			t.Errorf("%s on %v of %v: %v, want %v", test.word, test.on, test.all, got, test.want)
		}
	}
	if got := (*Background)(nil).over(1, 3, 4); got != 0 {
		t.Errorf("without a background %v, want 0", got)
	}
	if NewBackground(maps.All(map[string]float64{"none": 0})) != nil {
		t.Error("a background without words is not nil")
	}
}

// TestBackgroundTellsCommonWords: of two words that all pages of a crawl have, the
// one that is rare at large makes the better link.
func TestBackgroundTellsCommonWords(t *testing.T) {
	l := New(goldJudge, Options{Cut: 0.5, Background: NewBackground(maps.All(map[string]float64{"japan": 0.5, "fern": 0.01}))})
	for i := range 20 {
		l.ScorePage(&page.Page{URL: fmt.Sprintf("http://p%d.test/", i), Text: "japan and fern"}, 0.9)
	}
	s := l.ScoreLinks(nil, &page.Page{URL: "http://p.test/", Links: []page.Link{
		{URL: "http://t.test/1", Anchor: "Japan"}, {URL: "http://t.test/2", Anchor: "fern"}}}, 0.9)
	if s[0] >= s[1] {
		t.Errorf("scores %v of a common and a rare word, want the rare one's higher", s)
	}
}
