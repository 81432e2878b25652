package learned

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"fossick/internal/page"
)

// TestScoreByDefinition crawls a random web and holds, after each page, the score of every target that
// waits against one with a logarithm for each lift.
func TestScoreByDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	words := strings.Fields("amber basalt coral dolomite emerald flint granite hematite")
	some := func(n int) string {
		var out []string
		for range n {
			out = append(out, words[rng.IntN(len(words))])
		}
		return strings.Join(out, " ")
	}
	l := New(goldJudge, Options{Cut: 0.5, Explore: 0.1, Seed: 1, WarmStart: NewWarmStart(warmStartModel(), 1),
		Background: NewBackground(maps.All(map[string]float64{"amber": 0.5, "basalt": 0.01}))})
	for i := range 300 {
		p := &page.Page{URL: fmt.Sprintf("http://h%d.test/%d/%d", i%5, i%3, i), Text: some(4)}
		for range 6 {
			n := rng.IntN(300)
			p.Links = append(p.Links, page.Link{URL: fmt.Sprintf("http://h%d.test/%d/%d", n%5, n%3, n), Anchor: some(2)})
		}
		y := rng.Float64()
		l.ScorePage(p, y)
		l.ScoreLinks(nil, p, y)
		for key, e := range l.links.waiting.All() {
			got, known := l.Rescore(key)
			want := plainScore(l, e)
			if !known || math.Abs(got-want) > 1e-9 {
				t.Fatalf("page %d: score %v, %v; want %v", i, got, known, want)
			}
		}
	}
}

// plainScore is score as the documentation has it.
func plainScore(l *Scorer, e *evidence) float64 {
	if e.explored {
		return soonest
	}
	x := found(l, e)
	base := l.model.base.all.mean()
	lift := func(r record, base float64) float64 {
		if r.pages == 0 {
			return 0
		}
		return logit((float64(r.onTopic)+doubt*base)/(float64(r.pages)+doubt)) - logit(base)
	}
	x[featWord], x[featMeanWord], x[featLinkWord], x[featOver] = math.Inf(-1), 0, 0, 0
	for _, w := range e.words[:e.count] {
		known := l.model.words.words.find(w)
		x[featWord] = max(x[featWord], lift(known.page, base))
		x[featMeanWord] += lift(known.page, base)
		x[featLinkWord] += lift(known.link, base)
		x[featOver] += l.model.base.background.over(w, known.page.onTopic, l.model.base.all.onTopic+l.model.base.taught)
	}
	x[featMeanWord] /= float64(e.count)
	x[featLinkWord] /= float64(e.count)
	x[featOver] /= float64(e.count)
	x[featEnding] = 0
	for _, w := range e.endings[:e.ended] {
		x[featEnding] += lift(l.model.words.words.find(w).link, base) / float64(e.ended)
	}
	x[featHub] = 0
	for _, s := range e.named() {
		x[featHub] += lift(s.followed, base)
	}
	x[featHub] /= float64(len(e.named()))
	x[featHost] = lift(*e.host, base)
	x[featFolder] = lift(*e.folder, e.host.mean())
	return highest * l.model.weights.probability(&x)
}

// TestLogSum holds sums of logarithms against their definition, also where the product is no float64.
func TestLogSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{0, 1, 8, 1000} {
		s, want := newLogSum(), 0.0
		for range n {
			x := math.Exp(100*rng.Float64() - 30)
			s.add(x)
			want += math.Log(x)
		}
		if got := s.value(); math.Abs(got-want) > 1e-9 {
			t.Errorf("sum of %d logarithms %v, want %v", n, got, want)
		}
	}
}
