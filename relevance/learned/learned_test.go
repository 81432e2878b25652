package learned

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode"

	"fossick/internal/page"
	"fossick/models/features"
	"fossick/relevance"
)

// goldJudge recognises texts with "gold".
func goldJudge(d features.Doc) float64 {
	if strings.Contains(d.Title+d.Text, "gold") {
		return 0.95
	}
	return 0.05
}

func linked(from, to, anchor string) *page.Page {
	return &page.Page{URL: from, Links: []page.Link{{URL: to, Anchor: anchor}}}
}

func TestLearnedPrefers(t *testing.T) {
	type seen struct {
		anchor      string
		probability float64
	}
	score := func(parents ...seen) float64 {
		l := New(goldJudge, Options{Cut: 0.5})
		var s []float64
		for i, p := range parents {
			s = l.ScoreLinks(nil, linked(fmt.Sprintf("http://p%d.test/", i), "http://t.test/", p.anchor), p.probability)
		}
		return s[0]
	}
	for _, test := range []struct {
		name         string
		better, than float64
	}{
		{"a parent on topic", score(seen{"x", 0.9}), score(seen{"x", 0.1})},
		{"an anchor on topic", score(seen{"gold", 0.5}), score(seen{"x", 0.5})},
		{"text to navigation", score(seen{"x", 0.5}), navigated()},
		{"two parents on topic to one", score(seen{"x", 0.9}, seen{"x", 0.9}), score(seen{"x", 0.9})},
		{"one parent to that and a poor one", score(seen{"x", 0.9}), score(seen{"x", 0.9}, seen{"x", 0})},
	} {
		if test.better <= test.than {
			t.Errorf("%s: %v is not above %v", test.name, test.better, test.than)
		}
		if test.better > 1 || test.than < 0 {
			t.Errorf("%s: %v and %v are not both in [0,1]", test.name, test.better, test.than)
		}
	}
}

// navigated is the score of a target with one link, in navigation.
func navigated() float64 {
	p := linked("http://p0.test/", "http://t.test/", "x")
	p.Links[0].Nav = true
	return New(goldJudge, Options{Cut: 0.5}).ScoreLinks(nil, p, 0.5)[0]
}

// TestLearnedReadsWords checks that a word of pages on topic raises links that have it.
func TestLearnedReadsWords(t *testing.T) {
	l := New(goldJudge, Options{Cut: 0.5})
	for i := range 20 {
		p := &page.Page{URL: fmt.Sprintf("http://p%d.test/", i), Text: "quartz and more"}
		if i%2 == 0 {
			p.Text = "football and more"
		}
		l.ScorePage(p, float64(i%2))
	}
	p := &page.Page{URL: "http://p.test/", Links: []page.Link{
		{URL: "http://t.test/1", Anchor: "football"},
		{URL: "http://t.test/2", Anchor: "hockey"}, {URL: "http://t.test/3", Anchor: "quartz"}}}
	s := l.ScoreLinks(nil, p, 0.5)
	if !(s[0] < s[1] && s[1] < s[2]) {
		t.Errorf("scores %v of a word off topic, a new one and one on topic, want them to rise", s)
	}
}

// TestLearnedLearns checks that in worlds with one useful sign the weights learn it.
func TestLearnedLearns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	l := New(goldJudge, Options{Cut: 0.5})
	before := l.model.weights
	for i := range 400 {
		to := fmt.Sprintf("http://t%d.test/", i)
		good := rng.IntN(2) == 0
		from := linked(fmt.Sprintf("http://p%d.test/", i), to, "x")
		from.Links[0].Nav = good // here navigation leads to pages on topic
		l.ScoreLinks(nil, from, 0.5)
		y := 0.0
		if good {
			y = 1
		}
		l.ScorePage(&page.Page{URL: to}, y)
	}
	if now, was := l.model.weights.weight[featNav], before.weight[featNav]; now <= was+0.2 {
		t.Errorf("weight of navigation went from %v to %v, want it to rise well", was, now)
	}
}

func TestLearnedForgetsWhatWasFetched(t *testing.T) {
	l := New(goldJudge, Options{Cut: 0.5})
	target := "http://t.test/"
	l.ScoreLinks(nil, linked("http://p.test/", target, "gold"), 0.9)
	key := page.Key(target)
	if s, known := l.Rescore(key); !known || s <= 0 {
		t.Fatalf("Rescore = %v, %v before the fetch", s, known)
	}
	score := l.ScorePage(&page.Page{URL: target}, 0.8)
	if score.Value != 0.8 || len(spelled(t, score)) < numFeatures {
		t.Errorf("score %+v, want the probability and all terms", score)
	}
	if _, known := l.Rescore(key); known {
		t.Error("evidence is kept after the fetch")
	}
	if s := l.ScoreLinks(nil, linked("http://q.test/", target, "gold"), 0.9); s[0] != 0 || count(&l.links.waiting) != 0 {
		t.Errorf("a link to a fetched page scores %v and leaves %d evidence", s, count(&l.links.waiting))
	}
}

// TestHostRecord checks that good pages of a host raise its queued targets.
func TestHostRecord(t *testing.T) {
	l := New(goldJudge, Options{Cut: 0.5})
	l.ScoreLinks(nil, linked("http://p.test/", "http://h.test/waits", "x"), 0.5)
	before, _ := l.Rescore(page.Key("http://h.test/waits"))
	l.ScorePage(&page.Page{URL: "http://h.test/good"}, 1)
	after, _ := l.Rescore(page.Key("http://h.test/waits"))
	if after <= before {
		t.Errorf("score went from %v to %v after a good page of the host", before, after)
	}
}

// TestTermsAddUp checks that the terms of an explanation add up to the score.
func TestTermsAddUp(t *testing.T) {
	l := New(goldJudge, Options{Cut: 0.5})
	l.ScorePage(&page.Page{URL: "http://h.test/a", Text: "shiny gold"}, 0.9)
	for i := range 6 {
		l.ScoreLinks(nil, linked(fmt.Sprintf("http://p%d.test/", i), "http://h.test/b", "gold ore"), 0.3)
	}
	terms := spelled(t, l.ScorePage(&page.Page{URL: "http://h.test/b"}, 1))
	sum := 0.0
	for _, term := range terms[3:] {
		sum += term.Value
		if term.Name == "" || term.Note == "" {
			t.Errorf("term %+v says nothing", term)
		}
	}
	told := fmt.Sprint(terms)
	for _, fact := range []string{
		"6, mean probability 0.30", "1.8 of them on topic", "in running text", "by its 1 fetched pages", "1 links since a page on topic",
	} {
		if !strings.Contains(told, fact) {
			t.Errorf("terms %v do not tell %q", terms, fact)
		}
	}
	if expected := terms[2].Value; len(terms) != numFeatures+3 || math.Abs(sum-logit(expected)) > 1e-9 {
		t.Errorf("%d terms add up to %v, want %d and %v", len(terms), sum, numFeatures+3, logit(expected))
	}
}

// TestReplayIsTheSame checks that replaying a crawl reproduces the scores of queued targets.
func TestReplayIsTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	var crawl []*page.Page
	for i := range 300 {
		p := &page.Page{URL: fmt.Sprintf("http://h%d.test/%d", i%7, i), Text: fmt.Sprint("gold ", i%11, " word", i%5)}
		for range 10 {
			k := rng.IntN(900)
			p.Links = append(p.Links, page.Link{URL: fmt.Sprintf("http://h%d.test/%d", k%7, k), Anchor: fmt.Sprint("word", k%9), Nav: k%3 == 0})
		}
		crawl = append(crawl, p)
	}
	var scorers [2]*Scorer
	for i := range scorers {
		scorers[i] = New(goldJudge, Options{Cut: 0.5, Explore: 0.05, Seed: 4})
		for n, p := range crawl {
			scorers[i].ScorePage(p, float64(n%4)/3)
			scorers[i].ScoreLinks(nil, p, float64(n%4)/3)
		}
	}
	for k := range 900 {
		key := page.Key(fmt.Sprintf("http://h%d.test/%d", k%7, k))
		a, known := scorers[0].Rescore(key)
		b, too := scorers[1].Rescore(key)
		if a != b || known != too {
			t.Errorf("target %d: %v, %v and %v, %v", k, a, known, b, too)
		}
	}
}

// TestAboveSilence checks that verdicts are relative to an empty text, and bounded.
func TestAboveSilence(t *testing.T) {
	l := New(func(features.Doc) float64 { return 0.01 }, Options{Cut: 0.5})
	for p, want := range map[float64]float64{0: -4, 1: 4, 0.01: 0, 0.002: logit(0.002) - logit(0.01)} {
		if got := l.texts.above(p); math.Abs(got-want) > 1e-12 {
			t.Errorf("above(%v) = %v, want %v", p, got, want)
		}
	}
}

func BenchmarkScoreLinks(b *testing.B) {
	l := New(goldJudge, Options{Cut: 0.5})
	p := &page.Page{URL: "http://p.test/"}
	for i := range 26 {
		p.Links = append(p.Links, page.Link{URL: fmt.Sprintf("http://h%d.test/%d", i%7, i), Anchor: "some words", Context: "twenty words stand around each link so that half of them come before what it says and the rest behind it here"})
	}
	dst := make([]float64, 0, len(p.Links))
	b.ReportAllocs()
	for b.Loop() {
		dst = l.ScoreLinks(dst[:0], p, 0.7)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(p.Links)), "ns/link")
}

// TestSureJudge checks that a judge that answers 0 or 1 gives finite scores.
func TestSureJudge(t *testing.T) {
	for _, sure := range []float64{0, 1} {
		l := New(func(features.Doc) float64 { return sure }, Options{Cut: 0.5})
		p := linked("http://a.test/", "http://b.test/", "gold")
		l.ScorePage(p, sure)
		for _, s := range l.ScoreLinks(nil, p, sure) {
			if !(s >= 0 && s <= 1) {
				t.Errorf("judge of %v: score %v, want one in [0,1]", sure, s)
			}
		}
	}
}

func found(l *Scorer, e *evidence) (x featureVector) {
	l.model.features(&x, e, l.labels.fix)
	return x
}

// naiveEndings computes endings by definition.
func naiveEndings(text string, most int) (all []string) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		letters := []rune(word)
		for i := range letters {
			letters[i] = unicode.ToLower(letters[i])
		}
		for _, n := range []int{3, 4} {
			if len(letters) < shortestEnded || len(all) == most {
				continue
			}
			if e := string(letters[len(letters)-n:]); !slices.Contains(all, e) {
				all = append(all, e)
			}
		}
	}
	return all
}

// TestEndings checks that texts have equal tokens exactly if they have equal endings.
func TestEndings(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"ism", "Hindu", "Buddh", " ", "-", "ology", "Zo", "É", "été", "\xff", "東京銀行", "123", "S", "(", "a"}
	known := map[string]token{}
	used := map[token]string{}
	for range 2000 {
		var b strings.Builder
		for range rng.IntN(12) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		var room [maxEndings]token
		got, want := endings(room[:0], b.String()), naiveEndings(b.String(), maxEndings)
		if len(got) != len(want) {
			t.Fatalf("%q: %d endings, want %q", b.String(), len(got), want)
		}
		for i, w := range want {
			if k, met := known[w]; met && k != got[i] {
				t.Fatalf("%q: %q is %d, and was %d", b.String(), w, got[i], k)
			}
			if other, met := used[got[i]]; met && other != w {
				t.Fatalf("%q and %q have one token", w, other)
			}
			known[w], used[got[i]] = got[i], w
		}
	}
}

func FuzzEndings(f *testing.F) {
	f.Add("Hinduism and Buddhism")
	f.Add("\xff\xfe東京")
	f.Fuzz(func(t *testing.T, text string) {
		var room [maxEndings]token
		got := endings(room[:0], text)
		if len(text) <= maxAnchor && len(got) != len(naiveEndings(text, maxEndings)) {
			t.Errorf("%q: %d endings, want %q", text, len(got), naiveEndings(text, maxEndings))
		}
	})
}

// TestLearnedEnding checks that a new word is scored by its ending.
func TestLearnedEnding(t *testing.T) {
	l := New(goldJudge, Options{Cut: 0.5})
	p := &page.Page{URL: "http://list.test/"}
	for i, name := range []string{"Hinduism", "Jainism", "Taoism", "Volleyball", "Handball", "Baseball", "Shintoism", "Softball"} {
		p.Links = append(p.Links, page.Link{URL: fmt.Sprintf("http://t.test/%d", i), Anchor: name})
		for range 2 * nearBy { // keep the links apart
			p.Links = append(p.Links, page.Link{URL: "http://list.test/", Anchor: "itself"})
		}
	}
	l.ScorePage(p, 0.5)
	l.ScoreLinks(nil, p, 0.5)
	for i := range 6 {
		l.ScorePage(&page.Page{URL: fmt.Sprintf("http://t.test/%d", i)}, truth(i < 3))
	}
	score := func(i int) float64 { s, _ := l.Rescore(page.Key(fmt.Sprintf("http://t.test/%d", i))); return s }
	if ism, ball := score(6), score(7); ism < 1.2*ball {
		t.Errorf("%v for another -ism, %v for another -ball; three of the first were on topic, of the second none", ism, ball)
	}
}

// TestLearnedMemory fills a scorer to a sixteenth of its capacity; 16 times its memory must stay under
// 85 MiB.
func TestLearnedMemory(t *testing.T) {
	const part = 16
	before := heapInUse()
	l := New(goldJudge, Options{Cut: 0.5, Explore: 0.02})
	l.divide(2 * part)
	for n := range 2 * maxFetched / part {
		l.links.fetched.Put(uint64(n), known{probability: 0.5})
	}
	for n := range 2 * maxVocabulary / part {
		l.model.words.learnPage([]token{token(n)}, 0.5, 1)
		l.model.words.learnLink([]token{token(n)}, 0.5)
	}
	for n := range maxPastWords / part / 300 { // as in running text of 1,000 words
		l.history.add(&pastPage{key: uint64(n), words: make([]token, 300), links: make([]token, maxLinkWords+maxEndings), named: make([]naming, maxNamings), source: &source{}})
	}
	const links = 50
	for n := range 2 * maxTargets / part / links {
		p := &page.Page{URL: fmt.Sprintf("http://p%d.test/%d/", n, n)}
		for i := range links {
			p.Links = append(p.Links, page.Link{URL: fmt.Sprintf("http://h%d.test/%d/%d", n, n, i), Anchor: "one two three four five six seven eight nine"})
		}
		l.ScorePage(p, 0.5)
		l.ScoreLinks(nil, p, 0.5)
	}
	used := float64(heapInUse()-before) * part / (1 << 20)
	t.Logf("%.0f MiB at the limits", used)
	if used > 85 {
		t.Errorf("%.0f MiB at the limits, want less than 85", used)
	}
	runtime.KeepAlive(l)
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestLearnedIsBounded feeds a scorer more targets than it may remember.
func TestLearnedIsBounded(t *testing.T) {
	l := New(goldJudge, Options{Cut: 0.5, Explore: 0.02})
	l.links.waiting, l.links.fetched, l.links.places = page.NewRecent[*evidence](50), page.NewRecent[known](50), page.NewRecent[*record](50)
	last := ""
	for i := range 2000 {
		last = fmt.Sprintf("http://h%d.test/%d", i%70, i)
		l.ScoreLinks(nil, linked(fmt.Sprintf("http://p.test/%d", i), last, "gold"), 0.9)
		l.ScorePage(&page.Page{URL: fmt.Sprintf("http://p.test/%d", i)}, 0.9)
	}
	for name, n := range map[string]int{
		"targets": count(&l.links.waiting),
		"pages":   count(&l.links.fetched),
		"places":  count(&l.links.places),
	} {
		if n < 50 || n > 100 {
			t.Errorf("%s: %d in memory, want between 50 and 100", name, n)
		}
	}
	if _, known := l.Rescore(page.Key(last)); !known {
		t.Error("the last target is forgotten")
	}
	if _, known := l.Rescore(page.Key("http://h0.test/0")); known {
		t.Error("the first target is known still")
	}
}

func count[V any](m *page.Recent[V]) (n int) {
	for range m.All() {
		n++
	}
	return n
}

func TestLearnedScoreUnlinked(t *testing.T) {
	byURL := func(d features.Doc) float64 { return goldJudge(features.Doc{Title: d.Title + d.URL, Text: d.Text}) }
	crawled := func(probability float64) *Scorer {
		l := New(byURL, Options{Cut: 0.5})
		for _, u := range []string{"http://h.test/1", "http://h.test/2", "http://h.test/3"} {
			l.ScorePage(&page.Page{URL: u}, probability)
		}
		return l
	}
	good, poor := crawled(0.9), crawled(0.1)
	for _, test := range []struct {
		name         string
		better, than float64
	}{
		{"a host on topic", good.ScoreUnlinked("http://h.test/x"), poor.ScoreUnlinked("http://h.test/x")},
		{"an unknown host to a poor one", poor.ScoreUnlinked("http://new.test/x"), poor.ScoreUnlinked("http://h.test/x")},
		{"a URL on topic", poor.ScoreUnlinked("http://h.test/gold"), poor.ScoreUnlinked("http://h.test/x")},
		{"a link by a page as good", good.ScoreLinks(nil, linked("http://h.test/1", "http://h.test/x", ""), 0.9)[0], good.ScoreUnlinked("http://h.test/x")},
	} {
		if test.better <= test.than || test.better > 1 || test.than < 0 {
			t.Errorf("%s: %v and %v; want the first above, both in [0,1]", test.name, test.better, test.than)
		}
	}
	if _, known := good.Rescore(page.Key("http://h.test/y")); known {
		t.Error("the scorer remembers a URL that it knows nothing of")
	}
}

func TestPaperScoreUnlinked(t *testing.T) {
	k, err := relevance.NewKeywords([]string{"gold"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := relevance.NewPaper(k, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.ScoreUnlinked(0.58), relevance.Degree(0, 1, 0.3, 0.58); got != want {
		t.Errorf("got %v, want %v as eq. 1 has it for a page without words", got, want)
	}
}

func spelled(t *testing.T, s relevance.Score) []relevance.Term {
	t.Helper()
	terms, err := Spell(s.Account)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(s.Terms, terms)
}

func randomAccount(rng *rand.Rand) *account {
	a := &account{
		expected: rng.Float64(), parents: float64(rng.IntN(70000)), host: float64(rng.IntN(1 << 20)), folder: float64(rng.IntN(100)),
		hops: float64(rng.IntN(256)), explored: rng.IntN(2) == 0, inText: rng.IntN(2) == 0,
	}
	for i := range a.found {
		a.found[i] = float64(float32(rng.NormFloat64()))
		a.weighs[i] = rng.NormFloat64() * float64(rng.IntN(2))
	}
	return a
}

// TestAccount checks that an account survives packing exactly.
func TestAccount(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for range 200 {
		a := randomAccount(rng)
		got, n, err := unpack(a.pack())
		if err != nil || n != numFeatures || got != *a {
			t.Fatalf("%+v, %d, %v; want %+v", got, n, err, *a)
		}
		terms, err := Spell(a.pack())
		if err != nil || !slices.Equal(terms, a.terms()) {
			t.Fatalf("%v, %v; want %v", terms, err, a.terms())
		}
	}
	if n := len(randomAccount(rng).pack()); n > 500 {
		t.Errorf("an account has %d bytes, want at most 500", n)
	}
}

// TestAccountOfEarlierBuild checks that an account with fewer features is readable.
func TestAccountOfEarlierBuild(t *testing.T) {
	a := randomAccount(rand.New(rand.NewPCG(17, 18)))
	packed := a.pack()
	const had = featFolder + 1
	packed = packed[:accountHead+had*accountFeature]
	packed[2] = had
	terms, err := Spell(packed)
	want := a.terms()
	if err != nil || !slices.Equal(terms, want[:len(want)-(numFeatures-had)]) {
		t.Errorf("%v, %v; want %v without the last %d", terms, err, want, numFeatures-had)
	}
}

func FuzzSpell(f *testing.F) {
	a := randomAccount(rand.New(rand.NewPCG(19, 20)))
	f.Add(a.pack())
	f.Add(a.pack()[:100])
	f.Add([]byte{accountVersion + 1})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, packed []byte) {
		terms, err := Spell(packed)
		if err != nil || len(packed) == 0 {
			if len(terms) != 0 {
				t.Errorf("%v and %d terms", err, len(terms))
			}
			return
		}
		got, n, _ := unpack(packed)
		again, _, err := unpack(got.pack())
		if err != nil || n == numFeatures && !sameAccount(&got, &again) {
			t.Errorf("%+v, packed again %+v, %v", got, again, err)
		}
	})
}

// sameAccount compares bits, as unpacked accounts may contain NaN.
func sameAccount(a, b *account) bool {
	same := func(x, y float64) bool {
		return math.Float64bits(x) == math.Float64bits(y) || math.IsNaN(x) && math.IsNaN(y)
	}
	for i := range a.found {
		if !same(a.found[i], b.found[i]) || !same(a.weighs[i], b.weighs[i]) {
			return false
		}
	}
	return same(a.expected, b.expected) && same(a.hops, b.hops) && a.explored == b.explored && a.inText == b.inText
}
