package train

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"fossick/datasets"
	"fossick/internal/printable"
	"fossick/internal/usage"
	"fossick/models"
)

// Plan says what a model is made of, and how.
type Plan struct {
	Sets []string
	Rows
	Pairs   bool // only rows with a theme and a category
	Tried   bool // settings are tried too
	Options Options

	Open datasets.Opener
	Say  func(format string, args ...any)
	Log  *slog.Logger
}

// Rows say which rows of the sets train a model, and which test it.
type Rows struct {
	Level      LevelChoice
	Rename     Renames
	PerSite    int      // at most so many of a label and site; 0: all
	Train      string   // so many, or this share of each class
	PerClass   string   // so many of each class
	All        bool     // whatever split the sets have
	Partial    bool     // what can be read of a cut archive will do
	Where      []string // only rows with these values
	Test       string   // test on this set
	Unlabelled []string // sets of the place where the model will be used
	TestWhere  string   // test on the rows with this value
}

// made is a model with what became of its plan.
type made struct {
	Model   *models.Model
	Report  *Report
	Parts   *Parts
	Adapted *Adapted // nil unless unlabelled pages of a place taught it
	Took    time.Duration
}

// Make trains the model. The training rows are passed through rows on their way.
func (p *Plan) Make(ctx context.Context, rows func(datasets.Stream) datasets.Stream) (*made, error) {
	parts, err := p.Parts()
	if err != nil {
		return nil, err
	}
	opt := p.Options
	opt.Split = parts.How
	if opt.Unlabelled, err = p.onlyOn(ctx); err != nil {
		return nil, err
	}
	if opt.Unlabelled {
		if err := p.checkPool(); err != nil {
			return nil, err
		}
		p.withPool(parts)
	}
	began := time.Now()
	m, rep, err := Train(ctx, rows(parts.Train), opt)
	if err != nil {
		return nil, p.hint(err, parts)
	}
	made := &made{Model: m, Report: rep, Parts: parts}
	if len(p.Unlabelled) > 0 && !opt.Unlabelled {
		if made.Model, made.Adapted, err = p.adapt(ctx, m, opt); err != nil {
			return nil, err
		}
	}
	made.Took = time.Since(began)
	return made, nil
}

// each calls f with the rows of the sets until it returns false. What is wrong with them is told when
// they are read for training.
func (p *Plan) each(f func(*datasets.Example) bool) error {
	quiet := *p
	quiet.Log = slog.New(slog.DiscardHandler)
	sets, _, err := quiet.open()
	if err != nil {
		return err
	}
	for e, err := range datasets.Readable(datasets.Chain(sets...)) {
		if err != nil {
			return err
		}
		if !f(e) {
			return nil
		}
	}
	return nil
}

// random returns a source for one purpose.
func (p *Plan) random(purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(p.Options.Seed), purpose))
}

// hint adds to an error about the set which labels there are.
func (p *Plan) hint(err error, parts *Parts) error {
	if !errors.Is(err, ErrData) {
		return err
	}
	if hint := parts.sets.unknownLabels(append(slices.Clone(p.Options.Labels), p.Options.Topic)); hint != nil {
		return fmt.Errorf("%w; %w", err, hint)
	}
	return err
}

// Parts are the halves of a training set. They are streams, read once each, so that a set need not fit
// in memory.
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

// trainedOn says whether the body of an example is also that of a row that was trained on.
func (p *Parts) trainedOn(e *datasets.Example) bool { return p.trained[datasets.RowOf(e).Sum] }

// notes says what looks wrong in the sets.
func (p *Parts) notes() []string { return p.sets.notes }

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

// trainsTests says whether rows of the sets' own test parts are for training, as they are where the
// test comes from elsewhere.
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

// splitRows returns what a split looks at. Beside a set that has a split of its own, the rows of a set
// without one are for training.
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

// Level says which of a row's labels is its class.
type LevelChoice struct {
	N    int
	Set  bool // it was asked for
	Both bool // theme and category, one after the other
}

// UnmarshalText reads theme, category, both or a number from 0.
func (l *LevelChoice) UnmarshalText(text []byte) error {
	l.Set = true
	switch s := string(text); s {
	case "both":
		l.Both = true
	case string(theme):
		l.N = 0
	case string(category):
		l.N = 1
	default:
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 {
			return fmt.Errorf("%q: want theme, category, both, or the number of a label from 0", s)
		}
		l.N = n
	}
	return nil
}

// relabel renames rows as the plan says.
func (p *Plan) relabel(rows datasets.Stream) datasets.Stream {
	rows = p.Rename.apply(rows)
	if p.Pairs {
		rows = datasets.Only(rows, func(e *datasets.Example) bool { return len(e.Labels) > 1 })
	}
	return rows
}

// Renames are the label changes by which sets with different labels are trained on together.
type Renames struct {
	to   map[string]string // old label → new one, "" leaves the row out
	used map[string]bool   // old labels that rows had
}

// UnmarshalText reads old=new by comma; a flag that is given again adds to it.
func (r *Renames) UnmarshalText(text []byte) error {
	if r.to == nil {
		r.to, r.used = map[string]string{}, map[string]bool{}
	}
	for item := range strings.SplitSeq(string(text), ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue // a comma at the end of a list
		}
		before, after, ok := strings.Cut(item, "=")
		if !ok || before == "" {
			return fmt.Errorf("%q: want old=new by comma, or old= to leave a label out", item)
		}
		if _, again := r.to[before]; again {
			return fmt.Errorf("label %q is renamed twice", before)
		}
		r.to[before] = after
	}
	return nil
}

// apply renames the labels of rows. Of a row's labels the last that is renamed counts, being the
// finest: a whole theme can change but for one category.
func (r *Renames) apply(rows datasets.Stream) datasets.Stream {
	if len(r.to) == 0 {
		return rows
	}
	renamed := datasets.Map(rows, func(e *datasets.Example) *datasets.Example {
		for _, old := range slices.Backward(e.Labels) {
			if label, ok := r.to[old]; ok {
				r.used[old] = true
				if label == "" {
					return nil
				}
				return e.Labelled(label, label)
			}
		}
		return e
	})
	return datasets.Only(renamed, func(e *datasets.Example) bool { return e != nil })
}

// unused returns the labels to rename that no row had, sorted.
func (r *Renames) unused() []string {
	var labels []string
	for _, old := range slices.Sorted(maps.Keys(r.to)) {
		if !r.used[old] {
			labels = append(labels, old)
		}
	}
	return labels
}

// perSite passes on at most n rows of each label of each site, drawn at random. Rows without a site all
// pass, and so do, unless tests are capped too, a set's own test rows: it is training that a site can
// dominate.
func perSite(rows datasets.Stream, n int, tests bool, rng *rand.Rand) (datasets.Stream, error) {
	type group struct{ site, label string }
	groups := map[group][]int{}
	var order []group
	count := 0
	for e, err := range rows {
		if err != nil {
			if datasets.IsRow(err) {
				continue // the training pass reports it
			}
			return nil, err
		}
		if g := (group{e.Site, e.Label}); e.Site != "" && (tests || e.Split != "test") {
			if groups[g] == nil {
				order = append(order, g)
			}
			groups[g] = append(groups[g], count)
		}
		count++
	}
	assigned := slices.Repeat([]datasets.Part{datasets.Train}, count)
	for _, g := range order {
		at := groups[g]
		rng.Shuffle(len(at), func(a, b int) { at[a], at[b] = at[b], at[a] })
		for _, i := range at[min(n, len(at)):] {
			assigned[i] = datasets.Unused
		}
	}
	return datasets.Pick(rows, assigned, datasets.Train), nil
}

// watch tells what looks wrong in sets, of each once.
type watch struct {
	log   *slog.Logger
	told  map[*datasets.Set]bool
	notes []string

	labels map[string]bool // of all rows, wanted or not
	cut    map[string]bool // errors of cut files that were told
}

func newWatch(log *slog.Logger) *watch {
	return &watch{log: log, told: map[*datasets.Set]bool{}, labels: map[string]bool{}, cut: map[string]bool{}}
}

// read is to be called with each set that was read to its end.
func (w *watch) read(set *datasets.Set) {
	if w.told[set] {
		return
	}
	w.told[set] = true
	rep, err := set.Report()
	if err != nil {
		return // the pass has reported it
	}
	for label := range rep.PerLabel {
		w.labels[label] = true
	}
	for _, note := range rep.Notes() {
		if set.Name() != "demo" { // the user cannot mend the built-in set
			w.log.Warn("look at the set", "set", set.Name(), "what", note)
		}
		w.notes = append(w.notes, set.Name()+": "+note)
	}
}

// whole passes on rows up to where a file is cut. A model of half a set looks like one of all of it, so
// that this is an error. partial says that what can be read will do; then it is told once.
func (w *watch) whole(rows datasets.Stream, partial bool) datasets.Stream {
	return func(yield func(*datasets.Example, error) bool) {
		for e, err := range rows {
			switch {
			case !errors.Is(err, datasets.ErrCut):
			case !partial:
				err = fmt.Errorf("%w; or train on the rows before it with --partial", err)
			default:
				if !w.cut[err.Error()] {
					w.cut[err.Error()] = true
					w.log.Warn("the rows after it are lost", "err", err)
					w.notes = append(w.notes, err.Error())
				}
				continue
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// unknownLabels says which labels the sets have, when rows of a wanted one are not among them: it may
// be spelt otherwise. Nil when all are there.
func (w *watch) unknownLabels(wanted []string) error {
	for _, label := range wanted {
		if label == "" || w.labels[label] || len(w.labels) == 0 {
			continue
		}
		have := printable.SortedKeys(w.labels)
		for _, l := range have {
			if datasets.PlainLabel(l) == datasets.PlainLabel(label) {
				return fmt.Errorf("there is %q, with another spelling", l)
			}
		}
		return fmt.Errorf("the sets have %s", printable.SomeNames(label, have))
	}
	return nil
}
