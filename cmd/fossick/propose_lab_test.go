package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fossick/eval/lab"
	"fossick/internal/fulltest"
	"fossick/models/features"
	"fossick/relevance/propose"
)

// TestProposedSeeds compares crawls from ten proposed start pages with crawls from
// ten random pages on topic, as docs/topics.md has it. Of each draw the page
// classifier (600 pages), the five example pages, and the random start pages are new.
//
//	FOSSICK_COMPARE=1 go test ./cmd/fossick -run TestProposedSeeds -v
//
// FOSSICK_CORPUS, FOSSICK_TOPICS (by comma) and FOSSICK_PAGES change what is crawled.
func TestProposedSeeds(t *testing.T) {
	if os.Getenv("FOSSICK_COMPARE") == "" {
		t.Skip("takes minutes; set FOSSICK_COMPARE=1")
	}
	name := cmp.Or(os.Getenv("FOSSICK_CORPUS"), "wikispeedia")
	dir := fulltest.Corpus(t, name)
	pages := 229
	fmt.Sscan(os.Getenv("FOSSICK_PAGES"), &pages)
	for _, topic := range strings.Split(cmp.Or(os.Getenv("FOSSICK_TOPICS"), "Astronomy,Biology,IT,Religion"), ",") {
		c := &seedComparison{t: t, dir: dir, topic: topic, pages: pages, draws: 5}
		c.run()
	}
}

type seedComparison struct {
	t     *testing.T
	dir   string
	topic string
	pages int
	draws int
	setup *lab.Setup
}

// wordsOf are three words that a person might give for a topic.
var wordsOf = map[string][]string{
	"Astronomy": {"astronomy", "planet", "star"}, "Biology": {"biology", "species", "animal"},
	"IT": {"computer", "software", "internet"}, "Religion": {"religion", "god", "church"},
	"programming": {"programming", "function", "class"}, "science": {"science", "analysis", "model"},
	"computing": {"computing", "linux", "server"}, "finance": {"finance", "account", "bank"},
	"student": {"student", "homepage", "advisor"}, "faculty": {"professor", "research", "publications"},
	"course": {"course", "homework", "syllabus"}, "project": {"project", "research", "group"},
}

func (c *seedComparison) run() {
	t := c.t
	a := newApp(t.Context(), &grammar{Rand: 1, Quiet: true}, os.Stderr, os.Stderr)
	defer a.close()
	cmd := labCmd{labFlags: labFlags{Corpus: c.dir, Topic: c.topic, Policy: []string{"learned"}, Starts: 10, StartSets: c.draws, Pages: c.pages, Links: "all"}}
	if truth := filepath.Join(c.dir, "labels.tsv.zst"); exists(truth) {
		cmd.Truth = truth
	}
	r, err := cmd.plan(a).Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.setup = r
	random := r.Draw.Starts
	for _, way := range strings.Split(cmp.Or(os.Getenv("FOSSICK_WAYS"), "random,examples,keywords"), ",") {
		starts, onTopic := random, 1.0
		if way != "random" {
			starts, onTopic = c.proposals(way)
		}
		draw := *r.Draw
		draw.Starts = starts
		x := r.Experiment
		x.Draw = &draw
		crawls, err := x.Run(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var harvest, recall []float64
		for _, crawl := range crawls[0] {
			h := crawl.Harvest()
			harvest = append(harvest, h)
			recall = append(recall, h*float64(len(crawl.Relevant))/float64(draw.Targets))
		}
		t.Logf("%-10s %-8s seeds on topic %.2f harvest %.3f %.3f recall %.3f", c.topic, way, onTopic, meanOf(harvest), harvest, meanOf(recall))
	}
}

func meanOf(x []float64) (m float64) {
	for _, v := range x {
		m += v / float64(len(x))
	}
	return m
}

// proposals proposes ten start pages for every draw, none of them trained on.
func (c *seedComparison) proposals(way string) (starts [][]int, onTopic float64) {
	r := c.setup
	for draw := range c.draws {
		rng := rand.New(rand.NewPCG(uint64(draw), 0xe8))
		training := r.Draw.Training
		var free []int
		for n, row := range r.Corpus.Rows {
			if r.Draw.Relevant[n] && !training[n] && row.Page != nil {
				free = append(free, n)
			}
		}
		rng.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
		var topic propose.Topic
		examples := map[string]bool{}
		if way != "keywords" {
			for _, n := range free[:5] {
				topic.Examples = append(topic.Examples, features.Doc(r.Corpus.Rows[n].Page.Fields()))
				examples[r.Corpus.Rows[n].Page.URL] = true
			}
		}
		if way != "examples" {
			topic.Keywords = wordsOf[c.topic]
		}
		res, err := propose.Propose(c.t.Context(), topic, rowCandidates(r.Corpus), propose.Options{Exclude: func(u string) bool {
			n := r.Corpus.Find(u)
			return n < 0 || training[n] || examples[u]
		}})
		if err != nil {
			c.t.Fatal(err)
		}
		var set []int
		for _, p := range res.Proposals {
			n := r.Corpus.Find(p.URL)
			set = append(set, n)
			if r.Draw.Relevant[n] {
				onTopic += 1 / float64(len(res.Proposals)*c.draws)
			}
			if draw == 0 && os.Getenv("FOSSICK_SHOW") != "" {
				c.t.Logf("  %v %.3f %s: %s", r.Draw.Relevant[n], p.Score, p.URL, p.Why)
			}
		}
		starts = append(starts, set)
	}
	return starts, onTopic
}

// rowCandidates are the pages of a corpus in memory.
func rowCandidates(c *lab.Corpus) propose.Source {
	return func(yield func(*propose.Candidate, error) bool) {
		for _, row := range c.Rows {
			if row.Page == nil {
				continue
			}
			e := &propose.Candidate{URL: row.Page.URL, Doc: features.Doc(row.Page.Fields())}
			for _, l := range row.Page.Links {
				e.Links = append(e.Links, propose.Link{URL: l.URL, Words: l.Anchor})
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}
