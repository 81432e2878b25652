package crawlplan

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fossick/crawler"
	"fossick/internal/usage"
	"fossick/relevance/propose"
	"fossick/store"
)

// bees is a crawl of the public web that can be planned.
func bees() *Crawl {
	return &Crawl{Topic: "bees", Settings: Settings{
		Goal:    Goal{Keywords: []string{"bee", "hive"}, Seed: []string{"bees.example/start"}},
		Manners: Manners{Contact: "me@uni-x.de"},
	}}
}

// program collects what a plan says.
func program(said *[]string) Program {
	return Program{Version: "0.1.0", Seed: 1, Log: slog.New(slog.DiscardHandler), Say: func(format string, args ...any) {
		*said = append(*said, fmt.Sprintf(format, args...))
	}}
}

// TestPatience: a crawl that is paid with time alone waits for nothing, and one with a limit
// of pages decides by itself, unless it was told how long to wait.
func TestPatience(t *testing.T) {
	for _, c := range []struct {
		budget Budget
		want   float64
		err    string
	}{
		{Budget{}, 0, ""},
		{Budget{MaxPages: 50, MaxTime: time.Hour}, 0, ""},
		{Budget{MaxTime: time.Hour}, 1, ""},
		{Budget{MaxTime: time.Hour, Patience: "2.5"}, 2.5, ""},
		{Budget{Patience: "none"}, 1, ""},
		{Budget{Patience: "0.5"}, 0, "want auto, none, or how many times"},
		{Budget{Patience: "NaN"}, 0, "want auto, none, or how many times"},
		{Budget{Patience: "much"}, 0, "want auto, none, or how many times"},
	} {
		var opt crawler.Options
		err := c.budget.apply(&opt)
		if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) || opt.Patience != c.want {
			t.Errorf("%+v: patience %g, error %v; want %g, %q", c.budget, opt.Patience, err, c.want, c.err)
		}
	}
}

// TestPlan: what is asked of a crawl becomes options of crawler and fetcher.
func TestPlan(t *testing.T) {
	var said []string
	c, on, none := bees(), true, time.Duration(0)
	c.MaxPagesPerSite, c.TLD, c.Lang, c.Exclude, c.Traps, c.NearDuplicates = 5, []string{".EXAMPLE"}, []string{"en"}, "/login", "follow", "keep"
	c.Cookies, c.UserAgent, c.Delay, c.MaxWait = &on, "bot x/2", "2s", &none
	p, err := c.Plan(program(&said))
	if err != nil {
		t.Fatal(err)
	}
	o := p.Crawl
	if !slices.Equal(o.Seeds, []string{"https://bees.example/start"}) || len(said) != 1 || !strings.Contains(said[0], "is taken as https://bees.example/start") {
		t.Errorf("start pages %v, said %q", o.Seeds, said)
	}
	if o.MaxPages != 1000 || o.MaxPerSite != 5 || o.MaxWait >= 0 || o.Threshold != 0.2 || o.Agent != "bot" || !o.FollowTraps || !o.KeepNear {
		t.Errorf("%+v", o)
	}
	if !o.Delay.Fixed || o.Delay.Rest != 2*time.Second || !slices.Equal(o.Scope.TLD, []string{"example"}) || o.Scope.Excludes("http://a.example/login") == "" {
		t.Errorf("delay %v, scope %+v", o.Delay, o.Scope)
	}
	if f := p.Fetch; !f.Cookies || f.ConnsPerHost != 1 || !strings.Contains(f.UserAgent, "bot x/2") || !strings.Contains(f.UserAgent, "me@uni-x.de") {
		t.Errorf("%+v", f)
	}
	if p.scored != "paper" || !slices.Equal(p.Keywords, []string{"bee", "hive"}) {
		t.Errorf("scored by %s for %v", p.scored, p.Keywords)
	}
}

// TestHowIsChosen: without --score a model is learned from, unless a flag of paper A's
// score is given.
func TestHowIsChosen(t *testing.T) {
	share := 0.1
	for want, c := range map[string]*Crawl{
		"learned": {Topic: "science"}, "paper": {Topic: "science", Settings: Settings{Scoring: Scoring{Rho: &share}}},
		"shark": {Topic: "science", Settings: Settings{Scoring: Scoring{Score: "shark"}}},
	} {
		c.Contact = "me@uni-x.de"
		p, err := c.Plan(program(new([]string)))
		if err != nil || p.scored != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

// TestMistakes: settings that no crawl can have are mistakes of who gave them.
func TestMistakes(t *testing.T) {
	share, two := 0.5, 2.0
	for want, spoil := range map[string]func(*Crawl){
		"--workers -1":                           func(c *Crawl) { c.Workers = -1 },
		"--sitemap-urls -1":                      func(c *Crawl) { c.SitemapURLs = -1 },
		"--max-depth -1":                         func(c *Crawl) { c.MaxDepth = -1 },
		"--min-harvest 2":                        func(c *Crawl) { c.MinHarvest = &two },
		"--tld \".\"":                            func(c *Crawl) { c.TLD = []string{"."} },
		"--lang xx":                              func(c *Crawl) { c.Lang = []string{"xx"} },
		"--include":                              func(c *Crawl) { c.Include = "(" },
		"excluded by bees":                       func(c *Crawl) { c.Exclude = "bees" },
		"is a file; to read":                     func(c *Crawl) { c.Seed = []string{"plan_test.go"} },
		"no start pages":                         func(c *Crawl) { c.Seed = nil },
		"give --resume with it":                  func(c *Crawl) { c.Refresh = time.Hour },
		"needs --contact":                        func(c *Crawl) { c.Contact = "" },
		"counts all links alike anyway":          func(c *Crawl) { c.Alike = true },
		"--order":                                func(c *Crawl) { c.Order = "upwards" },
		"--order bfs drops no links":             func(c *Crawl) { c.Order, c.Threshold = "bfs", &share },
		"no policy":                              func(c *Crawl) { c.Score = "luck" },
		"learns from a model's labels":           func(c *Crawl) { c.Score = "learned" },
		"only with --score paper and paper-mean": func(c *Crawl) { c.Score, c.Rho = "bfs", &share },
		"works only with --score learned":        func(c *Crawl) { c.Explore = &share },
		"--explore 2":                            func(c *Crawl) { c.Explore = &two },
		"or give --model or --keywords":          func(c *Crawl) { c.Keywords = nil },
		"the password is not kept":               func(c *Crawl) { c.Proxy = "http://me:xxxxx@127.0.0.1:1" },
		"--allow-net 10":                         func(c *Crawl) { c.AllowNet = []string{"10"} },
		"only the proxy knows with --proxy":      func(c *Crawl) { c.CIDR, c.Proxy = "nets", "http://127.0.0.1:1" },
		"give a file with one network a line":    func(c *Crawl) { c.CIDR = "none" },
		"give a file with a name a line":         func(c *Crawl) { c.DropParams = "missing" },
		"want auto, 0, or a time such as 500ms":  func(c *Crawl) { c.Delay = "soon" },
	} {
		c := bees()
		spoil(c)
		var mistake usage.Error
		if _, err := c.Plan(program(new([]string))); err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &mistake) {
			t.Errorf("%v; want a mistake with %q", err, want)
		}
	}
}

// TestReachable: loopback, a proxy and a made-up table of hosts are not the public web.
func TestReachable(t *testing.T) {
	for _, reach := range []func(*Crawl){
		func(c *Crawl) { c.Seed = []string{"http://127.0.0.1:8080/"} },
		func(c *Crawl) { c.Proxy = "http://127.0.0.1:1" },
	} {
		c := bees()
		c.Contact = ""
		reach(c)
		if _, err := c.Plan(program(new([]string))); err != nil {
			t.Error(err)
		}
	}
	var said []string
	c := bees()
	c.Seed, c.Contact = []string{"https://bees.example/"}, "you@example.org"
	if _, err := c.Plan(program(&said)); err != nil || len(said) != 1 || !strings.Contains(said[0], "give your own") {
		t.Errorf("%v, said %q", err, said)
	}
}

// TestResume: a crawl goes on by what its store keeps, unless told otherwise.
func TestResume(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bees")
	s, err := store.Create(dir, store.Info{Topic: "bees"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	first := bees()
	first.Store, first.Workers, first.Listen, first.DropParams, first.Proxy = dir, 3, ":0", "none", "http://me:secret@127.0.0.1:1"
	p, err := first.Plan(program(new([]string)))
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Keep(s, p); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(s.Info().Settings), "secret") {
		t.Errorf("the proxy's password is kept: %s", s.Info().Settings)
	}
	again := &Crawl{Store: dir, Resume: true, Settings: Settings{Manners: Manners{Workers: 5}, Network: Network{Ways: Ways{Proxy: "http://127.0.0.1:1"}}}}
	opened, err := again.Recall(s)
	if err != nil || opened != "--listen :0" {
		t.Errorf("opens %q, %v", opened, err)
	}
	if again.Topic != "bees" || again.Workers != 5 || again.Score != "paper" || again.Contact != "me@uni-x.de" || again.Dropped == nil || len(again.Dropped) > 0 {
		t.Errorf("%+v", again)
	}
	if p, err = again.Plan(program(new([]string))); err != nil || !slices.Equal(p.Crawl.Seeds, []string{"https://bees.example/start"}) {
		t.Errorf("%v", err)
	}
	again.DropParams = filepath.Join(t.TempDir(), "params")
	if err := os.WriteFile(again.DropParams, []byte("sid\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := again.Plan(program(new([]string))); err == nil || !strings.Contains(err.Error(), "began with another list") {
		t.Errorf("other parameters: %v", err)
	}
	if _, err := (&Crawl{Store: dir, Topic: "wasps"}).Recall(s); err == nil || !strings.Contains(err.Error(), `the store's topic is "bees"`) {
		t.Errorf("another topic: %v", err)
	}
	if err := os.Mkdir(propose.StoredSeeds(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Crawl{Store: dir}).Recall(s); err == nil || !strings.Contains(err.Error(), "remove the existing file or folder") {
		t.Errorf("a folder in the place of the start pages: %v", err)
	}
}
