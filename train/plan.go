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
	"fossick/internal/cli"
	"fossick/models"
)

// Plan says which pages a model learns from, how, and which files to write.
type Plan struct {
	Sets []string
	Rows
	Pairs   bool // only rows with a theme and a category
	Tried   bool // Trials run on it
	Options Options

	Out     string // file of the model
	Explain string // file of the page that explains the model; "" for none
	Version string // of the program

	Open datasets.Opener
	Say  func(format string, args ...any)
	Log  *slog.Logger
}

// Rows are the flags of fossick train that say which rows of the sets train a model, and which test it.
type Rows struct {
	Level levelChoice `placeholder:"LEVEL" help:"Which of a row's labels is its class: theme, the first; category, the second; or its number from 0. --mu-sweep and --protocol also take both [theme; for those two both, if the set has both]." group:"rows" expert:"" predictor:"theme,category,both"`

	Rename     renames  `sep:"none" placeholder:"OLD=NEW,..." help:"Give rows with the label OLD the label NEW, or with OLD= leave them out; OLD may be any of a row's labels, and the finest one counts. May be repeated." group:"rows" expert:""`
	PerSite    int      `placeholder:"N" help:"Use at most N pages of each label from a site, drawn at random, so that no site dominates." group:"rows" expert:""`
	Train      string   `xor:"part" placeholder:"N|SHARE" help:"Train on this number of pages, or on this share of each class, drawn at random; test on the rest." group:"rows"`
	PerClass   string   `xor:"part" placeholder:"N|A=N,B=N" help:"Train on this number of pages of each class; test on the rest." group:"rows" expert:""`
	All        bool     `xor:"part" help:"Train on all rows, whatever split the sets have." group:"rows" expert:""`
	Partial    bool     `help:"Train on the part of a damaged or truncated archive that can be read; without this flag, it is an error." group:"rows" expert:""`
	Where      []string `sep:"none" placeholder:"FIELD=VALUE" help:"Only rows with this value; may be repeated." group:"rows"`
	Test       string   `xor:"test" placeholder:"SET" help:"Test on this set." group:"rows" predictor:"sets"`
	Unlabelled []string `sep:"none" placeholder:"SET" help:"Pages from the place where the model will be used; their labels are ignored. The model learns from those that it is most confident of. With --topic and only training pages on topic, it finds its pages off topic among them. May be repeated." group:"rows" expert:"" predictor:"sets"`
	TestWhere  string   `xor:"test" placeholder:"FIELD=VALUE" help:"Test on the rows with this value, train on the others." group:"rows"`
}

// made is a trained model and how it was made.
type made struct {
	Model      *models.Model
	Report     *Report
	Parts      *rowParts
	adaptation *adaptation // nil unless trained again with unlabelled pages
	Took       time.Duration
}

// train trains the model. rows may wrap the stream of training rows.
func (p *Plan) train(ctx context.Context, rows func(datasets.Stream) datasets.Stream) (*made, error) {
	parts, err := p.parts()
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
		if made.Model, made.adaptation, err = p.adapt(ctx, m, opt); err != nil {
			return nil, err
		}
	}
	made.Took = time.Since(began)
	return made, nil
}

// each calls f with the rows of the sets until it returns false, and leaves warnings to training.
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

// random returns the random source of one purpose.
func (p *Plan) random(purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(p.Options.Seed), purpose))
}

// hint adds to an error about the set which labels exist.
func (p *Plan) hint(err error, parts *rowParts) error {
	if !errors.Is(err, ErrData) {
		return err
	}
	if hint := parts.sets.unknownLabels(append(slices.Clone(p.Options.Labels), p.Options.Topic)); hint != nil {
		return fmt.Errorf("%w; %w", err, hint)
	}
	return err
}

// rowParts are a plan's training and test rows, as streams that are read once and need not fit in memory.
type rowParts struct {
	Train datasets.Stream
	Test  datasets.Stream // nil without one
	How   string          // in words, for the model's card

	trained map[[16]byte]bool // hashes of the training rows' bodies, once Train was read
	sets    *watch            // what looks wrong in the sets, once they were read
}

// parts opens the sets and divides them as the plan says.
func (p *Plan) parts() (*rowParts, error) {
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

// remember notes the bodies of the rows that are trained on.
func (p *rowParts) remember(rows datasets.Stream, target *Target) datasets.Stream {
	return datasets.Only(rows, func(e *datasets.Example) bool {
		if target.Class(e) != "" {
			p.trained[datasets.RowOf(e).Sum] = true
		}
		return true
	})
}

// trainedOn reports whether a training row has the same body as e.
func (p *rowParts) trainedOn(e *datasets.Example) bool { return p.trained[datasets.RowOf(e).Sum] }

// divide splits the sets into training and test rows.
func (p *Plan) divide(sets []datasets.Stream) (*rowParts, error) {
	all := datasets.Chain(sets...)
	switch {
	case p.TestWhere != "":
		w, err := datasets.ParseWhere(p.TestWhere)
		if err != nil {
			return nil, cli.Usage(err)
		}
		where := append(slices.Clone(p.Where), p.TestWhere)
		test, err := p.Open.Stream(p.Sets, where, p.Level.N, nil)
		if err != nil {
			return nil, err
		}
		test = p.relabel(newWatch(p.Log).whole(test, p.Partial))
		return &rowParts{Train: datasets.Except(all, test), Test: test, How: "all but " + w.Field + "=" + w.Value}, nil
	case p.Test != "":
		w := newWatch(p.Log)
		test, err := p.Open.Stream([]string{p.Test}, nil, p.Level.N, w.read)
		if err != nil {
			return nil, err
		}
		test = w.whole(test, p.Partial)
		return &rowParts{Train: all, Test: p.relabel(test), How: "all; tested on " + p.Test}, nil
	case p.All: // last, because it does not exclude a test
		return &rowParts{Train: all, How: "all"}, nil
	}
	return p.split(sets)
}

// trainsTests reports whether the sets' own test rows train, because the test comes from elsewhere.
func (r *Rows) trainsTests() bool { return r.All || r.Test != "" || r.TestWhere != "" }

// open opens the sets one by one, with capped sites and renamed labels.
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

// split divides the rows by the sets' own splits, or at random.
func (p *Plan) split(sets []datasets.Stream) (*rowParts, error) {
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
		return nil, cli.Usage(err)
	}
	if rep.Test == 0 {
		return &rowParts{Train: all, How: "all"}, nil
	}
	parts := &rowParts{Train: datasets.Pick(all, assigned, datasets.Train), Test: datasets.Pick(all, assigned, datasets.Test)}
	parts.How = cli.Sprintf("%d pages at random, seed %d", rep.Train, p.Options.Seed)
	if rep.Own {
		parts.How = "the set's own training part"
	}
	return parts, nil
}

// splitRows returns the rows for a split. If another set has its own split, all rows of a set without one
// are for training.
func splitRows(sets []datasets.Stream, target *Target) ([]datasets.Row, error) {
	var rows []datasets.Row
	var whole [][2]int // rows of each set without a split: from, below
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
			return o, cli.Usagef("--train %s: want a number of pages, or a share such as 0.5", r.Train)
		}
	case r.PerClass != "":
		o.PerClass = map[string]int{}
		for item := range strings.SplitSeq(r.PerClass, ",") {
			label, number, ok := strings.Cut(item, "=")
			if !ok {
				label, number = "", item // every class not named
			}
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 {
				return o, cli.Usagef("--per-class %s: want a number of pages, or label=number by comma", r.PerClass)
			}
			o.PerClass[label] = n
		}
	}
	return o, nil
}

// levelChoice says which of a row's labels is its class.
type levelChoice struct {
	N    int
	Set  bool // asked for
	Both bool // theme and category, one after the other
}

// UnmarshalText reads theme, category, both or a number from 0.
func (l *levelChoice) UnmarshalText(text []byte) error {
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

// relabel renames labels and, with Pairs, drops rows with a single label.
func (p *Plan) relabel(rows datasets.Stream) datasets.Stream {
	rows = p.Rename.apply(rows)
	if p.Pairs {
		rows = datasets.Only(rows, func(e *datasets.Example) bool { return len(e.Labels) > 1 })
	}
	return rows
}

// renames are label changes that let sets with different labels be trained on together.
type renames struct {
	to   map[string]string // old label → new one, "" leaves the row out
	used map[string]bool   // old labels seen in rows
}

// UnmarshalText reads old=new by comma; a repeated flag adds to it.
func (r *renames) UnmarshalText(text []byte) error {
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

// apply renames the labels of rows. The last label of a row that has a new name counts, being the finest:
// a whole theme can change except for one category.
func (r *renames) apply(rows datasets.Stream) datasets.Stream {
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
func (r *renames) unused() []string {
	var labels []string
	for _, old := range slices.Sorted(maps.Keys(r.to)) {
		if !r.used[old] {
			labels = append(labels, old)
		}
	}
	return labels
}

// perSite passes on at most n rows of each label and site, drawn at random, so that no site dominates
// training. Rows without a site all pass, and so do a set's own test rows unless tests is set.
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

// watch reports what looks wrong in sets, once each.
type watch struct {
	log   *slog.Logger
	told  map[*datasets.Set]bool
	notes []string

	labels map[string]bool // labels of all rows, wanted or not
	cut    map[string]bool // errors of cut files that were reported
}

func newWatch(log *slog.Logger) *watch {
	return &watch{log: log, told: map[*datasets.Set]bool{}, labels: map[string]bool{}, cut: map[string]bool{}}
}

// read must be called with each set that was read to its end.
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

// whole makes a cut file an error, because a model of half a set looks like one of all of it. With partial
// it keeps the rows before the cut and warns once.
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

// unknownLabels returns an error with the sets' labels if a wanted one is missing, perhaps misspelt.
func (w *watch) unknownLabels(wanted []string) error {
	for _, label := range wanted {
		if label == "" || w.labels[label] || len(w.labels) == 0 {
			continue
		}
		have := cli.SortedKeys(w.labels)
		for _, l := range have {
			if datasets.PlainLabel(l) == datasets.PlainLabel(label) {
				return fmt.Errorf("there is %q, with another spelling", l)
			}
		}
		return fmt.Errorf("the sets have %s", cli.SomeNames(label, have))
	}
	return nil
}
