package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"fossick/crawler"
	"fossick/crawler/crawlplan"
	"fossick/internal/fulltest"
	"fossick/internal/page"
)

// askTrial is a crawl of a topic for somebody who means it without one part.
type askTrial struct {
	corpus, topic, without string
	training               int // pages that the page classifier saw
	before, after          int // pages until labels are asked for, and those looked at afterwards
}

// askSets is how many start sets a trial has.
const askSets = 4

// askRun is a trial made ready.
type askRun struct {
	markRun
	askTrial
}

// TestAskedLabels: a simulated person answers what the crawl asks. Ten asked labels are
// worth as much as forty random ones. FOSSICK_COMPARE=1 makes docs/data/asked-labels.tsv.
func TestAskedLabels(t *testing.T) {
	fulltest.Only(t, "crawls corpora")
	t.Parallel()
	trials := []askTrial{{"wikispeedia", "Biology", "Science.Biology.Birds", 600, 100, 200}}
	full := os.Getenv("FOSSICK_COMPARE") != ""
	if full {
		trials = append(trials,
			askTrial{"wikispeedia", "Biology", "Science.Biology.Mammals", 600, 100, 200},
			askTrial{"wikispeedia", "Biology", "", 60, 100, 200},
			askTrial{"wikispeedia", "Religion", "Religion.Religious_movements_traditions_and_organizations", 600, 60, 100},
			askTrial{"webkb", "student", "", 100, 60, 100},
			askTrial{"debdocs", "programming", "", 100, 100, 200},
		)
	}
	for _, trial := range trials {
		r := newAskRun(t, trial)
		line := fmt.Sprintf("%s\t%s\t%s\t%.3f\t%.3f", trial.corpus, trial.topic, trial.without, r.harvest(t, nobody, 0), r.harvest(t, everything, 0))
		for _, labels := range []int{5, 10, 20, 40} {
			line += fmt.Sprintf("\t%.3f\t%.3f", r.harvest(t, atRandom, labels), r.harvest(t, asAsked, labels))
		}
		t.Log(line)
		if full {
			continue
		}
		if asked, random := r.harvest(t, asAsked, 10), r.harvest(t, atRandom, 40); asked < random {
			t.Errorf("%+v: harvest %.3f after ten asked labels, want the %.3f of forty random ones", trial, asked, random)
		}
	}
}

func newAskRun(t *testing.T, trial askTrial) *askRun {
	a := newApp(context.Background(), &grammar{Quiet: true, LogFormat: "text", Rand: 1}, io.Discard, io.Discard)
	t.Cleanup(a.close)
	cmd := labCmd{labFlags: labFlags{
		Corpus: fulltest.Corpus(t, trial.corpus), Topic: trial.topic, Starts: 5, StartSets: askSets, TrainPages: trial.training,
	}}
	setup, err := cmd.plan(a).Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := &askRun{markRun: markRun{Setup: setup}, askTrial: trial}
	if r.labeller, err = crawlplan.NewLabeller(setup.Topic); err != nil {
		t.Fatal(err)
	}
	r.labeller.Remember()
	return r
}

// wanted is what the simulated person says of a page.
func (r *askRun) wanted(p *page.Page) bool {
	n := r.Corpus.Find(p.URL)
	return n >= 0 && r.Draw.Relevant[n] && (r.without == "" || !r.Corpus.Rows[n].Labels.Match(r.without))
}

func (r *askRun) marked(p *page.Page) crawler.Marked {
	return crawler.Marked{URL: p.URL, Page: p, OnTopic: r.wanted(p)}
}

// A labelling labels so many of the pages that were fetched, by the simulated person.
type labelling func(r *askRun, scorer crawler.Asker, pages []*page.Page, labels, set int)

func nobody(*askRun, crawler.Asker, []*page.Page, int, int) {}

func everything(r *askRun, scorer crawler.Asker, pages []*page.Page, _, _ int) {
	var said []crawler.Marked
	for _, p := range pages {
		said = append(said, r.marked(p))
	}
	scorer.Mark(said)
}

func atRandom(r *askRun, scorer crawler.Asker, pages []*page.Page, labels, set int) {
	var said []crawler.Marked
	for _, n := range rand.New(rand.NewPCG(uint64(set), 1)).Perm(len(pages))[:min(labels, len(pages))] {
		said = append(said, r.marked(pages[n]))
	}
	scorer.Mark(said)
}

// asAsked answers one question after the other, as at a terminal.
func asAsked(r *askRun, scorer crawler.Asker, pages []*page.Page, labels, _ int) {
	byURL := map[string]*page.Page{}
	for _, p := range pages {
		byURL[p.URL] = p
	}
	for range labels {
		for _, q := range scorer.Ask(1) {
			scorer.Mark([]crawler.Marked{r.reply(byURL, q)})
		}
	}
}

// reply is what the simulated person says of a page, or of a link.
func (r *askRun) reply(pages map[string]*page.Page, q crawler.Question) crawler.Marked {
	p := pages[q.URL]
	if q.Link == 0 {
		return r.marked(p)
	}
	at := slices.IndexFunc(p.Links, func(l page.Link) bool { return page.Key(l.URL) == q.Link })
	m := r.marked(&page.Page{URL: p.Links[at].URL})
	m.Page = nil
	return m
}

// harvest is that of the pages after the labels, the mean of the start sets.
func (r *askRun) harvest(t *testing.T, label labelling, labels int) float64 {
	t.Helper()
	sum := 0.0
	for set := range askSets {
		opt := r.options(t, set)
		s := &markingScorer{Rescorer: opt.Scorer.(crawler.Rescorer), after: r.before}
		s.mark = func(pages []*page.Page) { label(r, s.Rescorer.(crawler.Asker), pages, labels, set) }
		opt.Scorer, opt.MaxPages = s, uint64(r.before+r.after)
		result, err := crawler.Virtual(t.Context(), opt, r.Corpus.Answer)
		if err != nil {
			t.Fatal(err)
		}
		wanted, pages := 0.0, result.Pages[min(len(result.Pages), r.before):]
		for _, v := range pages {
			if r.wanted(v.Page) {
				wanted++
			}
		}
		sum += wanted / float64(max(1, len(pages))) / askSets
	}
	return sum
}
