package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fossick/datasets"
	"fossick/train"
)

// parts are the halves of a training set. They are streams, read once each, so
// that a set need not fit in memory.
type parts struct {
	train examples
	test  examples // nil without one
	how   string   // in words, for the model's card

	trained map[[16]byte]bool // sums of the training rows' bodies, once train was read
	sets    *watch            // what looks wrong in the sets, once they were read
}

// parts opens the sets and divides them as the flags say.
func (c trainCmd) parts(a *app, opt *train.Options) (*parts, error) {
	sets, w, err := c.open(a)
	if err != nil {
		return nil, err
	}
	p, err := c.divide(a, sets, opt)
	if err != nil {
		return nil, err
	}
	p.sets, p.trained = w, map[[16]byte]bool{}
	if p.test != nil {
		p.train = p.remember(p.train, opt)
	}
	return p, nil
}

// remember passes on the rows and notes the bodies of those that are trained on.
func (p *parts) remember(rows examples, opt *train.Options) examples {
	return only(rows, func(e *datasets.Example) bool {
		if opt.Class(e) != "" {
			p.trained[datasets.RowOf(e).Sum] = true
		}
		return true
	})
}

// notes says what looks wrong in the sets.
func (p *parts) notes() []string { return p.sets.notes }

// divide makes the halves of the sets.
func (c trainCmd) divide(a *app, sets []examples, opt *train.Options) (*parts, error) {
	all := chain(sets)
	switch {
	case c.TestWhere != "":
		w, err := datasets.ParseWhere(c.TestWhere)
		if err != nil {
			return nil, usageError{err}
		}
		where := append(slices.Clone(c.Where), c.TestWhere)
		test, err := openSets(a, c.Sets, where, c.Level.n, nil)
		if err != nil {
			return nil, err
		}
		test = c.relabel(newWatch(a).whole(test, c.Partial))
		return &parts{train: except(all, test), test: test, how: "all but " + w.Field + "=" + w.Value}, nil
	case c.Test != "":
		w := newWatch(a)
		test, err := openSets(a, []string{c.Test}, nil, c.Level.n, w.read)
		if err != nil {
			return nil, err
		}
		test = w.whole(test, c.Partial)
		return &parts{train: all, test: c.relabel(test), how: "all; tested on " + c.Test}, nil
	case c.All: // last, for it does not say that there is no test
		return &parts{train: all, how: "all"}, nil
	}
	return c.split(a, sets, opt)
}

// trainsTests says whether rows of the sets' own test parts are for training, as
// they are where the test comes from elsewhere.
func (c trainCmd) trainsTests() bool { return c.All || c.Test != "" || c.TestWhere != "" }

// open opens the sets one by one, capped and renamed as the flags say.
func (c trainCmd) open(a *app) ([]examples, *watch, error) {
	var sets []examples
	w := newWatch(a)
	for _, path := range c.Sets {
		set, err := openSets(a, []string{path}, c.Where, c.Level.n, w.read)
		if err != nil {
			return nil, nil, err
		}
		if c.PerSite > 0 {
			if set, err = perSite(set, c.PerSite, c.trainsTests(), a.random(0xca9)); err != nil {
				return nil, nil, err
			}
		}
		set = w.whole(set, c.Partial)
		sets = append(sets, c.relabel(set))
	}
	return sets, w, nil
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
	p := &parts{train: pick(all, assigned, datasets.Train), test: pick(all, assigned, datasets.Test)}
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
