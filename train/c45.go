package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	mathbits "math/bits"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/sjwhitworth/golearn/base"
	"github.com/sjwhitworth/golearn/trees"

	"fossick/models"
	"fossick/models/features"
)

// c45 grows Quinlan's C4.5 (Release 8) on counts of the terms with the highest gain.
//
// golearn grows the tree, but by our split rule: golearn's gain ratio is not C4.5's, and its choice among
// ties changes from run to run. Pruning is ours too.
type c45 struct{}

func (c45) name() string { return models.C45 }

// c45Words is the default number of terms.
const c45Words = 300

func (c45) fit(ctx context.Context, c *corpus, pages []int, by fitting) (*fitted, error) {
	f, rows, y, err := c.counted(pages, by, models.C45, c45Words)
	if err != nil {
		return nil, err
	}
	g := &grower{rows: rows, y: y, classes: len(c.classes), terms: len(f.kept), caution: cautious}
	if len(rows) < smallSet {
		if err := g.dare(ctx, by.seed); err != nil {
			return nil, fmt.Errorf("training %s: %w", models.C45, err)
		}
	}
	f.settings["least_pages"] = strconv.Itoa(g.least)
	if f.tree, err = g.quinlan(ctx, upTo(len(rows))); err != nil {
		return nil, fmt.Errorf("training %s: %w", models.C45, err)
	}
	f.explain = func() { f.tree.Rules = g.simplify(f.tree) }
	return f, nil
}

func (g *grower) quinlan(ctx context.Context, pages []int) (*models.Tree, error) {
	root, err := g.grow(ctx, pages, quinlan{g})
	if err != nil {
		return nil, err
	}
	g.prune(root, pages)
	return compile(root, g.shrink), nil
}

// caution sets how a tree guards against chance.
type caution struct {
	least  int     // C4.5's -m: least pages on each side of a split
	shrink float64 // pages like the parent's that are added to a node's; see compile
}

// cautious is C4.5's own setting. On a hundred pages that words separate without error, its two pages a
// side end the tree after eight words. A page with none of them gets the class of the last leaf.
var cautious, daring = caution{2, 3}, caution{1, 1}

// smallSet is the number of pages below which c45 tries both settings.
const smallSet = 1000

// dareRounds is how often dare cross-validates: one round on a hundred pages says little.
const dareRounds = 4

// dare sets daring, or cautious if that labels more pages right in cross-validation.
func (g *grower) dare(ctx context.Context, seed int64) error {
	const n = 5
	var right [2]int
	for round := range uint64(dareRounds) {
		fold := dealEvenly(g.y, g.classes, n, rand.New(rand.NewPCG(uint64(seed), 0xda7e+round)))
		ins, outs := parts(fold, n)
		for i, how := range []caution{cautious, daring} {
			g.caution = how
			for k := range ins {
				hits, err := g.hits(ctx, ins[k], outs[k])
				if err != nil {
					return err
				}
				right[i] += hits
			}
		}
	}
	if right[0] > right[1] {
		g.caution = cautious
	}
	return nil
}

// hits returns how many pages of out a tree of the pages of in labels right.
func (g *grower) hits(ctx context.Context, in, out []int) (n int, err error) {
	if len(in) == 0 {
		return 0, nil
	}
	tree, err := g.quinlan(ctx, in)
	if err != nil {
		return 0, err
	}
	scorer := models.NewScorer(&models.Model{Classes: make([]string, g.classes), Terms: make([]string, g.terms), Tree: tree})
	scores := make([]float64, g.classes)
	for _, p := range out {
		if scorer.Scores(scores, g.rows[p]); best(scores) == g.y[p] {
			n++
		}
	}
	return n, nil
}

type grower struct {
	caution
	rows    []features.Vector
	y       []int
	classes int
	terms   int
}

func (g *grower) count(page, term int) float32 {
	r := g.rows[page]
	if k, ok := slices.BinarySearch(r.Index, int32(term)); ok {
		return r.Value[k]
	}
	return 0
}

func (g *grower) part(pages []int, term int, threshold float32) (low, high []int) {
	for _, p := range pages {
		if g.count(p, term) > threshold {
			high = append(high, p)
		} else {
			low = append(low, p)
		}
	}
	return low, high
}

var errTree = errors.New("golearn returned an incomplete tree")

// levels is the depth at which golearn stops and convert grows new trees. A child's data is a view of its
// parent's, so that reading a cell costs one call per level.
const levels = 8

type chooser interface {
	// columns returns the columns that choose writes to.
	columns() []base.Attribute
	// choose returns the test for pages, which are in these rows of the view.
	choose(on *grid, view base.FixedDataGrid, rows, pages []int) split
}

// grid presents the top levels of a tree to golearn. A column per term would be slow, and golearn drops a
// column after a split on it, which C4.5 does not. So each level has one blank column, into which the
// rule writes the counts of the term that it chose.
type grid struct {
	*grower
	by        chooser
	instances *base.DenseInstances
	number    []int // page of each row
	row       base.Attribute
	levels    map[string]bool               // names of the levels' columns
	column    map[string]base.AttributeSpec // the levels' and the chooser's, by name
	chosen    map[*trees.DecisionTreeRule]int
}

func newGrid(g *grower, by chooser, pages []int) (*grid, error) {
	d := &grid{grower: g, by: by, number: pages, instances: base.NewDenseInstances(), row: base.NewFloatAttribute("row"),
		levels: map[string]bool{}, column: map[string]base.AttributeSpec{}, chosen: map[*trees.DecisionTreeRule]int{}}
	row := d.instances.AddAttribute(d.row)
	for level := range levels {
		name := "level " + strconv.Itoa(level)
		d.levels[name] = true
		d.column[name] = d.instances.AddAttribute(base.NewFloatAttribute(name))
	}
	for _, a := range by.columns() {
		d.column[a.GetName()] = d.instances.AddAttribute(a)
	}
	class, classSpec, err := addClass(d.instances, len(pages))
	if err != nil {
		return nil, err
	}
	for c := range g.classes {
		class.GetSysValFromString(strconv.Itoa(c)) // numbers the classes in our order
	}
	for i, p := range pages {
		d.instances.Set(row, i, base.PackFloatToBytes(float64(i)))
		d.instances.Set(classSpec, i, class.GetSysValFromString(strconv.Itoa(g.y[p])))
	}
	return d, nil
}

func addClass(data *base.DenseInstances, rows int) (*base.CategoricalAttribute, base.AttributeSpec, error) {
	class := base.NewCategoricalAttribute()
	class.SetName("class")
	column := data.AddAttribute(class)
	err := data.AddClassAttribute(class)
	if err == nil {
		err = data.Extend(rows)
	}
	return class, column, err
}

func (d *grid) write(column base.Attribute, row int, count float32) {
	d.instances.Set(d.column[column.GetName()], row, base.PackFloatToBytes(float64(count)))
}

// grow grows a tree of pages and turns golearn's panics into errors.
func (g *grower) grow(ctx context.Context, pages []int, by chooser) (root *node, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("growing a tree of %d pages and %d terms: %v", len(pages), g.terms, r)
		}
	}()
	d, err := newGrid(g, by, pages)
	if err != nil {
		return nil, err
	}
	tree := trees.NewID3DecisionTreeFromRule(0, d)
	if err := tree.Fit(d.instances); err != nil {
		return nil, err
	}
	return d.convert(ctx, tree.Root, pages, 0)
}

// GenerateSplitRule implements golearn's trees.RuleGenerator.
func (d *grid) GenerateSplitRule(view base.FixedDataGrid) *trees.DecisionTreeRule {
	spec, err := view.GetAttribute(d.row)
	if err != nil {
		panic(err) // the column is ours; grow recovers this
	}
	_, n := view.Size()
	rows, pages := make([]int, n), make([]int, n)
	for i := range rows {
		rows[i] = int(base.UnpackBytesToFloat(view.Get(spec, i)))
		pages[i] = d.number[rows[i]]
	}
	all := view.AllAttributes()
	at := slices.IndexFunc(all, func(a base.Attribute) bool { return d.levels[a.GetName()] })
	if at < 0 {
		return nil // no level left: convert grows a new tree here
	}
	s := d.by.choose(d, view, rows, pages)
	if s.term < 0 {
		return nil // a leaf
	}
	for i, r := range rows {
		d.write(all[at], r, d.count(pages[i], s.term))
	}
	rule := &trees.DecisionTreeRule{SplitAttr: all[at], SplitVal: float64(s.threshold)}
	d.chosen[rule] = s.term
	return rule
}

// leaf converts a golearn node without its children.
func (g *grower) leaf(n *trees.DecisionTreeNode) (*node, error) {
	out := &node{term: -1, counts: make([]float64, g.classes)}
	for class, count := range n.ClassDist {
		c, err := strconv.Atoi(class)
		if err != nil || c < 0 || c >= g.classes {
			return nil, fmt.Errorf("%w: class %q", errTree, class)
		}
		out.counts[c] = float64(count)
	}
	return out, nil
}

// convert converts a golearn subtree; pages are those that reach it.
func (d *grid) convert(ctx context.Context, n *trees.DecisionTreeNode, pages []int, depth int) (*node, error) {
	out, err := d.leaf(n)
	if err != nil {
		return nil, err
	}
	if depth == levels && out.errors() > 0 {
		return d.grow(ctx, pages, d.by)
	}
	if n.SplitRule == nil || n.SplitRule.SplitAttr == nil {
		return out, nil
	}
	term, known := d.chosen[n.SplitRule]
	low, high := n.Children["0"], n.Children["1"]
	if !known || low == nil || high == nil {
		return nil, errTree
	}
	out.term, out.threshold = term, float32(n.SplitRule.SplitVal)
	lowPages, highPages := d.part(pages, term, out.threshold)
	if out.low, err = d.convert(ctx, low, lowPages, depth+1); err != nil {
		return nil, err
	}
	out.high, err = d.convert(ctx, high, highPages, depth+1)
	return out, err
}

// epsilon is C4.5's tolerance in comparing gains.
const epsilon = 1e-3

// split is a test "count of term ≤ threshold?"; term −1 is none.
type split struct {
	term        int
	threshold   float32
	gain, ratio float64 // in bits
}

type value struct {
	count float32
	class int
}

// split chooses the test of a node as C4.5 Release 8 does (Quinlan 1996): the best threshold of each term
// by gain, less log2(candidates)/|S| for the choice; then the best ratio among gains above the mean.
func (g *grower) split(pages []int) split {
	none := split{term: -1}
	total := make([]int, g.classes)
	for _, p := range pages {
		total[g.y[p]]++
	}
	if len(pages) < 2*g.least || slices.Max(total) == len(pages) {
		return none
	}
	var splits []split
	var sum float64
	for t, values := range g.columns(pages) {
		if len(values) == 0 {
			continue
		}
		if s := bestThreshold(values, total, len(pages), g.least); s.gain > 0 {
			s.term = t
			splits = append(splits, s)
			sum += s.gain
		}
	}
	top := none
	for _, s := range splits {
		if s.gain >= sum/float64(len(splits))-epsilon && s.ratio > top.ratio {
			top = s
		}
	}
	return top
}

// columns returns the positive counts on the pages, by term.
func (g *grower) columns(pages []int) [][]value {
	columns := make([][]value, g.terms)
	for _, p := range pages {
		for k, t := range g.rows[p].Index {
			columns[t] = append(columns[t], value{g.rows[p].Value[k], g.y[p]})
		}
	}
	return columns
}

// bestThreshold returns the best threshold of one term, with at least least pages on each side. values
// are its positive counts, total the pages of each class, n their sum. (C4.5 wants a tenth of the mean
// class on a side for continuous values, but the presence of a word is not continuous.)
func bestThreshold(values []value, total []int, n, least int) split {
	slices.SortFunc(values, func(a, b value) int {
		return cmp.Or(cmp.Compare(a.count, b.count), cmp.Compare(a.class, b.class))
	})
	high := make([]int, len(total))
	for _, v := range values {
		high[v.class]++
	}
	low := make([]int, len(total))
	for c := range low {
		low[c] = total[c] - high[c]
	}
	whole := bits(total, n)
	best := split{gain: math.Inf(-1)}
	candidates, below := 0, float32(0)
	for i, nLow := 0, n-len(values); i < len(values); {
		if nHigh := n - nLow; nLow >= least && nHigh >= least {
			candidates++ // only possible thresholds cost a choice
			gain := whole - (float64(nLow)*bits(low, nLow)+float64(nHigh)*bits(high, nHigh))/float64(n)
			if gain > best.gain {
				best.gain, best.threshold = gain, below
				best.ratio = gain / bits([]int{nLow, nHigh}, n)
			}
		}
		for below = values[i].count; i < len(values) && values[i].count == below; i++ {
			low[values[i].class]++
			high[values[i].class]--
			nLow++
		}
	}
	if candidates > 1 {
		ratio := best.ratio / best.gain
		best.gain -= math.Log2(float64(candidates)) / float64(n)
		best.ratio = best.gain * ratio
	}
	return best
}

// bits returns the entropy of class counts with sum n, in bits.
func bits(counts []int, n int) float64 {
	var e float64
	for _, c := range counts {
		if c > 0 {
			p := float64(c) / float64(n)
			e -= p * math.Log2(p)
		}
	}
	return e
}

type quinlan struct{ *grower }

func (quinlan) columns() []base.Attribute { return nil }

func (q quinlan) choose(_ *grid, _ base.FixedDataGrid, _, pages []int) split { return q.split(pages) }

// confidence is C4.5's -c; smaller prunes more.
const confidence = 0.25

// node is a tree node while the tree is grown and pruned.
type node struct {
	term      int // −1 at a leaf
	threshold float32
	low, high *node
	counts    []float64 // training pages by class
}

func (n *node) pages() (sum float64) {
	for _, c := range n.counts {
		sum += c
	}
	return sum
}

// errors returns the training pages that n gets wrong as a leaf.
func (n *node) errors() float64 { return n.pages() - n.counts[best(n.counts)] }

// prune replaces n by what is expected to err least on new pages (C4.5's error-based pruning), from the
// leaves up, and returns these errors. The choice is n itself, a leaf, or n's larger branch, which then
// takes the pages of the smaller one too. pages are those that reach n.
func (g *grower) prune(n *node, pages []int) float64 {
	asLeaf := n.expected()
	if n.term < 0 {
		return asLeaf
	}
	low, high := g.part(pages, n.term, n.threshold)
	inLow, inHigh := g.prune(n.low, low), g.prune(n.high, high)
	asTree := inLow + inHigh
	large, smaller, asBranch := n.low, high, inLow
	if len(high) > len(low) {
		large, smaller, asBranch = n.high, low, inHigh
	}
	asBranch += g.raised(large, smaller)
	switch {
	case asLeaf <= asTree+0.1 && asLeaf <= asBranch+0.1:
		*n = node{term: -1, counts: n.counts}
		return asLeaf
	case asBranch <= asTree+0.1:
		for _, p := range smaller {
			large.reached(g, p, func(m *node) { m.counts[g.y[p]]++ })
		}
		*n = *large
		return g.prune(n, pages) // the added pages may allow more pruning
	}
	return asTree
}

// raised returns the further errors to expect of a subtree with more pages, from the leaves they reach.
func (g *grower) raised(n *node, more []int) (errors float64) {
	type change struct {
		leaf   *node
		counts []float64
	}
	var changes []change // in order of the pages, so that sums are repeatable
	place := map[*node]int{}
	for _, p := range more {
		var leaf *node
		n.reached(g, p, func(m *node) { leaf = m })
		at, ok := place[leaf]
		if !ok {
			at = len(changes)
			place[leaf] = at
			changes = append(changes, change{leaf, slices.Clone(leaf.counts)})
		}
		changes[at].counts[g.y[p]]++
	}
	for _, c := range changes {
		after := node{term: -1, counts: c.counts}
		errors += after.expected() - c.leaf.expected()
	}
	return errors
}

// reached calls f with each node that a page passes, the leaf last.
func (n *node) reached(g *grower, page int, f func(*node)) {
	for {
		f(n)
		if n.term < 0 {
			return
		}
		if g.count(page, n.term) > n.threshold {
			n = n.high
		} else {
			n = n.low
		}
	}
}

// expected returns the errors to expect of n as a leaf on new pages.
func (n *node) expected() float64 { return n.errors() + extraErrors(n.pages(), n.errors()) }

// extraErrors returns how many errors to expect beyond the e seen among n pages: the upper limit of the
// binomial interval at the confidence level, by the normal approximation of C4.5's stats.c.
func extraErrors(n, e float64) float64 {
	const z = 0.6925 // standard normal quantile for 0.25, from C4.5's table
	const z2 = z * z
	switch e {
	case 0:
		return n * (1 - math.Exp(math.Log(confidence)/n))
	case n:
		return 0 // there cannot be more
	}
	p := (e + 0.5 + z2/2 + math.Sqrt(z2*((e+0.5)*(1-(e+0.5)/n)+z2/4))) / (n + z2)
	return n*p - e
}

// compile lays a tree out in flat arrays, children after their parent. It adds shrink pages like the
// parent's to each node: half of the leaves of a text tree have only two or three pages.
func compile(root *node, shrink float64) *models.Tree {
	t := &models.Tree{}
	parent := make([]float64, len(root.counts))
	for c, n := range root.counts {
		parent[c] = n / root.pages()
	}
	compiler{t, shrink}.add(root, parent)
	return t
}

type compiler struct {
	tree   *models.Tree
	shrink float64
}

// add appends n and its subtree. A node's shares are the m-estimate (n_c + m p_c) / (n + m), p the parent's.
func (c compiler) add(n *node, parent []float64) int32 {
	t := c.tree
	at := int32(len(t.Term))
	t.Term = append(t.Term, int32(n.term))
	t.Threshold = append(t.Threshold, n.threshold)
	t.Low, t.High = append(t.Low, -1), append(t.High, -1)
	t.Leaf = append(t.Leaf, -1)
	shares := make([]float64, len(parent))
	for i, pages := range n.counts {
		shares[i] = (pages + c.shrink*parent[i]) / (n.pages() + c.shrink)
	}
	if n.term < 0 {
		t.Leaf[at] = int32(len(t.Counts))
		for i, pages := range n.counts {
			t.Counts, t.Shares = append(t.Counts, float32(pages)), append(t.Shares, float32(shares[i]))
		}
		return at
	}
	t.Low[at] = c.add(n.low, shares)
	t.High[at] = c.add(n.high, shares)
	return at
}

// simplify makes a rule of each leaf, and drops conditions that save no error (Quinlan 1993, chapter 5).
func (g *grower) simplify(t *models.Tree) *models.Rules {
	if t.Term[0] < 0 {
		return nil
	}
	s := &simplifier{grower: g, all: make([]uint64, (len(g.rows)+63)/64), of: make([][]uint64, g.classes), above: map[cut][]uint64{}}
	for class := range s.of {
		s.of[class] = make([]uint64, len(s.all))
	}
	for row, class := range g.y {
		set(s.all, row)
		set(s.of[class], row)
	}
	r := &models.Rules{Start: []int32{0}}
	for node := range t.Term {
		if t.Term[node] >= 0 {
			continue
		}
		class := slices.Index(t.LeafShares(int32(node), g.classes), slices.Max(t.LeafShares(int32(node), g.classes)))
		for _, c := range s.shorten(s.conditions(t.Rule(int32(node))), class) {
			r.Term, r.Threshold, r.Above = append(r.Term, c.term), append(r.Threshold, c.over), append(r.Above, c.above)
		}
		r.Start, r.Class = append(r.Start, int32(len(r.Term))), append(r.Class, int32(class))
		r.Counts = append(r.Counts, s.covered(r)...)
	}
	for _, of := range s.of {
		r.Counts = append(r.Counts, float32(size(of)))
	}
	return r
}

type simplifier struct {
	*grower
	all   []uint64
	of    [][]uint64       // by class
	above map[cut][]uint64 // made on demand
}

type condition struct {
	cut
	above uint8    // 1: above the cut; 0: at most
	fails []uint64 // pages that do not meet it
}

// conditions splits intervals into single conditions.
func (s *simplifier) conditions(way []models.Condition) (out []condition) {
	for _, c := range way {
		if c.Bounded() {
			out = append(out, s.condition(cut{c.Term, c.Over}, 1))
		}
		if c.Limited() {
			out = append(out, s.condition(cut{c.Term, c.UpTo}, 0))
		}
	}
	return out
}

func (s *simplifier) condition(at cut, above uint8) condition {
	rows, ok := s.above[at]
	if !ok {
		rows = make([]uint64, len(s.all))
		for row := range s.rows {
			if s.count(row, int(at.term)) > at.over {
				set(rows, row)
			}
		}
		s.above[at] = rows
	}
	if above == 1 {
		rows = without(s.all, rows)
	}
	return condition{at, above, rows}
}

// shorten drops conditions from a rule for a class, but keeps at least one.
func (s *simplifier) shorten(rule []condition, class int) []condition {
	once, twice := make([]uint64, len(s.all)), make([]uint64, len(s.all))
	for len(rule) > 1 {
		clear(once)
		clear(twice)
		for _, c := range rule {
			for w, b := range c.fails {
				twice[w] |= once[w] & b
				once[w] |= b
			}
		}
		var n, hits int
		for w, b := range once {
			n += mathbits.OnesCount64(s.all[w] &^ b)
			hits += mathbits.OnesCount64(s.of[class][w] &^ b)
		}
		drop, least := -1, rate(n, hits)
		for i, c := range rule {
			n, hits := n, hits // with the pages that fail this condition only
			for w, b := range c.fails {
				if only := b &^ twice[w]; only != 0 {
					n += mathbits.OnesCount64(only)
					hits += mathbits.OnesCount64(only & s.of[class][w])
				}
			}
			if r := rate(n, hits); r < least || r == least && drop < 0 {
				drop, least = i, r
			}
		}
		if drop < 0 {
			break
		}
		rule = slices.Delete(rule, drop, drop+1)
	}
	return rule
}

// rate returns the error rate to expect of a rule that covers n pages, hits of them of its class.
func rate(n, hits int) float64 {
	if n == 0 {
		return 1
	}
	e := float64(n - hits)
	return (e + extraErrors(float64(n), e)) / float64(n)
}

// covered counts the pages that the last rule covers, by class.
func (s *simplifier) covered(r *models.Rules) []float32 {
	rows := s.all
	for i := r.Start[len(r.Start)-2]; i < r.Start[len(r.Start)-1]; i++ {
		rows = without(rows, s.condition(cut{r.Term[i], r.Threshold[i]}, r.Above[i]).fails)
	}
	counts := make([]float32, s.classes)
	for class, of := range s.of {
		counts[class] = float32(size(intersect(rows, of)))
	}
	return counts
}
