package crawlplan

import (
	"testing"

	"fossick/crawler"
	"fossick/internal/page"
	"fossick/relevance/learned"
)

// TestSeveralTell: each topic tells its own, and hears what the same topic of another agent
// learned. One of many words it is never told of is worth more afterwards.
func TestSeveralTell(t *testing.T) {
	newTopics := func() (*several, []*learned.Scorer) {
		var scorers []*learned.Scorer
		var topics []topic
		for _, name := range []string{"a", "b"} {
			l := learned.New(goldJudge, learned.Options{Cut: .5})
			scorers = append(scorers, l)
			topics = append(topics, topic{Name: name, Budget: 10, Scorer: &learnedScorer{learned: l}})
		}
		topics = append(topics, topic{Name: "mute", Budget: 10, Scorer: mute{}})
		return newSeveral(topics), scorers
	}
	teller, learns := newTopics()
	hearer, hears := newTopics()
	teller.Share(everything)
	for i := range 40 {
		on := float64(i % 2)
		text := "plain stone"
		if on > 0 {
			text = "amber quartz"
		}
		learns[1].ScorePage(&page.Page{URL: "http://x.test/" + string(rune('a'+i)), Text: text}, on)
	}
	amber := func(l *learned.Scorer) float64 {
		return l.ScoreLinks(nil, &page.Page{URL: "http://from.test/", Links: []page.Link{{URL: "http://to.test/", Anchor: "amber quartz"}}}, .5)[0]
	}
	before := [2]float64{amber(hears[0]), amber(hears[1])}
	n := 0
	for told := teller.Told(); told != nil; told = teller.Told() {
		if _, err := hearer.Hear(told); err != nil {
			t.Fatal(err)
		}
		n++
	}
	if after := amber(hears[1]); n != 1 || after < before[1]+.05 {
		t.Errorf("told %d times, amber is worth %.3f after %.3f", n, after, before[1])
	}
	if after := amber(hears[0]); after > before[0]+.01 { // the same link came twice
		t.Errorf("the other topic learned: amber is worth %.3f after %.3f", after, before[0])
	}
	if parts := teller.ToldSoFar(); len(parts) != 1 {
		t.Errorf("%d parts so far, want 1", len(parts))
	}
	for _, wrong := range [][]byte{nil, {7}, {2, 1}, {1, 0xff}} {
		if _, err := hearer.Hear(wrong); err == nil {
			t.Errorf("%v was heard", wrong)
		}
	}
}

func everything(string) bool { return true }

// mute learns nothing.
type mute struct{}

func (mute) ScorePage(*page.Page, float64) crawler.Score { return crawler.Score{} }

func (mute) ScoreLinks(dst []float64, p *page.Page, _ crawler.Score) []float64 {
	return append(dst, make([]float64, len(p.Links))...)
}
