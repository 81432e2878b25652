package plan

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"fossick/crawler"
	"fossick/graph/orders"
	"fossick/internal/testkit"
	"fossick/store"
)

// TestPartyDelay scales paper E's rest, max(30 s, 10 × the fetch), by hand.
func TestPartyDelay(t *testing.T) {
	for text, want := range map[string]crawler.Delay{
		"auto":  {Fixed: true, Rest: 30 * time.Second, Fold: 10},
		"":      {Fixed: true, Rest: 30 * time.Second, Fold: 10},
		"30s":   {Fixed: true, Rest: 30 * time.Second, Fold: 10},
		"3s":    {Fixed: true, Rest: 3 * time.Second, Fold: 1},
		"60s":   {Fixed: true, Rest: time.Minute, Fold: 20},
		"300ms": {Fixed: true, Rest: 300 * time.Millisecond, Fold: 0.1},
		"0":     {Fixed: true},
	} {
		asked := testkit.Call(ParseDelay(text)).Must(t)
		if got := partyDelay(asked); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

// aSurvey is a survey that needs no network.
func aSurvey(dir string) *Crawl {
	return &Crawl{Store: dir, Settings: Settings{
		Network: Network{Ways: Ways{Proxy: "http://127.0.0.1:1"}}, scope: scope{Parties: true, TLD: []string{"test"}},
		Goal: Goal{Seed: []string{"http://a.test/", "http://b.test/x"}},
	}}
}

// TestSurveyPlan: the defaults of a survey are paper E's, its store has them, and what goes
// on is the same survey, though what is asked for then has its own.
func TestSurveyPlan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	c := aSurvey(dir)
	testkit.Must(t, c.NameStore())
	p, err := c.Plan(program(new([]string)))
	if err != nil {
		t.Fatal(err)
	}
	opt := p.Crawl
	if c.Topic != "survey" || !p.NoTopic || opt.Ordering != orders.ByDepth || opt.Threshold != 0 || opt.MaxPages != 0 || opt.MaxPerSite != 3000 ||
		opt.Scope.MaxDepth != 5 || opt.Scope.Links != crawler.LinksSite || !opt.Scope.Parties || opt.Delay.Rest != 30*time.Second {
		t.Errorf("%s: %+v", c.Topic, opt)
	}
	s, err := store.Create(dir, store.Info{Topic: c.Topic})
	if err != nil {
		t.Fatal(err)
	}
	killed := aSurvey(dir) // before Keep
	if _, err := killed.Recall(s); err != nil || !killed.Parties {
		t.Errorf("a survey that had not begun goes on with parties %v, %v", killed.Parties, err)
	}
	defer s.Close()
	testkit.Must(t, c.Keep(s, p))
	again := &Crawl{Store: dir, Resume: true, Settings: Settings{scope: scope{MaxDepth: 7}, Network: c.Network}}
	testkit.Call(again.Recall(s)).Must(t)
	q, err := again.Plan(program(new([]string)))
	if err != nil {
		t.Fatal(err)
	}
	if !again.Parties || !q.NoTopic || q.Crawl.Ordering != orders.ByDepth || q.Crawl.Scope.MaxDepth != 7 || q.Crawl.MaxPages != 0 || !slices.Equal(q.Crawl.Seeds, opt.Seeds) {
		t.Errorf("it goes on as %+v", q.Crawl)
	}
	asked, err := SurveyOf(s)
	if err != nil || !slices.Equal(asked.Seeds, opt.Seeds) || !asked.Wants("http://c.test/") || asked.Wants("http://c.example/") {
		t.Errorf("its store says %+v, %v", asked, err)
	}
	saved, err := Stored(s)
	if err != nil {
		t.Fatal(err)
	}
	facts := saved.Applied()
	if facts["order"] != "depth" || facts["max-pages"] != "" || facts["max-depth"] != "5" || facts["delay"] != "auto" {
		t.Errorf("reports tell %v", facts)
	}
}

// TestSurveyTopic: a topic labels the pages and changes no order.
func TestSurveyTopic(t *testing.T) {
	c := aSurvey(t.TempDir())
	c.Topic, c.MaxPages = "science", 10
	p := testkit.Call(c.Plan(program(new([]string)))).Must(t)
	if _, none := p.Crawl.Scorer.(noTopic); none || p.NoTopic || p.Crawl.Ordering != orders.ByDepth || p.Crawl.MaxPages != 10 || p.Crawl.Threshold != 0 {
		t.Errorf("%T, %+v", p.Crawl.Scorer, p.Crawl)
	}
}
