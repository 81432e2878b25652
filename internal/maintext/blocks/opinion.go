package blocks

// mean is of what a first forest thought, by words.
type mean struct{ sum, words float32 }

func (m *mean) add(p, words float32) {
	m.sum += p * words
	m.words += words
}

func (m *mean) value() float32 {
	if m.words == 0 {
		return 0
	}
	return m.sum / m.words
}

// near is how many blocks on either side have a say.
const near = 5

// Opinions tells what a first forest thought of each block, a chance in [0,1], and completes
// the rows with what it thought of those around.
func (v *View) Opinions(p []float32) {
	at := make([]mean, len(v.Nodes)) // of blocks at most two elements below
	paths := make(map[uint32]*mean, len(v.paths))
	var page mean
	for i := range v.Blocks {
		b := &v.Blocks[i]
		w := float32(b.Words)
		for n, up := b.Node, 0; n >= 0 && up < 3; up++ {
			at[n].add(p[i], w)
			n = v.Nodes[n].Parent
		}
		m := paths[b.path]
		if m == nil {
			m = new(mean)
			paths[b.path] = m
		}
		m.add(p[i], w)
		page.add(p[i], w)
	}
	of := func(i int) float32 {
		if i < 0 || i >= len(p) {
			return 0
		}
		return p[i]
	}
	for i := range v.Blocks {
		x, b := v.rows[i], &v.Blocks[i]
		x[fOpinion], x[fOpinionPrev], x[fOpinionNext] = p[i], of(i-1), of(i+1)
		x[fOpinionPrev2], x[fOpinionNext2] = of(i-2), of(i+2)
		x[fOpinionNear], x[fOpinionBestNear] = v.around(p, i)
		up := max(0, v.Nodes[b.Node].Parent)
		x[fOpinionParent] = at[up].value()
		x[fOpinionGrandparent] = at[max(0, v.Nodes[up].Parent)].value()
		x[fOpinionPath] = paths[b.path].value()
		x[fOpinionPage] = page.value()
	}
}

// around is the mean opinion of the blocks near one, itself included, and the best of the
// longer ones beside it.
func (v *View) around(p []float32, i int) (all, best float32) {
	var m mean
	for j := max(0, i-near); j <= min(len(p)-1, i+near); j++ {
		words := v.Blocks[j].Words
		m.add(p[j], float32(words))
		if j != i && words > 10 {
			best = max(best, p[j])
		}
	}
	return m.value(), best
}
