//go:build ignore

// Everywhere compares crawl policies on every corpus and topic at hand:
// docs/data/everywhere.tsv.
//
//	go run scripts/everywhere.go crawl CORPUS POLICY,... >> RAW    a line a crawl
//	go run scripts/everywhere.go table RAW...                      the table, to standard output
//
// Corpora are wikispeedia, biology (its sub-topics), webkb, debdocs, debdocs-capped,
// uci_ics and msdocs, found by FOSSICK_DATA. Each is read once for all its rows. TOPICS
// (by ;) takes some of them, SETS other than three draws of training and start pages each.
// A row's budgets are half of what there is on topic and the whole, 1,000 pages at most.
// Of a crawl that RAW has twice the last counts.
package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"fossick/datasets"
	"fossick/lab"
	"fossick/lab/plan"
	"fossick/train"
)

// most is how many pages a crawl has at most.
const most = 1000

// A corpus's topics by half: even are those that constants may be tuned on.
type corpus struct {
	set     string
	tuned   []string
	heldOut []string
	perHost uint64
	judge   bool
}

var corpora = map[string]corpus{
	"wikispeedia":    {set: "wikispeedia", heldOut: []string{"Astronomy", "Biology", "IT", "Religion"}},
	"biology":        {set: "wikispeedia", tuned: []string{"Science.Biology.Birds", "Science.Biology.Mammals", "Science.Biology.Health_and_medicine", "Science.Biology.Plants", "Science.Biology.Insects_Reptiles_and_Fish", "Science.Biology.Dinosaurs"}},
	"webkb":          {set: "webkb", tuned: []string{"student", "faculty", "course", "project"}},
	"debdocs":        {set: "debdocs", heldOut: []string{"programming", "science", "computing", "finance"}},
	"debdocs-capped": {set: "debdocs", heldOut: []string{"programming", "science", "computing", "finance"}, perHost: 60},
	"uci_ics":        {set: "uci_ics", judge: true, heldOut: []string{"student", "faculty", "course"}},
	"msdocs": {set: "msdocs",
		tuned: []string{
			"topic:accounting", "topic:electronic mail", "topic:3d graphics", "topic:video", "topic:network drivers", "topic:word processing",
			"vba/access", "ddi/debugger", "win32/medfound", "cpp/mfc", "ddi/stream",
			"win32/hyperv_v2", "win32/shell", "win32/com", "win32/netmon2", "biztalk/accelerator-hl7",
		},
		heldOut: []string{
			"topic:spreadsheets", "topic:compilers", "topic:project management", "topic:directory services", "topic:handwriting and speech",
			"topic:accessibility", "topic:bluetooth",
			"win32/directshow", "officeclient/access", "vba/language", "officeps/exchange", "drivers/debuggercmds",
			"drivers/kernel", "powershell/docs-scripting", "cpp/code-quality", "iis/wmi-provider", "aspnet/mvc",
		}},
}

func main() {
	log.SetFlags(0)
	var err error
	switch {
	case len(os.Args) == 4 && os.Args[1] == "crawl":
		err = crawl(context.Background(), os.Args[2], strings.Split(os.Args[3], ","))
	case len(os.Args) >= 3 && os.Args[1] == "table":
		err = table(os.Args[2:])
	default:
		log.Fatal("everywhere crawl CORPUS POLICY,... or table RAW...")
	}
	if err != nil {
		log.Fatal(err)
	}
}

func crawl(ctx context.Context, name string, policies []string) error {
	c, ok := corpora[name]
	if !ok {
		return fmt.Errorf("no corpus %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(corpora)), ", "))
	}
	data := cmp.Or(os.Getenv("FOSSICK_DATA"), "../shared/data")
	sets, err := strconv.Atoi(cmp.Or(os.Getenv("SETS"), "3"))
	if err != nil {
		return err
	}
	judge := ""
	if c.judge {
		dir, err := os.MkdirTemp("", "everywhere")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		judge = filepath.Join(dir, "judge.model")
		if err := judgeOf(ctx, filepath.Join(data, "webkb"), judge); err != nil {
			return err
		}
	}
	set, err := datasets.Open(filepath.Join(data, c.set), datasets.Options{})
	if err != nil {
		return err
	}
	web, err := lab.Load(ctx, set)
	if err != nil {
		return err
	}
	log.Printf("%s: %d pages", name, len(web.Rows))
	topics := slices.Concat(c.tuned, c.heldOut)
	if only := os.Getenv("TOPICS"); only != "" {
		topics = strings.Split(only, ";")
	}
	for _, topic := range topics {
		if err := crawlTopic(ctx, name, c, web, topic, judge, policies, sets); err != nil {
			return fmt.Errorf("%s, %s: %w", name, topic, err)
		}
	}
	return nil
}

func crawlTopic(ctx context.Context, name string, c corpus, web *lab.Corpus, topic, judge string, policies []string, sets int) error {
	p := &plan.Plan{Options: plan.Options{
		Corpus: c.set, Topic: topic, Policy: policies, Judge: judge, TrainSets: sets, StartSets: sets, Starts: 10, Pages: most,
		MaxPagesPerHost: c.perHost, Links: "all",
	}, Seed: 1, Web: web, Say: func(string, ...any) {}, Log: slog.New(slog.DiscardHandler),
		Random: func(purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(1, purpose)) }}
	if err := p.Check(); err != nil {
		return err
	}
	s, err := p.Prepare(ctx)
	if err != nil {
		return err
	}
	whole := min(most, s.Draw.Targets)
	s.Pages = whole
	crawls, err := s.Experiment.Run(ctx, nil)
	if err != nil {
		return err
	}
	for i, all := range crawls {
		for set, cr := range all {
			for _, budget := range []int{whole / 2, whole} {
				found, n := 0, min(budget, len(cr.Relevant))
				for _, on := range cr.Relevant[:n] {
					if on {
						found++
					}
				}
				positives := 0
				for n, training := range s.Draw.Training[s.Draw.ModelOf(set)] {
					if training && s.Draw.Relevant[n] {
						positives++
					}
				}
				fmt.Printf("%s\t%s\t%d\t%d\t%s\t%d\t%d\t%d\n", name, topic, s.Draw.Targets, budget, policies[i], set, positives, found)
			}
		}
	}
	log.Printf("%s %s: %d on topic", name, topic, s.Draw.Targets)
	return nil
}

// judgeOf trains the judge of a corpus without topics: kinds of pages, of other
// universities and twenty years before.
func judgeOf(ctx context.Context, set, path string) error {
	from, err := datasets.Open(set, datasets.Options{})
	if err != nil {
		return err
	}
	m, _, err := train.Train(ctx, from.Examples(), train.Options{
		Target: train.Target{Labels: []string{"student", "faculty", "course", "project", "department", "staff", "other"}},
		Method: train.Method{Classifier: "linear"}, Seed: 1, Log: slog.New(slog.DiscardHandler), Step: func(string) {},
	})
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return m.Write(f)
}

// row is a corpus, a topic and a budget.
type row struct {
	corpus, topic  string
	targets, pages int
}

// of is what a row's crawls found, by policy and start set.
type of struct {
	found     map[string]map[string]float64
	positives map[string]float64 // training pages on topic, by set
}

// table writes what crawls came to, a line a row, and their means by half.
func table(files []string) error {
	rows, order := map[row]*of{}, []row(nil)
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			c := strings.Split(lines.Text(), "\t")
			if len(c) != 8 {
				return fmt.Errorf("%s: %q is no line of a crawl", file, lines.Text())
			}
			var n [6]float64
			for i, at := range []int{2, 3, 6, 7} {
				if n[i], err = strconv.ParseFloat(c[at], 64); err != nil {
					return fmt.Errorf("%s: %w", file, err)
				}
			}
			r := row{c[0], c[1], int(n[0]), int(n[1])}
			if rows[r] == nil {
				rows[r] = &of{map[string]map[string]float64{}, map[string]float64{}}
				order = append(order, r)
			}
			if rows[r].found[c[4]] == nil {
				rows[r].found[c[4]] = map[string]float64{}
			}
			rows[r].found[c[4]][c[5]] = n[3] / n[1]
			rows[r].positives[c[5]] = n[2]
		}
		if err := lines.Err(); err != nil {
			return err
		}
	}
	write(os.Stdout, rows, order)
	return nil
}

const oracle = "target-oracle"

// write writes the table. The best known policy is that of the row: no one policy is it
// everywhere. It was chosen by the same draws as it is judged by, which flatters it. So the
// ratio is given too to what the best by the other draws finds in each draw, with two
// standard errors; and what that policy has itself of the row's best.
func write(w io.Writer, rows map[row]*of, order []row) {
	var known []string
	for _, r := range rows {
		for p := range r.found {
			if !strings.HasPrefix(p, "learned") && p != oracle && !slices.Contains(known, p) {
				known = append(known, p)
			}
		}
	}
	slices.Sort(known)
	slices.SortStableFunc(order, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.corpus, b.corpus), cmp.Compare(b.targets, a.targets), cmp.Compare(a.topic, b.topic), cmp.Compare(a.pages, b.pages))
	})
	fmt.Fprintf(w, "corpus\ttopic\tconstants\ton topic\ttrained on\tpages\t%s\tlearned\toracle\tbest known\tratio\tby other draws\t±\tof the best\n", strings.Join(known, "\t"))
	byHalf := map[string]*totals{}
	add := func(half string, ratio float64, o others) {
		if byHalf[half] == nil {
			byHalf[half] = &totals{}
		}
		byHalf[half].add(ratio, o)
	}
	for _, r := range order {
		x, half := rows[r], "held out"
		if slices.Contains(corpora[r.corpus].tuned, r.topic) {
			half = "tuned on"
		}
		best, name := 0.0, ""
		var cells []string
		for _, p := range known {
			m := mean(x.found[p])
			cells = append(cells, fmt.Sprintf("%.3f", m))
			if m > best {
				best, name = m, p
			}
		}
		learned, top := mean(x.found["learned"]), mean(x.found[oracle])
		ratio, o := learned/best, x.byOthers(known)
		o.ofBest /= best
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%.0f\t%d\t%s\t%.3f\t%.3f\t%s\t%.3f\t%.3f\t%.3f\t%.3f\n", r.corpus, r.topic, half, r.targets, mean(x.positives), r.pages,
			strings.Join(cells, "\t"), learned, top, name, ratio, o.ratio, o.error, o.ofBest)
		add(half, ratio, o)
		if best < 0.95*top {
			add(half+", room left", ratio, o)
		}
	}
	for _, half := range slices.Sorted(maps.Keys(byHalf)) {
		fmt.Fprintf(w, "# %s: %s\n", half, byHalf[half])
	}
}

// others is how learned does against the known policy that is best by the other draws.
type others struct{ ratio, error, ofBest float64 }

// byOthers compares a row's crawls, draw by draw; ofBest is what the policies found, in the
// mean.
func (x *of) byOthers(known []string) (o others) {
	draws := slices.Sorted(maps.Keys(x.found["learned"]))
	found := make([]float64, len(draws)) // by the policy that is best in the others
	sum := 0.0
	for i, d := range draws {
		best := -1.0
		for _, p := range known {
			if elsewhere := mean(x.found[p])*float64(len(draws)) - x.found[p][d]; elsewhere > best {
				best, found[i] = elsewhere, x.found[p][d]
			}
		}
		sum += found[i]
	}
	n := float64(len(draws))
	o.ofBest = sum / n
	o.ratio = mean(x.found["learned"]) / o.ofBest
	squares := 0.0
	for i, d := range draws {
		e := (x.found["learned"][d] - o.ratio*found[i]) / o.ofBest
		squares += e * e
	}
	o.error = 2 * math.Sqrt(squares/n/max(1, n-1))
	return o
}

// totals sums rows up.
type totals struct {
	ratios, byOthers, ofBest []float64
	sure                     int // below least by more than two standard errors
}

// least is what no row should be below.
const least = .98

func (t *totals) add(ratio float64, o others) {
	t.ratios, t.byOthers, t.ofBest = append(t.ratios, ratio), append(t.byOthers, o.ratio), append(t.ofBest, o.ofBest)
	if o.ratio+o.error < least {
		t.sure++
	}
}

func (t *totals) String() string {
	of := func(rows []float64) string {
		sum, below := 0.0, 0
		for _, v := range rows {
			if sum += v; v < least {
				below++
			}
		}
		return fmt.Sprintf("mean %.3f, least %.3f, %d below %g", sum/float64(len(rows)), slices.Min(rows), below, least)
	}
	return fmt.Sprintf("%d rows: ratio to the best known %s; to the best by other draws %s, %d of these surely; that policy to the best known %s",
		len(t.ratios), of(t.ratios), of(t.byOthers), t.sure, of(t.ofBest))
}

func mean(by map[string]float64) float64 {
	sum := 0.0
	for _, set := range slices.Sorted(maps.Keys(by)) {
		sum += by[set]
	}
	return sum / float64(max(1, len(by)))
}
