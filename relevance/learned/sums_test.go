package learned

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"fossick/internal/page"
)

func randomFeatures(rng *rand.Rand) (x featureVector) {
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// TestHearOneLesson checks that hearing of a page equals learning from it, given equal weights.
func TestHearOneLesson(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 20))
	for _, trust := range []float64{.2, 1} {
		var learns, hears logistic
		learns.begin(&Order{spread: flat(0.1)}, trust)
		hears.begin(&Order{spread: flat(0.1)}, trust)
		for range 50 {
			x, y := randomFeatures(rng), rng.Float64()
			x[featLabels] = 0
			s := newSums()
			s.learnWeights(&hears, &x, y)
			learns.learn(&x, y)
			hears.merge(s)
			for i := range x {
				if d := math.Abs(learns.weight[i] - hears.weight[i]); d > 1e-6 {
					t.Fatalf("weight %d: learned %g, heard %g", i, learns.weight[i], hears.weight[i])
				}
				for j := range x {
					if d := math.Abs(learns.covariance[i][j] - hears.covariance[i][j]); d > 1e-6 {
						t.Fatalf("covariance %d, %d: learned %g, heard %g", i, j, learns.covariance[i][j], hears.covariance[i][j])
					}
				}
			}
		}
	}
}

// lesson is a page with two links to it, and words that reveal its topic.
func lesson(rng *rand.Rand, i int) (linking [2]*page.Page, target *page.Page, onTopic float64) {
	words := "plain stone"
	if onTopic = float64(rng.IntN(2)); onTopic > 0 {
		words = "amber quartz"
	}
	if rng.IntN(10) == 0 {
		words = "sand"
	}
	url := fmt.Sprintf("http://t%d.test/%d", i%17, i)
	for k := range linking {
		linking[k] = linked(fmt.Sprintf("http://p%d.test/%d", rng.IntN(30), rng.IntN(1000)), url, words)
	}
	return linking, &page.Page{URL: url, Text: words + fmt.Sprint(" n", rng.IntN(50))}, onTopic
}

// tellAll exchanges the scorers' packed sums.
func tellAll(t *testing.T, all []*Scorer) {
	t.Helper()
	sums := make([]*Sums, len(all))
	for k, l := range all {
		sums[k] = l.Learned()
	}
	for k, l := range all {
		for j, s := range sums {
			if j == k || s == nil {
				continue
			}
			again, err := UnpackSums(s.Pack())
			if err != nil {
				t.Fatal(err)
			}
			l.Learn(again)
		}
	}
}

// TestSumsAreOneCrawl compares one scorer of all pages with three that share the pages and exchange sums, and
// three that do not: only the exchange gives about the same scores.
func TestSumsAreOneCrawl(t *testing.T) {
	opt := Options{Cut: .5, Order: plainOrder()}
	one := New(goldJudge, opt)
	var told, alone [3]*Scorer
	for i := range told {
		told[i], alone[i] = New(goldJudge, opt), New(goldJudge, opt)
		told[i].Share(everything)
	}
	rng := rand.New(rand.NewPCG(2, 20))
	for i := range 300 {
		linking, target, onTopic := lesson(rng, i)
		for _, l := range []*Scorer{one, told[i%3], alone[i%3]} {
			for _, p := range linking {
				l.ScoreLinks(nil, p, .5)
			}
			l.ScorePage(target, onTopic)
		}
		if i%10 != 9 {
			continue
		}
		tellAll(t, told[:])
	}
	for k, l := range told {
		if a, b := l.model.base.all, one.model.base.all; math.Abs(float64(a.pages-b.pages)) > .01 || math.Abs(float64(a.onTopic-b.onTopic)) > .01 {
			t.Errorf("scorer %d knows of %v, one of %v", k, a, b)
		}
		for _, word := range []string{"amber", "plain", "sand"} {
			a, b := l.model.words.words.find(tokenOf(word)), one.model.words.words.find(tokenOf(word))
			if math.Abs(float64(a.page.pages-b.page.pages)) > .01 || math.Abs(float64(a.page.onTopic-b.page.onTopic)) > .01 || math.Abs(float64(a.link.pages-b.link.pages)) > .01 {
				t.Errorf("scorer %d: %q is %+v, for one %+v", k, word, *a, *b)
			}
		}
	}
	off := func(l *Scorer) (sum float64) {
		for i, words := range []string{"amber", "quartz n7", "plain stone", "sand", "gold", "unheard"} {
			p := linked(fmt.Sprintf("http://from%d.test/", i), fmt.Sprintf("http://new%d.test/", i), words)
			sum += math.Abs(l.ScoreLinks(nil, p, .5)[0] - one.ScoreLinks(nil, p, .5)[0])
		}
		return sum / 6
	}
	for k := range told {
		if a, b := off(told[k]), off(alone[k]); a > .05 || a > b+.01 {
			t.Errorf("scorer %d is off by %.3f, without being told by %.3f", k, a, b)
		}
	}
}

// TestStartsAreOnesForAll checks that start pages spread over scorers correct the judge as if each scorer
// had all, even a late one.
func TestStartsAreOnesForAll(t *testing.T) {
	const scorers, starts = 4, 8
	seen := Options{Cut: .5, Share: .1, Seen: 100, Background: NewBackground(func(yield func(string, float64) bool) { yield("some", .01) })}
	one, late := New(goldJudge, seen), New(goldJudge, seen)
	var told [scorers]*Scorer
	for k := range told {
		told[k] = New(goldJudge, seen)
		told[k].Share(everything)
	}
	show := func(i int, url, text string, judged float64) {
		for _, l := range []*Scorer{one, told[i%scorers]} {
			p := &page.Page{URL: url, Text: text}
			if i < starts {
				l.Start(page.Key(p.URL), false)
			}
			l.ScorePage(p, judged)
		}
	}
	for i := range starts {
		show(i, fmt.Sprintf("http://start%d.test/", i), fmt.Sprintf("quartz feldspar mica own%d", i), .2)
	}
	tellAll(t, told[:])
	for i := range 40 {
		if i%3 == 0 {
			show(starts+i, fmt.Sprintf("http://p%d.test/", i), "quartz mica and tennis", .8)
		} else {
			show(starts+i, fmt.Sprintf("http://p%d.test/", i), "football hockey tennis", .05)
		}
		if i%8 == 7 {
			tellAll(t, told[:])
		}
	}
	for _, l := range told {
		for _, s := range l.Lessons() {
			late.Learn(s)
		}
	}
	if one.model.judge.unknown == 0 {
		t.Fatal("nothing is doubted")
	}
	believed := func(l *Scorer) (odds []float64) {
		for _, text := range []string{"quartz feldspar mica", "football hockey score"} {
			p := &page.Page{URL: fmt.Sprintf("http://new.test/%d", len(text)), Text: text}
			value, _ := l.believe(p.URL, page.Key(p.URL), l.texts.readers.Get().page(p), .3)
			odds = append(odds, logit(value))
		}
		return odds
	}
	want := believed(one)
	for k, l := range append(told[:], late) {
		if len(l.starts.pages) != starts || l.model.judge.unknown != one.model.judge.unknown {
			t.Errorf("scorer %d knows %d start pages, does not know %g of them; want %d and %g", k, len(l.starts.pages), l.model.judge.unknown, starts, one.model.judge.unknown)
		}
		if d := math.Abs(l.starts.on.Weight - one.starts.on.Weight); d > 2 {
			t.Errorf("scorer %d compared %.1f pages on topic, want %.1f", k, l.starts.on.Weight, one.starts.on.Weight)
		}
		for i, got := range believed(l) {
			if math.Abs(got-want[i]) > .5 {
				t.Errorf("scorer %d believes page %d with log-odds %.2f, want %.2f", k, i, got, want[i])
			}
		}
	}
}

func TestPackSums(t *testing.T) {
	l := New(goldJudge, Options{Cut: .5})
	l.Share(everything)
	if s := l.Learned(); s != nil {
		t.Errorf("%+v of nothing", s)
	}
	for i := range 3 {
		p := &page.Page{URL: fmt.Sprintf("http://start%d.test/", i), Text: "amber gold"}
		l.Start(page.Key(p.URL), i == 0)
		l.ScorePage(p, .5)
	}
	rng := rand.New(rand.NewPCG(3, 20))
	for i := range 20 {
		linking, target, onTopic := lesson(rng, i)
		l.ScoreLinks(nil, linking[0], .5)
		l.ScorePage(target, onTopic)
	}
	s := l.Learned()
	for _, p := range s.starts {
		slices.Sort(p.Words) // as packing does
	}
	data := s.Pack()
	got, err := UnpackSums(data)
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("%v", err)
	}
	for n := range len(data) {
		if _, err := UnpackSums(data[:n]); err == nil {
			t.Fatalf("%d of %d bytes are taken", n, len(data))
		}
	}
}

// TestToldInParts checks that words with most evidence come first, and that the parts add up to everything
// told.
func TestToldInParts(t *testing.T) {
	l := New(goldJudge, Options{Cut: .5})
	l.Share(everything)
	const pages, words = 60, 200
	for i := range pages {
		p := &page.Page{URL: fmt.Sprintf("http://t%d.test/", i), Text: "amber"}
		for k := range words {
			p.Text += fmt.Sprintf(" w%dx%d", i, k)
		}
		l.ScorePage(p, 1)
	}
	early, late := New(goldJudge, Options{Cut: .5}), New(goldJudge, Options{Cut: .5})
	for n := 0; ; n++ {
		s := l.Learned()
		if s == nil {
			break
		}
		if _, amber := s.words[tokenOf("amber")]; amber != (n == 0) || len(s.words) > sentWords || len(s.Pack()) > 110_000 {
			t.Errorf("part %d: the best word %v, %d words, %d bytes", n, amber, len(s.words), len(s.Pack()))
		}
		early.Learn(s)
	}
	parts := l.Lessons()
	if want := (pages*words + sentWords) / sentWords; len(parts) != want {
		t.Errorf("all in %d parts, want %d", len(parts), want)
	}
	for _, s := range parts {
		again, err := UnpackSums(s.Pack())
		if err != nil {
			t.Fatal(err)
		}
		late.Learn(again)
	}
	for _, word := range []string{"amber", "w0x0", "w59x199"} {
		a, b, c := l.model.words.words.find(tokenOf(word)).page, early.model.words.words.find(tokenOf(word)).page, late.model.words.words.find(tokenOf(word)).page
		if a.pages == 0 || a != b || a != c {
			t.Errorf("%q: %v, heard as it came %v, later %v", word, a, b, c)
		}
	}
	if early.model.base.all != late.model.base.all {
		t.Errorf("pages: %v and %v", early.model.base.all, late.model.base.all)
	}
}

// FuzzUnpackSums checks that any input is rejected or can be heard safely.
func FuzzUnpackSums(f *testing.F) {
	f.Add(newSums().Pack())
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := UnpackSums(data)
		if err != nil {
			return
		}
		packed := s.Pack()
		if again, err := UnpackSums(packed); err != nil || !bytes.Equal(again.Pack(), packed) {
			t.Fatalf("%q becomes %q, which is read as something else (%v)", data, packed, err)
		}
		m, x := New(goldJudge, Options{}).model.weights, featureVector{1, -1}
		m.merge(s)
		if p := m.probability(&x); math.IsNaN(p) || p < 0 || p > 1 {
			t.Fatalf("probability %g", p)
		}
	})
}
