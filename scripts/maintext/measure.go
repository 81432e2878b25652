package main

import (
	"fmt"
	"strings"

	"fossick/internal/maintext"
	"fossick/internal/maintext/blocks"
	"fossick/internal/maintext/forest"
)

// grow grows both forests. The second learns from opinions of first ones that had not seen
// the page.
func grow(learn []*example) [2]*forest.Forest {
	for part := range uint32(3) {
		var in, out []*example
		for _, e := range learn {
			if e.part() == part {
				out = append(out, e)
			} else {
				in = append(in, e)
			}
		}
		f := forest.Grow(sample(in), blocks.FirstSize, options)
		for _, e := range out {
			p := make([]float32, len(e.view.Rows()))
			for i, row := range e.view.Rows() {
				p[i] = f.Chance(row)
			}
			e.view.Opinions(p)
		}
	}
	all := sample(learn)
	return [2]*forest.Forest{forest.Grow(all, blocks.FirstSize, options), forest.Grow(all, blocks.Size, options)}
}

func sample(of []*example) (s forest.Sample) {
	for _, e := range of {
		s.Rows = append(s.Rows, e.view.Rows()...)
		s.Class = append(s.Class, e.class...)
		s.Weights = append(s.Weights, e.weight...)
	}
	return s
}

// text is what the forests choose of a page.
func (e *example) text(forests [2]*forest.Forest, cut float32) string {
	var out strings.Builder
	for i, p := range maintext.Chances(e.view.Document, forests) {
		if p >= cut {
			out.Write(e.view.TextOf(i))
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// rate is F1, precision and recall.
func rate(precision, recall float64) string {
	return fmt.Sprintf("%.3f\t%.3f\t%.3f", 2*precision*recall/(precision+recall), precision, recall)
}

// shingled is the measure of the article extraction benchmark: runs of four words that text
// and truth share, means over pages.
func shingled(on []*example, text func(*example) string) string {
	var precision, recall, texts, truths float64
	for _, e := range on {
		truth, said := runs(e.body, 4), runs(text(e), 4)
		both, all, asked := 0, 0, 0
		for run, n := range said {
			all += n
			both += min(n, truth[run])
		}
		for _, n := range truth {
			asked += n
		}
		if all > 0 {
			precision += float64(both) / float64(all)
			texts++
		}
		if asked > 0 {
			recall += float64(both) / float64(asked)
			truths++
		}
	}
	return rate(precision/texts, recall/truths)
}

// found is trafilatura's measure: wanted segments that are found, unwanted ones that are not.
func found(on []*example, text func(*example) string) string {
	var good, bad, missed float64
	for _, e := range on {
		flat := flatten(text(e))
		for _, s := range e.with {
			if strings.Contains(flat, flatten(s)) {
				good++
			} else {
				missed++
			}
		}
		for _, s := range e.without {
			if strings.Contains(flat, flatten(s)) {
				bad++
			}
		}
	}
	return rate(good/(good+bad), good/(good+missed))
}
