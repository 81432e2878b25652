package train

// counter says how rows are counted: each by its weight, for the group of its
// class. A group is a class, or, while rules for one class are learnt, that class
// (0) or the rest (1).
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

// add counts rows times more: 1 to put them in, −1 to take them out. It is the only
// loop over rows of the search. One pass over what the rows have counts every cut, and
// a word that a row lacks costs nothing.
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

// halve covers rows once more: they count half of what they did in t, and those
// that had the least weight no more at all; it returns these.
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
