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

// cn2 learns rules on counts of the terms with the highest gain.
type cn2 struct {
	ordered      bool    // a decision list (Clark & Niblett 1989), not rules per class (Clark & Boswell 1991)
	beam         int     // complexes kept per step
	significance float64 // confidence that a rule's class distribution differs from chance
	// covers is how many rules of its class may cover a page. Each rule halves the page's weight (the
	// weighted covering of Lavrač, Kavšek, Flach & Todorovski 2004); 1 is Clark & Boswell's covering.
	covers int
}

func newCN2(ordered bool) cn2 {
	if ordered {
		return cn2{ordered: true, beam: 5, significance: 0.99, covers: 6}
	}
	return cn2{beam: 5, significance: 0.999, covers: 6}
}

func (cn2) name() string { return models.CN2 }

// cn2Words is the default number of terms.
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

func induce(ctx context.Context, rows []features.Vector, y []int, classes, terms int, opt cn2) (*models.Rules, error) {
	d := newCover(rows, y, classes, terms)
	if opt.ordered {
		return list(ctx, d, opt)
	}
	return perClass(ctx, d, opt)
}

// list learns a decision list: it takes the best complex of the rows left and its most frequent class,
// removes these rows, and repeats until no complex is significant.
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

// perClass learns rules for each class. A rule counts all rows that it covers; the default counts all.
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

// ofClass learns the rules of one class: it takes the best complex, lowers the weight of the class's rows
// that it covers, and repeats.
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

type ruleWriter struct {
	data  *cover
	rules *models.Rules
}

// covered counts all rows that match the selectors, by class.
func (w ruleWriter) covered(selectors []int32) []int32 {
	rows := w.data.all
	for _, sel := range selectors {
		rows = w.data.narrowed(rows, sel)
	}
	return w.data.counts(rows)
}

// add appends a rule. Words that it requires come first, the rarest first: they tell a reader most, and
// models.Matcher can reject most pages by the first.
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

func (w ruleWriter) count(counts []int32) {
	for _, n := range counts {
		w.rules.Counts = append(w.rules.Counts, float32(n))
	}
}

// critical returns the p-quantile of χ² with df degrees of freedom, 0 for p = 0.
func critical(p float64, df int) float64 {
	if p == 0 || df < 1 {
		return 0
	}
	return distuv.ChiSquared{K: float64(df)}.Quantile(p)
}

// cut tests whether a term's count is above over.
type cut struct {
	term int32
	over float32
}

// cover holds which rows pass which cut: as a bit set per cut, to narrow a set of rows, and as a list
// per row, to count all cuts in one pass. The lists are short, because a page has few of the words.
type cover struct {
	classes int
	y       []int      // class by row
	all     []uint64   // bit set of all rows
	cuts    []cut      // sorted by term, then threshold
	above   [][]uint64 // by cut: bit set of the rows above it
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

func size(rows []uint64) (n int) {
	for _, b := range rows {
		n += mathbits.OnesCount64(b)
	}
	return n
}

func (d *cover) narrowed(rows []uint64, sel int32) []uint64 {
	if sel%2 == 0 {
		return intersect(rows, d.above[sel/2])
	}
	return without(rows, d.above[sel/2])
}

func without(rows, other []uint64) []uint64 {
	out := make([]uint64, len(rows))
	for w, b := range rows {
		out[w] = b &^ other[w]
	}
	return out
}

func intersect(a, b []uint64) []uint64 {
	out := make([]uint64, len(a))
	for w := range a {
		out[w] = a[w] & b[w]
	}
	return out
}

func (d *cover) counts(rows []uint64) []int32 {
	n := make([]int32, d.classes)
	each(rows, func(row int) { n[d.y[row]]++ })
	return n
}

// each calls f with the rows of a set, in rising order.
func each(rows []uint64, f func(row int)) {
	for w, b := range rows {
		for ; b != 0; b &= b - 1 {
			f(w*64 + mathbits.TrailingZeros64(b))
		}
	}
}

// cuts returns the thresholds to try on a term, rising: 0 (presence), and the quantiles 1/2, 3/4 and 7/8
// of values, where they separate rows. values are the positive counts; the other rows have 0.
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

// counter sums rows by weight and group: by class or, for rules of one class, that class (0) or the rest (1).
type counter struct {
	data   *cover
	groups int
	group  []int32 // by class
	unit   int32   // the weight of a row that no rule covers yet
	weight []int32 // by row
}

// tally holds the weight of a set of rows, by group and above each cut.
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

func (t *tally) row(cut int) []int32 { return t.by[cut*t.groups:][:t.groups] }

func (c *counter) set(t *tally, rows []uint64) {
	t.n = 0
	clear(t.total)
	clear(t.passed)
	clear(t.by)
	c.add(t, rows, 1)
}

// add adds rows to t, or removes them when times is −1. It is the search's only loop over rows.
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

// halve halves the weight of rows, and returns those whose weight becomes 0.
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

// ruleSearch is CN2's beam search over complexes, for one class against the rest or for a decision list.
type ruleSearch struct {
	counter
	opt      cn2
	class    int       // −1: a decision list
	nlog     []float64 // n · ln n
	critical float64   // critical value of the likelihood ratio
	live     *complex  // the empty complex: rows with weight left
	made     map[string]bool
	spare    [2][]*tally // tallies of the current and the previous beam
	step     []candidate
}

// newRuleSearch returns a search for the rules of a class, or for a decision list if class is −1.
func newRuleSearch(d *cover, opt cn2, class int) *ruleSearch {
	s := &ruleSearch{opt: opt, class: class, made: map[string]bool{}}
	s.counter = counter{data: d, groups: 2, group: make([]int32, d.classes), unit: 1 << (opt.covers - 1)}
	for c := range s.group {
		if s.group[c] = 1; c == class {
			s.group[c] = 0
		}
	}
	if class < 0 {
		s.groups, s.unit = d.classes, 1 // a list covers a row once
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

// narrow adds a selector to a complex and counts it in t. It visits the smaller part of the rows only.
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

// with returns a sorted copy of selectors with sel added.
func with(selectors []int32, sel int32) []int32 {
	at, _ := slices.BinarySearch(selectors, sel)
	return slices.Insert(slices.Clone(selectors), at, sel)
}

// quality rates a complex, in billionths so that rounding decides no tie. For a list it is minus the
// entropy of its classes in nats (Clark & Niblett 1989). For a class it is Laplace's accuracy (n_c + 1) /
// (n + k) of weighted rows (Clark & Boswell 1991, eq. 1).
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

// significant tests the likelihood ratio 2 Σ f ln(f/e), where e is expected of as many live rows drawn
// at random. It sums over all classes for a list, over the class and the rest for a class.
func (s *ruleSearch) significant(counts []int32, n int32) bool {
	ratio := 0.0
	for g, f := range counts {
		if f > 0 {
			ratio += 2 * float64(f) / float64(s.unit) * math.Log(float64(f)*float64(s.live.tally.n)/(float64(n)*float64(s.live.tally.total[g])))
		}
	}
	return billionths(ratio) >= billionths(s.critical) && ratio > 1e-9
}

// candidate is a complex that the next beam may keep.
type candidate struct {
	parent    *complex
	selector  int32
	n, most   int32 // weight of its rows, and of those of its class (for a list: the largest)
	quality   int64
	selectors []int32 // made only to break a tie
}

func (c *candidate) all() []int32 {
	if c.selectors == nil {
		c.selectors = with(c.parent.selectors, c.selector)
	}
	return c.selectors
}

// order puts the better first: by quality, weight covered, fewer selectors, then the selectors.
func (c *candidate) order(o *candidate) int {
	if by := cmp.Or(cmp.Compare(o.quality, c.quality), cmp.Compare(o.n, c.n)); by != 0 {
		return by
	}
	return cmp.Or(cmp.Compare(len(c.all()), len(o.all())), slices.Compare(c.all(), o.all()))
}

// best returns the best significant complex of the live rows, or nil. Each step rates every selector on
// every complex of the beam; the best of these are the next beam.
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

// specialise rates every selector on x. It adds candidates that can be narrowed to the step, and returns
// the best significant complex so far.
func (s *ruleSearch) specialise(x *complex, found *candidate) *candidate {
	least := s.quality(s.live.tally.total, s.live.tally.n) // of the default rule
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

// top returns the best distinct candidates of the step, in order. It skips a candidate that could not
// beat found even if it lost all rows of other classes.
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
