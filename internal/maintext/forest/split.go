package forest

// leaf is one that may be split.
type leaf struct {
	at   int16 // in the tree
	rows []int32
	gain float64 // of its best split; 0 is none
	f, k int     // the feature and which of its limits
}

// tree grows one, best leaf first.
func (g *grower) tree(asked []int) []node {
	rows := make([]int32, len(g.gradient))
	for i := range rows {
		rows[i] = int32(i)
	}
	tree := []node{g.leaf(rows)}
	leaves := []*leaf{{rows: rows}}
	g.find(leaves[0], asked)
	for len(leaves) < g.opt.Leaves {
		best := 0
		for i, l := range leaves {
			if l.gain > leaves[best].gain {
				best = i
			}
		}
		l := leaves[best]
		if l.gain == 0 {
			break
		}
		below, rest := g.divide(l)
		left, right := &leaf{at: int16(len(tree)), rows: below}, &leaf{at: int16(len(tree) + 1), rows: rest}
		tree[l.at] = node{feature: int16(l.f), below: left.at, limit: g.limits[l.f][l.k]}
		tree = append(tree, g.leaf(below), g.leaf(rest))
		g.find(left, asked)
		g.find(right, asked)
		leaves[best] = left
		leaves = append(leaves, right)
	}
	return tree
}

// leaf has the value that lowers the loss of its rows most, times the rate.
func (g *grower) leaf(rows []int32) node {
	var slope, bend float64
	for _, i := range rows {
		slope += float64(g.gradient[i])
		bend += float64(g.bend[i])
	}
	return node{feature: noFeature, limit: g.opt.Rate * float32(slope/(bend+float64(g.opt.Ridge)))}
}

// find finds the split with the largest gain.
func (g *grower) find(l *leaf, asked []int) {
	var slope, bend float64
	for _, i := range l.rows {
		slope += float64(g.gradient[i])
		bend += float64(g.bend[i])
	}
	ridge := float64(g.opt.Ridge)
	whole := slope * slope / (bend + ridge)
	for _, f := range asked {
		var slopes, bends [steps]float64
		step := g.step[f]
		for _, i := range l.rows {
			slopes[step[i]] += float64(g.gradient[i])
			bends[step[i]] += float64(g.bend[i])
		}
		var s, b float64
		for k := range g.limits[f] {
			s += slopes[k]
			b += bends[k]
			if b < g.opt.Least || bend-b < g.opt.Least {
				continue
			}
			gain := s*s/(b+ridge) + (slope-s)*(slope-s)/(bend-b+ridge) - whole
			if gain > l.gain {
				l.gain, l.f, l.k = gain, f, k
			}
		}
	}
}

// divide cuts a leaf's rows by its best split.
func (g *grower) divide(l *leaf) (below, rest []int32) {
	step := g.step[l.f]
	for _, i := range l.rows {
		if int(step[i]) <= l.k {
			below = append(below, i)
		} else {
			rest = append(rest, i)
		}
	}
	return below, rest
}
