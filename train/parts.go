package train

import (
	"slices"
	"strconv"
	"strings"

	"fossick/datasets"
	"fossick/internal/printable"
	"fossick/internal/usage"
)

// Parts are the halves of a training set. They are streams, read once each, so
// that a set need not fit in memory.
type Parts struct {
	Train datasets.Stream
	Test  datasets.Stream // nil without one
	How   string          // in words, for the model's card

	trained map[[16]byte]bool // sums of the training rows' bodies, once Train was read
	sets    *watch            // what looks wrong in the sets, once they were read
}

// Parts opens the sets and divides them as the plan says.
func (p *Plan) Parts() (*Parts, error) {
	sets, w, err := p.open()
	if err != nil {
		return nil, err
	}
	parts, err := p.divide(sets)
	if err != nil {
		return nil, err
	}
	parts.sets, parts.trained = w, map[[16]byte]bool{}
	if parts.Test != nil {
		parts.Train = parts.remember(parts.Train, &p.Options.Target)
	}
	return parts, nil
}

// remember passes on the rows and notes the bodies of those that are trained on.
func (p *Parts) remember(rows datasets.Stream, target *Target) datasets.Stream {
	return datasets.Only(rows, func(e *datasets.Example) bool {
		if target.Class(e) != "" {
			p.trained[datasets.RowOf(e).Sum] = true
		}
		return true
	})
}

// Trained says whether the body of an example is also that of a row that was trained on.
func (p *Parts) Trained(e *datasets.Example) bool { return p.trained[datasets.RowOf(e).Sum] }

// Notes says what looks wrong in the sets.
func (p *Parts) Notes() []string { return p.sets.notes }

// divide makes the halves of the sets.
func (p *Plan) divide(sets []datasets.Stream) (*Parts, error) {
	all := datasets.Chain(sets...)
	switch {
	case p.TestWhere != "":
		w, err := datasets.ParseWhere(p.TestWhere)
		if err != nil {
			return nil, usage.Of(err)
		}
		where := append(slices.Clone(p.Where), p.TestWhere)
		test, err := p.Open.Stream(p.Sets, where, p.Level.N, nil)
		if err != nil {
			return nil, err
		}
		test = p.relabel(newWatch(p.Log).whole(test, p.Partial))
		return &Parts{Train: datasets.Except(all, test), Test: test, How: "all but " + w.Field + "=" + w.Value}, nil
	case p.Test != "":
		w := newWatch(p.Log)
		test, err := p.Open.Stream([]string{p.Test}, nil, p.Level.N, w.read)
		if err != nil {
			return nil, err
		}
		test = w.whole(test, p.Partial)
		return &Parts{Train: all, Test: p.relabel(test), How: "all; tested on " + p.Test}, nil
	case p.All: // last, for it does not say that there is no test
		return &Parts{Train: all, How: "all"}, nil
	}
	return p.split(sets)
}

// trainsTests says whether rows of the sets' own test parts are for training, as
// they are where the test comes from elsewhere.
func (r *Rows) trainsTests() bool { return r.All || r.Test != "" || r.TestWhere != "" }

// open opens the sets one by one, capped and renamed as the flags say.
func (p *Plan) open() ([]datasets.Stream, *watch, error) {
	var sets []datasets.Stream
	w := newWatch(p.Log)
	for _, path := range p.Sets {
		set, err := p.Open.Stream([]string{path}, p.Where, p.Level.N, w.read)
		if err != nil {
			return nil, nil, err
		}
		if p.PerSite > 0 {
			if set, err = perSite(set, p.PerSite, p.trainsTests(), p.random(0xca9)); err != nil {
				return nil, nil, err
			}
		}
		set = w.whole(set, p.Partial)
		sets = append(sets, p.relabel(set))
	}
	return sets, w, nil
}

// split divides by the sets' own splits, or at random.
func (p *Plan) split(sets []datasets.Stream) (*Parts, error) {
	so, err := p.splitOptions()
	if err != nil {
		return nil, err
	}
	all := datasets.Chain(sets...)
	rows, err := splitRows(sets, &p.Options.Target)
	if err != nil {
		return nil, err
	}
	assigned, rep, err := datasets.Assign(rows, p.random(0x5b117), so)
	if err != nil {
		return nil, usage.Of(err)
	}
	if rep.Test == 0 {
		return &Parts{Train: all, How: "all"}, nil
	}
	parts := &Parts{Train: datasets.Pick(all, assigned, datasets.Train), Test: datasets.Pick(all, assigned, datasets.Test)}
	parts.How = printable.Sprintf("%d pages at random, seed %d", rep.Train, p.Options.Seed)
	if rep.Own {
		parts.How = "the set's own training part"
	}
	return parts, nil
}

// splitRows returns what a split looks at. Beside a set that has a split of its
// own, the rows of a set without one are for training.
func splitRows(sets []datasets.Stream, target *Target) ([]datasets.Row, error) {
	var rows []datasets.Row
	var whole [][2]int // the rows of sets without a split: from, to
	for _, set := range sets {
		from, split := len(rows), false
		for e, err := range set {
			if err != nil {
				if datasets.IsRow(err) {
					continue // the training pass reports it
				}
				return nil, err
			}
			row := datasets.RowOf(e)
			row.Label = target.Class(e)
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

func (r *Rows) splitOptions() (o datasets.SplitOptions, err error) {
	switch {
	case r.Train != "":
		if n, err := strconv.Atoi(r.Train); err == nil && n > 0 {
			o.N = n
			return o, nil
		}
		if o.Share, err = strconv.ParseFloat(r.Train, 64); err != nil || !(o.Share > 0 && o.Share <= 1) {
			return o, usage.Errorf("--train %s: want a number of pages, or a share such as 0.5", r.Train)
		}
	case r.PerClass != "":
		o.PerClass = map[string]int{}
		for item := range strings.SplitSeq(r.PerClass, ",") {
			label, number, ok := strings.Cut(item, "=")
			if !ok {
				label, number = "", item // every other class
			}
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 {
				return o, usage.Errorf("--per-class %s: want a number of pages, or label=number by comma", r.PerClass)
			}
			o.PerClass[label] = n
		}
	}
	return o, nil
}
