package train

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/sjwhitworth/golearn/base"
	"github.com/sjwhitworth/golearn/trees"
)

// levels is how deep golearn grows a tree before we plant a new one at its
// leaves. A child's data is a view of its parent's, so that reading a cell
// costs a call a level. Trees of text are lopsided, a hundred levels deep, so
// growing them on views takes minutes instead of seconds.
const levels = 8

// chooser chooses the test of a node.
type chooser interface {
	// columns are those that it writes to.
	columns() []base.Attribute
	// choose returns the test for the pages of a view, which are in these rows.
	choose(on *grid, view base.FixedDataGrid, rows, pages []int) split
}

// grid gives the top levels of a tree to golearn. It has no column a term:
// golearn drops a column once it has been split on, which C4.5 does not, and
// thousands of columns cost it dearly. Instead a level has one blank column, and
// the rule writes into it the counts of the term that it chose.
type grid struct {
	*grower
	by        chooser
	instances *base.DenseInstances
	number    []int // page of each row
	row       base.Attribute
	levels    map[string]bool               // names of the blank columns
	column    map[string]base.AttributeSpec // blank ones and the chooser's, by name
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
		class.GetSysValFromString(strconv.Itoa(c)) // numbers them in our order
	}
	for i, p := range pages {
		d.instances.Set(row, i, base.PackFloatToBytes(float64(i)))
		d.instances.Set(classSpec, i, class.GetSysValFromString(strconv.Itoa(g.y[p])))
	}
	return d, nil
}

// addClass ends the columns with that of the class, and makes room for rows.
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

// write sets a column's count of a row.
func (d *grid) write(column base.Attribute, row int, count float32) {
	d.instances.Set(d.column[column.GetName()], row, base.PackFloatToBytes(float64(count)))
}

// grow grows a tree of pages, and turns golearn's panics into errors.
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
		panic(err) // the column is ours; grow turns this into an error
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
		return nil // no level left; convert plants a new tree here
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

// leaf makes our node of golearn's, without what is below.
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

// convert makes our node of golearn's. pages are those that reached it.
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
