package learned

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"fossick/internal/page"
	"fossick/models/features"
)

// TestListens checks that link texts of the first maxTexts pages count, and that later ones are not read.
func TestListens(t *testing.T) {
	judged := 0
	judge := func(d features.Doc) float64 {
		judged++
		return goldJudge(d)
	}
	const target = "http://h.test/t"
	l := New(judge, Options{Cut: 0.5})
	from := func(n int, anchor string) *page.Page {
		p := linked(fmt.Sprintf("http://p.test/%d", n), target, anchor)
		p.Links[0].Context = anchor
		return p
	}
	for n := range maxTexts {
		p := from(n, "gold mine")
		if !l.Wanted(nil, p)[0] {
			t.Fatalf("nobody listens to page %d of %d", n+1, maxTexts)
		}
		l.ScoreLinks(nil, p, 0.5)
	}
	e, _ := l.links.waiting.Peek(page.Key(target))
	before, was := *e, found(l, e)
	p := from(maxTexts, "something else")
	if l.Wanted(nil, p)[0] {
		t.Error("the words of one page more are asked for")
	}
	judged = 0
	score := l.ScoreLinks(nil, p, 0.9)[0]
	if judged > 0 {
		t.Errorf("%d texts were judged that do not count", judged)
	}
	if e.words != before.words || e.anchor != before.anchor || e.context != before.context || e.over != before.over {
		t.Errorf("%+v by one page more, want the words of %+v", e, before)
	}
	after := found(l, e)
	for _, i := range []int{featMeanAnchor, featMeanContext, featAround, featMeanWord, featLinkWord} {
		if after[i] != was[i] {
			t.Errorf("feature %d is %v by one page more, was %v", i, after[i], was[i])
		}
	}
	if e.parents != maxTexts+1 || after[featMeanParent] <= was[featMeanParent] {
		t.Errorf("%d pages name it, probability %v in the mean; want %d, above %v", e.parents, after[featMeanParent], maxTexts+1, was[featMeanParent])
	}
	if again, known := l.Rescore(page.Key(target)); !known || again != score {
		t.Errorf("Rescore says %v, ScoreLinks %v", again, score)
	}
	l.ScorePage(&page.Page{URL: target}, 0.5)
	if l.Wanted(nil, p)[0] {
		t.Error("somebody listens to links to a page that was fetched")
	}
}

// list is a page with links to numbered targets.
func list(from string, to ...int) *page.Page {
	p := &page.Page{URL: from}
	for _, n := range to {
		p.Links = append(p.Links, page.Link{URL: fmt.Sprintf("http://t.test/%d", n), Anchor: "x"})
	}
	return p
}

// TestLearnedSisters checks that known pages on topic raise the other links of the pages that link to them,
// most of all nearby links.
func TestLearnedSisters(t *testing.T) {
	for _, late := range []bool{false, true} {
		l := New(goldJudge, Options{Cut: 0.5})
		fetch := func() {
			for n := range 8 { // even ones are on topic
				l.ScorePage(&page.Page{URL: fmt.Sprintf("http://t.test/%d", n)}, float64(1-n%2))
			}
		}
		if !late {
			fetch()
		}
		show := func(p *page.Page) {
			l.ScorePage(p, 0.5)
			l.ScoreLinks(nil, p, 0.5)
		}
		show(list("http://good.test/", 0, 2, 4, 100))
		show(list("http://bad.test/", 1, 3, 5, 101))
		var mixed []int
		mixed = append(mixed, 0, 102, 2) // next to links on topic
		for n := range 20 {
			mixed = append(mixed, 1000+n)
		}
		show(list("http://mixed.test/", append(mixed, 1, 103, 3)...))
		if late {
			fetch()
		}
		score := func(n int) float64 {
			s, known := l.Rescore(page.Key(fmt.Sprintf("http://t.test/%d", n)))
			if !known {
				t.Fatalf("target %d is not known", n)
			}
			return s
		}
		if good, bad := score(100), score(101); good <= bad {
			t.Errorf("fetched late %v: %v for a link of a hub on topic, %v of one off topic, want more", late, good, bad)
		}
		if on, off := score(102), score(103); on <= off {
			t.Errorf("fetched late %v: %v beside links on topic, %v beside links off topic, want more", late, on, off)
		}
	}
}

// TestNear compares near with its definition.
func TestNear(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		e := &evidence{}
		var weight, onTopic float64
		for n := range 1 + rng.IntN(maxSources+3) {
			s := &source{outcomes: make([]uint8, rng.IntN(30))}
			at := rng.IntN(40)
			e.add(&inLink{at: placeOf(at)}, s, 0.5)
			for k := range s.outcomes {
				if rng.IntN(2) == 0 {
					continue
				}
				p := rng.Float64()
				s.setOutcome(placeOf(k), p)
				if d := math.Abs(float64(k - at)); n < maxSources && d > 0 && d <= nearBy {
					weight += 1 / d
					onTopic += p / d
				}
			}
		}
		r := e.near()
		if math.Abs(float64(r.pages)-weight) > 1e-4 || math.Abs(float64(r.onTopic)-onTopic) > 0.005*(weight+1) {
			t.Fatalf("near = %v, want weight %v with %v of it on topic", r, weight, onTopic)
		}
	}
}

// TestNoVoiceTwice checks that repeated links and links to the page itself do not count.
func TestNoVoiceTwice(t *testing.T) {
	l := New(goldJudge, Options{Cut: 0.5})
	l.ScorePage(list("http://t.test/1"), 1)
	p := list("http://t.test/2", 1, 1, 2, 3)
	l.ScorePage(p, 1)
	l.ScoreLinks(nil, p, 1)
	e, ok := l.links.waiting.Peek(page.Key("http://t.test/3"))
	if !ok || len(e.named()) != 1 {
		t.Fatal("target 3 has no source")
	}
	if r := e.named()[0].followed; r.pages != 1 || math.Abs(float64(r.onTopic)-1) > .02 {
		t.Errorf("%v pages of its links are known, %v on topic, want the one, once", r.pages, r.onTopic)
	}
}

// TestMarkedSisters checks that a label changes the outcome of links found before and after the fetch.
func TestMarkedSisters(t *testing.T) {
	l := New(goldJudge, Options{Cut: 0.5})
	show := func(p *page.Page) {
		l.ScorePage(p, 0.5)
		l.ScoreLinks(nil, p, 0.5)
	}
	show(list("http://before.test/", 0, 100))
	fetched := list("http://t.test/0")
	l.ScorePage(fetched, 1)
	show(list("http://after.test/", 0, 101))
	l.Mark([]Marked{{URL: fetched.URL, Page: fetched}})
	show(list("http://later.test/", 0, 102))
	for n := 100; n < 103; n++ {
		e, _ := l.links.waiting.Peek(page.Key(fmt.Sprintf("http://t.test/%d", n)))
		if s := e.named()[0]; s.followed.onTopic != 0 || s.outcomes[0] != encodeOutcome(0) {
			t.Errorf("%d: %v pages of its sisters on topic, the one beside it %d; want none, and %d", n, s.followed.onTopic, s.outcomes[0], encodeOutcome(0))
		}
	}
}

// part returns the page with the links that belong to one of several agents.
func part(p *page.Page, agents, agent int, referrer []byte) *page.Page {
	some := &page.Page{URL: p.URL, Lang: p.Lang, Excerpt: &page.Excerpt{Of: len(p.Links), Introduction: referrer}}
	for i, l := range p.Links {
		if i%agents == agent {
			some.Links, some.Excerpt.Places = append(some.Links, l), append(some.Excerpt.Places, i)
		}
	}
	return some
}

// TestReferrersAcross checks that agents that share a page's links know as much of it as a single scorer.
func TestReferrersAcross(t *testing.T) {
	const agents = 3
	one := New(goldJudge, Options{Cut: .5, Order: plainOrder()})
	var told [agents]*Scorer
	for i := range told {
		told[i] = New(goldJudge, Options{Cut: .5, Order: plainOrder()})
		told[i].Share(everything)
	}
	rng := rand.New(rand.NewPCG(4, 20))
	for n := range 40 {
		hub := &page.Page{URL: fmt.Sprintf("http://hub%d.test/", n), Text: "sand"}
		for i := range 3 * agents {
			hub.Links = append(hub.Links, page.Link{URL: fmt.Sprintf("http://t%d.test/%d", i%agents, 9*n+i), Anchor: "link"})
		}
		worth := rng.Float64()
		one.ScorePage(hub, worth)
		one.ScoreLinks(nil, hub, worth)
		referrer := told[n%agents].ScorePage(hub, worth).Introduction
		for k, l := range told {
			if k != n%agents {
				l.ScoreLinks(nil, part(hub, agents, k, referrer), .9) // the introduction decides
			} else {
				l.ScoreLinks(nil, hub, worth)
			}
		}
		for i, link := range hub.Links[:2*agents] { // the others stay queued
			target := &page.Page{URL: link.URL, Text: "sand"}
			one.ScorePage(target, worth)
			told[i%agents].ScorePage(target, worth)
		}
	}
	var sums [agents]*Sums
	for k, l := range told {
		sums[k] = l.Learned()
	}
	for k, l := range told {
		for j, s := range sums {
			if j == k {
				continue
			}
			again, err := UnpackSums(s.Pack())
			if err != nil {
				t.Fatal(err)
			}
			l.Learn(again)
		}
	}
	for n := range 40 {
		for i := 2 * agents; i < 3*agents; i++ {
			url := fmt.Sprintf("http://t%d.test/%d", i%agents, 9*n+i)
			var want, got featureVector
			whole, _ := one.links.waiting.Get(page.Key(url))
			one.model.features(&want, whole, nil)
			l := told[i%agents]
			e, ok := l.links.waiting.Get(page.Key(url))
			if !ok {
				t.Fatalf("%s waits nowhere", url)
			}
			l.model.features(&got, e, nil)
			for _, f := range []int{featMeanParent, featHub, featNear, featEarly, featHops} {
				if math.Abs(want[f]-got[f]) > .02 {
					t.Errorf("%s: feature %d is %.3f, for one scorer %.3f", url, f, got[f], want[f])
				}
			}
		}
	}
}

// TestReferrersUnread checks that an unreadable introduction is ignored.
func TestReferrersUnread(t *testing.T) {
	for _, b := range [][]byte{nil, {1}, {0, 0, 192, 127, 1, 1}, {0, 0, 0, 64, 1, 1}} {
		s := &source{hops: 1}
		if s.introduce(b, true); s.scored || s.hops != 0 {
			t.Errorf("%v: %+v", b, s)
		}
	}
}

// TestScoreByDefinition compares scores during a random crawl with a plain computation.
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

// plainScore follows docs/relevance.md, with one logarithm per lift.
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

// TestLogSum compares with the definition, including products beyond float64.
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

// TestLocality checks that locality follows the outcomes of links on pages on topic.
func TestLocality(t *testing.T) {
	for _, together := range []bool{true, false} {
		l := New(goldJudge, Options{Cut: 0.5})
		for i := range 200 {
			url := func(n int) string { return fmt.Sprintf("http://t.test/%d", n) }
			p := linked(url(i), url(i+1), "x")
			on := together || i%2 == 0 // otherwise links lead from on topic to off topic
			if i == 0 {
				on = true
			}
			probability := 0.02
			if on {
				probability = 0.98
			}
			l.ScorePage(p, probability)
			l.ScoreLinks(nil, p, probability)
		}
		if got := l.model.local.mean(); together != (got > 0.6) || !together && got > 0.4 {
			t.Errorf("together %v: links of pages on topic promise %.2f", together, got)
		}
	}
}

// believedOf scores a page, checks that its score is the judge's, and returns what its link received.
func believedOf(t *testing.T, l *Scorer, name string, judged float64) float64 {
	t.Helper()
	p := linked("http://"+name+".test/", "http://t.test/"+name, "x")
	if s := l.ScorePage(p, judged); s.Value != judged {
		t.Errorf("page %s has %v, want the judge's %v", name, s.Value, judged)
	}
	l.ScoreLinks(nil, p, judged)
	e, ok := l.links.waiting.Peek(page.Key("http://t.test/" + name))
	if !ok {
		t.Fatalf("nothing is known of what %s links to", name)
	}
	return float64(e.prob.max)
}

// TestPriorYieldsToMarks checks that people's labels replace the prior, for old and new pages.
func TestPriorYieldsToMarks(t *testing.T) {
	labelled := &page.Page{URL: "http://marked.test/", Text: "pyrite"}
	moved := func(share float64, mark bool) (before, after float64) {
		l := New(goldJudge, Options{Cut: 0.5, Share: share, Order: orderOf(map[int]float32{viewJudged: 1, viewRise: 1})})
		for n := range 20 {
			l.ScorePage(&page.Page{URL: fmt.Sprintf("http://p.test/%d", n), Text: "quartz"}, 0.9)
		}
		l.ScorePage(labelled, 0.1)
		l.ScorePage(&page.Page{URL: "http://past.test/", Text: "slate"}, 0.1)
		if mark {
			l.Mark([]Marked{{URL: labelled.URL, Page: labelled}})
		}
		return l.history.find(page.Key("http://past.test/")).now, believedOf(t, l, "new", 0.1)
	}
	wantPast, wantNew := moved(0, true)
	if past, fresh := moved(0.01, true); math.Abs(past-wantPast) > 1e-6 || math.Abs(fresh-wantNew) > 1e-6 {
		t.Errorf("with marks a page before counts as %v and one after as %v, want %v and %v as without a prior", past, fresh, wantPast, wantNew)
	}
	if past, fresh := moved(0.01, false); past < 0.2 || fresh < 0.2 {
		t.Errorf("without marks they count as %v and %v, want more than the judge's 0.1", past, fresh)
	}
	for _, p := range []float64{0, 1, 1e-300} {
		if got := inCrawl(p, maxPrior); !(got >= 0 && got <= 1) {
			t.Errorf("probability %v becomes %v", p, got)
		}
	}
}
