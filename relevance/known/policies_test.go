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

// show tells a policy of a page and returns the priorities of its links.
func show(p relevance.Policy, pg *page.Page, similarity float64) []float64 {
	p.ScorePage(pg, similarity)
	return p.ScoreLinks(nil, pg, similarity)
}

// TestShark computes the formulas of the paper by hand.
func TestShark(t *testing.T) {
	s := NewShark(goldJudge, 0.5) // says 0.95 of gold, 0.5 of even, 0.05 of all else
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
	// Three pages without food, and the fish dies: its links come last.
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

// TestOPICKeepsCash: what pages give is what waiting targets have.
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

// TestHITSRaisesHubs: of two pages as good, the one that links to many good pages
// is the hub, and what else it names comes first.
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
	for i := range hubEvery { // until hubs are looked for
		show(h, &page.Page{URL: fmt.Sprintf("http://far.test/%d", i)}, 0.1)
	}
	a, _ := h.Rescore(page.Key("http://new.test/hub"))
	b, _ := h.Rescore(page.Key("http://new.test/other"))
	if a <= b {
		t.Errorf("what the hub names has %v, what the other page names %v", a, b)
	}
}

// TestContextGraphLearnsLayers: lists lead to gold; after some of each, a new list,
// itself off topic, must come before a page of no use.
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

// TestACHEPrefersFreshHosts: of links that are worth the same, that to the host
// which gave fewest pages comes first.
func TestACHEPrefersFreshHosts(t *testing.T) {
	a := NewACHE(0.5)
	show(a, &page.Page{URL: "http://old.test/1"}, 0.9)
	p := &page.Page{URL: "http://p.test/", Links: []page.Link{{URL: "http://old.test/2"}, {URL: "http://new.test/2"}}}
	if s := show(a, p, 0.7); s[0] >= s[1] {
		t.Errorf("priorities %v: the new host is not ahead", s)
	}
}

// TestACHELearnsLinks: every fifty pages it takes in what the links that led to them have taught.
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

// TestAnthelionFocusesByHost: the host with the better share of pages on topic is ahead,
// whatever the links say; within a host the better link is.
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

// TestRandomIsFair draws a URL that came first and one that came last against each
// other: both win about half of the time.
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

// goldJudge says what it is to say of gold, and of all else.
func goldJudge(d features.Doc) float64 {
	if strings.Contains(d.Title+d.Text, "gold") {
		return 0.95
	}
	if d.Title == "even" {
		return 0.5
	}
	return 0.05
}

// wide returns a page with links that are numbered from 0.
func wide(url, to string, links int) *page.Page {
	p := &page.Page{URL: url}
	for i := range links {
		p.Links = append(p.Links, page.Link{URL: fmt.Sprint(to, i)})
	}
	return p
}

// linked returns a page with one link.
func linked(from, to, anchor string) *page.Page {
	return &page.Page{URL: from, Links: []page.Link{{URL: to, Anchor: anchor}}}
}
