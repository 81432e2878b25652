package corpusweb

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"time"
)

// ChangePlan says how pages change with time. The zero value is a web that never does.
type ChangePlan struct {
	// Mean is the time between two changes of a page's text, in the median over pages; each
	// page has its own (see Truth), and changes by a Poisson process. 0: never.
	Mean time.Duration
	// Adverts is how often an advert and a date on it change, as a multiple of the text.
	Adverts float64
	// Away is the share of pages that now and then are gone, or elsewhere, and come back.
	Away float64
	// Wrong is the share of hosts whose sitemaps say a wrong lastmod: half of them that every
	// page has changed just now, half that none ever has.
	Wrong float64
}

// How pages' intervals spread around the median: log-normally, within a factor.
const (
	lifeSigma  = 1.0
	lifeFactor = 20.0
)

// A page that goes away is there for five means, and away for two, in the mean of
// exponential times.
const (
	thereMeans = 5
	awayMeans  = 2
)

// Absence is what a page does that goes away.
type Absence string

// The absences.
const (
	Never Absence = ""      // it stays
	Gone  Absence = "gone"  // 404, or 410 on half of the pages
	Moved Absence = "moved" // 301 to another URL of the host, where it is meanwhile
)

// Truth is how a page really changes.
type Truth struct {
	URL      string        // its key
	Interval time.Duration // mean between two changes of its text
	Advert   time.Duration // mean between two of an advert; 0: never
	Absence  Absence
	Lastmod  Lastmod // of its host's sitemap
}

// Lastmod is what a host's sitemap says of changes.
type Lastmod string

// The kinds of lastmod.
const (
	TrueLastmod   Lastmod = "true"   // when the text changed last
	AlwaysLastmod Lastmod = "always" // just now
	NeverLastmod  Lastmod = "never"  // long ago
)

// Truth returns how the page of a key changes.
func (w *Web) Truth(key string) Truth {
	plan := w.opt.Change
	if plan.Mean <= 0 {
		return Truth{URL: key}
	}
	rng := w.draw.source("pace", key)
	factor := math.Exp(lifeSigma * rng.NormFloat64())
	t := Truth{URL: key, Interval: max(1, time.Duration(float64(plan.Mean)*min(max(factor, 1/lifeFactor), lifeFactor)))}
	if plan.Adverts > 0 {
		t.Advert = max(1, time.Duration(float64(t.Interval)/plan.Adverts))
	}
	if key != w.first && rng.Float64() < plan.Away {
		t.Absence = Gone
		if rng.Float64() < .5 && !strings.Contains(key, "?") {
			t.Absence = Moved
		}
	}
	t.Lastmod = w.lastmodOf(key)
	return t
}

// lastmodOf draws what the sitemap of a URL's host says.
func (w *Web) lastmodOf(key string) Lastmod {
	_, rest, _ := strings.Cut(key, "://")
	host, _, _ := strings.Cut(rest, "/")
	switch x := w.draw.uniform("lastmod", host); {
	case x < w.opt.Change.Wrong/2:
		return AlwaysLastmod
	case x < w.opt.Change.Wrong:
		return NeverLastmod
	}
	return TrueLastmod
}

// moment is what a page is at a time.
type moment struct {
	text, advert int64         // changes so far
	last         time.Duration // change of both
	lastText     time.Duration
	away         bool // as its Absence says
}

// at says what a page is so long after the web was made.
func (w *Web) at(t Truth, since time.Duration) (m moment) {
	var lastAdvert time.Duration
	m.text, m.lastText = events(w.draw.source("text", t.URL), t.Interval, since)
	m.advert, lastAdvert = events(w.draw.source("advert", t.URL), t.Advert, since)
	m.last = max(m.lastText, lastAdvert)
	if t.Absence == Never {
		return m
	}
	rng := w.draw.source("away", t.URL)
	for at := time.Duration(0); ; m.away = !m.away {
		mean := thereMeans * w.opt.Change.Mean
		if m.away {
			mean = awayMeans * w.opt.Change.Mean
		}
		if at += exponential(rng, mean); at > since {
			return m
		}
	}
}

// events counts those of a Poisson process until a time, and says when the last was. A web
// is served for hours, so a page has some thousands.
func events(rng *rand.Rand, mean, until time.Duration) (n int64, last time.Duration) {
	if mean <= 0 {
		return 0, 0
	}
	for at := exponential(rng, mean); at <= until; at += exponential(rng, mean) {
		n, last = n+1, at
	}
	return n, last
}

func exponential(rng *rand.Rand, mean time.Duration) time.Duration {
	return max(1, time.Duration(rng.ExpFloat64()*float64(mean)))
}

// source returns numbers that depend on seed, purpose and name only.
func (d draw) source(purpose, name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(purpose + "\x00" + name)) // a hash takes all
	return rand.New(rand.NewPCG(uint64(d), h.Sum64()))
}
