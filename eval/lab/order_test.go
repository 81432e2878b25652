package lab

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"fossick/crawler"
	"fossick/crawler/plan"
	"fossick/datasets"
	"fossick/internal/page"
	"fossick/models"
	"fossick/relevance/learned"
)

// The order of package learned is learned from many crawls on many webs, and judged on webs that it never
// saw: scripts/learnorder.sh. A row is web × topic × judge × start pages × budget.

// orderWebs has the topics of each web: labels, unions of labels joined by +, and by number topics of place
// that hang together by links.
var orderWebs = map[string][]string{
	"wikispeedia": {
		"Science.Biology.Birds", "Science.Biology.Mammals", "Science.Biology.Health_and_medicine", "Science.Biology.Plants",
		"Science.Biology.Insects_Reptiles_and_Fish", "Science.Biology.Dinosaurs", "Science.Biology.General_Biology",
		"Science.Biology.Birds+Science.Biology.Dinosaurs", "Science.Biology.Plants+Science.Biology.Organisms+Science.Biology.Evolution_and_reproduction",
		"Science.Biology.Health_and_medicine+Science.Biology.General_Biology", "ball:1", "ball:2", "ball:3", "ball:4",
	},
	"webkb": {
		"student", "faculty", "course", "project", "department", "staff", "faculty+staff", "project+department",
		"student@washington", "course@cornell+course@texas", "other@cornell",
	},
	"debdocs": {
		"finance", "git-doc", "postfix-doc", "python-sympy-doc", "apache2-doc", "gnucash-docs", "sqlite3-doc+postgresql-doc-15",
		"geographiclib-doc",
	},
	"mdn": {
		"topic:networking", "topic:graphics", "topic:forms", "topic:storage", "topic:performance", "topic:accessibility",
		"topic:internationalisation", "topic:typography", "web/http", "web/css/selectors", "glossary", "web/javascript/errors",
		"mozilla/firefox/releases", "games", "ball:1", "ball:2", "ball:3", "ball:4",
	},
	"msdocs": {
		"officeps/microsoftteams", "winps/hyper-v", "cpp/atl", "iis/configuration", "aspnet/mvc", "cpp/code-quality",
		"powershell/microsoft.powershell.core", "winps/adfs+winps/activedirectory", "exchange/exchangeonline", "cpp/parallel",
		"iis/wmi-provider", "winps/storage+winps/fileserverresourcemanager+winps/smbshare",
	},
	"uci": {
		"wics.ics.uci.edu", "www.ics.uci.edu/~dechter", "www.ics.uci.edu/~pattis", "www.ics.uci.edu/~kay", "cml.ics.uci.edu",
		"vision.ics.uci.edu", "sdcl.ics.uci.edu", "www.cs.uci.edu", "www.ics.uci.edu/faculty", "www.ics.uci.edu/~goodrich+www.ics.uci.edu/~irani+www.ics.uci.edu/~theory",
		"mailman.ics.uci.edu", "duttgroup.ics.uci.edu+cradl.ics.uci.edu",
	},
}

// orderRow is one crawl task.
type orderRow struct {
	Web, Topic string
	N          int     // number of the judge on this web and topic
	Draw       int     // of start pages
	Train      int     // training pages of the judge
	Noise      float64 // share of wrong labels among them
	Starts     int
	Thin       float64 // share of links removed
	Boiler     int     // links that every page gets
	Rehost     bool    // hosts and folders are by label, not by chance
}

func (r *orderRow) name() string {
	return fmt.Sprintf("%s,%s,%d", r.Web, r.Topic, r.N)
}

// kind tells plain rows with the defaults' judge from others.
func (r *orderRow) kind() string {
	switch {
	case r.Thin > 0 || r.Boiler > 0 || r.Rehost:
		return "madeweb"
	case r.Train != defaultTrainPages || r.Noise > 0 || r.Starts != 10:
		return "judge"
	}
	return "plain"
}

func (r *orderRow) random(purpose uint64) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(r.name()))
	return rand.New(rand.NewPCG(h.Sum64(), purpose+100*uint64(r.Draw)))
}

// judge is random, but the same for all draws.
func (r *orderRow) judge(purpose uint64) *rand.Rand {
	all := *r
	all.Draw = 0
	return all.random(purpose)
}

// rowsOf returns rows of each topic, with draws of start pages: with the defaults' judge, with two judges of fewer or
// more training pages, on a web with other links, and on one whose hosts and folders are by label.
func rowsOf(web string, draws int) (rows []*orderRow) {
	for _, topic := range orderWebs[web] {
		for n := range 5 {
			if n == 3 && web != "mdn" && web != "msdocs" { // only their hosts are by chance, and their labels many
				continue
			}
			for draw := range draws {
				r := &orderRow{Web: web, Topic: topic, N: n, Train: defaultTrainPages, Starts: 10}
				rng := r.random(1)
				r.Draw = draw
				switch n {
				case 1:
					r.Train = []int{60, 150, 300, 1500}[rng.IntN(4)]
					r.Noise = []float64{0, 0, .1}[rng.IntN(3)]
					r.Starts = []int{3, 10}[rng.IntN(2)]
				case 2:
					r.Train = []int{200, 600}[rng.IntN(2)]
					r.Thin = []float64{.5, 0, .3}[rng.IntN(3)]
					if r.Boiler = 20; r.Thin > 0 {
						r.Boiler = []int{0, 20}[rng.IntN(2)]
					}
				case 3:
					r.Rehost = true
					r.Train = []int{150, 600}[rng.IntN(2)]
				case 4:
					r.Train = []int{60, 100, 200}[rng.IntN(3)]
					r.Noise = []float64{0, .03, .1, .2}[rng.IntN(4)]
					r.Starts = []int{2, 5, 10}[rng.IntN(3)]
				}
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// orderBench is a web with what all its rows share.
type orderBench struct {
	dir  string
	web  *Corpus
	next [][]int32            // rows that each row links to
	find func(key uint64) int // row of a URL, -1 if there is none

	order *learned.Order
}

// made returns the web of a row.
func (b *orderBench) made(r *orderRow) (*Corpus, [][]int32) {
	if r.Thin == 0 && r.Boiler == 0 && !r.Rehost {
		return b.web, b.next
	}
	rng := r.judge(2)
	c := &Corpus{Name: b.web.Name, index: b.web.index, hosts: b.web.hosts, web: b.web.web, moved: b.web.moved, gone: b.web.gone, zstd: b.web.zstd, others: map[string]*page.Page{}}
	var boiler []page.Link
	for len(boiler) < r.Boiler {
		if row := b.web.Rows[rng.IntN(len(b.web.Rows))]; row.Page != nil {
			boiler = append(boiler, page.Link{URL: row.Page.URL, Anchor: row.Page.Title, Context: row.Page.Title, Nav: len(boiler)%2 == 0})
		}
	}
	names := make([]string, len(b.web.Rows))
	if r.Rehost {
		c.index, c.hosts = datasets.Index{}, map[string]struct{}{}
		for n, row := range b.web.Rows {
			at := row.Labels.Label
			if rng.Float64() < .2 {
				at = b.web.Rows[rng.IntN(len(b.web.Rows))].Labels.Label
			}
			h := fnv.New32a()
			h.Write([]byte(at))
			path := strings.TrimRight(row.URL, "/")
			names[n] = fmt.Sprintf("http://h%d.test/d%d/%d-%s", h.Sum32()%40, h.Sum32()%400, n, path[strings.LastIndexByte(path, '/')+1:])
			if p, err := datasets.Key(names[n]); err == nil {
				names[n] = p
			}
			c.index.Add(names[n], n)
			c.hosts[page.Host(names[n])] = struct{}{}
		}
	}
	next := make([][]int32, len(b.next))
	for n, old := range b.web.Rows {
		row := *old
		if old.Page != nil {
			p := *old.Page
			p.Links = nil
			for _, l := range old.Page.Links {
				if r.Rehost {
					if to := b.find(page.Key(l.URL)); to >= 0 {
						l.URL = names[to]
					}
				}
				if rng.Float64() >= r.Thin {
					p.Links = append(p.Links, l)
				}
			}
			p.Links = append(p.Links, boiler...)
			if r.Rehost {
				p.URL, row.URL = names[n], names[n]
			}
			row.Page = &p
		}
		next[n] = b.next[n]
		c.Rows = append(c.Rows, &row)
	}
	if r.Rehost {
		for _, row := range c.Rows {
			row.itself = c.search(row.URL).Print == &row.print
		}
	}
	return c, next
}

func (b *orderBench) setup(t *testing.T, r *orderRow) (*Setup, [][]int32, error) {
	c, next := b.made(r)
	p := &Plan{Options: Options{Topic: "topic", Starts: r.Starts, StartSets: 1, Links: "all"}, Seed: 1, Log: slog.New(slog.DiscardHandler),
		Random: r.judge, Say: func(string, ...any) {}}
	s := &Setup{plan: p}
	s.Corpus = c
	d := &startDraw{Relevant: make([]bool, len(c.Rows)), Training: make([]bool, len(c.Rows))}
	labels := strings.Split(r.Topic, "+")
	rng := r.judge(3)
	var all []int
	for n, row := range c.Rows {
		all = append(all, n)
		if slices.ContainsFunc(labels, row.Labels.Match) {
			d.Relevant[n] = true
		}
	}
	if strings.HasPrefix(r.Topic, "ball:") {
		b.ball(d.Relevant, r.Web+r.Topic)
	}
	for _, on := range d.Relevant {
		if on {
			d.Targets++
		}
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	truth := slices.Clone(d.Relevant)
	for _, n := range all[:r.Train] {
		d.Training[n] = true
		if rng.Float64() < r.Noise {
			d.Relevant[n] = !d.Relevant[n]
		}
	}
	var starts []int
	if rest := all[r.Train:]; r.Draw > 0 {
		r.random(6).Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	}
	for _, n := range all[r.Train:] {
		if truth[n] && c.Rows[n].Page != nil && len(starts) < r.Starts {
			starts = append(starts, n)
		}
	}
	if len(starts) < r.Starts {
		return nil, nil, fmt.Errorf("%s: %d start pages", r.name(), len(starts))
	}
	d.Starts = [][]int{starts}
	s.Draw = d
	s.Pages = min(500, max(80, d.Targets))
	file := filepath.Join(b.dir, "models", strings.NewReplacer("/", "_", ":", "_").Replace(r.name())+".model")
	s.Topic = &models.Topic{Name: "topic"}
	m, err := models.ReadFile(file)
	if err != nil {
		if m, err = s.trainModel(t.Context()); err != nil {
			return nil, nil, err
		}
		if err := m.WriteFile(file); err != nil {
			return nil, nil, err
		}
	}
	s.Topic.Model, s.order = m, b.order
	s.Draw.Relevant = truth
	return s, next, nil
}

// ball marks a topic of place: pages that hang together by links, grown from a random page.
func (b *orderBench) ball(on []bool, name string) {
	h := fnv.New64a()
	h.Write([]byte(name))
	rng := rand.New(rand.NewPCG(h.Sum64(), 5))
	back := make([][]int32, len(b.next))
	for n, to := range b.next {
		for _, m := range to {
			back[m] = append(back[m], int32(n))
		}
	}
	degree := func(n int32) float64 { return float64(len(b.next[n])+len(back[n])) + 1 }
	for range 20 {
		clear(on)
		size := 60 + rng.IntN(300)
		links := map[int32]float64{int32(rng.IntN(len(b.next))): 1}
		marked := 0
		for ; marked < size && len(links) > 0; marked++ {
			best, most := int32(-1), -1.0
			for n, k := range links {
				if v := k / math.Sqrt(degree(n)); v > most || v == most && n < best {
					best, most = n, v
				}
			}
			delete(links, best)
			on[best] = true
			for _, near := range [][]int32{b.next[best], back[best]} {
				for _, n := range near {
					if !on[n] {
						links[n]++
					}
				}
			}
		}
		if marked == size {
			return
		}
	}
}

// sighted lets a policy watch the crawl of another and records what it sees.
type sighted struct {
	crawler.Scorer // that drives the crawl
	watch          crawler.Scorer
	policy         *learned.Scorer
	row            int
	find           func(key uint64) int // row of the corpus
	truth          []bool
	next           [][]int32
	known          []bool // rows fetched or discovered
	pages          int
	rng            *rand.Rand
	out            *sightFile
}

// sightFile collects sights: link rows and page rows.
type sightFile struct {
	mu    sync.Mutex
	links *bufio.Writer
	pages *bufio.Writer
}

func put(w *bufio.Writer, head []float32, s learned.Sight) {
	for _, part := range [][]float32{head, {s.Odds}, s.Crawl, s.Features} {
		_ = binary.Write(w, binary.LittleEndian, part)
	}
}

func (s *sighted) ScorePage(p *page.Page, parent float64) crawler.Score {
	score := s.Scorer.ScorePage(p, parent)
	if s.watch != s.Scorer {
		s.watch.ScorePage(p, parent)
	}
	s.pages++
	key := page.Key(p.URL)
	n := s.find(key)
	if n >= 0 {
		s.known[n] = true
	}
	if seen := s.policy.PageSight(); seen.Key == key {
		s.out.mu.Lock()
		put(s.out.pages, []float32{float32(s.row), float32(s.pages), s.y(n)}, seen)
		s.out.mu.Unlock()
	}
	return score
}

func (s *sighted) y(n int) float32 {
	if n >= 0 && s.truth[n] {
		return 1
	}
	return 0
}

func (s *sighted) ScoreLinks(dst []float64, p *page.Page, score crawler.Score) []float64 {
	dst = s.Scorer.ScoreLinks(dst, p, score)
	if s.watch != s.Scorer {
		s.watch.ScoreLinks(nil, p, crawler.Score{Value: score.Value})
	}
	if n := s.find(page.Key(p.URL)); n >= 0 {
		for _, to := range s.next[n] {
			s.known[to] = true
		}
	}
	if s.due() {
		s.out.mu.Lock()
		defer s.out.mu.Unlock()
		for _, seen := range s.policy.Sights(24, s.rng) {
			n, opens := s.find(seen.Key), float32(0)
			if n >= 0 {
				for _, to := range s.next[n] {
					if s.truth[to] && !s.known[to] {
						opens++
					}
				}
			}
			put(s.out.links, []float32{float32(s.row), float32(s.pages), s.y(n), opens}, seen)
		}
	}
	return dst
}

// due: sights are taken at pages that grow by a fifth.
func (s *sighted) due() bool {
	if s.pages < 4 {
		return false
	}
	at := math.Floor(math.Log(float64(s.pages)) / math.Log(1.2))
	return at != math.Floor(math.Log(float64(s.pages-1))/math.Log(1.2))
}

// Rescore lets the driver rescore.
func (s *sighted) Rescore(key uint64) (float64, bool) {
	if r, ok := s.Scorer.(crawler.Rescorer); ok {
		return r.Rescore(key)
	}
	return 0, false
}

// TestOrder crawls the rows of a web for scripts/learnorder.sh. It runs only with FOSSICK_ORDER=DIR. It reads
// DIR/webs/WEB.jsonl and DIR/orders/ORDER.order, the shipped order if there is none. It keeps judges in
// DIR/models, writes what each of POLICIES found to DIR/results/RESULT-WEB.tsv, and what is seen in crawls by
// DRIVERS to DIR/sights. DRAWS is how many draws of start pages a judge has.
func TestOrder(t *testing.T) {
	dir := os.Getenv("FOSSICK_ORDER")
	if dir == "" {
		t.Skip("long; FOSSICK_ORDER=DIR runs it")
	}
	web := os.Getenv("WEB")
	set, err := datasets.Open(filepath.Join(dir, "webs", web+".jsonl"), datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := &orderBench{dir: dir}
	if name := os.Getenv("ORDER"); name != "" {
		raw, err := os.ReadFile(filepath.Join(dir, "orders", name+".order"))
		if err != nil {
			t.Fatal(err)
		}
		if b.order, err = learned.ReadOrder(raw); err != nil {
			t.Fatal(err)
		}
	}
	if b.web, err = Load(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	keys := map[uint64]int{}
	for n, row := range b.web.Rows {
		keys[page.Key(row.URL)] = n
		keys[page.Key(datasets.URLKey(row.URL))] = n
		if row.Page != nil {
			keys[page.Key(row.Page.URL)] = n
		}
	}
	find := func(key uint64) int {
		if n, ok := keys[key]; ok {
			return n
		}
		return -1
	}
	b.find = find
	for _, row := range b.web.Rows {
		var to []int32
		if row.Page != nil {
			for i := range row.Page.Links {
				if n := find(page.Key(row.Page.Links[i].URL)); n >= 0 {
					to = append(to, int32(n))
				}
			}
		}
		slices.Sort(to)
		b.next = append(b.next, slices.Compact(to))
	}
	draws, _ := strconv.Atoi(os.Getenv("DRAWS"))
	rows := rowsOf(web, draws)
	results, err := os.Create(filepath.Join(dir, "results", os.Getenv("RESULT")+"-"+web+".tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer results.Close()
	out := &sightFile{}
	if os.Getenv("DRIVERS") != "" {
		for name, w := range map[string]**bufio.Writer{"links": &out.links, "pages": &out.pages} {
			f, err := os.Create(filepath.Join(dir, "sights", web+"."+name))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			*w = bufio.NewWriterSize(f, 1<<20)
			defer (*w).Flush()
		}
	}
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(2)
	one := func(i int, r *orderRow) error {
		find := find
		s, next, err := b.setup(t, r)
		if err != nil {
			return err
		}
		if r.Rehost {
			own := map[uint64]int{}
			for n, row := range s.Corpus.Rows {
				own[page.Key(row.URL)] = n
			}
			find = func(key uint64) int {
				if n, ok := own[key]; ok {
					return n
				}
				return -1
			}
		}
		text, err := b.run(t, s, r, i, next, find, out)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name(), err)
		}
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprint(results, text)
		return nil
	}
	for from := 0; from < len(rows); from += draws { // the draws of one judge, one after the other: the first trains it
		g.Go(func() error {
			for i := from; i < from+draws; i++ {
				if err := one(i, rows[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}

func (b *orderBench) run(t *testing.T, s *Setup, r *orderRow, row int, next [][]int32, find func(uint64) int, out *sightFile) (string, error) {
	split := func(name string) []string {
		return strings.FieldsFunc(os.Getenv(name), func(r rune) bool { return r == ',' })
	}
	drivers := split("DRIVERS")
	s.plan.Policy = slices.Compact(slices.Sorted(slices.Values(slices.Concat(split("POLICIES"), drivers))))
	all, err := s.policies(t.Context())
	if err != nil {
		return "", err
	}
	labeller, err := plan.NewLabeller(s.Topic)
	if err != nil {
		return "", err
	}
	labeller.Remember()
	var text strings.Builder
	seen := 0
	for n, train := range s.Draw.Training {
		if train && s.Draw.Relevant[n] {
			seen++
		}
	}
	for i := range all {
		watched := slices.Contains(drivers, all[i].Name)
		build := all[i].New
		all[i].New = func(run crawlRun) (crawler.Options, error) {
			opt, err := build(run)
			if err != nil || !watched {
				return opt, err
			}
			w := &sighted{Scorer: opt.Scorer, watch: opt.Scorer, row: row, find: find, truth: s.Draw.Relevant, next: next, known: make([]bool, len(s.Draw.Relevant)), rng: r.random(4), out: out}
			type watcher interface{ Watched() *learned.Scorer }
			if _, is := opt.Scorer.(watcher); !is {
				p, _, err := plan.Parse("learned")
				if err != nil {
					return opt, err
				}
				in := plan.Input{Labeller: labeller, Threshold: plan.DefaultThreshold, Topics: 1, Rho: plan.DefaultRho, Seed: 1, Order: b.order}
				if w.watch, err = p.Scorer(in); err != nil {
					return opt, err
				}
			}
			w.policy = w.watch.(watcher).Watched()
			opt.Scorer = w
			return opt, nil
		}
	}
	s.Policies = all
	for i := range all {
		c, err := s.crawl(t.Context(), i, 0, s.experiment.truth())
		if err != nil {
			return "", err
		}
		found := cumulate(c.Relevant, len(c.Relevant))
		at := func(n int) int { return found[min(n, len(found)-1)] }
		fmt.Fprintf(&text, "%s\t%s\t%d.%d\t%s\t%d\t%d\t%g\t%d\t%d\t%d\t%s\t%d\t%d\n", r.Web, r.Topic, r.N, r.Draw, r.kind(), r.Train, seen, r.Noise, r.Starts, s.Draw.Targets, s.Pages, all[i].Name,
			at(s.Pages/2), at(s.Pages))
	}
	return text.String(), nil
}
