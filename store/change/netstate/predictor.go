package netstate

import (
	"hash/fnv"
	"time"

	"fossick/internal/page"
)

// Options bound a predictor's memory; zero values are defaults.
type Options struct {
	URLs  int // remembered at least, twice as many at most [100,000, about 15 MB]
	Hosts int // likewise [20,000, about 10 MB]
}

// Predictor predicts visits. It belongs to one goroutine.
type Predictor struct {
	urls  page.Recent[past]
	hosts page.Recent[hostPast]

	byURL, byHost, byBoth table
	mixer                 mixer
}

// Visit is one that is over. Failures of our own network are none: leave them out.
type Visit struct {
	URL, Host string
	At        time.Time
	Outcome   Outcome
}

// New returns a predictor that knows what paper E found, and nothing else.
func New(opt Options) *Predictor {
	if opt.URLs <= 0 {
		opt.URLs = 100_000
	}
	if opt.Hosts <= 0 {
		opt.Hosts = 20_000
	}
	last := func(each int) func(int) float64 {
		return func(i int) float64 { return after(Outcome(i / each)) }
	}
	const each = gapClasses * runClasses
	return &Predictor{
		urls: page.NewRecent[past](opt.URLs), hosts: page.NewRecent[hostPast](opt.Hosts),
		byURL:  newTable(classes*each, last(each)),
		byHost: newTable(classes*each, last(each)),
		byBoth: newTable(classes*gapClasses*classes*gapClasses, func(i int) float64 {
			u, h := Outcome(i/(gapClasses*classes*gapClasses)), Outcome(i/gapClasses%classes)
			if u == unknown {
				return after(h)
			}
			return after(u)
		}),
		mixer: newMixer(),
	}
}

// Chance returns the chance, in (0,1), that a visit of a URL succeeds at a time.
func (p *Predictor) Chance(url, host string, at time.Time) float64 {
	u, h := p.peek(url, host)
	return p.chance(&u, &h, at)
}

// ChanceAfter is Chance once a visit that is not learned from, or not yet, has been made.
func (p *Predictor) ChanceAfter(v Visit, at time.Time) float64 {
	u, h := p.peek(v.URL, v.Host)
	u.take(v.At, v.Outcome)
	h.take(v.At, v.Outcome)
	return p.chance(&u, &h, at)
}

// ChanceOf is Chance for a URL with these visits, in the order of time, whether the
// predictor remembers them or not.
func (p *Predictor) ChanceOf(visits []Visit, host string, at time.Time) float64 {
	u := none
	for i := range visits {
		u.take(visits[i].At, visits[i].Outcome)
	}
	_, h := p.peek("", host)
	return p.chance(&u, &h, at)
}

func (p *Predictor) chance(u *past, h *hostPast, at time.Time) float64 {
	s := stand(u, &h.past, at)
	x := p.ask(u, h, s)
	return p.mixer.chance(u.last, &x)
}

// Learn takes in what a visit came to.
func (p *Predictor) Learn(v Visit) {
	if v.Outcome > Permanent {
		return
	}
	p.learn(key(v.URL), key(v.Host), v.At, v.Outcome)
}

func (p *Predictor) learn(url, host uint64, at time.Time, o Outcome) {
	u, h := p.peekKeys(url, host)
	good := o == OK
	s := stand(&u, &h.past, at)
	x := p.ask(&u, &h, s)
	p.mixer.learn(u.last, &x, good)
	p.byURL.learn(s.url, good)
	p.byHost.learn(s.host, good)
	p.byBoth.learn(s.both, good)

	u.take(at, o)
	keep(&p.urls, url, u)
	h.take(at, o)
	d := &h.days[s.slot]
	d.good, d.all = d.good*fade, d.all*fade+1
	if good {
		d.good++
	}
	keep(&p.hosts, host, h)
}

// ask asks all experts.
func (p *Predictor) ask(u *past, h *hostPast, s situation) opinions {
	url, host := p.byURL.chance(s.url), p.byHost.chance(s.host)
	day := h.days[s.slot]
	hour := (float64(day.good) + 2*h.share(host, 2)) / (float64(day.all) + 2)
	return opinions{
		logit(url), logit(host), logit(p.byBoth.chance(s.both)),
		logit(u.share(url, 2)), logit(h.share(host, 2)), logit(hour), 1,
	}
}

// peek returns what is known of a URL and its host.
func (p *Predictor) peek(url, host string) (past, hostPast) {
	return p.peekKeys(key(url), key(host))
}

func (p *Predictor) peekKeys(url, host uint64) (past, hostPast) {
	u, ok := p.urls.Peek(url)
	if !ok {
		u = none
	}
	h, ok := p.hosts.Peek(host)
	if !ok {
		h = hostPast{past: none}
	}
	return u, h
}

func keep[V any](m *page.Recent[V], k uint64, v V) {
	if _, known := m.Get(k); known {
		m.Update(k, v)
	} else {
		m.Put(k, v)
	}
}

// key is a name's, in maps. Two names with one key are taken for the same: of a million
// there is hardly a pair.
func key(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name)) // it never fails
	return h.Sum64()
}
