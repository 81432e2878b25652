package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fossick/classify"
	"fossick/datasets"
	"fossick/train"
)

// parts are the halves of a training set. They are streams, read once each, so
// that a set need not fit in memory.
type parts struct {
	train  examples
	test   examples // nil without one
	across *int     // test rows whose body is also in train; nil without a split
	how    string   // in words, for the model's card
}

// parts opens the sets and divides them as the flags say.
func (c trainCmd) parts(a *app, opt *train.Options) (*parts, error) {
	sets, err := c.open(a)
	if err != nil {
		return nil, err
	}
	all := chain(sets)
	switch {
	case c.All:
		return &parts{train: all, how: "all"}, nil
	case c.TestWhere != "":
		w, err := datasets.ParseWhere(c.TestWhere)
		if err != nil {
			return nil, usageError{err}
		}
		where := append(slices.Clone(c.Where), c.TestWhere)
		test, err := openSets(a, c.Sets, where, c.Level, nil)
		if err != nil {
			return nil, err
		}
		test = c.Rename.apply(test)
		return &parts{train: except(all, test), test: test, how: "all but " + w.Field + "=" + w.Value}, nil
	case c.Test != "":
		test, err := openSets(a, []string{c.Test}, nil, c.Level, warnOnce(a))
		if err != nil {
			return nil, err
		}
		return &parts{train: all, test: c.Rename.apply(test), how: "all; tested on " + c.Test}, nil
	}
	return c.split(a, sets, opt)
}

// open opens the sets one by one, capped and renamed as the flags say.
func (c trainCmd) open(a *app) ([]examples, error) {
	var sets []examples
	warn := warnOnce(a)
	for _, path := range c.Sets {
		set, err := openSets(a, []string{path}, c.Where, c.Level, warn)
		if err != nil {
			return nil, err
		}
		if c.PerSite > 0 {
			if set, err = perSite(set, c.PerSite, c.All, a.random(0xca9)); err != nil {
				return nil, err
			}
		}
		sets = append(sets, c.Rename.apply(set))
	}
	return sets, nil
}

// split divides by the sets' own splits, or at random.
func (c trainCmd) split(a *app, sets []examples, opt *train.Options) (*parts, error) {
	so, err := c.splitOptions()
	if err != nil {
		return nil, err
	}
	all := chain(sets)
	rows, err := splitRows(sets, opt)
	if err != nil {
		return nil, err
	}
	assigned, rep, err := datasets.Assign(rows, a.random(0x5b117), so)
	if err != nil {
		return nil, usageError{err}
	}
	if rep.Test == 0 {
		return &parts{train: all, how: "all"}, nil
	}
	p := &parts{train: pick(all, assigned, datasets.Train), test: pick(all, assigned, datasets.Test), across: &rep.Across}
	p.how = fmt.Sprintf("%d pages at random, seed %d", rep.Train, a.seed)
	if rep.Own {
		p.how = "the set's own training part"
	}
	return p, nil
}

// splitRows returns what a split looks at. Beside a set that has a split of its
// own, the rows of a set without one are for training.
func splitRows(sets []examples, opt *train.Options) ([]datasets.Row, error) {
	var rows []datasets.Row
	var whole [][2]int // the rows of sets without a split: from, to
	for _, set := range sets {
		from, split := len(rows), false
		for e, err := range set {
			if err != nil {
				if isRow(err) {
					continue // the training pass reports it
				}
				return nil, err
			}
			row := datasets.RowOf(e)
			row.Label = opt.Class(e)
			rows = append(rows, row)
			split = split || row.Split != ""
		}
		if !split {
			whole = append(whole, [2]int{from, len(rows)})
		}
	}
	if len(whole) < len(sets) {
		for _, w := range whole {
			for i := w[0]; i < w[1]; i++ {
				rows[i].Split = "train"
			}
		}
	}
	return rows, nil
}

func (c trainCmd) splitOptions() (o datasets.SplitOptions, err error) {
	switch {
	case c.Train != "":
		if n, err := strconv.Atoi(c.Train); err == nil && n > 0 {
			o.N = n
			return o, nil
		}
		if o.Share, err = strconv.ParseFloat(c.Train, 64); err != nil || !(o.Share > 0 && o.Share <= 1) {
			return o, usagef("--train %s: want a number of pages, or a share such as 0.5", c.Train)
		}
	case c.PerClass != "":
		o.PerClass = map[string]int{}
		for item := range strings.SplitSeq(c.PerClass, ",") {
			label, number, ok := strings.Cut(item, "=")
			if !ok {
				label, number = "", item // every other class
			}
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 {
				return o, usagef("--per-class %s: want a number of pages, or label=number by comma", c.PerClass)
			}
			o.PerClass[label] = n
		}
	}
	return o, nil
}

// warnOnce returns a function that logs what looks wrong in a set, once each.
func warnOnce(a *app) func(*datasets.Set) {
	told := map[*datasets.Set]bool{}
	return func(set *datasets.Set) {
		if told[set] {
			return
		}
		told[set] = true
		rep, err := set.Report()
		if err != nil {
			return // the pass has reported it
		}
		for _, note := range rep.Notes() {
			a.log.Warn("look at the set", "set", set.Name(), "what", note)
		}
	}
}

// openSets opens labelled sets and chains them. read, unless nil, is called with
// each set that was read to its end.
func openSets(a *app, paths, where []string, level int, read func(*datasets.Set)) (examples, error) {
	opt := datasets.Options{Level: level}
	for _, s := range where {
		w, err := datasets.ParseWhere(s)
		if err != nil {
			return nil, usageError{err}
		}
		opt.Where = append(opt.Where, w)
	}
	var sets []*datasets.Set
	for _, path := range paths {
		set, err := openSet(a, path, opt)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return func(yield func(*datasets.Example, error) bool) {
		for _, set := range sets {
			for e, err := range set.Examples() {
				if !yield(e, err) {
					return
				}
			}
			if read != nil {
				read(set)
			}
		}
	}, nil
}

// timedPages is how many pages a model is timed on when there is no test.
const timedPages = 300

// tested is what a model said of test pages.
type tested struct {
	truth, predicted []int
	took             []time.Duration // a page, from raw bytes to its label
	measures         train.Measures
}

// median returns the median time a page in microseconds, nil without pages.
func (t *tested) median() *float64 {
	if len(t.took) == 0 {
		return nil
	}
	slices.Sort(t.took)
	us := float64(t.took[len(t.took)/2].Nanoseconds()) / 1e3
	return &us
}

// runTest classifies the labelled pages of a set. Pages of a class that the
// model does not have count as errors.
func runTest(a *app, c *classify.Classifier, test examples, opt *train.Options) (*tested, error) {
	t := &tested{}
	m := c.Model()
	for e, err := range test {
		if a.ctx.Err() != nil {
			return nil, a.ctx.Err()
		}
		if err != nil {
			if isRow(err) {
				a.log.Warn("test row left out", "err", err)
				continue
			}
			return nil, err
		}
		label := opt.Class(e)
		if label == "" {
			continue
		}
		start := time.Now()
		d, err := train.Doc(e)
		if err != nil {
			a.log.Warn("test page left out", "url", e.URL, "err", err)
			continue
		}
		r := c.Classify(d)
		t.took = append(t.took, time.Since(start))
		t.truth = append(t.truth, m.Class(label))
		t.predicted = append(t.predicted, m.Class(r.Label))
	}
	t.measures = train.Measure(len(m.Classes), t.truth, t.predicted)
	return t, nil
}
