package page

// counter counts for each of 64 bits how often it was set. Plane k holds bit k
// of all 64 counts, so that adding a hash is a few operations on words. Hashes are
// added eight at a time, by the carry-save adders of Harley and Seal (Warren,
// Hacker's Delight, 5-1): one by one, how far a carry goes cannot be foreseen.
type counter struct {
	planes  [21]uint64 // a text has fewer than 2^21 words
	waiting [8]uint64
	n       int
}

func (v *counter) add(h uint64) {
	v.waiting[v.n%len(v.waiting)] = h
	if v.n++; v.n%len(v.waiting) == 0 {
		v.addEight()
	}
}

func (v *counter) addEight() {
	x, p := &v.waiting, &v.planes
	ones, twosA := addBits(p[0], x[0], x[1])
	ones, twosB := addBits(ones, x[2], x[3])
	twos, foursA := addBits(p[1], twosA, twosB)
	ones, twosA = addBits(ones, x[4], x[5])
	ones, twosB = addBits(ones, x[6], x[7])
	twos, foursB := addBits(twos, twosA, twosB)
	fours, eights := addBits(p[2], foursA, foursB)
	p[0], p[1], p[2] = ones, twos, fours
	v.carry(eights, 3)
}

// addBits adds three numbers of one bit, 64 times.
func addBits(a, b, c uint64) (sum, carry uint64) {
	u := a ^ b
	return u ^ c, a&b | u&c
}

// carry adds a bit to each count at plane k.
func (v *counter) carry(h uint64, k int) {
	for ; h != 0 && k < len(v.planes); k++ {
		h, v.planes[k] = h&v.planes[k], h^v.planes[k]
	}
}

// majority returns the bits set in more than half of the hashes; v is then used up.
func (v *counter) majority() uint64 {
	for _, h := range v.waiting[:v.n%len(v.waiting)] {
		v.carry(h, 0)
	}
	var out uint64
	for bit := range 64 {
		count := 0
		for k, p := range v.planes {
			count |= int(p>>bit&1) << k
		}
		if 2*count > v.n {
			out |= 1 << bit
		}
	}
	return out
}
