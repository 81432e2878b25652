package crawlplan

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/internal/usage"
	"fossick/store"
)

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
		if err := crawl.NameStore(); err != nil {
			t.Fatal(err)
		}
		p, err := crawl.Plan(program(new([]string)))
		if err != nil {
			t.Fatal(err)
		}
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
		var mistake usage.Error
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
	if err := first.NameStore(); err != nil {
		t.Fatal(err)
	}
	p, err := first.Plan(program(new([]string)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Create(dir, store.Info{Topic: first.Topic, Topics: p.Names()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := first.Keep(s, p); err != nil {
		t.Fatal(err)
	}
	if n := len(ModelFiles(dir)); n != 3 { // the one that all would share is not there
		t.Errorf("%d files of models: %v", n, ModelFiles(dir))
	}
	for asked, want := range map[string]string{"": "[{science 10} {sport 30}]", "science=1,sport=1": "[{science 20} {sport 20}]"} {
		again := together(asked)
		again.Store, again.Resume = dir, true
		if err := again.NameStore(); err != nil {
			t.Fatal(err)
		}
		if _, err := again.Recall(s); err != nil {
			t.Fatal(err)
		}
		q, err := again.Plan(program(new([]string)))
		if err != nil {
			t.Fatal(err)
		}
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
