package lab

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"fossick/eval"
	"fossick/internal/cli"
	"fossick/internal/report"
	"fossick/internal/stats"
)

// labResult is the result of a run, in the JSON layout.
type labResult struct {
	Corpus      string       `json:"corpus"`
	Topic       string       `json:"topic"`
	CorpusPages int          `json:"corpus_pages"`
	Targets     int          `json:"targets"`
	TrainPages  int          `json:"train_pages"`
	Classifier  modelQuality `json:"classifier"`

	JudgeTrained *float64 `json:"judge_trained_on"` // share of the corpus in the judge's training set; null without a judge, or when unknown

	Keywords       []string                `json:"keywords"` // of the first start set
	Pages          int                     `json:"pages"`    // per crawl
	Starts         int                     `json:"starts"`
	StartSets      int                     `json:"start_sets"`
	StartSetsAsked int                     `json:"start_sets_asked"`  // above start_sets when fewer can be drawn
	Manners        *mannersResult          `json:"manners,omitempty"` // with --polite
	Policies       map[string]policyResult `json:"policies"`
	Tests          []pairedTest            `json:"tests"`
	NoTests        string                  `json:"no_tests,omitempty"`  // why intervals or tests are missing
	RhoSweep       []rhoPoint              `json:"rho_sweep,omitempty"` // by rising ρ
	HTML           string                  `json:"html,omitempty"`

	LoadSeconds    float64 `json:"load_seconds"` // parsing and training
	CrawlSeconds   float64 `json:"crawl_seconds"`
	PagesPerSecond float64 `json:"pages_per_second"`

	figures []policyFigures // in the order requested
}

type modelQuality struct {
	Precision *float64 `json:"precision"`
	Recall    *float64 `json:"recall"`
}

type policyResult struct {
	crawlShares
	spreadOfHosts
	TrainPages  float64      `json:"train_pages"` // training pages fetched
	Short       int          `json:"short"`       // crawls whose frontier emptied
	Sets        []float64    `json:"sets"`        // harvest, by start set
	Curve       [][2]float64 `json:"curve"`
	RecallCurve [][2]float64 `json:"recall_curve"`
	TimeCurve   [][3]float64 `json:"time_curve,omitempty"` // seconds, pages, pages on topic; with --polite
	Overlap     []eval.Point `json:"overlap"`
}

// mannersResult holds the politeness limits of the crawls.
type mannersResult struct {
	Workers int     `json:"workers"`
	Delay   string  `json:"delay"`
	Latency float64 `json:"latency"` // mean, in seconds
}

// String returns the limits in words.
func (m *mannersResult) String() string {
	return fmt.Sprintf("%d workers, an exchange takes %s, its host's rest is %s", m.Workers, time.Duration(m.Latency*float64(time.Second)), m.Delay)
}

type crawlShares struct {
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
	Seconds       float64     `json:"seconds,omitempty"` // simulated time until the last of these pages; with --polite
}

func sharesOf(f policyFigures) crawlShares {
	return crawlShares{
		Fetched: f.Fetched.Value,
		Harvest: f.Harvest.Value, CI: ofShare(f.Harvest.CI), Fresh: f.Fresh.Value, FreshCI: ofShare(f.Fresh.CI),
		Recall: f.Recall.Value, RecallCI: ofShare(f.Recall.CI),
		HarvestArea: f.HarvestArea.Value, HarvestAreaCI: ofShare(f.HarvestArea.CI),
		RecallArea: f.RecallArea.Value, RecallAreaCI: ofShare(f.RecallArea.CI), Seconds: f.Seconds.Value,
	}
}

func ofShare(ci *[2]float64) *[2]float64 {
	if ci == nil {
		return nil
	}
	return &[2]float64{max(0, ci[0]), min(1, ci[1])}
}

func points(curve []curvePoint) [][2]float64 {
	out := make([][2]float64, len(curve))
	for i, p := range curve {
		out[i] = [2]float64{float64(p.Pages), p.Value}
	}
	return out
}

// tables prints a row per policy, in two tables to fit 80 columns.
func (r *labResult) tables(w io.Writer) {
	r.table(w, "harvest\t95 % interval\twithout training\trecall\t", func(p policyResult) string {
		return fmt.Sprintf("%.3f\t%s\t%.3f\t%.3f\t", p.Harvest, report.Interval(p.CI), p.Fresh, p.Recall)
	})
	io.WriteString(w, "\n")
	columns := "harvest area\trecall area\thosts\teffective\tmax 10 a host\t"
	if r.Manners != nil {
		columns += "time\t"
	}
	r.table(w, columns, func(p policyResult) string {
		row := fmt.Sprintf("%.3f\t%.3f\t%.0f\t%.1f\t%.3f\t", p.HarvestArea, p.RecallArea, p.Hosts, p.Effective, p.harvestAt(10))
		if r.Manners != nil {
			row += time.Duration(p.Seconds*float64(time.Second)).Round(time.Second).String() + "\t"
		}
		return row
	})
}

func (r *labResult) table(w io.Writer, columns string, cells func(policyResult) string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	io.WriteString(t, "policy\t"+columns+"\n")
	for _, f := range r.figures {
		cli.Fprintf(t, "%s\t", f.Policy)
		io.WriteString(t, cells(r.Policies[f.Policy])+"\n")
	}
	_ = t.Flush() // it fails only when w does
}

func (r *labResult) printTests(w io.Writer) {
	if r.NoTests != "" {
		cli.Fprintf(w, "\n%s\n", r.NoTests)
	}
	if len(r.Tests) > 0 {
		io.WriteString(w, "\nharvest, paired t-tests over the start sets\n(adjusted for all of them by Holm; exact permutation test):\n")
	}
	for _, t := range r.Tests {
		cli.Fprintf(w, "  %s − %s: %+.3f, %s (%s; %s)\n", t.A, t.B, t.Difference, report.PValue(t.P), report.Chance(t.Adjusted), report.Chance(t.Exact))
	}
}

func (r *labResult) Print(w io.Writer) {
	cli.Fprintf(w, "%s of %s: %d of %d pages are on topic;\n%s of %d pages a policy, each from %s\n\n",
		r.Topic, r.Corpus, r.Targets, r.CorpusPages, report.Count(r.StartSets, "crawl"), r.Pages, report.StartPages(r.Starts))
	if m := r.Manners; m != nil {
		cli.Fprintf(w, "in simulated time: %s\n\n", m)
	}
	r.tables(w)
	r.printTests(w)
	if t := r.JudgeTrained; t != nil && *t > 0 {
		cli.Fprintf(w, "\nthe judge was trained on %s of these pages and knows their labels, so the figures are too good\n", report.Percent(*t))
	}
	cli.Fprintf(w, "\n%.0f pages/s\n", r.PagesPerSecond)
	if r.HTML != "" {
		cli.Fprintf(w, "report: %s\n", r.HTML)
	}
}

// whyNoTests explains missing intervals and tests, and fewer start sets than asked; else "".
func whyNoTests(sets, asked int) string {
	s := ""
	if sets < asked {
		s = fmt.Sprintf("Only %s of the %d requested, because few pages are on topic and not used for training.\n", report.Count(sets, "different start set"), asked)
	}
	if sets < stats.Fewest {
		s += fmt.Sprintf("No intervals and no tests: they need %d different start sets, and there %s.", stats.Fewest, map[bool]string{true: "is 1", false: fmt.Sprintf("are %d", sets)}[sets == 1])
	}
	return strings.TrimSpace(s)
}
