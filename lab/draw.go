package lab

import (
	"fmt"
	"math/rand/v2"

	"fossick/datasets"
)

// Draw is what chance decides before the crawls begin.
type Draw struct {
	Relevant []bool  // by row: on topic, by the truth
	Training []bool  // by row: the page classifier was trained on it
	Starts   [][]int // rows of the start pages, a set a crawl
	Targets  int     // rows on topic
}

// DrawOptions say what to draw.
type DrawOptions struct {
	Topic    string
	Truth    *datasets.Truth // nil: the corpus's own labels
	Train    int             // pages for training, drawn from all with a label
	Training []bool          // instead: by row, pages that were trained on already
	Starts   int             // start pages a set
	Sets     int
}

// NewDraw draws the training pages among all that have a label, then, for each
// set, the start pages among the pages on topic that are not for training and can
// be parsed. Sets are drawn one by one and may share pages; within one none repeats.
func NewDraw(c *Corpus, opt DrawOptions, rng *rand.Rand) (*Draw, error) {
	d := &Draw{Relevant: make([]bool, len(c.Rows)), Training: opt.Training}
	if d.Training == nil {
		d.Training = make([]bool, len(c.Rows))
	}
	var labelled []int
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
	if opt.Train > len(labelled) {
		return nil, fmt.Errorf("%d training pages are wanted and only %d pages of %s have a label", opt.Train, len(labelled), c.Name)
	}
	rng.Shuffle(len(labelled), func(i, j int) { labelled[i], labelled[j] = labelled[j], labelled[i] })
	for _, n := range labelled[:opt.Train] {
		d.Training[n] = true
	}
	var free []int
	for n, row := range c.Rows {
		if d.Relevant[n] && !d.Training[n] && row.Page != nil {
			free = append(free, n)
		}
	}
	if len(free) < opt.Starts {
		return nil, fmt.Errorf("topic %s: %d start pages are wanted and only %d pages are on topic and not for training; ask for fewer with --starts", opt.Topic, opt.Starts, len(free))
	}
	for range opt.Sets {
		rng.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
		d.Starts = append(d.Starts, append([]int(nil), free[:opt.Starts]...))
	}
	return d, nil
}
