package lab

import (
	"io"
	"text/tabwriter"

	"fossick/internal/printable"
	"fossick/internal/report"
	"fossick/internal/stats"
)

// SharedResult is what several topics came to in one crawl, against a crawl each, as
// JSON has it.
type SharedResult struct {
	Corpus         string                  `json:"corpus"`
	CorpusPages    int                     `json:"corpus_pages"`
	Pages          int                     `json:"pages"` // of a topic's own crawl
	Starts         int                     `json:"starts"`
	StartSets      int                     `json:"start_sets"`
	StartSetsAsked int                     `json:"start_sets_asked"`  // more than start_sets where fewer can be drawn
	Manners        *MannersResult          `json:"manners,omitempty"` // with --polite
	Policies       map[string]SharedPolicy `json:"policies"`
	Seconds        float64                 `json:"crawl_seconds"`

	topics, order []string
}

// SharedPolicy is one policy's part: means over the start sets.
type SharedPolicy struct {
	Alone float64 `json:"pages_alone"` // of all topics' own crawls
	// Equal is the share of these pages after which the shared crawl has the same recall,
	// in the mean of the topics; Every that after which no topic has less than by its
	// own crawl. They are null where the crawl did not get there from each start set.
	Equal   *float64               `json:"share_equal_recall"`
	EqualCI *[2]float64            `json:"share_equal_recall_ci"`
	Every   *float64               `json:"share_every_topic"`
	EveryCI *[2]float64            `json:"share_every_topic_ci"`
	Curve   [][3]float64           `json:"curve"` // share of the pages, recall against that of the own crawls: mean and least of the topics
	Topics  map[string]SharedTopic `json:"topics"`
}

// SharedTopic is one topic's part.
type SharedTopic struct {
	Targets int      `json:"targets"`       // pages on it in the corpus
	Alone   float64  `json:"recall_alone"`  // by its own crawl
	Shared  float64  `json:"recall_shared"` // after as many pages of the shared crawl as Equal says, else at its end
	Share   *float64 `json:"share"`         // of the pages of all own crawls, after which the shared crawl has its recall; null where it never has
}

const sharedSteps = 20 // points of a curve

// Sum fills in what the crawls came to; names are those of the topics.
func (x *Shared) Sum(out *SharedResult, names []string, alone [][][]*Crawl, shared [][]*SharedCrawl) {
	first := x.Topics[0]
	out.CorpusPages, out.Pages, out.StartSets, out.topics = len(first.Corpus.Rows), first.Pages, len(first.Draw.Starts), names
	out.Policies = map[string]SharedPolicy{}
	for p, policy := range first.Policies {
		sum := newSharing(x)
		for set, c := range shared[p] {
			sum.add(c, func(topic int) *Crawl { return alone[topic][p][set] })
		}
		out.Policies[policy.Name] = sum.result(names)
		out.order = append(out.order, policy.Name)
	}
}

// sharing collects one policy's figures over the start sets.
type sharing struct {
	x            *Shared
	pages        []float64
	equal, every []float64 // shares, of the sets where it came so far
	curve        [][2][]float64
	own, all     [][]float64 // by topic: recall
	share        [][]float64 // likewise, where it came so far
}

func newSharing(x *Shared) *sharing {
	n := len(x.Topics)
	return &sharing{x: x, curve: make([][2][]float64, sharedSteps), own: make([][]float64, n), all: make([][]float64, n), share: make([][]float64, n)}
}

// add takes in a shared crawl and those that it stands for.
func (s *sharing) add(c *SharedCrawl, alone func(topic int) *Crawl) {
	total, found := 0, make([]int, len(s.x.Topics))
	recall := 0.0 // of all own crawls, the sum
	for t, x := range s.x.Topics {
		own := alone(t)
		total += len(own.URLs)
		for _, on := range own.Relevant {
			if on {
				found[t]++
			}
		}
		recall += ratio(found[t], x.Draw.Targets)
	}
	s.pages = append(s.pages, float64(total))
	least := func(enough func(m int) bool) (m int, ok bool) {
		for m = 0; m <= c.Pages; m++ {
			if enough(m) {
				return m, true
			}
		}
		return c.Pages, false
	}
	at, ok := least(func(m int) bool {
		sum := 0.0
		for t, x := range s.x.Topics {
			sum += ratio(c.Found[t][m], x.Draw.Targets)
		}
		return sum >= recall-1e-9
	})
	if ok {
		s.equal = append(s.equal, ratio(at, total))
	}
	if m, ok := least(func(m int) bool {
		for t := range found {
			if c.Found[t][m] < found[t] {
				return false
			}
		}
		return true
	}); ok {
		s.every = append(s.every, ratio(m, total))
	}
	for t, x := range s.x.Topics {
		s.own[t] = append(s.own[t], ratio(found[t], x.Draw.Targets))
		s.all[t] = append(s.all[t], ratio(c.Found[t][at], x.Draw.Targets))
		if m, ok := least(func(m int) bool { return c.Found[t][m] >= found[t] }); ok {
			s.share[t] = append(s.share[t], ratio(m, total))
		}
	}
	for i := range s.curve {
		m := min(c.Pages, total*(i+1)/sharedSteps)
		mean, worst := 0.0, 1e9
		for t := range found {
			r := 1.0
			if found[t] > 0 {
				r = ratio(c.Found[t][m], found[t])
			}
			mean, worst = mean+r/float64(len(found)), min(worst, r)
		}
		s.curve[i][0], s.curve[i][1] = append(s.curve[i][0], mean), append(s.curve[i][1], worst)
	}
}

func (s *sharing) result(names []string) SharedPolicy {
	sets := len(s.pages)
	mean := func(x []float64) (*float64, *[2]float64) {
		if len(x) < sets {
			return nil, nil
		}
		m := stats.MeanOf(x)
		return &m.Value, m.CI
	}
	r := SharedPolicy{Alone: stats.MeanOf(s.pages).Value, Topics: map[string]SharedTopic{}}
	r.Equal, r.EqualCI = mean(s.equal)
	r.Every, r.EveryCI = mean(s.every)
	for i, c := range s.curve {
		r.Curve = append(r.Curve, [3]float64{float64(i+1) / sharedSteps, stats.MeanOf(c[0]).Value, stats.MeanOf(c[1]).Value})
	}
	for t, name := range names {
		share, _ := mean(s.share[t])
		r.Topics[name] = SharedTopic{Targets: s.x.Topics[t].Draw.Targets, Alone: stats.MeanOf(s.own[t]).Value, Shared: stats.MeanOf(s.all[t]).Value, Share: share}
	}
	return r
}

// Print writes the result as text.
func (r *SharedResult) Print(w io.Writer) {
	printable.Fprintf(w, "%d topics of %s, %d pages: one shared crawl against one crawl per topic\n%d start sets, crawls of %d pages a topic, each from %s\n",
		len(r.topics), r.Corpus, r.CorpusPages, r.StartSets, r.Pages, report.StartPages(r.Starts))
	if why := whyNoTests(r.StartSets, r.StartSetsAsked); why != "" {
		printable.Fprintf(w, "%s\n", why)
	}
	for _, name := range r.order {
		p := r.Policies[name]
		printable.Fprintf(w, "\n%s: %.0f pages with one crawl per topic. The shared crawl reaches the same recall, averaged over the topics,\n"+
			"after %s of these pages, and for every topic after %s; after 40 %% of them it has %s of that recall\n",
			name, p.Alone, orNever(p.Equal), orNever(p.Every), report.Percent(p.Curve[sharedSteps*2/5-1][1]))
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		io.WriteString(t, "topic\tpages\trecall alone\tshared\tequal after\t\n")
		for _, topic := range r.topics {
			row := p.Topics[topic]
			printable.Fprintf(t, "%s\t%d\t%.3f\t%.3f\t%s\t\n", topic, row.Targets, row.Alone, row.Shared, orNever(row.Share))
		}
		_ = t.Flush() // its only errors are w's
	}
}

func orNever(share *float64) string {
	if share == nil {
		return "–"
	}
	return report.Percent(*share)
}
