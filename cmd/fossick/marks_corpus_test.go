package main

import (
	"context"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"fossick/crawler"
	"fossick/crawler/crawlplan"
	"fossick/datasets"
	"fossick/eval/lab"
	"fossick/graph/orders"
	"fossick/internal/fulltest"
	"fossick/internal/page"
)

// markingScorer lets a person mark pages once so many were scored.
type markingScorer struct {
	crawler.Rescorer
	after, scored int
	pages         []*page.Page // so far
	mark          func([]*page.Page)
}

func (s *markingScorer) ScoreLinks(dst []float64, p *page.Page, score crawler.Score) []float64 {
	dst = s.Rescorer.ScoreLinks(dst, p, score)
	s.pages = append(s.pages, p)
	if s.scored++; s.scored == s.after {
		s.mark(s.pages)
	}
	return dst
}

// markTrial is a crawl in which ten pages of a sub-topic are marked.
type markTrial struct {
	topic, sub string
	before     int // pages
	onTopic    bool
}

const (
	marksMade  = 10
	marksAfter = 200 // pages that are looked at after the marks
)

// markRun is a topic of the corpus with its page classifiers and start pages.
type markRun struct {
	*lab.Setup
	topic    string
	truth    *datasets.Truth
	labeller *crawlplan.Labeller // remembers, for all crawls
}

// TestMarksMoveASubtopic: ten marks of no on a sub-topic at least halve its
// share of the next 200 fetches, in the mean of the start sets. Ten marks of
// yes on pages that the model knows nothing of at least double theirs.
// FOSSICK_COMPARE=1 makes the table of docs/results.md.
func TestMarksMoveASubtopic(t *testing.T) {
	fulltest.Only(t, "crawls a corpus")
	t.Parallel()
	corpus := fulltest.Corpus(t, "wikispeedia")
	const sets = 5 // in some a trial's sub-topic has too few pages to mark
	trials := []markTrial{{"Biology", "Science.Biology.Mammals", 200, false}, {"Religion", "Biology", 600, true}}
	full := os.Getenv("FOSSICK_COMPARE") != ""
	if full {
		trials = allMarkTrials()
	}
	var run *markRun
	for _, trial := range trials {
		if run == nil || run.topic != trial.topic {
			run = newMarkRun(t, corpus, trial.topic, sets)
		}
		without, with := run.compare(t, trial, sets)
		t.Logf("| %s | %s | %v | %d | %d | %.3f | %.3f | %.2f | %.3f | %.3f |", trial.topic, trial.sub, trial.onTopic, trial.before,
			with.sets, without.sub, with.sub, with.sub/max(1e-9, without.sub), without.rest, with.rest)
		switch {
		case full:
		case with.sets < 2:
			t.Errorf("%+v: %d start sets lead to %d pages to mark, want 2", trial, with.sets, marksMade)
		case trial.onTopic && with.sub < 2*without.sub, !trial.onTopic && with.sub > without.sub/2:
			t.Errorf("%+v: the share goes from %.3f to %.3f", trial, without.sub, with.sub)
		}
	}
}

func allMarkTrials() (all []markTrial) {
	for _, before := range []int{200, 300} {
		for _, sub := range []string{"Birds", "Mammals", "Health_and_medicine", "Plants", "Insects_Reptiles_and_Fish", "Dinosaurs", "General_Biology"} {
			all = append(all, markTrial{"Biology", "Science.Biology." + sub, before, false})
		}
	}
	for _, other := range []string{"Religion", "Astronomy"} {
		all = append(all, markTrial{"Biology", other, 300, true})
	}
	for _, sub := range []string{"Religious_movements_traditions_and_organizations", "Philosophy"} {
		all = append(all, markTrial{"Religion", "Religion." + sub, 60, false})
	}
	return append(all, markTrial{"Religion", "Biology", 300, true}, markTrial{"Astronomy", "Biology", 300, true}, markTrial{"IT", "Biology", 300, true})
}

// markOutcome is what the fetches after the marks were, in the mean of some start sets.
type markOutcome struct {
	sub, rest float64 // shares of the sub-topic, and of what else is on topic
	sets      int     // with enough pages to mark
}

// compare crawls from each start set without marks and with them.
func (r *markRun) compare(t *testing.T, trial markTrial, sets int) (without, with markOutcome) {
	for set := range sets {
		a, marked := r.crawl(t, trial, set, false)
		if marked < marksMade {
			continue
		}
		b, _ := r.crawl(t, trial, set, true)
		without.add(a)
		with.add(b)
	}
	return without.mean(), with.mean()
}

func (o *markOutcome) add(p markOutcome) {
	o.sub, o.rest, o.sets = o.sub+p.sub, o.rest+p.rest, o.sets+1
}

func (o markOutcome) mean() markOutcome {
	n := float64(max(1, o.sets))
	return markOutcome{o.sub / n, o.rest / n, o.sets}
}

func newMarkRun(t *testing.T, corpus, topic string, sets int) *markRun {
	a := newApp(context.Background(), &grammar{Quiet: true, LogFormat: "text", Rand: 1}, io.Discard, io.Discard)
	t.Cleanup(a.close)
	cmd := labCmd{labFlags: labFlags{Corpus: corpus, Topic: topic, Starts: 10, StartSets: sets}}
	setup, err := cmd.plan(a).Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	truth, err := datasets.ReadTruth(corpus + "/labels.tsv.zst")
	if err != nil {
		t.Fatal(err)
	}
	l, err := crawlplan.NewLabeller(setup.Topic)
	if err != nil {
		t.Fatal(err)
	}
	l.Remember()
	return &markRun{setup, topic, truth, l}
}

func (r *markRun) is(p *page.Page, label string) bool {
	l, _ := r.truth.Of(p.URL)
	return l.Match(label)
}

// crawl returns what the fetches after the marks were, and how many pages there were
// to mark, which of them is drawn.
func (r *markRun) crawl(t *testing.T, trial markTrial, set int, mark bool) (o markOutcome, marked int) {
	opt := r.options(t, set)
	s := &markingScorer{Rescorer: opt.Scorer.(crawler.Rescorer), after: trial.before}
	s.mark = func(pages []*page.Page) {
		var of []crawler.Marked
		for _, p := range pages {
			if r.is(p, trial.sub) {
				of = append(of, crawler.Marked{URL: p.URL, Page: p, OnTopic: trial.onTopic})
			}
		}
		rng := rand.New(rand.NewPCG(uint64(set), 1))
		rng.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
		marked = min(len(of), marksMade)
		if mark {
			s.Rescorer.(crawler.Marker).Mark(of[:marked])
		}
	}
	opt.Scorer, opt.MaxPages = s, uint64(trial.before+marksAfter)
	result, err := crawler.Virtual(t.Context(), opt, r.Corpus.Answer)
	if err != nil {
		t.Fatal(err)
	}
	after := result.Pages[min(len(result.Pages), trial.before):]
	for _, v := range after {
		switch {
		case r.is(v.Page, trial.sub):
			o.sub++
		case r.is(v.Page, trial.topic):
			o.rest++
		}
	}
	n := float64(max(1, len(after)))
	return markOutcome{o.sub / n, o.rest / n, 1}, marked
}

// options are those of a crawl by the learned scorer from a start set.
func (r *markRun) options(t *testing.T, set int) crawler.Options {
	p, err := crawlplan.Named("learned")
	if err != nil {
		t.Fatal(err)
	}
	opt := crawler.Options{Ordering: orders.Latest}
	if opt.Scorer, err = p.Scorer(crawlplan.Input{Labeller: r.labeller, Explore: crawlplan.DefaultExplore, Seed: uint64(set)}); err != nil {
		t.Fatal(err)
	}
	for _, n := range r.Draw.Starts[set] {
		opt.Seeds = append(opt.Seeds, r.Corpus.Rows[n].Page.URL)
	}
	return opt
}
