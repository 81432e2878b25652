package revisit

import "math"

// evidence is what visits found of one page, in 16 bytes: how many there were, and how many
// days since the visit before, added up. Gaps that had a change are in two groups of their
// like: a change within an hour tells something else than one within a month. Of a page that
// tells of its changes, changed[0] counts these, and unchanged the days since it is known.
type evidence struct {
	unchanged float32
	changed   [2]float32
	visits    uint8
	changes   [2]uint8
}

// add notes a visit, gap days after the one before. When a counter is full, all count half, so
// that what is new still counts.
func (e *evidence) add(gap float64, changed bool) {
	if e.visits == math.MaxUint8 {
		*e = evidence{e.unchanged / 2, [2]float32{e.changed[0] / 2, e.changed[1] / 2}, e.visits / 2, [2]uint8{e.changes[0] / 2, e.changes[1] / 2}}
	}
	if e.visits++; !changed {
		e.unchanged += float32(gap)
		return
	}
	g := e.group(gap)
	e.changes[g]++
	e.changed[g] += float32(gap)
}

// group returns which group a gap belongs to: the one whose mean is nearer, by ratio. The
// second begins with the first gap that is far from the first group.
func (e *evidence) group(gap float64) int {
	const far = 2
	first, second := e.ratio(0, gap), e.ratio(1, gap)
	if first <= far || e.changes[0] == 0 || e.changes[1] > 0 && first <= second {
		return 0
	}
	return 1
}

// ratio is how many times longer or shorter a gap is than those of a group.
func (e *evidence) ratio(group int, gap float64) float64 {
	r := gap * float64(e.changes[group]) / float64(e.changed[group])
	return max(r, 1/r)
}

// found is how many visits found a change.
func (e *evidence) found() int { return int(e.changes[0]) + int(e.changes[1]) }

// rate estimates the changes a day, for visits at even intervals; uneven ones are taken for as
// many even ones. 0 visits: NaN.
//
//	−ln((visits − changes + ½)/(visits + 1)) / interval
//
// Cho and Garcia-Molina (Estimating frequency of change, TOIT 3(3), 2003) have visits + ½
// below the line. Theirs is 0 for a page that was not seen to change, so that a policy which
// believes it never visits the page again. Here half a visit of each kind is added.
func (e *evidence) rate() float64 {
	n, x := float64(e.visits), float64(e.found())
	return -math.Log((n-x+0.5)/(n+1)) * n / float64(e.unchanged+e.changed[0]+e.changed[1])
}
