package train

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"fossick/datasets"
	"fossick/features"
)

// corpus is a training set as counts: no text is kept.
type corpus struct {
	extractor features.ExtractorOptions
	terms     []string
	rows      []features.Vector // counts, by page
	y         []int             // class, by page
	sites     []string          // by page; "" is unknown
	from      []source          // by page, with Options.Explain
	classes   []string          // sorted
	nouns     *nouns            // what K is chosen from
}

// Other is the class of what is not the topic when a model has just one.
const Other = "other"

// Class returns the class of an example, or "" when it has none: its topic or
// Other with Options.Topic; else the first of its Label and Labels that is among
// Options.Labels; else its Label.
func (o *Options) Class(e *datasets.Example) string {
	switch {
	case e.Label == "" && len(e.Labels) == 0:
		return ""
	case o.Topic != "":
		if e.Matches(o.Topic) {
			return o.Topic
		}
		return Other
	case len(o.Labels) == 0:
		return e.Label
	case slices.Contains(o.Labels, e.Label):
		return e.Label
	}
	for _, l := range e.Labels {
		if slices.Contains(o.Labels, l) {
			return l
		}
	}
	return ""
}

// gather reads the examples once.
func gather(ctx context.Context, examples iter.Seq2[*datasets.Example, error], opt *Options, rep *Report) (*corpus, error) {
	c := &corpus{extractor: opt.extractor(), nouns: newNouns()}
	count := newCounting(c)
	labels, err := c.read(ctx, examples, count, opt, rep)
	count.close()
	if err != nil {
		return nil, err
	}
	c.terms = count.lex.Terms()
	c.label(labels)
	rep.Pages = len(c.rows)
	rep.PerClass = map[string]int{}
	for _, l := range labels {
		rep.PerClass[l]++
	}
	if err := c.check(opt, rep); err != nil {
		return nil, err
	}
	c.compact(opt)
	return c, nil
}

// read hands the pages that have a class to be counted, and returns their labels.
func (c *corpus) read(ctx context.Context, examples iter.Seq2[*datasets.Example, error], count *counting, opt *Options, rep *Report) (labels []string, err error) {
	for e, err := range examples {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("reading the training set: %w", err)
		}
		if err != nil {
			var row *datasets.RowError
			if !errors.As(err, &row) {
				return nil, fmt.Errorf("reading the training set: %w", err)
			}
			rep.Unreadable++
			opt.log().Warn("row left out", "err", err)
			continue
		}
		label := opt.Class(e)
		if label == "" {
			rep.LeftOut++
			continue
		}
		doc, err := Doc(e)
		if err != nil {
			rep.Unreadable++
			opt.log().Warn("page left out", "url", e.URL, "err", err)
			continue
		}
		labels = append(labels, label)
		c.sites = append(c.sites, e.Site)
		if opt.Explain {
			c.from = append(c.from, source{e.URL, e.File, e.Line})
		}
		count.add(label, doc)
	}
	return labels, nil
}

// Doc returns the text of an example as models read it.
func Doc(e *datasets.Example) (features.Doc, error) {
	p, err := e.Page()
	if err != nil {
		return features.Doc{}, err
	}
	return features.Doc(p.Fields()), nil
}

func (c *corpus) label(labels []string) {
	count := map[string]int{}
	for _, l := range labels {
		count[l] = 0
	}
	c.classes = slices.Sorted(maps.Keys(count))
	for i, l := range c.classes {
		count[l] = i
	}
	c.y = make([]int, len(labels))
	for i, l := range labels {
		c.y[i] = count[l]
	}
}

// ErrData reports a training set from which nothing can be learnt.
var ErrData = errors.New("cannot train on this set")

func (c *corpus) check(opt *Options, rep *Report) error {
	switch {
	case len(c.rows) == 0:
		return fmt.Errorf("%w: no labelled page was read (%d without a wanted label, %d unreadable); check --labels, --topic and --where",
			ErrData, rep.LeftOut, rep.Unreadable)
	case len(c.classes) == 1:
		return fmt.Errorf("%w: all %d pages have the label %q; two classes at least are needed", ErrData, len(c.rows), c.classes[0])
	case opt.Topic != "" && !slices.Contains(c.classes, opt.Topic):
		return fmt.Errorf("%w: no page has the label %q", ErrData, opt.Topic)
	}
	for _, l := range opt.Labels {
		if opt.Topic == "" && !slices.Contains(c.classes, l) {
			return fmt.Errorf("%w: no page has the label %q; the set has %v", ErrData, l, c.classes)
		}
	}
	return nil
}

// rareSet is the number of pages below which words of one page count too.
const rareSet = 100

// compact drops the terms that occur on one page only: they cannot be told from
// chance, and they are most of the terms. With MinSites it drops those of too few
// sites as well.
func (c *corpus) compact(opt *Options) {
	df := make([]int32, len(c.terms))
	for _, r := range c.rows {
		for _, i := range r.Index {
			df[i]++
		}
	}
	least := int32(2)
	if len(c.rows) < rareSet {
		least = 1
	}
	if opt.MinSites > 1 {
		df, least = c.siteFrequency(len(c.rows)/opt.Folds), max(least, int32(opt.MinSites))
	}
	number := make([]int32, len(c.terms))
	var kept []string
	for i, n := range df {
		number[i] = -1
		if n >= least {
			number[i] = int32(len(kept))
			kept = append(kept, c.terms[i])
		}
	}
	c.terms = kept
	for i, r := range c.rows {
		c.rows[i] = remap(r, number)
	}
}

// siteFrequency returns on how many sites each term occurs; what counts as a site
// is what stays together in folds, see units.
func (c *corpus) siteFrequency(most int) []int32 {
	sites := make([]int32, len(c.terms))
	last := make([]int, len(c.terms)) // the unit that was counted last, from 1
	for u, pages := range c.units(most) {
		for _, p := range pages {
			for _, i := range c.rows[p].Index {
				if last[i] != u+1 {
					last[i] = u + 1
					sites[i]++
				}
			}
		}
	}
	return sites
}

// remap returns a copy of v with new term numbers; terms numbered −1 are left out.
func remap(v features.Vector, number []int32) features.Vector {
	n := 0
	for _, i := range v.Index {
		if number[i] >= 0 {
			n++
		}
	}
	out := features.Vector{Index: make([]int32, 0, n), Value: make([]float32, 0, n)}
	for k, i := range v.Index {
		if number[i] >= 0 {
			out.Index = append(out.Index, number[i])
			out.Value = append(out.Value, v.Value[k])
		}
	}
	return out
}
