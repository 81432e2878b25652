package rates

// Interval is the time between two visits of a page.
type Interval struct {
	Days    float64 // between the visits; what is not above 0 and finite tells nothing
	Changed bool    // the second found another content than the first

	// Age is the time from the last change to the second visit, in days, by
	// Last-Modified; Told says that it is known. A page seen once is an interval that is
	// Changed and Told, of no Days: its first content is a change too.
	Age  float64
	Told bool
}

// Group is what a page has in common with others. Pages alike in a part of it
// are taken to change about as often. Empty parts are a value like any other.
type Group struct {
	Kind  string // of links: the three letters of paper E6
	Depth int    // links from a start page
	Site  string // registrable domain
	Topic string // label
}

// Page is what is known of a page's changes.
type Page struct {
	Host   string // whose Last-Modified is believed or not
	Group  Group
	Visits []Interval
}

// Estimate is how often a page changes.
type Estimate struct {
	Rate   float64 // changes a day, in [0, MostRate]
	Lo, Hi float64 // 95 % interval, 0 ≤ Lo ≤ Rate ≤ Hi ≤ MostRate
}

// leastRate and MostRate are the rates that estimators tell apart from never and always, in
// changes a day: once in 2,700 years, more than once a second.
const (
	leastRate = 1e-6
	MostRate  = 1e5
)

// within returns the estimate with all of it inside its bounds, and in order.
func within(rate, lo, hi float64) Estimate {
	rate = min(max(rate, 0), MostRate)
	return Estimate{rate, min(max(lo, 0), rate), max(min(hi, MostRate), rate)}
}
