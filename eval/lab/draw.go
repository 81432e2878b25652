package lab

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"fossick/datasets"
)

// Draw is what chance decides before the crawls begin.
type Draw struct {
	Relevant []bool   // by row: on topic, by the truth
	Training [][]bool // by page classifier, then row: it was trained on it
	Starts   [][]int  // rows of the start pages, a set a crawl
	Targets  int      // rows on topic
}

// DrawOptions say what to draw.
type DrawOptions struct {
	Topic    string
	Truth    *datasets.Truth // nil: the corpus's own labels
	Train    int             // pages for training, drawn from all with a label
	Models   int             // page classifiers, each with training pages of its own; 0 is 1
	Training []bool          // instead: by row, pages that were trained on already
	Starts   int             // start pages a set
	Sets     int
}

// NewDraw draws the training pages of each page classifier among all pages that have a
// label. Then it draws each set's start pages among the pages on topic that can be
// parsed and did not train its classifier (see ModelOf). Sets are drawn one by one and
// may share pages; within one none repeats. No two sets are the same, for equal crawls
// tell nothing of chance. So there are fewer than asked for where few pages are on topic.
func NewDraw(c *Corpus, opt DrawOptions, rng *rand.Rand) (*Draw, error) {
	d := &Draw{Relevant: make([]bool, len(c.Rows))}
	labelled := d.judge(c, opt)
	if opt.Train > len(labelled) {
		return nil, fmt.Errorf("%d training pages are needed, but only %d pages of %s have a label; ask for fewer", opt.Train, len(labelled), c.Name)
	}
	for range max(1, opt.Models) {
		marks := opt.Training
		if marks == nil {
			marks = make([]bool, len(c.Rows))
		}
		rng.Shuffle(len(labelled), func(i, j int) { labelled[i], labelled[j] = labelled[j], labelled[i] })
		for _, n := range labelled[:opt.Train] {
			marks[n] = true
		}
		d.Training = append(d.Training, marks)
	}
	seen := map[string]bool{} // sets of start pages
	for range opt.Sets {
		set := len(d.Starts)
		var free []int
		for n, row := range c.Rows {
			if d.Relevant[n] && !d.Training[d.ModelOf(set)][n] && row.Page != nil {
				free = append(free, n)
			}
		}
		if len(free) < opt.Starts {
			return nil, fmt.Errorf("topic %s: %d start pages are needed, but only %d pages are on topic and not used for training; ask for fewer with --starts", opt.Topic, opt.Starts, len(free))
		}
		for range redraws {
			rng.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
			starts := slices.Clone(free[:opt.Starts])
			if key := fmt.Sprint(slices.Sorted(slices.Values(starts))); !seen[key] {
				seen[key] = true
				d.Starts = append(d.Starts, starts)
				break
			}
		}
	}
	return d, nil
}

// redraws is how often a set is drawn again that was there already.
const redraws = 50

// judge notes which rows are on topic and returns those with a label.
func (d *Draw) judge(c *Corpus, opt DrawOptions) (labelled []int) {
	for n, row := range c.Rows {
		l := row.Labels
		if opt.Truth != nil {
			l, _ = opt.Truth.Of(row.URL)
		}
		if l.Label != "" {
			labelled = append(labelled, n)
		}
		if l.Match(opt.Topic) {
			d.Relevant[n] = true
			d.Targets++
		}
	}
	return labelled
}

// ModelOf returns the number of the page classifier of a start set.
func (d *Draw) ModelOf(set int) int { return set % len(d.Training) }
