package lab

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"fossick/crawler/plan"
	"fossick/datasets"
	"fossick/internal/cli"
	"fossick/internal/report"
)

// Plan specifies a run.
type Plan struct {
	Options

	Seed   int64
	Random func(purpose uint64) *rand.Rand // returns the source for one purpose, derived from Seed
	Open   datasets.Opener
	Say    func(format string, args ...any)
	Log    *slog.Logger
	Work   *cli.Task // progress display; nil for none
}

// Options are the flags of fossick lab, which their tags explain.
type Options struct {
	Corpus string   `arg:"" name:"CORPUS" help:"Corpus to crawl: demo, a folder, a .jsonl file, or a web archive (.warc)." predictor:"sets"`
	Topic  string   `required:"" placeholder:"T" help:"Label of the truth that is the topic."`
	Policy []string `placeholder:"A,B" help:"Policies to compare, by comma: $${scores}; paper:0.5 is paper with that ρ; parent-oracle and target-oracle know the truth." predictor:"policies"`

	Truth      string   `placeholder:"FILE" xor:"truth" help:"Labels by URL: url TAB label TAB label|label, also .gz and .zst [the corpus's labels]."`
	Judge      string   `placeholder:"MODEL" xor:"truth" help:"Model, a file or a topic's name, that decides which pages are on topic if there is no truth; choose one other than the crawl's own." predictor:"models"`
	Train      string   `placeholder:"SET" xor:"train" help:"Labelled set to train the page classifier on." group:"sets" expert:"" predictor:"sets"`
	TrainPages int      `placeholder:"N" xor:"train" help:"Pages of the corpus, drawn at random, to train the page classifier on [600]." group:"sets" expert:""`
	Model      string   `placeholder:"M" xor:"train" help:"Model to crawl with, instead of training one." predictor:"models"`
	Keywords   []string `placeholder:"WORDS" help:"Words and phrases of the topic, by comma [chosen from training and start pages, or the model's]."`
	RhoSweep   rhoRange `name:"rho-sweep" placeholder:"A:B:STEP" help:"Also crawl by the policy paper at each ρ from A to B, as 0:0.9:0.1, and plot harvest against ρ." group:"score" expert:""`
	Threshold  *float64 `placeholder:"R" help:"The policy paper drops links that score less [0.2]." group:"score" expert:""`
	Links      string   `enum:"all,external,site" default:"all" placeholder:"WHICH" help:"Which links to follow: ${enum} [all]." group:"score" expert:""`

	Starts    int `default:"10" placeholder:"N" help:"Start pages of a crawl: pages on topic, drawn at random, none of them trained on [10]."`
	StartSets int `default:"10" aliases:"seed-sets" placeholder:"N" help:"Crawls of each policy, each from its own start pages [10]." group:"sets" expert:""`
	Pages     int `placeholder:"M" help:"Pages per crawl, start pages included [5 % of the corpus]."`

	Polite  bool           `help:"Crawl in simulated time with many workers, slow exchanges and hosts that rest." group:"polite"`
	Workers int            `placeholder:"N" help:"With --polite: fetches at a time [32]." group:"polite" expert:""`
	Delay   string         `placeholder:"D" help:"With --polite: rest after each fetch from a host, auto or a time [auto]." type:"delay" group:"polite" expert:""`
	Latency *time.Duration `placeholder:"D" help:"With --polite: mean time of an exchange; that of a URL is 0.5 to 1.5 times the mean [100ms]." group:"polite" expert:""`
}

// defaultTrainPages is how many pages of the corpus train the page classifier.
const defaultTrainPages = 600

// Check validates the plan, and adds the policies of a sweep to Policy.
func (p *Plan) Check() error {
	if p.Starts < 1 || p.StartSets < 1 || p.StartSets > 64 || p.Pages < 0 || p.TrainPages < 0 {
		return cli.Usagef("--starts %d, --start-sets %d, --pages %d, --train-pages %d: want at least 1 start page, 1 to 64 start sets, and no negative numbers",
			p.Starts, p.StartSets, p.Pages, p.TrainPages)
	}
	if p.Pages > 0 && p.Pages < p.Starts {
		return cli.Usagef("--pages %d includes the start pages, of which there are %d; ask for more pages or fewer --starts", p.Pages, p.Starts)
	}
	if _, err := p.manners(); err != nil {
		return err
	}
	for _, name := range p.RhoSweep.policies() {
		if !slices.Contains(p.Policy, name) {
			p.Policy = append(p.Policy, name)
		}
	}
	if len(p.Policy) == 0 {
		return cli.Usagef("give the policies to compare with --policy, or a sweep with --rho-sweep")
	}
	for _, name := range p.Policy {
		if _, is := oracles[name]; !is {
			if _, _, err := plan.Parse(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// Run makes the crawls and returns their figures.
func (p *Plan) Run(ctx context.Context) (*Setup, *labResult, error) {
	began := time.Now()
	s, err := p.Prepare(ctx)
	if err != nil {
		return nil, nil, err
	}
	loading := s.loaded.Sub(began)
	p.Say("%d pages, %d of them on topic; %d crawls of %d pages", len(s.Corpus.Rows), s.Draw.Targets, len(s.Policies)*len(s.Draw.Starts), s.Pages)
	quality, err := s.quality() // before the crawls: it may warn that the model was trained on these pages
	if err != nil {
		return nil, nil, err
	}
	crawling := time.Now()
	pages := 0
	p.Work.Step("crawling", len(s.Policies)*len(s.Draw.Starts))
	crawls, err := s.experiment.Run(ctx, func(done *policyCrawl) {
		pages += len(done.URLs)
		p.Work.Add(1)
	})
	if err != nil {
		return nil, nil, err
	}
	p.Work.Step("measuring", 0)
	r := s.result(crawls)
	r.Classifier = quality
	r.LoadSeconds, r.CrawlSeconds = loading.Seconds(), time.Since(crawling).Seconds()
	r.PagesPerSecond = float64(pages) / r.CrawlSeconds
	return s, r, nil
}

func (s *Setup) result(crawls [][]*policyCrawl) *labResult {
	p := s.plan
	r := &labResult{
		Corpus: p.Corpus, Topic: p.Topic, Keywords: []string{}, Starts: p.Starts, StartSets: len(s.Draw.Starts), StartSetsAsked: p.StartSets,
		CorpusPages: len(s.Corpus.Rows), Targets: s.Draw.Targets, Pages: s.Pages, JudgeTrained: s.judgeTrained, Manners: p.mannersResult(s.Manners),
		Policies: map[string]policyResult{}, Tests: []pairedTest{}, NoTests: whyNoTests(len(s.Draw.Starts), p.StartSets),
	}
	if s.keywords != nil {
		r.Keywords = s.keywords[0].Words()
	}
	for _, t := range s.Draw.Training {
		if t {
			r.TrainPages++
		}
	}
	step := max(1, s.Pages/50) // about 50 points per curve
	var over [][]timePoint
	if s.Manners != nil {
		over = timeCurves(crawls)
	}
	for i, policy := range s.Policies {
		f := measureCrawls(policy, crawls[i], s.Draw, s.Pages, step)
		if over != nil {
			f.TimeCurve = over[i]
		}
		r.figures = append(r.figures, f)
		r.Policies[policy.Name] = policyResult{
			crawlShares: sharesOf(f), spreadOfHosts: f.Spread, TrainPages: f.Trained.Value, Short: f.Short, Sets: f.Sets,
			Curve: points(f.Curve), RecallCurve: points(f.RecallCurve), TimeCurve: rows(f.TimeCurve), Overlap: f.Overlap,
		}
	}
	r.RhoSweep = swept(p.RhoSweep.Values, r.figures)
	r.Tests = append(r.Tests, pairedTests(r.figures, p.Random(0x7e57))...)
	return r
}

// Defaults of a crawl with --polite.
const (
	defaultWorkers = 32 // as in focus
	defaultLatency = 100 * time.Millisecond
)

// manners returns the politeness limits; nil without --polite.
func (p *Plan) manners() (*politeManners, error) {
	if !p.Polite {
		if p.Workers != 0 || p.Delay != "" || p.Latency != nil {
			return nil, cli.Usagef("--workers, --delay and --latency work only with --polite; add it")
		}
		return nil, nil
	}
	m := &politeManners{Workers: cmp.Or(p.Workers, defaultWorkers), Latency: defaultLatency}
	if p.Latency != nil {
		m.Latency = *p.Latency
	}
	if m.Workers < 1 || m.Latency < 0 {
		return nil, cli.Usagef("--workers %d, --latency %s: want at least 1 worker, and no negative time", m.Workers, m.Latency)
	}
	var err error
	m.Delay, err = plan.ParseDelay(p.Delay)
	return m, err
}

func (p *Plan) mannersResult(m *politeManners) *mannersResult {
	if m == nil {
		return nil
	}
	return &mannersResult{Workers: m.Workers, Delay: cmp.Or(p.Delay, "auto"), Latency: m.Latency.Seconds()}
}

// WriteReport writes the HTML page of a result; version is the program's.
func (s *Setup) WriteReport(w io.Writer, r *labResult, version string) error {
	about := map[string]string{"parent-oracle": "knows which pages are on topic, once fetched", "target-oracle": "knows which targets are on topic"}
	for _, p := range plan.All() {
		about[p.Name] = p.About
	}
	made := []report.Fact{
		{Name: "made by", Value: "fossick " + version},
		{Name: "random seed", Value: fmt.Sprint(s.plan.Seed)},
		{Name: "page classifier", Value: s.Topic.Model.Summary()},
		{Name: "on pages not trained on", Value: fmt.Sprintf("precision %s, recall %s", report.Share(r.Classifier.Precision), report.Share(r.Classifier.Recall))},
		{Name: "links followed", Value: s.plan.Links},
		{Name: "speed", Value: fmt.Sprintf("%.0f pages/s", r.PagesPerSecond)},
	}
	if len(r.Keywords) > 0 { // no policy uses keywords
		made = append(made, report.Fact{Name: "keywords of the first start set", Value: strings.Join(r.Keywords, ", ")})
	}
	if m := r.Manners; m != nil {
		made = append(made, report.Fact{Name: "manners, in simulated time", Value: m.String()})
	}
	return r.writeReport(w, about, made)
}
