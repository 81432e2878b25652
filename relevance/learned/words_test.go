package learned

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"fossick/internal/page"
	"fossick/models/features"
)

// TestWordTableAgainstMaps compares a table with a map of two halves.
func TestWordTableAgainstMaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, limit := range []int{1, 7, 600, 3000} {
		table, maps := newWordTable(limit), page.NewRecent[record](limit)
		for i := range 20_000 {
			w := 1 + token(rng.ExpFloat64()*float64(limit))
			if i%3 == 0 {
				want, known := maps.Peek(uint64(w))
				if got := table.find(w); (got.token != 0) != known || got.page != want {
					t.Fatalf("limit %d, step %d: word %d is %v, want %v, known %v", limit, i, w, *got, want, known)
				}
				continue
			}
			r, known := maps.Get(uint64(w))
			r.add(float64(i % 2))
			if known {
				maps.Set(uint64(w), r)
			} else {
				maps.Put(uint64(w), r)
			}
			table.use(w).page.add(float64(i % 2))
		}
		if n := maps.Young(); table.n != n {
			t.Errorf("limit %d: %d words in the young half, want %d", limit, table.n, n)
		}
	}
}

// TestLearnedAround checks that a context with words typical of pages on topic raises a link, whether it
// came with the page or is read from the link.
func TestLearnedAround(t *testing.T) {
	share := map[string]float64{"fern": 0.01, "spore": 0.01, "street": 0.4, "citi": 0.4}
	background := NewBackground(func(yield func(string, float64) bool) {
		for w, s := range share {
			yield(w, s)
		}
	})
	silent := func(features.Doc) float64 { return 0.5 }
	text := "fern and spore by street or city"
	p := &page.Page{URL: "http://p.test/", Text: text, Lang: "en", Links: []page.Link{
		{URL: "http://t.test/1", Anchor: "x", Context: "fern and spore"}, {URL: "http://t.test/2", Anchor: "x", Context: "street or city"},
		{URL: "http://t.test/3", Anchor: "x"},
	}}
	crawl := func() *Scorer {
		l := New(silent, Options{Cut: 0.5, Background: background})
		for n := range 10 {
			l.ScorePage(&page.Page{URL: fmt.Sprintf("http://p%d.test/", n), Text: text, Lang: "en"}, 0.9)
		}
		return l
	}
	l := crawl()
	l.ScorePage(p, 0.9)
	s := l.ScoreLinks(nil, p, 0.9)
	if s[0] < 1.2*s[1] || s[1] < s[2] {
		t.Errorf("%v for a link among words of the topic, among common ones, among none; want each better than the next", s)
	}
	r := newWordReader()
	words := func(text string) []token { return append([]token(nil), r.tokens.Append(nil, text, "en")...) }
	around := &Around{}
	for _, link := range p.Links {
		around.Wanted = append(around.Wanted, true)
		around.Judged = append(around.Judged, 0.5)
		around.Words = append(around.Words, words(link.Context)...)
		around.Ends = append(around.Ends, len(around.Words))
	}
	l = crawl()
	l.ScoreWords(p, 0.9, words(text), around)
	for i, got := range l.ScoreLinks(nil, p, 0.9) {
		if got != s[i] {
			t.Errorf("link %d: %v by what came with the page, %v as read from the link", i, got, s[i])
		}
	}
}

func TestBackgroundOver(t *testing.T) {
	b := NewBackground(maps.All(map[string]float64{"japan": 0.4, "fern": 0.01, "none": 0, "much": 2, "nothing": math.NaN()}))
	for _, test := range []struct {
		word    string
		on, all float32
		want    float64
	}{
		{"japan", 0, 0, 0}, // no evidence yet
		{"fern", 0, 0, 0},
		{"japan", 40, 98, math.Log(40.8 / 100 / 0.4)},
		{"fern", 40, 98, math.Log(40.02 / 100 / 0.01)},
		{"new", 40, 98, math.Log((40 + 2*0.01/8) / 100 / (0.01 / 8))}, // rarer than the rarest known word
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

// TestBackgroundTellsCommonWords checks that of two words on all of the crawl's pages the one that is rare at
// large makes the better link.
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

// TestStartPagesCorrect checks that words of the start pages raise a page's links but not its own score.
func TestStartPagesCorrect(t *testing.T) {
	for _, starts := range []int{0, 1, 2, 5} {
		l := New(goldJudge, Options{Cut: 0.5, Order: plainOrder()})
		for n := range starts {
			p := &page.Page{URL: fmt.Sprintf("http://start.test/%d", n), Text: fmt.Sprintf("quartz feldspar mica own%d", n)}
			l.Start(page.Key(p.URL), false)
			l.ScorePage(p, 0.3)
		}
		for n := range 30 {
			p := &page.Page{URL: fmt.Sprintf("http://p.test/%d", n), Text: "football hockey tennis"}
			judged := 0.2
			if n%3 == 0 {
				p.Text, judged = "quartz mica and tennis", 0.6
			}
			l.ScorePage(p, judged)
		}
		believed := func(name, text string) float64 {
			p := linked("http://"+name+".test/", "http://t.test/"+name, "x")
			p.Text = text
			if s := l.ScorePage(p, 0.3); s.Value != 0.3 {
				t.Errorf("%d start pages: page %s has %v, want the judge's 0.3", starts, name, s.Value)
			}
			l.ScoreLinks(nil, p, 0.3)
			e, _ := l.links.waiting.Peek(page.Key("http://t.test/" + name))
			return float64(e.prob.max)
		}
		near, far := believed("near", "quartz feldspar mica"), believed("far", "football hockey score")
		if starts < 2 && (math.Abs(near-0.3) > 1e-6 || math.Abs(far-0.3) > 1e-6) {
			t.Errorf("%d start pages: %v and %v, want the judge's 0.3: one page's words are its own", starts, near, far)
		}
		if starts >= 2 && !(near > 0.3 && far < 0.3) {
			t.Errorf("%d start pages: %v with their words and %v without, want them above and below 0.3", starts, near, far)
		}
	}
}

// TestSimilarityBounded checks the limits on start pages and on the shift.
func TestSimilarityBounded(t *testing.T) {
	k := newStartPages()
	for n := range token(5 * maxStarts) {
		k.add(startPage{Words: []token{n, n + 1}})
	}
	if len(k.having) != maxStarts+1 {
		t.Errorf("%d words of start pages, want those of the first %d", len(k.having), maxStarts)
	}
	for n := range 1000 {
		k.shift(float64(n%2), 0.1+0.8*float64(n%2))
	}
	for _, similarity := range []float64{-1e9, 0, 0.5, 1e9} {
		if z := (&startPages{on: k.on, off: k.off}).shift(similarity, 0.5); !(math.Abs(z) <= similarMost) {
			t.Errorf("similarity %v adds %v", similarity, z)
		}
	}
}

func TestVocabularyWorth(t *testing.T) {
	v := newVocabulary()
	v.learnPage([]token{1, 2}, 1, 1)
	v.learnPage([]token{1, 3}, 1, 1)
	v.learnPage([]token{3}, 0, 1)
	v.learnLink([]token{2}, 1)
	const mean = 0.25
	b := base{mean: mean, odds: logit(mean)}
	lift := func(onTopic, pages float64) float64 {
		return logit((onTopic+2*mean)/(pages+2)) - logit(mean)
	}
	for _, test := range []struct {
		name             string
		words            []token
		mean, most, link float64
	}{
		{"none", nil, 0, 0, 0},
		{"a new word", []token{9}, 0, 0, 0},
		{"a good word", []token{1}, lift(2, 2), lift(2, 2), 0},
		{"a good word and a new one", []token{9, 1}, lift(2, 2) / 2, lift(2, 2), 0},
		{"seen once, and half the time", []token{2, 3}, (lift(1, 1) + lift(1, 2)) / 2, lift(1, 1), lift(1, 1) / 2},
	} {
		w := v.worth(test.words, &b)
		mean, most, link := w.mean, w.most, w.inLinks
		if math.Abs(mean-test.mean) > 1e-9 || math.Abs(most-test.most) > 1e-9 || math.Abs(link-test.link) > 1e-9 {
			t.Errorf("%s: worth %v, %v, in links %v; want %v, %v, %v", test.name, mean, most, link, test.mean, test.most, test.link)
		}
	}
}

// TestSameWords checks that word forms, words in URLs and unspaced scripts are matched.
func TestSameWords(t *testing.T) {
	for _, test := range []struct{ lang, text, anchor, url string }{
		{"en", "Two mosques stood here.", "Mosque", "http://h.test/"},
		{"en", "It was a river.", "", "http://h.test/wiki/Long_rivers.html?x=1"},
		{"en", "It was a river.", "", "http://h.test/wiki/the-river/"},
		{"en", "made in café style", "", "http://h.test/caf%C3%A9"},
		{"en", "of space", "", "http://space.test/"},
		{"ja", "東京都は日本の首都である。", "日本", "http://h.test/"},
		{"ko", "서울은 한국의 수도이다.", "한국", "http://h.test/"},
		{"fr", "les rivières de la ville", "Rivière", "http://h.test/"},
	} {
		r := newWordReader()
		known := slices.Clone(r.page(&page.Page{Lang: test.lang, Text: test.text}))
		var words [maxLinkWords]token
		r.anchor(test.anchor, test.lang)
		n := r.link(words[:], test.lang, &page.Link{URL: test.url})
		if !slices.ContainsFunc(words[:n], func(w token) bool { return slices.Contains(known, w) }) {
			t.Errorf("%q: no word of the link %q to %s is found on the page", test.text, test.anchor, test.url)
		}
	}
}

func TestWordReaderIsBounded(t *testing.T) {
	r := newWordReader()
	long := strings.Repeat("ab ", maxPageText) + "last"
	if words := r.page(&page.Page{Text: long}); slices.Contains(words, tokenOf("last")) {
		t.Error("the end of a long page was read")
	}
	var words [maxLinkWords]token
	anchor := "one two three four five six seven eight nine ten eleven"
	r.anchor(anchor, "en")
	if n := r.link(words[:], "en", &page.Link{URL: "http://h.test/"}); n > maxLinkWords {
		t.Errorf("%d words of a link, want %d at most", n, maxLinkWords)
	}
}

func FuzzLastPart(f *testing.F) {
	for _, s := range []string{"", "/", "http://h.test", "http://h.test/a/b_c?d=/e", "%", "http://h.test/%zz%C3%A9", "日本/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, address string) {
		part := lastPart(address)
		if strings.ContainsAny(part, "_-.+") {
			t.Errorf("lastPart(%q) = %q keeps marks between words", address, part)
		}
		if len(part) > 256 {
			t.Errorf("lastPart(%q) has %d bytes", address, len(part))
		}
		if got := folder(address); !strings.HasPrefix(address, got) {
			t.Errorf("folder(%q) = %q is no beginning of it", address, got)
		}
		if utf8.ValidString(address) && !utf8.ValidString(features.Head(address, 7)) {
			t.Errorf("Head(%q, 7) = %q is cut within a character", address, features.Head(address, 7))
		}
	})
}

// TestNearFolders checks how far URLs lie in folders, and start pages together.
func TestNearFolders(t *testing.T) {
	for _, c := range []struct {
		url, folder string
		want        float64
	}{
		{"http://a.test/b/c/d", "http://a.test/b/c/", 1},
		{"https://a.test/b/c/", "http://a.test/b/c/", 1},
		{"http://a.test/b/x/d", "http://a.test/b/c/", 2. / 3},
		{"http://a.test/x/b/c/", "http://a.test/b/c/", 1. / 3},
		{"http://a.test/", "http://a.test/b/", 1. / 2},
		{"http://www.a.test/b/", "http://a.test/b/", 0},
		{"a.test/b", "", 0},
	} {
		if got := near(c.url, c.folder); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s in %s: %.3f, want %.3f", c.url, c.folder, got, c.want)
		}
	}
	s := newStartPages()
	for _, f := range []string{"http://a.test/b/", "http://a.test/c/", "http://d.test/"} {
		s.add(startPage{Folder: f})
	}
	if most, mean := s.near("http://a.test/b/x"); most != 1 || math.Abs(float64(mean)-.5) > 1e-6 {
		t.Errorf("a page of the first folder: at most %v, mean %v; want 1 and 0.5", most, mean)
	}
	if got := s.together(); math.Abs(got-1./6) > 1e-6 {
		t.Errorf("start pages are %v near to each other, want 1/6", got)
	}
}
