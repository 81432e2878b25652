package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"fossick/crawler"
	"fossick/eval"
	"fossick/internal/printable"
	"fossick/lab"
	"fossick/report"
)

// labResult is what lab prints (cli.md).
type labResult struct {
	Corpus      string               `json:"corpus"`
	Topic       string               `json:"topic"`
	CorpusPages int                  `json:"corpus_pages"`
	Targets     int                  `json:"targets"` // pages on topic
	TrainPages  int                  `json:"train_pages"`
	Classifier  labQuality           `json:"classifier"`
	Keywords    []string             `json:"keywords"`   // of the first start set
	Pages       int                  `json:"pages"`      // a crawl
	TrainSets   int                  `json:"train_sets"` // page classifiers
	Starts      int                  `json:"starts"`
	StartSets   int                  `json:"start_sets"`
	Policies    map[string]labPolicy `json:"policies"`
	Tests       []labTest            `json:"tests"`
	RhoSweep    []rhoPoint           `json:"rho_sweep,omitempty"` // by rising ρ
	HTML        string               `json:"html,omitempty"`

	LoadSeconds    float64 `json:"load_seconds"` // parsing and training
	CrawlSeconds   float64 `json:"crawl_seconds"`
	PagesPerSecond float64 `json:"pages_per_second"` // of all crawls

	order   []string // of the policies, as asked for
	figures []lab.Figures
	tests   []lab.Test
}

// labQuality is the page classifier's on the pages that it was not trained on.
type labQuality struct {
	Precision *float64 `json:"precision"`
	Recall    *float64 `json:"recall"`
}

// labPolicy is one policy's part.
type labPolicy struct {
	labShares
	Reached   *float64    `json:"recall_reachable"` // null without --reachable
	ReachedCI *[2]float64 `json:"recall_reachable_ci"`
	Hosts     float64     `json:"hosts"`
	labSpread
	TrainPages  float64           `json:"train_pages"` // fetched
	Short       int               `json:"short"`       // crawls that ran out of URLs
	Sets        []float64         `json:"sets"`        // harvest, by start set
	Curve       [][2]float64      `json:"curve"`
	RecallCurve [][2]float64      `json:"recall_curve"`
	Overlap     []eval.Point      `json:"overlap"`
	At          map[int]labShares `json:"at,omitempty"`
}

// labShares are means over the start sets with their 95 % intervals.
type labShares struct {
	Fetched       float64     `json:"fetched"`
	Harvest       float64     `json:"harvest"`
	CI            *[2]float64 `json:"ci"`
	Fresh         float64     `json:"harvest_without_training"`
	FreshCI       *[2]float64 `json:"harvest_without_training_ci"`
	Recall        float64     `json:"recall"`
	RecallCI      *[2]float64 `json:"recall_ci"`
	HarvestArea   float64     `json:"harvest_area"`
	HarvestAreaCI *[2]float64 `json:"harvest_area_ci"`
	RecallArea    float64     `json:"recall_area"`
	RecallAreaCI  *[2]float64 `json:"recall_area_ci"`
}

// labTest compares two policies by harvest.
type labTest struct {
	A          string      `json:"a"`
	B          string      `json:"b"`
	Difference float64     `json:"difference"`
	CI         *[2]float64 `json:"ci"`
	P          float64     `json:"p"`
	Adjusted   float64     `json:"p_adjusted"`
	Exact      float64     `json:"p_permutation"`
}

// result sums the crawls up.
func (r *labRun) result(policies []lab.Policy, crawls [][]*lab.Crawl) *labResult {
	out := &labResult{
		Corpus: r.Corpus, Topic: r.Topic, CorpusPages: len(r.corpus.Rows), Targets: r.draw.Targets,
		Keywords: []string{}, Pages: r.Pages, TrainSets: r.TrainSets, Starts: r.Starts, StartSets: r.StartSets,
		Policies: map[string]labPolicy{}, Tests: []labTest{},
	}
	if r.sets != nil {
		out.Keywords = r.sets[0].Words()
	}
	for _, t := range r.draw.Training[0] {
		if t {
			out.TrainPages++
		}
	}
	step := r.Curve
	if step == 0 {
		step = max(1, r.Pages/50)
	}
	var all []lab.Figures
	for i, p := range policies {
		f := lab.Measure(p, crawls[i], r.draw, r.Pages, step)
		all = append(all, f)
		row := labPolicy{
			labShares: sharesOf(f), Hosts: f.Spread.Hosts.Value, labSpread: spreadOf(f.Spread), TrainPages: f.Trained.Value, Short: f.Short, Sets: f.Sets,
			Curve: points(f.Curve), RecallCurve: points(f.RecallCurve), Overlap: f.Overlap, At: map[int]labShares{},
		}
		for _, n := range r.At {
			if n > 0 && n <= r.Pages {
				row.At[n] = sharesOf(lab.Measure(p, crawls[i], r.draw, n, n))
			}
		}
		out.Policies[p.Name] = row
		out.order = append(out.order, p.Name)
	}
	out.RhoSweep = r.swept(all)
	out.figures, out.tests = all, lab.Compare(all, r.app.random(0x7e57))
	for _, t := range out.tests {
		out.Tests = append(out.Tests, labTest(t))
	}
	return out
}

func sharesOf(f lab.Figures) labShares {
	return labShares{
		Fetched: f.Fetched.Value,
		Harvest: f.Harvest.Value, CI: ofShare(f.Harvest.CI), Fresh: f.Fresh.Value, FreshCI: ofShare(f.Fresh.CI),
		Recall: f.Recall.Value, RecallCI: ofShare(f.Recall.CI),
		HarvestArea: f.HarvestArea.Value, HarvestAreaCI: ofShare(f.HarvestArea.CI),
		RecallArea: f.RecallArea.Value, RecallAreaCI: ofShare(f.RecallArea.CI),
	}
}

// ofShare cuts an interval to what a share can be.
func ofShare(ci *[2]float64) *[2]float64 {
	if ci == nil {
		return nil
	}
	return &[2]float64{max(0, ci[0]), min(1, ci[1])}
}

func points(curve []lab.Point) [][2]float64 {
	out := make([][2]float64, len(curve))
	for i, p := range curve {
		out[i] = [2]float64{float64(p.Pages), p.Value}
	}
	return out
}

// reach adds recall of what can be reached.
func (r *labRun) reach(x *lab.Experiment, crawls [][]*lab.Crawl, out *labResult) error {
	r.work.Step("finding out what can be reached", 0)
	r.app.say("finding out what can be reached")
	reachable, err := x.Reachable(r.app.ctx, crawler.Scope{Links: crawler.LinkPolicy(r.Links)})
	if err != nil {
		return err
	}
	for i, name := range out.order {
		m := lab.ReachedRecall(crawls[i], reachable, r.Pages)
		row := out.Policies[name]
		row.Reached, row.ReachedCI = &m.Value, m.CI
		out.Policies[name] = row
	}
	return nil
}

// table prints a row a policy.
func (r *labResult) table(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	io.WriteString(t, "policy\tharvest\t95 % interval\twithout training\trecall\tharvest area\trecall area\thosts\teffective\tat most 10 a host\t\n")
	for _, name := range r.order {
		p := r.Policies[name]
		printable.Fprintf(t, "%s\t%.3f\t%s\t%.3f\t%.3f\t%.3f\t%.3f\t%.0f\t%.1f\t%.3f\t", name, p.Harvest, spanOf(p.CI), p.Fresh, p.Recall,
			p.HarvestArea, p.RecallArea, p.Hosts, p.Effective, p.harvestAt(10))
		if p.Reached != nil {
			printable.Fprintf(t, "%.3f of what can be reached\t", *p.Reached)
		}
		io.WriteString(t, "\n")
	}
	_ = t.Flush() // its only errors are w's
}

func spanOf(ci *[2]float64) string {
	if ci == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f–%.3f", ci[0], ci[1])
}

// told says how the policies differ, the tests in words.
func (r *labResult) told() []string {
	lines := []string{"harvest, paired t-tests over the start sets (adjusted for all of them by Holm; exact permutation test):"}
	for _, t := range r.Tests {
		lines = append(lines, fmt.Sprintf("  %s − %s: %+.3f, %s (%s; %s)", t.A, t.B, t.Difference, report.PValue(t.P), report.Chance(t.Adjusted), report.Chance(t.Exact)))
	}
	return lines
}

// writeReport writes the page.
func (r *labRun) writeReport(out *labResult) error {
	known := map[string]string{"parent-oracle": "knows which pages are on topic, once fetched", "target-oracle": "knows which targets are on topic"}
	for _, p := range policies {
		known[p.name] = p.about
	}
	rep := lab.Report{
		Corpus: filepath.Base(r.Corpus), Topic: r.Topic, CorpusPages: out.CorpusPages, Targets: out.Targets, Pages: r.Pages,
		Starts: r.Starts, Sets: r.StartSets, Policies: out.figures, Tests: out.tests, Known: known, Sweep: sweepLine(out.RhoSweep),
		Made: []report.Fact{
			{Name: "made by", Value: "fossick " + version},
			{Name: "random seed", Value: fmt.Sprint(r.app.seed)},
			{Name: "page classifier", Value: cardText(r.topics[0].Model)},
			{Name: "page classifiers", Value: fmt.Sprint(r.TrainSets)},
			{Name: "on pages not trained on", Value: fmt.Sprintf("precision %s, recall %s", report.Share(out.Classifier.Precision), report.Share(out.Classifier.Recall))},
			{Name: "links followed", Value: r.Links},
			{Name: "speed", Value: fmt.Sprintf("%.0f pages/s", out.PagesPerSecond)},
		},
	}
	if len(out.Keywords) > 0 { // no policy looked for any
		rep.Made = append(rep.Made, report.Fact{Name: "keywords of the first start set", Value: strings.Join(out.Keywords, ", ")})
	}
	if r.MaxPagesPerHost > 0 {
		rep.Made = append(rep.Made, report.Fact{Name: "pages of one host, at most", Value: fmt.Sprint(r.MaxPagesPerHost)})
	}
	return writePage(r.HTML, func(w io.Writer) error { return lab.WriteReport(w, rep) })
}
