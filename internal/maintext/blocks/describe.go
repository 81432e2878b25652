package blocks

import (
	"bytes"
	"hash/maphash"
)

// Describe makes a row of features for each block; the last ones wait for Opinions.
func Describe(d *Document) *View {
	v := newView(d)
	v.rows = make([][]float32, len(d.Blocks))
	all := make([]float32, len(d.Blocks)*Size)
	seen := make(map[uint64]bool, len(d.Blocks))
	before, heading := int32(0), -99
	for i := range d.Blocks {
		x := all[i*Size : (i+1)*Size : (i+1)*Size]
		v.rows[i] = x
		b := &d.Blocks[i]
		n := &d.Nodes[b.Node]
		if n.Tag.Heading() {
			heading = i
		}
		x[fPlace] = float32(i) / float32(len(d.Blocks))
		x[fWordsBefore] = share(before, v.words)
		before += b.Words
		x[fBlocksPastHeading] = float32(min(99, i-heading))
		v.itself(x, b, n)
		v.repeated(x, d.TextOf(i), seen)
		v.pastH1(x, i)
		v.place(x, b)
		v.page(x)
		v.neighbours(x, i)
		v.said(x, n)
	}
	return v
}

// Rows has the features of each block, FirstSize of them until Opinions has been asked, then
// Size.
func (v *View) Rows() [][]float32 { return v.rows }

func (v *View) itself(x []float32, b *Block, n *Node) {
	text := v.Text[b.From:b.To]
	x[fWords] = lg(b.Words)
	x[fLinkShare] = share(b.linkWords, b.Words)
	x[fLinks] = lg(b.links)
	x[fWordLength] = share(b.letters, b.Words)
	x[fSentences] = share(b.sentences, b.Words)
	x[fEndsSentence] = endsSentence(text)
	x[fCapitals] = share(b.capitals, b.Words)
	x[fDigits] = share(b.digits, b.digits+b.letters)
	x[fTag] = float32(n.Tag)
	if n.Tag.Heading() {
		x[fHeading] = float32(n.Tag-H1) + 1
	}
	x[fDepth] = float32(n.depth)
	x[fPhrases] = phrases(text)
	if bytes.Contains(text, []byte("©")) || bytes.Contains(text, []byte("opyright")) {
		x[fCopyright] = 1
	}
}

// endsSentence is 1 for a text that ends as a sentence does, -1 for one that is cut off.
func endsSentence(text []byte) float32 {
	if bytes.HasSuffix(text, []byte("…")) || bytes.HasSuffix(text, []byte("...")) {
		return -1
	}
	for _, end := range [...]string{".", "!", "?", "\"", ":", "。", "”", "»"} {
		if bytes.HasSuffix(text, []byte(end)) {
			return 1
		}
	}
	return 0
}

var hashSeed = maphash.MakeSeed()

// repeated says whether a text stood on the page before, or is part of its title.
func (v *View) repeated(x []float32, text []byte, seen map[uint64]bool) {
	if len(text) <= 10 {
		return
	}
	h := maphash.Bytes(hashSeed, text)
	if seen[h] {
		x[fRepeated] = 1
	}
	seen[h] = true
	if len(text) <= len(v.Title) && bytes.Contains([]byte(v.Title), text) {
		x[fLikeTitle] = 1
	}
}

func (v *View) pastH1(x []float32, i int) {
	if v.h1 < 0 {
		return
	}
	x[fBlocksPastH1] = float32(i - v.h1)
	if x[fAfterH1] = 1; i < v.h1 {
		x[fAfterH1] = -1
	}
}

// place is where a block stands in the tree.
func (v *View) place(x []float32, b *Block) {
	c := v.container(b)
	s := &v.below[c]
	x[fContainerWords] = lg(s.words)
	x[fContainerBlocks] = lg(s.blocks)
	x[fContainerLinks] = share(s.linkWords, s.words)
	x[fContainerShare] = share(s.words, v.words)
	up := &v.below[max(0, v.Nodes[c].Parent)]
	x[fParentWords] = lg(up.words)
	x[fParentLinks] = share(up.linkWords, up.words)
	if top := v.below[v.best].score; top > 0 {
		x[fScore] = float32(s.score / top)
	}
	x[fSteps] = v.steps(b.Node)
	p := v.paths[b.path]
	x[fPathWords] = lg(p.words / p.blocks)
	x[fPathLinks] = share(p.linkWords, p.words)
	x[fPathShare] = share(p.words, v.words)
	x[fPathCount] = lg(p.blocks)
}

func (v *View) page(x []float32) {
	x[fPageWords] = lg(v.words)
	x[fPageBlocks] = lg(int32(len(v.Blocks)))
	x[fPageLinks] = share(v.linkWords, v.words)
	x[fPageParagraphs] = share(v.paragraphs, v.words)
	for i, t := range [...]traits{inArticle, inMain, saysBody} {
		if v.traits&t != 0 {
			x[fPageTraits] += float32(int(1) << i)
		}
	}
}

func (v *View) neighbours(x []float32, i int) {
	for _, d := range [...]struct{ by, words, links, tag int }{
		{-1, fPrevWords, fPrevLinks, fPrevTag}, {1, fNextWords, fNextLinks, fNextTag},
		{-2, fPrev2Words, fPrev2Links, -1}, {2, fNext2Words, fNext2Links, -1},
	} {
		j := i + d.by
		if j < 0 || j >= len(v.Blocks) {
			x[d.words] = -1
			continue
		}
		b := &v.Blocks[j]
		x[d.words] = lg(b.Words)
		x[d.links] = share(b.linkWords, b.Words)
		if d.tag >= 0 {
			x[d.tag] = float32(v.Nodes[b.Node].Tag)
		}
	}
}

// said is what the elements around a block say of it, and what the nearest two say.
func (v *View) said(x []float32, n *Node) {
	own := n.own
	if n.Parent >= 0 {
		own |= v.Nodes[n.Parent].own
	}
	for bit := range traitBits {
		x[fTraits+bit] = float32(n.all >> bit & 1)
		x[fOwn+bit] = float32(own >> bit & 1)
	}
}

// furniture are words of texts that belong to a site and not to a page.
var furniture = [][]byte{
	[]byte("cookie"), []byte("newsletter"), []byte("subscri"), []byte("sign up"), []byte("log in"), []byte("advertis"),
	[]byte("read more"), []byte("also read"), []byte("related"), []byte("share"), []byte("follow us"), []byte("comment"),
	[]byte("all rights reserved"), []byte("photo"), []byte("image"), []byte("click here"), []byte("privacy"), []byte("posted"),
	[]byte("updated"), []byte("published"), []byte("tags"), []byte("written by"),
}

// maxFurniture is the length of a text beyond which it is no furniture.
const maxFurniture = 300

// phrases counts the words of furniture in a short text; half a one is "by", as an author is
// named.
func phrases(text []byte) float32 {
	if len(text) > maxFurniture {
		return 0
	}
	var buf [maxFurniture]byte
	low := buf[:copy(buf[:], text)]
	for i, c := range low {
		if 'A' <= c && c <= 'Z' {
			low[i] = c + 'a' - 'A'
		}
	}
	n := float32(0)
	for _, p := range furniture {
		if bytes.Contains(low, p) {
			n++
		}
	}
	if n == 0 && (bytes.HasPrefix(low, []byte("by ")) || bytes.HasPrefix(low, []byte("von "))) {
		return .5
	}
	return n
}
