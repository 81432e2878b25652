package crawlplan

import (
	"reflect"
	"testing"

	"fossick/crawler"
	"fossick/datasets"
	"fossick/internal/page"
	"fossick/models"
	"fossick/relevance/learned"
)

// TestOneCut crawls the pages of the demo set in two ways: with each page cut
// into words once, and with model and scorer that cut for themselves. All that
// they say of text and links must be the same to the last bit.
func TestOneCut(t *testing.T) {
	topic, err := models.BuiltinTopic("science")
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewLabeller(topic)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Named("learned")
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Labeller: l, Explore: 0.02, Seed: 1, Rho: DefaultRho}
	once, err := p.Scorer(in)
	if err != nil {
		t.Fatal(err)
	}
	alone := learned.New(l.judge, learned.Options{Cut: l.cut, Explore: 0.02, Seed: 1, Keywords: in.topicWords(), Rho: in.Rho, Background: l.background(), WarmStart: l.warmStart(), Share: l.share(), Seen: l.seen()})
	own := &learnedScorer{rescoringScorer: rescoringScorer{policyScorer{labeller: l, policy: alone}, alone}, learned: alone}
	if once.(*learnedScorer).words == nil || own.words != nil {
		t.Fatal("both are cut in the same way")
	}
	once.(crawler.Teller).Share(everything) // what others are told of is the same too
	own.Share(everything)
	links := 0
	for _, p := range parsedDemo(t) {
		got, want := once.ScorePage(p, 1), own.ScorePage(p, 1)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: score %+v, want %+v", p.URL, got, want)
		}
		gotLinks, wantLinks := once.ScoreLinks(nil, p, got), own.ScoreLinks(nil, p, want)
		if !reflect.DeepEqual(gotLinks, wantLinks) {
			t.Fatalf("%s: links score %v, want %v", p.URL, gotLinks, wantLinks)
		}
		links += len(gotLinks)
	}
	if links < 1000 {
		t.Errorf("%d links, want many", links)
	}
}

func parsedDemo(t *testing.T) (pages []*page.Page) {
	set, err := datasets.Open("demo", datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range set.Examples() {
		if err != nil {
			t.Fatal(err)
		}
		if e.HTML == "" {
			continue
		}
		p, err := page.Parse([]byte(e.HTML), page.ParseOptions{URL: e.URL})
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, p)
	}
	return pages
}
