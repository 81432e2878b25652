package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"fossick/crawler"
	"fossick/datasets"
	"fossick/lab"
	"fossick/page"
	"fossick/relevance"
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
	*labRun
	truth *datasets.Truth
	memo  *memo
}

// TestMarksMoveASubtopic: ten marks of no on a sub-topic at least halve its share of
// the next 200 fetches. FOSSICK_FULL=1 prints the table of docs/results.md, over ten
// start sets instead of two.
func TestMarksMoveASubtopic(t *testing.T) {
	if testing.Short() {
		t.Skip("crawls a corpus")
	}
	corpus := corpusOrSkip(t, "wikispeedia")
	sets := 2
	trials := []markTrial{{"Biology", "Science.Biology.Birds", 300, false}, {"Biology", "Science.Biology.Plants", 300, false}}
	if os.Getenv("FOSSICK_FULL") != "" {
		sets, trials = 10, allMarkTrials()
	}
	if n, err := strconv.Atoi(os.Getenv("FOSSICK_SETS")); err == nil {
		sets = n
	}
	var run *markRun
	for _, trial := range trials {
		if run == nil || run.Topic != trial.topic {
			run = newMarkRun(t, corpus, trial.topic, sets)
		}
		var without, with, missWithout, missWith float64
		used := 0
		for set := range sets {
			a, missA, marked := run.crawl(t, trial, set, false)
			if marked < marksMade {
				continue
			}
			b, missB, _ := run.crawl(t, trial, set, true)
			without, with, used = without+a, with+b, used+1
			missWithout, missWith = missWithout+missA, missWith+missB
		}
		n := float64(max(1, used))
		t.Logf("%-9s %-58s %v %d: %2d sets, share %.3f → %.3f (× %.2f), rest of the topic %.3f → %.3f", trial.topic, trial.sub, trial.onTopic,
			trial.before, used, without/n, with/n, with/max(1e-9, without), missWithout/n, missWith/n)
	}
}

func allMarkTrials() (all []markTrial) {
	for _, before := range []int{200, 300, 400} {
		for _, sub := range []string{"Birds", "Mammals", "Health_and_medicine", "Plants", "Insects_Reptiles_and_Fish", "Dinosaurs", "General_Biology"} {
			all = append(all, markTrial{"Biology", "Science.Biology." + sub, before, false})
		}
	}
	return all
}

func newMarkRun(t *testing.T, corpus, topic string, sets int) *markRun {
	a := newApp(context.Background(), &grammar{Quiet: true, LogFormat: "text", Rand: 1}, io.Discard, io.Discard)
	t.Cleanup(a.close)
	r := &labRun{labCmd: &labCmd{Corpus: corpus, Topic: topic, Starts: 10, StartSets: sets, TrainSets: 1}, app: a}
	if err := r.load(); err != nil {
		t.Fatal(err)
	}
	truth, err := datasets.ReadTruth(corpus + "/labels.tsv.zst")
	if err != nil {
		t.Fatal(err)
	}
	return &markRun{r, truth, nil}
}

func (r *markRun) is(p *page.Page, label string) bool {
	l, _ := r.truth.Of(p.URL)
	return l.Match(label)
}

// crawl returns the share of the sub-topic, and of the rest of the topic, in the
// fetches after the marks, and how many pages there were to mark.
func (r *markRun) crawl(t *testing.T, trial markTrial, set int, mark bool) (sub, rest float64, marked int) {
	l, err := newLabeller(r.topics[0])
	if err != nil {
		t.Fatal(err)
	}
	if r.memo == nil {
		r.memo = newMemo()
	}
	l.memo = r.memo
	learned := relevance.NewLearned(l.judge, relevance.LearnedOptions{Cut: l.cut, Explore: defaultExplore, Seed: uint64(set)})
	in := policyInput{labeller: l}
	adapted, err := in.adapt(learned)
	if err != nil {
		t.Fatal(err)
	}
	s := &markingScorer{Rescorer: adapted.(crawler.Rescorer), after: trial.before}
	s.mark = func(pages []*page.Page) {
		var of []relevance.Marked
		for _, p := range pages {
			if r.is(p, trial.sub) {
				of = append(of, relevance.Marked{URL: p.URL, Page: p, OnTopic: trial.onTopic})
			}
		}
		rng := rand.New(rand.NewPCG(uint64(set), 1))
		rng.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
		marked = min(len(of), marksMade)
		if mark {
			learned.Mark(of[:marked])
		}
	}
	opt := crawler.Options{Scorer: s, MaxPages: uint64(trial.before + marksAfter)}
	p, err := policyNamed("learned")
	if err != nil {
		t.Fatal(err)
	}
	if opt.Ordering, err = p.ordering(s); err != nil {
		t.Fatal(err)
	}
	for _, n := range r.draw.Starts[set] {
		opt.Seeds = append(opt.Seeds, r.corpus.Rows[n].Page.URL)
	}
	result, err := crawler.Virtual(t.Context(), opt, r.corpus.Answer)
	if err != nil {
		t.Fatal(err)
	}
	after := result.Pages[min(len(result.Pages), trial.before):]
	for _, v := range after {
		switch {
		case r.is(v.Page, trial.sub):
			sub++
		case r.is(v.Page, trial.topic):
			rest++
		}
	}
	return sub / float64(len(after)), rest / float64(len(after)), marked
}

var _ = cmp.Or[int]
var _ = slices.Max[[]int]
var _ = fmt.Sprint
var _ lab.Row
