package plan

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/crawler"
	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/relevance/known"
	"fossick/relevance/learned"
	"fossick/store"
)

// fixed is a topic whose opinion of each URL is fixed. It notes what it was told of pages.
type fixed struct {
	of      map[uint64]float64
	parents *[]float64
}

func (f fixed) ScorePage(p *page.Page, parent float64) crawler.Score {
	*f.parents = append(*f.parents, parent)
	x := f.of[page.Key(p.URL)]
	return crawler.Score{Value: x, Relevant: x >= 0.5, Rule: fmt.Sprint("rule ", x)}
}

func (f fixed) ScoreLinks(dst []float64, p *page.Page, _ crawler.Score) []float64 {
	for _, l := range p.Links {
		dst = append(dst, f.of[page.Key(l.URL)])
	}
	return dst
}

func (f fixed) Rescore(key uint64) (float64, bool) { x, ok := f.of[key]; return x, ok }

// expectation is a link's worth by its definition: over all outcomes of which topics the
// target is on, their chance times how many pages on topic, as far as they are wanted,
// it brings.
func expectation(chances, wants []float64) (worth float64) {
	for outcome := range 1 << len(chances) {
		chance, brings := 1.0, 0.0
		for i, p := range chances {
			if outcome&(1<<i) != 0 {
				chance, brings = chance*p, brings+wants[i]
			} else {
				chance *= 1 - p
			}
		}
		worth += chance * brings
	}
	return worth
}

// TestSeveralOrder: the queue's order is that of the expected number of pages on topic,
// by its definition, at any state of the budgets; and what a link is worth when it is
// found is what it is worth when it waits.
func TestSeveralOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		n, urls := 1+rng.IntN(4), make([]string, 12)
		topics, counts, wants := make([]topic, n), make([]store.TopicCounts, n), make([]float64, n)
		for i := range urls {
			urls[i] = fmt.Sprintf("http://h.test/%d", i)
		}
		for i := range topics {
			of := map[uint64]float64{}
			for _, url := range urls {
				of[page.Key(url)] = rng.Float64()
			}
			topics[i] = topic{Scorer: fixed{of, new([]float64)}, Budget: float64(1 + rng.IntN(100))}
			counts[i].Paid = 1.2 * rng.Float64() * topics[i].Budget
			wants[i] = counts[i].Paid / topics[i].Budget
		}
		least := slices.Min(wants)
		for i := range wants {
			wants[i] = math.Exp(-20 * (wants[i] - least))
		}
		s := newSeveral(topics)
		s.Paid(counts)
		naive := func(url string) float64 {
			var chances []float64
			for _, topic := range topics {
				x, _ := topic.Scorer.(fixed).Rescore(page.Key(url))
				chances = append(chances, x)
			}
			return expectation(chances, wants)
		}
		p := &page.Page{URL: "http://start.test/"}
		for _, url := range urls {
			p.Links = append(p.Links, page.Link{URL: url})
		}
		found := s.ScoreLinks(nil, p, s.ScorePage(p, 1))
		for i, url := range urls {
			if x, known := s.Rescore(page.Key(url)); !known || math.Abs(x-found[i]) > 1e-12 || x < 0 || x > 1 {
				t.Fatalf("%s waits with %v and was found with %v", url, x, found[i])
			}
			for k, other := range urls {
				if a, b := naive(url), naive(other); a > b+1e-9 && found[i] <= found[k] {
					t.Fatalf("%v expected pages come behind %v: %v, %v", a, b, found[i], found[k])
				}
			}
		}
	}
}

// TestSeveralPays: a page is paid for in proportion to how much each topic made the
// crawl ask for it, and by nobody else; a start page by those whose it is.
func TestSeveralPays(t *testing.T) {
	a, b := page.Key("http://x.test/"), page.Key("http://y.test/")
	var ofA, ofB []float64
	s := newSeveral([]topic{
		{Scorer: fixed{map[uint64]float64{a: 0.6, b: 0}, &ofA}, Budget: 10, Starts: []string{"http://a.test/", "http://both.test/"}},
		{Scorer: fixed{map[uint64]float64{a: 0.9, b: 0.2}, &ofB}, Budget: 20, Starts: []string{"http://b.test/", "http://both.test/"}},
	})
	s.Paid([]store.TopicCounts{{Paid: 2.5}, {Paid: 5 + math.Ln2}}) // the second is ahead by ln 2 / 20: it wants half as much
	for _, c := range []struct {
		url     string
		start   float64
		paid    [2]float64
		parents [2]float64
	}{
		{"http://x.test/", 0.7, [2]float64{0.64, 0.36}, [2]float64{0.6, 0.9}}, // .6² and (.9 / 2)², of their sum
		{"http://y.test/", 0.7, [2]float64{0, 1}, [2]float64{0, 0.2}},
		{"http://nobody.test/", 0.7, [2]float64{0.5, 0.5}, [2]float64{0, 0}},
		{"http://a.test/", 1, [2]float64{1, 0}, [2]float64{1, 0}},
		{"https://www.b.test/moved", 1, [2]float64{0, 1}, [2]float64{0, 1}},
		{"http://both.test/", 1, [2]float64{0.8, 0.2}, [2]float64{1, 1}},
		{"http://given.test/", 1, [2]float64{0.8, 0.2}, [2]float64{1, 1}}, // by --seed, for all
	} {
		score := s.ScorePage(&page.Page{URL: c.url}, c.start)
		for i, v := range score.Topics {
			if math.Abs(v.Paid-c.paid[i]) > 1e-12 {
				t.Errorf("%s: topic %d pays %v, want %v", c.url, i, v.Paid, c.paid[i])
			}
		}
		if got := [2]float64{ofA[len(ofA)-1], ofB[len(ofB)-1]}; got != c.parents {
			t.Errorf("%s: the topics were told %v of what led to it, want %v", c.url, got, c.parents)
		}
	}
	score := s.ScorePage(&page.Page{URL: "http://x.test/"}, 0.7)
	if !score.Relevant || score.Value != 0.9 || score.Topics[0].Rule != "rule 0.6" || !score.Topics[1].Relevant {
		t.Errorf("a page on both topics: %+v", score)
	}
}

// TestSeveralOfOne: one topic that shares with nobody has the order that it has alone, by
// a policy that learns and by one that is asked once.
func TestSeveralOfOne(t *testing.T) {
	for name, build := range map[string]func() crawler.Scorer{
		"learned": func() crawler.Scorer {
			l := learned.New(goldJudge, learned.Options{Cut: 0.5})
			return &learnedScorer{rescoringScorer{policyScorer{policy: l, labeller: nil, keywords: nil}, l}, l, nil}
		},
		"best-first": func() crawler.Scorer { return &policyScorer{policy: known.BestFirst{}} },
	} {
		alone, shared := build(), newSeveral([]topic{{Scorer: build(), Budget: 1000}})
		all := map[string]float64{}
		for _, p := range randomWeb(rand.New(rand.NewPCG(5, 6)), 60) {
			one := judged(alone, p)
			several := crawler.Score{Topics: []store.Verdict{{Score: judged(shared.parts[0].Scorer, p).Value}}}
			for i, x := range alone.ScoreLinks(nil, p, one) {
				all[p.Links[i].URL] = max(all[p.Links[i].URL], x)
			}
			shared.ScoreLinks(nil, p, several)
		}
		urls := make([]string, 0, len(all))
		for url := range all {
			urls = append(urls, url)
		}
		slices.Sort(urls)
		order := func(worth func(url string) float64) []string {
			sorted := slices.Clone(urls)
			slices.SortStableFunc(sorted, func(a, b string) int { return cmp.Compare(worth(b), worth(a)) })
			return sorted
		}
		own := func(url string) float64 { return all[url] }
		if r, rescores := alone.(crawler.Rescorer); rescores {
			own = func(url string) float64 { x, _ := r.Rescore(page.Key(url)); return x }
		}
		together := func(url string) float64 { x, _ := shared.Rescore(page.Key(url)); return x }
		if !slices.Equal(order(own), order(together)) {
			t.Errorf("%s: alone and shared have another order", name)
		}
	}
}

// judged shows a page to a scorer by the score that randomWeb's pages have.
func judged(s crawler.Scorer, p *page.Page) crawler.Score {
	switch s := s.(type) {
	case *learnedScorer:
		s.policy.ScorePage(p, similarityOf(p))
	case *policyScorer:
		s.policy.ScorePage(p, similarityOf(p))
	}
	return crawler.Score{Value: similarityOf(p)}
}

// TestSeveralPace: a topic whose links are worth a ninth of another's lags by no more than
// its pace allows, and who has no links pays nothing.
func TestSeveralPace(t *testing.T) {
	var keys []uint64
	of := [3]map[uint64]float64{{}, {}, {}}
	for i := range 400 { // a URL for each of two topics in turn, and the third has none
		key := page.Key(fmt.Sprint("http://h.test/", i))
		keys = append(keys, key)
		of[0][key], of[1][key] = 0.9*float64(i%2), 0.1*float64(1-i%2)
	}
	topics := make([]topic, 3)
	for i := range topics {
		topics[i] = topic{Scorer: fixed{of[i], new([]float64)}, Budget: 100}
	}
	s, counts := newSeveral(topics), store.Counts{}
	for range 200 {
		best, at := -1.0, 0
		for i, key := range keys {
			if x, _ := s.Rescore(key); x > best {
				best, at = x, i
			}
		}
		counts.Judged(s.expected(&page.Page{URL: fmt.Sprint("http://h.test/", slices.Index(keys, keys[at]))}, false), false)
		keys[at] = 0 // no URL has it
		s.Paid(counts.Topics)
		if lag := math.Abs(counts.Topics[0].Paid-counts.Topics[1].Paid) / 100; lag > math.Log(9)/20+0.02 {
			t.Fatalf("a topic lags by %.2f of its budget: %v", lag, counts.Topics)
		}
	}
	if counts.Topics[2].Paid != 0 || math.Abs(counts.Topics[0].Paid+counts.Topics[1].Paid-200) > 1e-9 {
		t.Errorf("paid: %v", counts.Topics)
	}
}

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
	learner, learns := newTopics()
	hearer, hears := newTopics()
	learner.Share(everything)
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
	for told := learner.Lesson(); told != nil; told = learner.Lesson() {
		testkit.Call(hearer.Learn(told)).Must(t)
		n++
	}
	if after := amber(hears[1]); n != 1 || after < before[1]+.05 {
		t.Errorf("told %d times, amber is worth %.3f after %.3f", n, after, before[1])
	}
	if after := amber(hears[0]); after > before[0]+.01 { // the same link came twice
		t.Errorf("the other topic learned: amber is worth %.3f after %.3f", after, before[0])
	}
	if parts := learner.Lessons(); len(parts) != 1 {
		t.Errorf("%d parts so far, want 1", len(parts))
	}
	for _, wrong := range [][]byte{nil, {7}, {2, 1}, {1, 0xff}} {
		if _, err := hearer.Learn(wrong); err == nil {
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

// together is a crawl of several topics that needs no network.
func together(topics string) *Crawl {
	return &Crawl{Topic: topics, Settings: Settings{Network: Network{Ways: Ways{Proxy: "http://127.0.0.1:1"}}}}
}

// TestBudgets: the parts of the budget are equal or as given, of --max-pages or their sum.
func TestBudgets(t *testing.T) {
	for _, c := range []struct {
		topics string
		pages  uint64
		want   string
		whole  uint64
	}{
		{"science,sport", 0, "[{science 500} {sport 500}]", 1000},
		{"science, sport", 300, "[{science 150} {sport 150}]", 300},
		{"science=50,sport=150", 0, "[{science 50} {sport 150}]", 200},
		{"science=1,sport=3", 1000, "[{science 250} {sport 750}]", 1000},
	} {
		crawl := together(c.topics)
		crawl.MaxPages = c.pages
		testkit.Must(t, crawl.NameStore())
		p := testkit.Call(crawl.Plan(program(new([]string)))).Must(t)
		if got := fmt.Sprint(p.Topics); got != c.want || p.Crawl.MaxPages != c.whole || p.Crawl.Threshold != 0 {
			t.Errorf("%s of %d: %s of %d, want %s of %d", c.topics, c.pages, got, p.Crawl.MaxPages, c.want, c.whole)
		}
		if _, several := p.Crawl.Scorer.(*several); !several || crawl.Topic != "science,sport" || crawl.Store != "fossick-science,sport" {
			t.Errorf("%s: %T in %s for %s", c.topics, p.Crawl.Scorer, crawl.Store, crawl.Topic)
		}
	}
}

// TestSharedMistakes: what several topics cannot have is refused, with what to do.
func TestSharedMistakes(t *testing.T) {
	for want, change := range map[string]func(*Crawl){
		"give every topic a number of pages, as a=500,b=1000, or none": func(c *Crawl) { c.Topic = "science=5,sport" },
		"give each topic once":                                func(c *Crawl) { c.Topic = "science,science" },
		"separated by commas":                                 func(c *Crawl) { c.Topic = "science,,sport" },
		"want a number of pages after =, as science=500":      func(c *Crawl) { c.Topic = "science=x,sport=5" },
		`"0": want a number`:                                  func(c *Crawl) { c.Topic = "science=0,sport=5" },
		"at most 64 share a crawl":                            func(c *Crawl) { c.Topic = strings.Repeat("a", 65); c.Topic = strings.Join(manyNames(65), ",") },
		"--keywords and --threshold work with one topic only": func(c *Crawl) { c.Keywords = []string{"star"} },
		"nonsense":                    func(c *Crawl) { c.Topic = "science,nonsense" },
		"the model has no such label": func(c *Crawl) { c.Model = "science" },
	} {
		c := together("science,sport")
		change(c)
		err := c.NameStore()
		if err == nil {
			_, err = c.Plan(program(new([]string)))
		}
		var mistake cli.UsageError
		if !errors.As(err, &mistake) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

func manyNames(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint("t", i))
	}
	return names
}

// TestSharedResume: a store keeps the topics that share its crawl, with their models, start
// pages and parts of the budget, and a resumed crawl has them again.
func TestSharedResume(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "crawl")
	first := together("science=10,sport=30")
	first.Store = dir
	testkit.Must(t, first.NameStore())
	p := testkit.Call(first.Plan(program(new([]string)))).Must(t)
	s := testkit.Call(store.Create(dir, store.Info{Topic: first.Topic, Topics: p.Names()})).Must(t)
	defer s.Close()
	testkit.Must(t, first.Keep(s, p))
	if n := len(ModelFiles(dir)); n != 3 { // the one that all would share is not there
		t.Errorf("%d files of models: %v", n, ModelFiles(dir))
	}
	for asked, want := range map[string]string{"": "[{science 10} {sport 30}]", "science=1,sport=1": "[{science 20} {sport 20}]"} {
		again := together(asked)
		again.Store, again.Resume = dir, true
		testkit.Must(t, again.NameStore())
		testkit.Call(again.Recall(s)).Must(t)
		q := testkit.Call(again.Plan(program(new([]string)))).Must(t)
		if got := fmt.Sprint(q.Topics); got != want {
			t.Errorf("%q goes on with %s, want %s", asked, got, want)
		}
		if !slices.Equal(q.Crawl.Seeds, p.Crawl.Seeds) || len(again.Shared[0].Starts) == 0 || len(again.Shared[0].Starts)+len(again.Shared[1].Starts) < len(p.Crawl.Seeds) {
			t.Errorf("start pages %v, were %v", q.Crawl.Seeds, p.Crawl.Seeds)
		}
		for i, m := range q.models {
			if m == nil || !slices.Equal(m.Classes, p.models[i].Classes) {
				t.Errorf("topic %d has another model", i+1)
			}
		}
	}
}
