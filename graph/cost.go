package graph

import "math/bits"

// codeLens are the lengths of codes in bits by the length of what they code.
// Both γ(x) and ζ_k(x) are as long for all x of which x+1 has so many bits.
type codeLens struct{ gamma, zeta [65]uint8 }

func newCodeLens(k int) *codeLens {
	c := &codeLens{}
	for n := 1; n <= 35; n++ { // maxCoded+1 has 35 bits
		x := uint64(1)<<(n-1) - 1
		c.gamma[n], c.zeta[n] = uint8(gammaLen(x)), uint8(zetaLen(x, k))
	}
	return c
}

func (c *codeLens) gammaOf(x uint64) int { return int(c.gamma[bits.Len64(x+1)&63]) }
func (c *codeLens) zetaOf(x uint64) int  { return int(c.zeta[bits.Len64(x+1)&63]) }

// listCost adds up what the code of a list takes, in bits after the number of
// successors: what plan.make comes to, without making a plan.
type listCost struct {
	*codeLens
	v    int64
	bits int

	intervals  int
	before     int64 // the end of the last interval, v before the first
	run        int64 // consecutive successors that are not counted yet: the first, and how many
	n          int64
	last       int64 // the last successor that stands alone
	alone, any bool  // whether there is one; whether there is any that was not copied
}

// cost returns what list takes with a reference, nil for none, or any number that is no
// smaller than limit when it takes so much.
func (e *encoder) cost(v uint32, r int, ref, list []uint32, limit int) int {
	c := listCost{codeLens: e.lens, v: int64(v), before: int64(v)}
	if e.window > 0 {
		c.bits = r + 1
	}
	if r == 0 {
		for _, s := range list {
			c.add(int64(s))
		}
		return c.end()
	}
	if ref[0] > list[len(list)-1] || ref[len(ref)-1] < list[0] {
		return limit // nothing to copy: as without a reference, and more
	}
	copying, n, blocks, j := true, 0, 0, 0
	for _, s := range ref {
		for j < len(list) && list[j] < s {
			c.add(int64(list[j]))
			j++
		}
		same := j < len(list) && list[j] == s
		if same {
			j++
		}
		if same != copying {
			if blocks > 0 {
				n--
			}
			if c.bits += c.gammaOf(uint64(n)); c.bits >= limit {
				return limit
			}
			blocks++
			copying, n = same, 0
		}
		n++
	}
	for ; j < len(list); j++ {
		c.add(int64(list[j]))
	}
	c.bits += c.gammaOf(uint64(blocks))
	return c.end()
}

// add counts a successor that is not copied.
func (c *listCost) add(s int64) {
	if c.n > 0 && s == c.run+c.n {
		c.n++
		return
	}
	if c.n > 0 {
		c.flush()
	}
	c.run, c.n, c.any = s, 1, true
}

// flush counts the run: as an interval, or its successors one by one.
func (c *listCost) flush() {
	if c.n >= minInterval {
		if c.intervals == 0 {
			c.bits += c.gammaOf(fold(c.run - c.v))
		} else {
			c.bits += c.gammaOf(uint64(c.run - c.before - 1))
		}
		c.bits += c.gammaOf(uint64(c.n - minInterval))
		c.before = c.run + c.n
		c.intervals++
		return
	}
	if c.alone {
		c.bits += c.zetaOf(uint64(c.run - c.last - 1))
	} else {
		c.bits += c.zetaOf(fold(c.run - c.v))
	}
	c.bits += int(c.n-1) * int(c.zeta[1]) // gaps of 1 are coded as 0
	c.last, c.alone = c.run+c.n-1, true
}

func (c *listCost) end() int {
	if !c.any {
		return c.bits
	}
	c.flush()
	return c.bits + c.gammaOf(uint64(c.intervals))
}
