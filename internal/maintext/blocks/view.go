package blocks

import "math"

// View is a document with the sums that features are made of.
type View struct {
	*Document
	rows             [][]float32
	below            []subtree // by node
	paths            map[uint32]*sums
	best             int32 // the node that looks most like the article's
	words, linkWords int32
	paragraphs       int32 // words in them
	h1               int   // the first block that is one; -1 is none
	traits           traits
}

// sums are of several blocks.
type sums struct{ words, linkWords, blocks int32 }

// subtree is what the blocks below a node come to.
type subtree struct {
	sums
	score float64 // how much it looks like an article's
}

func (s *sums) add(words, linkWords, blocks int32) {
	s.words += words
	s.linkWords += linkWords
	s.blocks += blocks
}

func newView(d *Document) *View {
	v := &View{Document: d, below: make([]subtree, len(d.Nodes)), paths: make(map[uint32]*sums), h1: -1}
	for i := range d.Blocks {
		b := &d.Blocks[i]
		n := &d.Nodes[b.Node]
		v.words += b.Words
		v.linkWords += b.linkWords
		v.traits |= n.all
		if n.Tag == P {
			v.paragraphs += b.Words
		}
		if n.Tag == H1 && v.h1 < 0 {
			v.h1 = i
		}
		p := v.paths[b.path]
		if p == nil {
			p = new(sums)
			v.paths[b.path] = p
		}
		p.add(b.Words, b.linkWords, 1)
		v.credit(b)
	}
	for i := len(d.Nodes) - 1; i > 0; i-- { // children come after their parents
		n, s := &d.Nodes[i], &v.below[i]
		s.add(n.words, n.linkWords, n.blocks)
		v.below[n.Parent].add(s.words, s.linkWords, s.blocks)
	}
	v.choose()
	return v
}

// credit gives a block's prose to the elements above it, each half of what the one below
// has. The idea is Readability's: the element with most of it holds the article.
func (v *View) credit(b *Block) {
	if b.Words < 5 {
		return
	}
	points := 1 + float64(b.sentences) + math.Min(3, float64(b.Words)/20)
	points *= 1 - float64(b.linkWords)/float64(b.Words)
	for n, step := v.container(b), 0; n > 0 && step < 4; step++ {
		v.below[n].score += points
		points /= 2
		n = v.Nodes[n].Parent
	}
}

// container is the element that holds a block beside others.
func (v *View) container(b *Block) int32 {
	switch n := &v.Nodes[b.Node]; n.Tag {
	case P, H1, H2, H3, H4, H5, H6, Pre, Cell:
		return n.Parent
	}
	return b.Node
}

func (v *View) choose() {
	top := 0.0
	for i := range v.below {
		s := &v.below[i]
		if s.words > 0 {
			s.score *= 1 - float64(s.linkWords)/float64(s.words)
		}
		if s.score > top {
			top, v.best = s.score, int32(i)
		}
	}
}

// steps is how far up from the best node one must go to be above node n too.
func (v *View) steps(n int32) float32 {
	best, steps := v.best, 0
	for n != best && steps < 20 {
		if v.Nodes[n].depth > v.Nodes[best].depth {
			n = v.Nodes[n].Parent
			continue
		}
		best = v.Nodes[best].Parent
		if steps++; best < 0 {
			break
		}
	}
	return float32(steps)
}

func share(a, b int32) float32 {
	if b == 0 {
		return 0
	}
	return float32(a) / float32(b)
}

// lg is a logarithm of what is counted, to the base of 2.
func lg(n int32) float32 {
	if n < int32(len(logs)) {
		return logs[n]
	}
	return float32(math.Log2(1 + float64(n)))
}

var logs = func() (table [1024]float32) {
	for i := range table {
		table[i] = float32(math.Log2(1 + float64(i)))
	}
	return table
}()
