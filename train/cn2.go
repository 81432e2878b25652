package train

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	mathbits "math/bits"
	"runtime"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"

	"fossick/models"
	"fossick/models/features"
)

// cn2 learns rules on counts of the terms that gain most.
type cn2 struct {
	ordered      bool    // a decision list (Clark & Niblett 1989), not rules for each class (Clark & Boswell 1991)
	beam         int     // complexes kept in a step
	significance float64 // a rule's class distribution differs from chance with this probability
	// covers is how many rules of its class may cover a page. A page counts half of what it did for
	// each rule that covers it (the weighted covering of Lavrač, Kavšek, Flach & Todorovski 2004); 1 is
	// Clark & Boswell's covering.
	covers int
}

func newCN2(ordered bool) cn2 {
	if ordered {
		return cn2{ordered: true, beam: 5, significance: 0.99, covers: 6}
	}
	return cn2{beam: 5, significance: 0.999, covers: 6}
}

func (cn2) name() string { return models.CN2 }

// cn2Words is the number of terms when none is asked for.
const cn2Words = 300

func (l cn2) fit(ctx context.Context, c *corpus, pages []int, by fitting) (*fitted, error) {
	f, rows, y, err := c.counted(pages, by, models.CN2, cn2Words)
	if err != nil {
		return nil, err
	}
	if f.rules, err = induce(ctx, rows, y, len(c.classes), len(f.kept), l); err != nil {
		return nil, fmt.Errorf("training %s: %w", models.CN2, err)
	}
	f.settings["rules"] = strconv.Itoa(f.rules.Len())
	f.settings["ordered"] = strconv.FormatBool(l.ordered)
	f.settings["beam"] = strconv.Itoa(l.beam)
	if !l.ordered {
		f.settings["covers"] = strconv.Itoa(l.covers)
	}
	f.settings["significance"] = fmt.Sprint(l.significance)
	return f, nil
}

// induce learns rules from rows of counts and their classes.
func induce(ctx context.Context, rows []features.Vector, y []int, classes, terms int, opt cn2) (*models.Rules, error) {
	d := newCover(rows, y, classes, terms)
	if opt.ordered {
		return list(ctx, d, opt)
	}
	return perClass(ctx, d, opt)
}

// list makes a decision list: the best complex of the rows left and its most frequent class. It goes on
// without those rows until none is significant.
func list(ctx context.Context, d *cover, opt cn2) (*models.Rules, error) {
	w := ruleWriter{d, &models.Rules{Ordered: true, Start: []int32{0}}}
	s := newRuleSearch(d, opt, -1)
	for s.live.tally.n > 0 {
		best, err := s.best(ctx)
		if err != nil {
			return nil, err
		}
		if best == nil {
			break
		}
		counts := d.counts(best.rows)
		w.add(best.selectors, slices.Index(counts, slices.Max(counts)), counts)
		s.cover(best.selectors, best.rows)
	}
	w.count(d.counts(s.live.rows))
	return w.rules, nil
}

// perClass makes rules for each class. Rules keep what they cover of all rows; the default is the
// distribution of all.
func perClass(ctx context.Context, d *cover, opt cn2) (*models.Rules, error) {
	found := make([][][]int32, d.classes) // class → rules → selectors
	if err := parallel(ctx, runtime.GOMAXPROCS(0), d.classes, func(ctx context.Context, class int) (err error) {
		found[class], err = ofClass(ctx, d, opt, class)
		return err
	}); err != nil {
		return nil, err
	}
	w := ruleWriter{d, &models.Rules{Shares: opt.covers > 1, Start: []int32{0}}}
	for class, rules := range found {
		for _, selectors := range rules {
			w.add(selectors, class, w.covered(selectors))
		}
	}
	w.count(d.counts(d.all))
	return w.rules, nil
}

// ofClass returns rules for one class: the best complex for it, and on with less weight for the rows of
// the class that it covers.
func ofClass(ctx context.Context, d *cover, opt cn2, class int) (rules [][]int32, err error) {
	own := make([]uint64, len(d.all))
	each(d.all, func(row int) {
		if d.y[row] == class {
			set(own, row)
		}
	})
	s := newRuleSearch(d, opt, class)
	for s.live.tally.total[0] > 0 {
		best, err := s.best(ctx)
		if err != nil {
			return nil, err
		}
		if best == nil {
			break
		}
		rules = append(rules, best.selectors)
		s.cover(best.selectors, intersect(best.rows, own))
	}
	return rules, nil
}

// ruleWriter appends rules to flat arrays.
type ruleWriter struct {
	data  *cover
	rules *models.Rules
}

// covered returns how many of all rows of each class have the selectors.
func (w ruleWriter) covered(selectors []int32) []int32 {
	rows := w.data.all
	for _, sel := range selectors {
		rows = w.data.narrowed(rows, sel)
	}
	return w.data.counts(rows)
}

// add appends a rule. The words that it asks for come first, the rarest before the others: it tells a
// reader most, and the walk looks no further on most pages (models.Matcher).
func (w ruleWriter) add(selectors []int32, class int, counts []int32) {
	r := w.rules
	selectors = slices.Clone(selectors)
	slices.SortStableFunc(selectors, func(a, b int32) int {
		return cmp.Or(cmp.Compare(a%2, b%2), cmp.Compare(size(w.data.above[a/2]), size(w.data.above[b/2])))
	})
	for _, sel := range selectors {
		c := w.data.cuts[sel/2]
		r.Term, r.Threshold = append(r.Term, c.term), append(r.Threshold, c.over)
		r.Above = append(r.Above, uint8(1-sel%2))
	}
	r.Start, r.Class = append(r.Start, int32(len(r.Term))), append(r.Class, int32(class))
	w.count(counts)
}

// count appends a row of counts: a rule's, or the default's.
func (w ruleWriter) count(counts []int32) {
	for _, n := range counts {
		w.rules.Counts = append(w.rules.Counts, float32(n))
	}
}

// critical returns the value that a χ² of df degrees of freedom stays below with probability p; 0 for p
// = 0.
func critical(p float64, df int) float64 {
	if p == 0 || df < 1 {
		return 0
	}
	return distuv.ChiSquared{K: float64(df)}.Quantile(p)
}

// cut is a test on a term: its count is above over.
type cut struct {
	term int32
	over float32
}

// cover has which rows pass which cut, both ways round. By cut they are bits, to narrow a set of rows;
// by row a list, to count all cuts of a set of rows in one pass. Most rows pass few cuts: a page has
// few of the words.
type cover struct {
	classes int
	y       []int      // class by row
	all     []uint64   // a bit a row
	cuts    []cut      // by term, then threshold
	above   [][]uint64 // by cut: rows above it
	passes  [][]int32  // by row: cuts that it is above
}

func newCover(rows []features.Vector, y []int, classes, terms int) *cover {
	d := &cover{classes: classes, y: y, all: make([]uint64, (len(rows)+63)/64), passes: make([][]int32, len(rows))}
	type entry struct {
		row   int
		value float32
	}
	columns := make([][]entry, terms)
	for i, r := range rows {
		set(d.all, i)
		for k, t := range r.Index {
			columns[t] = append(columns[t], entry{i, r.Value[k]})
		}
	}
	for t, column := range columns {
		values := make([]float32, len(column))
		for i, e := range column {
			values[i] = e.value
		}
		for _, over := range cuts(values, len(rows)) {
			bits := make([]uint64, len(d.all))
			for _, e := range column {
				if e.value > over {
					set(bits, e.row)
					d.passes[e.row] = append(d.passes[e.row], int32(len(d.cuts)))
				}
			}
			d.cuts, d.above = append(d.cuts, cut{int32(t), over}), append(d.above, bits)
		}
	}
	return d
}

func set(bits []uint64, i int) { bits[i/64] |= 1 << (i % 64) }

// size returns the number of rows in a set.
func size(rows []uint64) (n int) {
	for _, b := range rows {
		n += mathbits.OnesCount64(b)
	}
	return n
}

// narrowed returns the rows of a set that pass a selector.
func (d *cover) narrowed(rows []uint64, sel int32) []uint64 {
	if sel%2 == 0 {
		return intersect(rows, d.above[sel/2])
	}
	return without(rows, d.above[sel/2])
}

// without returns the rows of a set that are not in another.
func without(rows, other []uint64) []uint64 {
	out := make([]uint64, len(rows))
	for w, b := range rows {
		out[w] = b &^ other[w]
	}
	return out
}

// intersect returns the rows that are in both sets.
func intersect(a, b []uint64) []uint64 {
	out := make([]uint64, len(a))
	for w := range a {
		out[w] = a[w] & b[w]
	}
	return out
}

// counts returns how many rows of a set each class has.
func (d *cover) counts(rows []uint64) []int32 {
	n := make([]int32, d.classes)
	each(rows, func(row int) { n[d.y[row]]++ })
	return n
}

// each calls f with the rows of a set, rising.
func each(rows []uint64, f func(row int)) {
	for w, b := range rows {
		for ; b != 0; b &= b - 1 {
			f(w*64 + mathbits.TrailingZeros64(b))
		}
	}
}

// cuts returns the thresholds to try on a term, rising. They are 0 (presence), and the values at one
// half, three quarters and seven eighths of the rows that have it, as far as they part rows. values are
// positive; the other rows have 0.
func cuts(values []float32, rows int) []float32 {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	n := len(values)
	var out []float32
	if n < rows {
		out = append(out, 0)
	}
	for _, at := range [...]int{(n - 1) / 2, (n - 1) * 3 / 4, (n - 1) * 7 / 8} {
		v := values[at]
		if v < values[n-1] && (len(out) == 0 || v > out[len(out)-1]) {
			out = append(out, v)
		}
	}
	return out
}

// counter says how rows are counted: each by its weight, for the group of its class. A group is a
// class, or, while rules for one class are learnt, that class (0) or the rest (1).
type counter struct {
	data   *cover
	groups int
	group  []int32 // by class
	unit   int32   // the weight of a row that no rule covers yet
	weight []int32 // by row
}

// tally has the weight of a set of rows by group, and of those above each cut.
type tally struct {
	groups int
	n      int32
	total  []int32 // by group
	passed []int32 // by cut
	by     []int32 // cut · groups + group
}

func (c *counter) newTally() *tally {
	cuts := len(c.data.cuts)
	return &tally{groups: c.groups, total: make([]int32, c.groups), passed: make([]int32, cuts), by: make([]int32, cuts*c.groups)}
}

// row returns the weight of each group above a cut.
func (t *tally) row(cut int) []int32 { return t.by[cut*t.groups:][:t.groups] }

// set counts a set of rows from nothing.
func (c *counter) set(t *tally, rows []uint64) {
	t.n = 0
	clear(t.total)
	clear(t.passed)
	clear(t.by)
	c.add(t, rows, 1)
}

// add counts rows times more: 1 to put them in, −1 to take them out. It is the only loop over rows of
// the search.
func (c *counter) add(t *tally, rows []uint64, times int32) {
	k := int32(c.groups)
	each(rows, func(row int) {
		g, w := c.group[c.data.y[row]], times*c.weight[row]
		t.n += w
		t.total[g] += w
		for _, cut := range c.data.passes[row] {
			t.passed[cut] += w
			t.by[cut*k+g] += w
		}
	})
}

// halve covers rows once more: they count half of what they did in t, and those that had the least
// weight no more at all; it returns these.
func (c *counter) halve(t *tally, rows []uint64) (spent []uint64) {
	spent = make([]uint64, len(rows))
	c.add(t, rows, -1)
	each(rows, func(row int) {
		if c.weight[row] /= 2; c.weight[row] == 0 {
			set(spent, row)
		}
	})
	c.add(t, rows, 1)
	return spent
}

// copyFrom makes t equal to another.
func (t *tally) copyFrom(o *tally) {
	t.n = o.n
	copy(t.total, o.total)
	copy(t.passed, o.passed)
	copy(t.by, o.by)
}

// complex is a conjunction of selectors. Selector 2i is cut i, 2i+1 its opposite.
type complex struct {
	selectors []int32  // rising
	rows      []uint64 // live rows that it covers
	tally     *tally   // of rows
}

// ruleSearch is CN2's beam search over complexes: of a class, whose rows are told from the rest, or for
// a decision list of any.
type ruleSearch struct {
	counter
	opt      cn2
	class    int       // −1: any
	nlog     []float64 // n · ln n
	critical float64   // of the likelihood ratio
	live     *complex  // the empty complex: rows whose weight is not 0
	made     map[string]bool
	spare    [2][]*tally // of a step's beam and of the one before
	step     []candidate
}

// newRuleSearch returns a search of rules for a class, or of a list for −1.
func newRuleSearch(d *cover, opt cn2, class int) *ruleSearch {
	s := &ruleSearch{opt: opt, class: class, made: map[string]bool{}}
	s.counter = counter{data: d, groups: 2, group: make([]int32, d.classes), unit: 1 << (opt.covers - 1)}
	for c := range s.group {
		if s.group[c] = 1; c == class {
			s.group[c] = 0
		}
	}
	if class < 0 {
		s.groups, s.unit = d.classes, 1 // a row of a list is covered once
		for c := range s.group {
			s.group[c] = int32(c)
		}
		s.nlog = make([]float64, len(d.y)+1)
		for n := 2; n < len(s.nlog); n++ {
			s.nlog[n] = float64(n) * math.Log(float64(n))
		}
	}
	s.weight = slices.Repeat([]int32{s.unit}, len(d.y))
	s.critical = critical(opt.significance, s.groups-1)
	for i := range s.spare {
		for range opt.beam {
			s.spare[i] = append(s.spare[i], s.newTally())
		}
	}
	s.live = &complex{rows: d.all, tally: s.newTally()}
	s.set(s.live.tally, d.all)
	return s
}

// cover says that a rule covers rows.
func (s *ruleSearch) cover(selectors []int32, rows []uint64) {
	s.made[key(selectors)] = true
	s.live.rows = without(s.live.rows, s.halve(s.live.tally, rows))
}

func key(selectors []int32) string {
	b := make([]byte, 0, 4*len(selectors))
	for _, sel := range selectors {
		b = binary.LittleEndian.AppendUint32(b, uint32(sel))
	}
	return string(b)
}

// narrow adds a selector to a complex, and counts in t. Only the smaller part of the complex is gone
// through.
func (s *ruleSearch) narrow(c *candidate, t *tally) *complex {
	x := &complex{selectors: c.all(), tally: t, rows: s.data.narrowed(c.parent.rows, c.selector)}
	if whole := c.parent.tally; c.n <= whole.n/2 {
		s.set(t, x.rows)
	} else {
		t.copyFrom(whole)
		s.add(t, without(c.parent.rows, x.rows), -1)
	}
	return x
}

// with returns selectors with one more, in order.
func with(selectors []int32, sel int32) []int32 {
	at, _ := slices.BinarySearch(selectors, sel)
	return slices.Insert(slices.Clone(selectors), at, sel)
}

// quality returns how good a complex is, in billionths, so that rounding decides no tie. It is minus
// the entropy in nats of its classes (Clark & Niblett 1989). For a class it is Laplace's accuracy (n_c
// + 1) / (n + k) of rows that count by weight (Clark & Boswell 1991, eq. 1).
func (s *ruleSearch) quality(counts []int32, n int32) int64 {
	if s.class >= 0 {
		return s.laplace(counts[0], n)
	}
	sum := 0.0
	for _, c := range counts {
		sum += s.nlog[c]
	}
	return billionths((sum - s.nlog[n]) / float64(n))
}

func (s *ruleSearch) laplace(hits, n int32) int64 {
	return billionths(float64(hits+s.unit) / float64(int(n)+s.data.classes*int(s.unit)))
}

func billionths(v float64) int64 { return int64(math.Round(v * 1e9)) }

// significant tests the likelihood ratio 2 Σ f ln(f/e), where e is what a random choice of as many live
// rows would have. For a decision list it goes over all classes, for a class's rules over the class and
// the rest.
func (s *ruleSearch) significant(counts []int32, n int32) bool {
	ratio := 0.0
	for g, f := range counts {
		if f > 0 {
			ratio += 2 * float64(f) / float64(s.unit) * math.Log(float64(f)*float64(s.live.tally.n)/(float64(n)*float64(s.live.tally.total[g])))
		}
	}
	return billionths(ratio) >= billionths(s.critical) && ratio > 1e-9
}

// candidate is a complex that a step may keep.
type candidate struct {
	parent    *complex
	selector  int32
	n, most   int32 // weight of its rows, and of those of its class: the one looked for, or the largest
	quality   int64
	selectors []int32 // made when a tie asks for them
}

func (c *candidate) all() []int32 {
	if c.selectors == nil {
		c.selectors = with(c.parent.selectors, c.selector)
	}
	return c.selectors
}

// order puts the better first: by quality, then by weight covered, then the shorter, then by selectors.
func (c *candidate) order(o *candidate) int {
	if by := cmp.Or(cmp.Compare(o.quality, c.quality), cmp.Compare(o.n, c.n)); by != 0 {
		return by
	}
	return cmp.Or(cmp.Compare(len(c.all()), len(o.all())), slices.Compare(c.all(), o.all()))
}

// best returns the best significant complex of the live rows, or nil. Each step weighs every selector
// on every complex of the beam, and makes the best of them the next beam.
func (s *ruleSearch) best(ctx context.Context) (*complex, error) {
	var found *candidate
	beam := []*complex{s.live}
	for level := 0; len(beam) > 0; level++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.step = s.step[:0]
		for _, x := range beam {
			found = s.specialise(x, found)
		}
		beam = beam[:0:0]
		for i, c := range s.top(found) {
			beam = append(beam, s.narrow(c, s.spare[level%2][i]))
		}
	}
	if found == nil {
		return nil, nil
	}
	return &complex{selectors: found.all(), rows: s.data.narrowed(found.parent.rows, found.selector)}, nil
}

// specialise weighs every selector on x. It appends those that may be narrowed further to the step, and
// returns the best significant complex so far.
func (s *ruleSearch) specialise(x *complex, found *candidate) *candidate {
	least := s.quality(s.live.tally.total, s.live.tally.n) // the default's
	t := x.tally
	opposite := make([]int32, t.groups)
	for i, n := range t.passed {
		if n == 0 || n == t.n {
			continue
		}
		above := t.row(i)
		for g, f := range above {
			opposite[g] = t.total[g] - f
		}
		for side, counts := range [2][]int32{above, opposite} {
			c := candidate{parent: x, selector: int32(2*i + side), n: n, most: counts[0]}
			if side == 1 {
				c.n = t.n - n
			}
			pure := slices.Max(counts)
			if s.class < 0 {
				c.most = pure
			} else if c.most == 0 {
				continue
			}
			c.quality = s.quality(counts, c.n)
			if c.quality > least && (found == nil || c.order(found) < 0) && s.significant(counts, c.n) && !s.made[key(c.all())] {
				kept := c
				found = &kept
			}
			if pure < c.n {
				s.step = append(s.step, c)
			}
		}
	}
	return found
}

// top returns the best of the step, in order, each once. Some could not become better than the best
// found, even if they lost all rows but those of their class.
func (s *ruleSearch) top(found *candidate) []*candidate {
	beam := make([]*candidate, 0, s.opt.beam+1)
	for i := range s.step {
		c := &s.step[i]
		if len(beam) == s.opt.beam && c.quality < beam[len(beam)-1].quality || s.hopeless(c, found) {
			continue
		}
		at, same := slices.BinarySearchFunc(beam, c, (*candidate).order)
		if same || at == s.opt.beam {
			continue
		}
		beam = slices.Insert(beam, at, c)
		beam = beam[:min(len(beam), s.opt.beam)]
	}
	return beam
}

func (s *ruleSearch) hopeless(c, found *candidate) bool {
	if s.class >= 0 {
		pure := []int32{c.most, 0}
		return found != nil && s.laplace(c.most, c.most) <= found.quality || !s.significant(pure, c.most)
	}
	return found != nil && found.quality == 0 && c.most <= found.n
}
