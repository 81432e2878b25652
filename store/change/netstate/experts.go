package netstate

import "time"

// Each expert is a chance of success by a part of what is known. Some read it from a table of
// what followed before in the same situation, at any host: these are the two-state chain of
// paper E3, told apart by the time that has passed. The others go by one URL or host.

// Before anything is learned, chances are those of paper E's worked example.
const (
	firstSS = .9638
	firstFF = .7426
	newcome = .9126 // of a URL that was never visited: paper E5's share of pages got
)

// cell is one situation of a table.
type cell struct{ good, all float32 }

const (
	cellPrior = 4   // visits that the first chances count for
	cellMost  = 500 // visits that a cell remembers, so that it follows a web that changes
)

// table is a chance for each situation, the first ones by its kind.
type table []cell

func newTable(n int, first func(i int) float64) table {
	t := make(table, n)
	for i := range t {
		t[i] = cell{float32(cellPrior * first(i)), cellPrior}
	}
	return t
}

func (t table) chance(i int) float64 { return float64(t[i].good / t[i].all) }

func (t table) learn(i int, good bool) {
	c := &t[i]
	if c.all >= cellMost {
		c.good *= 1 - 1/c.all
		c.all--
	}
	c.all++
	if good {
		c.good++
	}
}

// after is the first chance after an outcome.
func after(o Outcome) float64 {
	switch o {
	case OK:
		return firstSS
	case Transient, Permanent:
		return 1 - firstFF
	}
	return newcome
}

// slots are parts of the day, in which some hosts are always away.
const slots = 8

func slot(at time.Time) int { return at.UTC().Hour() * slots / 24 }

// hostPast is what is kept of a host.
type hostPast struct {
	past

	days [slots]cell
}

// situation is where a visit stands in the tables.
type situation struct {
	url, host, both int
	slot            int
}

const classes = outcomes + 1

// stand finds the situation of a visit at a time.
func stand(u, h *past, at time.Time) situation {
	ug, hg := 0, 0
	if u.last != unknown {
		ug = u.gap(at)
	}
	if h.last != unknown {
		hg = h.gap(at)
	}
	return situation{
		url:  (int(u.last)*gapClasses+ug)*runClasses + u.inRow(),
		host: (int(h.last)*gapClasses+hg)*runClasses + h.inRow(),
		both: ((int(u.last)*gapClasses+ug)*classes+int(h.last))*gapClasses + hg,
		slot: slot(at),
	}
}
