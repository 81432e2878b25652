package crawler

import (
	"slices"

	"fossick/crawler/reading"
)

// tellPaid tells a scorer of several topics what each has paid; it keeps no count of its
// own, so that after a kill the store's holds.
func (a *arrivals) tellPaid() {
	if s, shares := a.opt.Scorer.(reading.Sharer); shares {
		s.Paid(slices.Clone(a.totals.Counts().Topics))
	}
}
