package train

// tally counts the rows of a set by group, and how many of them pass each cut.
// A group is a class, or, while rules for one class are learnt, that class (0) or
// the rest (1).
type tally struct {
	groups int
	n      int32
	total  []int32 // rows by group
	passed []int32 // rows above a cut, by cut
	by     []int32 // the same, cut · groups + group
}

func newTally(groups, cuts int) *tally {
	return &tally{groups: groups, total: make([]int32, groups), passed: make([]int32, cuts), by: make([]int32, cuts*groups)}
}

// row returns the rows of each group that are above a cut.
func (t *tally) row(cut int) []int32 { return t.by[cut*t.groups:][:t.groups] }

// set counts the rows of a set from nothing.
func (t *tally) set(d *cover, group []int32, rows []uint64) {
	t.n = 0
	clear(t.total)
	clear(t.passed)
	clear(t.by)
	t.add(d, group, rows, 1)
}

// add counts rows times more: 1 to put them in, −1 to take them out. It is the
// only loop over rows of the search: one pass over what the rows have counts
// every cut, and rows that lack a word cost nothing.
func (t *tally) add(d *cover, group []int32, rows []uint64, times int32) {
	k := int32(t.groups)
	each(rows, func(row int) {
		g := group[d.y[row]]
		t.n += times
		t.total[g] += times
		for _, cut := range d.passes[row] {
			t.passed[cut] += times
			t.by[cut*k+g] += times
		}
	})
}

// copyFrom makes t equal to another.
func (t *tally) copyFrom(o *tally) {
	t.n = o.n
	copy(t.total, o.total)
	copy(t.passed, o.passed)
	copy(t.by, o.by)
}
