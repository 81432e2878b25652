package change

import (
	"hash/fnv"
	"math"
	"time"

	"fossick/internal/page"
)

// PredictorOptions bound a predictor's memory; zero values mean defaults.
type PredictorOptions struct {
	URLs  int // remembered at least; at most twice as many [100,000, about 15 MB]
	Hosts int // likewise [20,000, about 10 MB]
}

// Predictor predicts whether visits succeed. Only one goroutine may use it.
type Predictor struct {
	urls  page.Recent[past]
	hosts page.Recent[hostPast]

	byURL, byHost, byBoth table
	mixer                 mixer
}

// Attempt is a finished visit. Leave out failures of our own network.
type Attempt struct {
	URL, Host string
	At        time.Time
	Outcome   Outcome
}

// NewPredictor returns a predictor that starts from the figures of paper E.
func NewPredictor(opt PredictorOptions) *Predictor {
	if opt.URLs <= 0 {
		opt.URLs = 100_000
	}
	if opt.Hosts <= 0 {
		opt.Hosts = 20_000
	}
	last := func(each int) func(int) float64 {
		return func(i int) float64 { return firstAfter(Outcome(i / each)) }
	}
	const each = gapClasses * runClasses
	return &Predictor{
		urls: page.NewRecent[past](opt.URLs), hosts: page.NewRecent[hostPast](opt.Hosts),
		byURL:  newTable(classes*each, last(each)),
		byHost: newTable(classes*each, last(each)),
		byBoth: newTable(classes*gapClasses*classes*gapClasses, func(i int) float64 {
			u, h := Outcome(i/(gapClasses*classes*gapClasses)), Outcome(i/gapClasses%classes)
			if u == unknown {
				return firstAfter(h)
			}
			return firstAfter(u)
		}),
		mixer: newMixer(),
	}
}

func (p *Predictor) Chance(url, host string, at time.Time) float64 {
	u, h := p.peek(url, host)
	return p.chance(&u, &h, at)
}

// ChanceAfter is Chance as if visit v, which was not learned, had been made.
func (p *Predictor) ChanceAfter(v Attempt, at time.Time) float64 {
	u, h := p.peek(v.URL, v.Host)
	u.take(v.At, v.Outcome)
	h.take(v.At, v.Outcome)
	return p.chance(&u, &h, at)
}

// ChanceOf is Chance for a URL with exactly these visits, in order of time.
func (p *Predictor) ChanceOf(visits []Attempt, host string, at time.Time) float64 {
	u := newcomer
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

// Learn updates the predictor with the outcome of a visit.
func (p *Predictor) Learn(v Attempt) {
	if v.Outcome > permanent {
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

func (p *Predictor) ask(u *past, h *hostPast, s situation) opinions {
	url, host := p.byURL.chance(s.url), p.byHost.chance(s.host)
	day := h.days[s.slot]
	hour := (float64(day.good) + 2*h.share(host, 2)) / (float64(day.all) + 2)
	return opinions{
		logit(url), logit(host), logit(p.byBoth.chance(s.both)),
		logit(u.share(url, 2)), logit(h.share(host, 2)), logit(hour), 1,
	}
}

func (p *Predictor) peek(url, host string) (past, hostPast) {
	return p.peekKeys(key(url), key(host))
}

func (p *Predictor) peekKeys(url, host uint64) (past, hostPast) {
	u, ok := p.urls.Peek(url)
	if !ok {
		u = newcomer
	}
	h, ok := p.hosts.Peek(host)
	if !ok {
		h = hostPast{past: newcomer}
	}
	return u, h
}

func keep[V any](m *page.Recent[V], k uint64, v V) {
	if _, known := m.Get(k); known {
		m.Set(k, v)
	} else {
		m.Put(k, v)
	}
}

// key returns the hash of a name; among a million names hardly two share one.
func key(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}

// Outcome is the result of a visit, for prediction.
type Outcome uint8

const (
	OK        Outcome = iota // an answer with the requested content
	transient                // a failure that may pass, such as no answer, or 503
	permanent                // a failure that seldom passes, such as 404
	outcomes  = 3
	unknown   = Outcome(outcomes) // not visited yet
)

type past struct {
	at   int64   // time of the last visit, Unix seconds
	last Outcome // its outcome
	run  uint8   // consecutive visits with that outcome
	// Successes and visits, weighted by fade.
	good, all float32
}

// fade is the weight of a visit after each further one: one thirty visits ago counts a third.
const fade = .97

// newcomer is the past of a URL or host that was never visited.
var newcomer = past{last: unknown}

func (p *past) take(at time.Time, o Outcome) {
	if o == p.last {
		p.run = min(p.run, math.MaxUint8-1) + 1
	} else {
		p.last, p.run = o, 1
	}
	p.at = at.Unix()
	p.good, p.all = p.good*fade, p.all*fade+1
	if o == OK {
		p.good++
	}
}

// share returns the share of successes; prior counts like weight visits.
func (p *past) share(prior, weight float64) float64 {
	return (float64(p.good) + prior*weight) / (float64(p.all) + weight)
}

// gaps holds the upper bounds of the classes of times since a visit, in seconds.
var gaps = [...]int64{10, 60, 600, 3600, 6 * 3600, 36 * 3600, 8 * 86400}

const gapClasses = len(gaps) + 1

// gap returns the class of the time since the last visit; after a clock was set back, the shortest.
func (p *past) gap(at time.Time) int {
	since := at.Unix() - p.at
	for i, most := range gaps {
		if since <= most {
			return i
		}
	}
	return len(gaps)
}

const runClasses = 4

// inRow returns the class of the number of consecutive equal outcomes: 1, 2, 3 to 7, more.
func (p *past) inRow() int {
	switch {
	case p.run <= 2:
		return int(max(p.run, 1)) - 1
	case p.run < 8:
		return 2
	}
	return 3
}

// Each expert gives the chance of success from a part of what is known. Some read it from tables of
// what followed the same situation at any host: the two-state chain of paper E3, split by the time
// passed. The others use the past of one URL or host.

// Before any visit, chances are those of paper E's worked example.
const (
	firstSS = .9638
	firstFF = .7426
	newcome = .9126 // for a URL never visited: share of pages downloaded in paper E5
)

type cell struct{ good, all float32 }

const (
	cellPrior = 4   // weight in visits of the first chances
	cellMost  = 500 // visits that a cell remembers, so that it follows a changing web
)

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

func firstAfter(o Outcome) float64 {
	switch o {
	case OK:
		return firstSS
	case transient, permanent:
		return 1 - firstFF
	}
	return newcome
}

const slots = 8

func slot(at time.Time) int { return at.UTC().Hour() * slots / 24 }

type hostPast struct {
	past

	days [slots]cell
}

type situation struct {
	url, host, both int
	slot            int
}

const classes = outcomes + 1

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

const experts = 7

type opinions [experts]float64

// mixer combines opinions into the chance σ(Σ w·x) by online logistic regression; the weights
// follow the gradient of the log loss (as in Mahoney 2005). There is one set of weights for each
// outcome of the URL's last visit.
type mixer struct {
	weights, squares [classes]opinions
}

const (
	pace    = .2 // learning rate; tuned with settled on the simulated webs of the tests
	settled = 30 // initial squares of gradients, so that the first failures do not overturn the weights
	widest  = 7. // logits are clipped to this: a chance of .999
)

func newMixer() mixer {
	var m mixer
	for i := range m.weights {
		m.weights[i] = opinions{.3, .1, .3, .1, .1, .1, 0}
		for k := range m.squares[i] {
			m.squares[i][k] = settled
		}
	}
	return m
}

func logit(p float64) float64 {
	return min(max(math.Log(p/(1-p)), -widest), widest)
}

func (m *mixer) chance(set Outcome, x *opinions) float64 {
	sum := 0.0
	for i, w := range m.weights[set] {
		sum += w * x[i]
	}
	return 1 / (1 + math.Exp(-min(max(sum, -widest), widest)))
}

// learn takes one step along the gradient, with AdaGrad's rate for each weight (Duchi et al. 2011).
func (m *mixer) learn(set Outcome, x *opinions, good bool) {
	miss := float64(index(good)) - m.chance(set, x)
	for i := range x {
		g := miss * x[i]
		m.squares[set][i] += g * g
		m.weights[set][i] += pace * g / math.Sqrt(m.squares[set][i])
	}
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// OutcomeOf classifies a visit by its network state and HTTP status. It returns false if the visit
// does not predict the next one: nothing was requested, or we did not want the answer.
func OutcomeOf(state string, code int) (o Outcome, ok bool) {
	switch state {
	case "redirect":
		return OK, true
	case "robots_denied", "guard_denied", "trap", "none":
		return OK, false
	case "too_large", "wrong_type", "no_text", "payment_required":
		return permanent, true
	case "code":
		if code != 429 && code < 500 {
			return permanent, true
		}
		return transient, true
	}
	if Downloaded(state) {
		return OK, true
	}
	return transient, true
}
