package known

import (
	"math"
	"testing"

	"fossick/page"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) < 1e-9) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// TestBayes works a multinomial naive Bayes classifier out by hand: class 0 has words 1, 1, 2,
// class 1 has 2, 3; so there are three words, and each count is over 3+3+1 or 2+3+1.
func TestBayes(t *testing.T) {
	b := newBayes(3)
	b.learn([]token{1, 1, 2}, 0)
	b.learn([]token{2, 3}, 1)
	if b.ready() {
		t.Error("it is ready without a text of class 2")
	}
	logs := b.logs(nil, []token{1, 2, 9}) // nobody knows 9
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

// taught returns a classifier of links by which word 1 is of class 1 with probability 2/3.
func taught() *bayes {
	b := newBayes(2)
	b.learn([]token{2}, 0)
	b.learn([]token{1}, 1)
	return b
}

// TestLevels: ACHE's and Anthelion's priorities by hand. A link's level is more than all that
// is within a level.
func TestLevels(t *testing.T) {
	link := &hostLink{page: 0.4, words: []token{1}, host: &hostYield{pages: 3, relevant: 1}}
	ache := &ACHE{}
	near(t, "ACHE's worth before it has a model", ache.worth(link), 0.4)
	ache.model = taught()
	worth := (0.4 + 2./3) / 2
	near(t, "ACHE's worth", ache.worth(link), worth)
	near(t, "ACHE's priority", ache.priority(link), (math.Floor(worth*acheLevels)+1./4)/(acheLevels+1))
	link.page, ache.model = 1, nil
	near(t, "ACHE's priority of a sure link", ache.priority(link), (acheLevels-1+1./4)/(acheLevels+1))

	link.page = 0.4
	anthelion := &Anthelion{links: newBayes(2)}
	level := math.Floor(link.host.success() * hostLevels)
	near(t, "Anthelion's priority before it has learned", anthelion.priority(link), (level+0.4*(1-1e-6))/(hostLevels+1))
	anthelion.links = taught()
	near(t, "Anthelion's priority", anthelion.priority(link), (level+2./3*(1-1e-6))/(hostLevels+1))
}

// TestLayers: pages get the layer of their distance to a page on topic, and links the priority
// of their page's layer.
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
	add(7, 200, false, 2) // it comes after the page that it leads to
	if got := g.at[7].layer; got != 3 {
		t.Errorf("a page that links to layer 2 is in layer %d", got)
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
	far := &page.Page{URL: "http://x.test/", Title: "nothing", Links: []page.Link{{URL: "http://y.test/"}, {URL: "http://z.test/"}}}
	near(t, "a link of a page that is far from all", g.ScoreLinks(nil, far, 0.2)[0], 0.2/(layerOther+1))
	near(t, "a link of a page on topic", g.ScoreLinks(nil, far, 0.6)[1], (layerOther+0.6)/(layerOther+1))
	near(t, "that link of a page of less", g.ScoreLinks(nil, far, 0.2)[1], (layerOther+0.6)/(layerOther+1))
}
