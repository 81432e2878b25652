package known

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"fossick/internal/page"
	"fossick/models/features"
	"fossick/relevance"
)

func show(p relevance.Policy, pg *page.Page, similarity float64) []float64 {
	p.ScorePage(pg, similarity)
	return p.ScoreLinks(nil, pg, similarity)
}

// TestShark computes the paper's formulas by hand.
func TestShark(t *testing.T) {
	s := NewShark(goldJudge, 0.5) // 0.95 for gold, 0.5 for even, otherwise 0.05
	for _, test := range []struct {
		name       string
		page       *page.Page
		similarity float64
		want       float64
	}{
		{"relevant page, plain link", linked("http://a.test/", "http://b.test/", "x"), 0.8,
			0.5*(0.5*0.8) + 0.5*(0.8*0.05+0.2*0.05)},
		{"its child is not relevant and passes on half", linked("http://b.test/", "http://c.test/", "x"), 0.1,
			0.5*(0.5*0.5*0.8) + 0.5*(0.8*0.05+0.2*0.05)},
		{"a gold anchor needs no context", linked("http://c.test/", "http://d.test/", "gold"), 0.1,
			0.5*(0.5*0.25*0.8) + 0.5*(0.8*0.95+0.2*1)},
		{"a start page has inherited nothing", linked("http://s.test/", "http://e.test/", "x"), 0.1,
			0.5*0 + 0.5*(0.8*0.05+0.2*0.05)},
		{"a page just relevant, an anchor just good", linked("http://f.test/", "http://g.test/", "even"), 0.5,
			0.5*(0.5*0.5) + 0.5*(0.8*0.5+0.2*1)},
		{"another page promises more of that target", linked("http://h.test/", "http://g.test/", "even"), 0.9,
			0.5*(0.5*0.9) + 0.5*(0.8*0.5+0.2*1)},
		{"one that promises less changes nothing", linked("http://i.test/", "http://g.test/", "even"), 0.6,
			0.5*(0.5*0.9) + 0.5*(0.8*0.5+0.2*1)},
	} {
		if got := show(s, test.page, test.similarity); math.Abs(got[0]-test.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", test.name, got[0], test.want)
		}
	}
}

func TestFishSwimsToFood(t *testing.T) {
	f := NewFish(0.5)
	good := show(f, wide("http://good.test/", "http://g.test/", 20), 0.9)
	poor := show(f, wide("http://poor.test/", "http://p.test/", 20), 0.1)
	order := []struct {
		name     string
		priority float64
	}{
		{"the first 15 links of a relevant page", good[14]},
		{"the first 10 links of another", poor[9]},
		{"its further links", poor[10]},
	}
	for i := 1; i < len(order); i++ {
		if order[i-1].priority <= order[i].priority {
			t.Errorf("%s (%v) are not before %s (%v)", order[i-1].name, order[i-1].priority, order[i].name, order[i].priority)
		}
	}
	if good[15] >= poor[9] {
		t.Errorf("link 16 of a relevant page (%v) is before the first ones of another (%v)", good[15], poor[9])
	}
	// After three pages without relevance, links come last.
	at := "http://g.test/0"
	for depth := range 3 {
		next := fmt.Sprintf("http://deep.test/%d", depth)
		s := show(f, linked(at, next, "x"), 0.1)
		if dead := s[0] < 0.25; dead != (depth == 2) {
			t.Errorf("after %d pages without food the link has %v", depth+1, s[0])
		}
		at = next
	}
}

// TestOPICKeepsCash checks that cash moves from pages to their targets without loss.
func TestOPICKeepsCash(t *testing.T) {
	o := NewOPIC()
	a := &page.Page{URL: "http://a.test/", Links: []page.Link{{URL: "http://b.test/"}, {URL: "http://c.test/"}, {URL: "http://b.test/"}}}
	if s := show(o, a, 0); math.Abs(s[0]-0.5/1.5) > 1e-12 || s[0] != s[1] || s[2] != s[0] {
		t.Errorf("two targets of one start page have %v, want 0.5 / 1.5 each", s)
	}
	if s := show(o, linked("http://b.test/", "http://c.test/", ""), 0); math.Abs(s[0]-0.5) > 1e-12 {
		t.Errorf("the target with all the cash has %v, want 1 / (1 + 1)", s[0])
	}
	if s := show(o, a, 0); s[1] != 0.5 {
		t.Errorf("a page shared its cash out twice: %v", s)
	}
}

// TestHITSRaisesHubs checks that of two equally good pages the better hub raises its other links.
func TestHITSRaisesHubs(t *testing.T) {
	h := NewHITS()
	for i := range 8 {
		show(h, &page.Page{URL: fmt.Sprintf("http://good.test/%d", i)}, 0.9)
	}
	hub := linked("http://hub.test/", "http://new.test/hub", "")
	for i := range 8 {
		hub.Links = append(hub.Links, page.Link{URL: fmt.Sprintf("http://good.test/%d", i)})
	}
	show(h, hub, 0.6)
	show(h, linked("http://other.test/", "http://new.test/other", ""), 0.6)
	for i := range hubEvery { // until hubs are computed
		show(h, &page.Page{URL: fmt.Sprintf("http://far.test/%d", i)}, 0.1)
	}
	a, _ := h.Rescore(page.Key("http://new.test/hub"))
	b, _ := h.Rescore(page.Key("http://new.test/other"))
	if a <= b {
		t.Errorf("what the hub names has %v, what the other page names %v", a, b)
	}
}

// TestContextGraphLearnsLayers checks that a new list page, off topic but close to it, ranks above an
// unrelated page.
func TestContextGraphLearnsLayers(t *testing.T) {
	g := NewContextGraph(0.5)
	for i := range 60 {
		gold := fmt.Sprintf("http://gold.test/%d", i)
		list := linked(fmt.Sprintf("http://list.test/%d", i), gold, "")
		list.Text = "list of entries by name"
		show(g, list, 0.1)
		show(g, &page.Page{URL: gold, Text: "gold in all its forms"}, 0.9)
		dead := linked(fmt.Sprintf("http://dead.test/%d", i), fmt.Sprintf("http://end.test/%d", i), "")
		dead.Text = "sorry nothing here at present"
		show(g, dead, 0.1)
	}
	for key, n := range g.at {
		if want := map[string]int{"list": 1, "gold": 0}; n.layer != want["list"] && n.layer != want["gold"] && n.layer != layerOther {
			t.Fatalf("page %d is in layer %d", key, n.layer)
		}
	}
	list, dead := linked("http://list.test/new", "http://a.test/", ""), linked("http://dead.test/new", "http://b.test/", "")
	list.Text, dead.Text = "list of entries by name", "sorry nothing here at present"
	a, b := show(g, list, 0.1), show(g, dead, 0.1)
	if a[0] <= b[0] {
		t.Errorf("a link of a list has %v, of a page of no use %v", a[0], b[0])
	}
	if s := show(g, linked("http://gold.test/new", "http://c.test/", ""), 0.9); s[0] <= a[0] {
		t.Errorf("a link of a page on topic has %v, of a list %v", s[0], a[0])
	}
}

// TestACHEPrefersFreshHosts checks that among equal links the host with fewest pages comes first.
func TestACHEPrefersFreshHosts(t *testing.T) {
	a := NewACHE(0.5)
	show(a, &page.Page{URL: "http://old.test/1"}, 0.9)
	p := &page.Page{URL: "http://p.test/", Links: []page.Link{{URL: "http://old.test/2"}, {URL: "http://new.test/2"}}}
	if s := show(a, p, 0.7); s[0] >= s[1] {
		t.Errorf("priorities %v: the new host is not ahead", s)
	}
}

// TestACHELearnsLinks checks that a new link model takes effect every fifty pages.
func TestACHELearnsLinks(t *testing.T) {
	a := NewACHE(0.5)
	p := &page.Page{URL: "http://p.test/", Links: []page.Link{{URL: "http://x.test/", Anchor: "gold"}, {URL: "http://y.test/", Anchor: "dust"}}}
	for i := range 13 {
		if s := a.ScoreLinks(nil, p, 0.1); s[0] != s[1] {
			t.Fatalf("after %d pages links have %v", 4*i, s)
		}
		show(a, linked(fmt.Sprintf("http://p.test/%d", i), fmt.Sprintf("http://good.test/%d", i), "gold"), 0.1)
		show(a, linked(fmt.Sprintf("http://q.test/%d", i), fmt.Sprintf("http://bad.test/%d", i), "dust"), 0.9)
		show(a, &page.Page{URL: fmt.Sprintf("http://good.test/%d", i)}, 0.5)
		show(a, &page.Page{URL: fmt.Sprintf("http://bad.test/%d", i)}, 0.4)
	}
	if s := a.ScoreLinks(nil, p, 0.1); s[0] <= s[1] {
		t.Errorf("after 52 pages links have %v; those of gold led to the topic", s)
	}
}

// TestAnthelionFocusesByHost checks that hosts outrank links, and links decide within a host.
func TestAnthelionFocusesByHost(t *testing.T) {
	a := NewAnthelion(0.5)
	for i := range 4 {
		show(a, linked(fmt.Sprintf("http://p.test/%d", i), fmt.Sprintf("http://good.test/%d", i), "gold"), 0.1)
		show(a, linked(fmt.Sprintf("http://q.test/%d", i), fmt.Sprintf("http://bad.test/%d", i), "dust"), 0.9)
		show(a, &page.Page{URL: fmt.Sprintf("http://good.test/%d", i)}, 0.5)
		show(a, &page.Page{URL: fmt.Sprintf("http://bad.test/%d", i)}, 0.4)
	}
	p := &page.Page{URL: "http://p.test/", Links: []page.Link{
		{URL: "http://bad.test/x", Anchor: "gold"}, {URL: "http://new.test/", Anchor: "gold"},
		{URL: "http://good.test/x", Anchor: "dust"}, {URL: "http://good.test/y", Anchor: "gold"},
	}}
	if s := show(a, p, 0.1); !slices.IsSorted(s) {
		t.Errorf("priorities %v of links from bad to good", s)
	}
	if s, ok := a.Rescore(page.Key("http://good.test/y")); !ok || s < 0.83 {
		t.Errorf("priority %v of a link to a host with 4 of 4 pages on topic", s)
	}
}

// TestRandomIsFair checks that an early and a late URL each win about half of the draws.
func TestRandomIsFair(t *testing.T) {
	wins := 0
	const rounds = 2000
	for seed := range uint64(rounds) {
		r := NewRandom(seed)
		show(r, linked("http://a.test/", "http://first.test/", ""), 0)
		show(r, linked("http://b.test/", "http://last.test/", ""), 0)
		first, _ := r.Rescore(page.Key("http://first.test/"))
		last, _ := r.Rescore(page.Key("http://last.test/"))
		if first > last {
			wins++
		}
	}
	r, key := NewRandom(1), page.Key("http://first.test/")
	once, _ := r.Rescore(key)
	same, _ := r.Rescore(key)
	show(r, linked("http://a.test/", "http://b.test/", ""), 0)
	again, _ := r.Rescore(key)
	if once != same || once == again || once < 0 || once >= 1 || again < 0 || again >= 1 {
		t.Errorf("a URL draws %v, in the same round %v, after a page %v; want one number in [0,1) a round", once, same, again)
	}
	if math.Abs(float64(wins)-rounds/2) > 3*math.Sqrt(rounds)/2 {
		t.Errorf("the first of two URLs won %d of %d draws", wins, rounds)
	}
}

func goldJudge(d features.Doc) float64 {
	if strings.Contains(d.Title+d.Text, "gold") {
		return 0.95
	}
	if d.Title == "even" {
		return 0.5
	}
	return 0.05
}

func wide(url, to string, links int) *page.Page {
	p := &page.Page{URL: url}
	for i := range links {
		p.Links = append(p.Links, page.Link{URL: fmt.Sprint(to, i)})
	}
	return p
}

func linked(from, to, anchor string) *page.Page {
	return &page.Page{URL: from, Links: []page.Link{{URL: to, Anchor: anchor}}}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) < 1e-9) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// TestBayes computes the classifier by hand: class 0 has words 1, 1, 2, class 1 has 2, 3, so counts are
// over 3+3+1 and 2+3+1.
func TestBayes(t *testing.T) {
	b := newBayes(3)
	b.learn([]token{1, 1, 2}, 0)
	b.learn([]token{2, 3}, 1)
	if b.ready() {
		t.Error("it is ready without a text of class 2")
	}
	logs := b.logs(nil, []token{1, 2, 9}) // 9 is unknown
	near(t, "the logarithm by class 0", logs[0], math.Log(3./7*2/7))
	near(t, "the logarithm by class 1", logs[1], math.Log(1./6*2/6))
	if !math.IsInf(logs[2], -1) {
		t.Errorf("class 2 without a text has %v", logs[2])
	}
	probs := softmax(logs)
	near(t, "the probability of class 0", probs[0], (6./49)/(6./49+2./36))
	near(t, "that of class 2", probs[2], 0)
	copied := b.clone()
	if b.learn([]token{1}, 2); !b.ready() || copied.ready() {
		t.Errorf("with a text of each class it is ready: %v, its copy from before: %v", b.ready(), copied.ready())
	}
	near(t, "the word 1 by class 2", b.logs(nil, []token{1})[2], math.Log(2./5))
	near(t, "a probability of far logarithms", softmax([]float64{-2000, -2000 + math.Log(3)})[1], 0.75)
}

// taught returns a classifier for which word 1 has class 1 with probability 2/3.
func taught() *bayes {
	b := newBayes(2)
	b.learn([]token{2}, 0)
	b.learn([]token{1}, 1)
	return b
}

// TestLevels computes ACHE's and Anthelion's priorities by hand; levels dominate.
func TestLevels(t *testing.T) {
	link := &hostLink{page: 0.4, words: []token{1}, host: &hostYield{pages: 4, relevant: 1}}
	ache := &ache{}
	near(t, "ACHE's worth before it has a model", ache.worth(link), 0.4)
	ache.model = taught()
	worth := (0.4 + 2./3) / 2
	near(t, "ACHE's worth", ache.worth(link), worth)
	near(t, "ACHE's priority", ache.priority(link), (math.Floor(worth*acheLevels)+1./5)/(acheLevels+1))
	link.page, ache.model = 1, nil
	near(t, "ACHE's priority of a sure link", ache.priority(link), (acheLevels-1+1./5)/(acheLevels+1))

	link.page = 0.4
	anthelion := &anthelion{linkPolicy{links: newBayes(2)}}
	const level = 333 // of 1000: the host's success (1 + 1)/(4 + 2)
	near(t, "Anthelion's priority before it has learned", anthelion.priority(link), (level+0.4*(1-1e-6))/(hostLevels+1))
	anthelion.links = taught()
	near(t, "Anthelion's priority", anthelion.priority(link), (level+2./3*(1-1e-6))/(hostLevels+1))
}

// TestLayers checks pages' layers and the priorities of their links.
func TestLayers(t *testing.T) {
	g := NewContextGraph(0.5)
	add := func(key uint64, word token, onTopic bool, links ...uint64) {
		g.add(&layered{key: key, layer: layerOther, words: []token{word}, links: links}, onTopic)
	}
	for key := uint64(1); key <= 6; key++ { // 6 → 5 → … → 1
		add(key, token(key), false, key-1)
	}
	add(0, 100, true)
	for key, want := range []int{0, 1, 2, 3, 4, layerOther, layerOther} {
		if got := g.at[uint64(key)].layer; got != want {
			t.Errorf("the page %d links away is in layer %d, want %d", key, got, want)
		}
	}
	add(7, 200, false, 2) // fetched after the page it links to
	if got := g.at[7].layer; got != 3 {
		t.Errorf("a page that links to layer 2 is in layer %d", got)
	}
	add(8, 201, false, 0, 9) // links to the topic and to another page that does
	add(9, 202, false, 0)
	if got := g.at[8].layer; got != 1 {
		t.Errorf("a page that links to the topic is in layer %d after another such page came, want 1", got)
	}
	for _, n := range g.pages {
		for range 20 {
			n.words = append(n.words, n.words[0])
		}
	}
	g.fit()
	for word, want := range map[token]int{1: 1, 2: 2, 4: 4, 6: layerOther} {
		layer, sure := g.classify([]token{word, word, word})
		if layer != want || layer != layerOther && !(sure > layerSure && sure <= 1) {
			t.Errorf("words of page %d are of layer %d with probability %v, want layer %d", word, layer, sure, want)
		}
	}
	even := &contextGraph{model: newBayes(layerOther + 1)} // two equally likely layers, at the threshold
	even.model.learn([]token{1}, 1)
	even.model.learn([]token{1}, 2)
	if layer, sure := even.classify([]token{1}); layer != 1 || sure != layerSure {
		t.Errorf("of two layers as likely it is %d with probability %v, want the nearer one with %v", layer, sure, layerSure)
	}
	far := &page.Page{URL: "http://x.test/", Title: "nothing", Links: []page.Link{{URL: "http://y.test/"}, {URL: "http://z.test/"}}}
	near(t, "a link of a page that is far from all", g.ScoreLinks(nil, far, 0.2)[0], 0.2/(layerOther+1))
	near(t, "a link of a page on topic", g.ScoreLinks(nil, far, 0.6)[1], (layerOther+0.6)/(layerOther+1))
	near(t, "a link of a page just on topic", NewContextGraph(0.5).ScoreLinks(nil, far, 0.5)[0], (layerOther+0.5)/(layerOther+1))
	if g.ScorePage(&page.Page{URL: "http://just.test/"}, 0.5); g.at[page.Key("http://just.test/")].layer != 0 {
		t.Error("a page just on topic is not in layer 0")
	}
	near(t, "that link of a page of less", g.ScoreLinks(nil, far, 0.2)[1], (layerOther+0.6)/(layerOther+1))
}

// TestDistil computes HITS by hand. Hubs a (R = 0.5) and b (0.25) link to x (0.8) and y (0.4): a to both and
// itself, b to y. The hub scores fulfil λ·h = M·h with
//
//	M(a,a) = 0.8·0.5 + 0.4·0.5 = 0.6   M(a,b) = 0.4·0.25 = 0.1
//	M(b,a) = 0.4·0.5 = 0.2             M(b,b) = 0.4·0.25 = 0.1
//
// so λ = 0.35 + √0.33/2 = 0.637228 and h(b)/h(a) = (λ − 0.6)/0.1 = 0.372281. Queued targets have authority
// 0.5·h(a) from a and 0.25·h(b) from b: the second is 0.186141 of the first.
func TestDistil(t *testing.T) {
	h := NewHITS()
	links := func(url string, to ...string) *page.Page {
		p := &page.Page{URL: url}
		for _, u := range to {
			p.Links = append(p.Links, page.Link{URL: u})
		}
		return p
	}
	show(h, links("http://x.test/"), 0.8)
	show(h, links("http://y.test/"), 0.4)
	show(h, links("http://a.test/", "http://x.test/", "http://y.test/", "http://a.test/", "http://first.test/"), 0.5)
	show(h, links("http://b.test/", "http://y.test/", "http://second.test/"), 0.25)
	h.distil()
	first, _ := h.Rescore(page.Key("http://first.test/"))
	near(t, "what a names", first, (0.5+1)/2)
	second, _ := h.Rescore(page.Key("http://second.test/"))
	near(t, "what b names", second, (0.25+(10*(0.35+math.Sqrt(0.33)/2)-6)/2)/2)
}

// TestFishPlaces computes places by hand. The first page's age is 1/1001, the second's 2/1002.
func TestFishPlaces(t *testing.T) {
	f := NewFish(0.5)
	good := show(f, wide("http://good.test/", "http://g.test/", 16), 0.5)
	near(t, "the first link of a relevant page", good[0], (3+1./1001)/4)
	near(t, "its last that counts", good[14], (3+1./1001)/4)
	near(t, "one beyond its width", good[15], (1+1000./1001)/4)
	poor := show(f, wide("http://g.test/0", "http://p.test/", 11), 0.4)
	near(t, "the last link of another that counts", poor[9], (2+2./1002)/4)
	near(t, "one beyond its width", poor[10], (1+1000./1002)/4)
	near(t, "a link that a relevant page has too", show(f, wide("http://p.test/0", "http://g.test/", 1), 0.4)[0], good[0])
	near(t, "a link of another, raised by a relevant page", show(f, wide("http://s.test/", "http://p.test/", 2), 0.9)[1], (3+4./1004)/4)
	dead := show(f, wide("http://p.test/2", "http://d.test/", 1), 0.4) // after g.test/0, the second page without relevance
	near(t, "the third page without food", show(f, wide("http://d.test/0", "http://e.test/", 1), 0.4)[0], (0+1000./1006)/4)
	near(t, "a link of the second", dead[0], (2+5./1005)/4)

	// Pages at depth 2 and 1 both link here. The later link sets the place, and the greater depth is
	// kept, so that its own links survive.
	show(f, wide("http://g.test/1", "http://t.test/", 1), 0.4)
	show(f, wide("http://p.test/3", "http://t.test/", 1), 0.4)
	near(t, "a link of a page that two lead to", show(f, wide("http://t.test/0", "http://u.test/", 1), 0.4)[0], (2+9./1009)/4)
}

// TestInfoSpiders computes the network by hand. Around the first link "mine" is two words from the middle
// of the context and "gold" one, so they weigh 1/3 and 1/2; "gold" in the anchor weighs 1.
func TestInfoSpiders(t *testing.T) {
	k, err := relevance.NewKeywords([]string{"gold", "silver mine"})
	if err != nil {
		t.Fatal(err)
	}
	sigma := func(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
	s, rich, none := NewInfoSpiders(k), sigma(5./6), sigma(-1)
	first := linked("http://a.test/", "http://b.test/", "Gold!")
	first.Links[0].Context = "mine of old gold here"
	near(t, "a link with words", show(s, first, 0.2)[0], 0.5*rich+0.5*0.2)
	if got, ok := s.Rescore(page.Key("http://b.test/")); !ok || math.Abs(got-(0.5*rich+0.1)) > 1e-12 {
		t.Errorf("rescored it has %v", got)
	}
	// The wanted output is 0.6 plus half of the best link's estimate.
	show(s, &page.Page{URL: "http://b.test/", Links: []page.Link{{URL: "http://c.test/"}, {URL: "http://d.test/"}}}, 0.6)
	step := 0.05 * (0.6 + 0.5*none - rich)
	for i, want := range []float64{1 + 1.5*step, 1, 1 + step/3, -1 + step} {
		near(t, "a weight after a page", s.weight[i], want)
	}
	// A wanted output above 1 counts as 1.
	c := -1 + step
	show(s, linked("http://c.test/", "http://e.test/", ""), 0.99)
	near(t, "the bias after a second page", s.weight[3], c+0.05*(1-sigma(c)))

	// The best of several links to a target counts.
	s = NewInfoSpiders(k)
	for _, link := range []struct {
		anchor           string
		similarity, want float64
	}{{"gold", 0.2, 0.5*0.5 + 0.1}, {"", 0.1, 0.5*0.5 + 0.1}, {"", 0.8, 0.5*none + 0.4}} {
		near(t, "the best link so far", show(s, linked("http://from.test/", "http://to.test/", link.anchor), link.similarity)[0], link.want)
	}
}

// TestBestPage checks that the best of several parents counts.
func TestBestPage(t *testing.T) {
	links := newLinkPolicy(0.5)
	links.rank = func(l *hostLink) float64 { return l.page }
	for _, c := range [][2]float64{{0.2, 0.2}, {0.6, 0.6}, {0.3, 0.6}} {
		got := links.ScoreLinks(nil, linked("http://a.test/", "http://b.test/", ""), c[0])
		near(t, "the best page that links there", got[0], c[1])
	}
}
