package relevance

import (
	"fmt"
	"math"
	"sync"

	"fossick/features"
	"fossick/page"
)

// Judge returns the probability that a text is on topic.
type Judge func(features.Doc) float64

// Learned scores a link by the probability that its target is on topic, from
// all that the pages seen so far say of the target: how far on topic the pages
// are that link to it and how many they are, what the links' own words and the
// words around them say to the classifier, whether they stand in navigation, how
// good the target's host has been. The parts are weighed by a logistic model
// that learns from each fetched page, beginning with the weights of prior.
//
// It remembers the targets that were spoken of last, see recent; of one that it
// forgot, only later links count. Safe for concurrent use.
type Learned struct {
	judge Judge
	cut   float64 // probability from which a parent counts as on topic

	mu       sync.Mutex
	evidence recent[*evidence] // by page.Key of targets that were not fetched yet
	fetched  recent[struct{}]  // by page.Key
	hosts    recent[*record]   // by page.Key of name:port
	model    logistic
}

// evidence is what is known of a target.
type evidence struct {
	host    *record
	parents float32
	onTopic float32 // parents
	nav     float32 // links in navigation
	prob    extreme // of the parents
	anchor  extreme // log-odds of the anchors' words
	context extreme // log-odds of the words around
}

// extreme keeps the sum and the largest of some numbers.
type extreme struct{ sum, max float32 }

func (e *extreme) add(x float64, first bool) {
	e.sum += float32(x)
	if first || float32(x) > e.max {
		e.max = float32(x)
	}
}

// record is a host's: pages fetched and the sum of their probabilities.
type record struct{ pages, onTopic float64 }

// NewLearned returns a scorer that knows nothing yet but the judge. cut is the
// probability from which a page counts as on topic.
func NewLearned(judge Judge, cut float64) *Learned {
	return &Learned{
		judge: judge, cut: cut,
		evidence: newRecent[*evidence](maxEvidence), fetched: newRecent[struct{}](maxFetched), hosts: newRecent[*record](maxHosts),
		model: newLogistic(),
	}
}

// ScorePage takes in that p was fetched and turned out to be on topic with the
// probability given; a start page, and any page without evidence, teaches only
// about its host.
func (l *Learned) ScorePage(p *page.Page, probability float64) Score {
	key := page.Key(p.URL)
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, again := l.fetched.get(key); again {
		return Score{Value: probability}
	}
	l.fetched.put(key, struct{}{})
	terms := []Term{{"probability", probability, "of the topic, by the model"}}
	if e, ok := l.evidence.get(key); ok {
		l.evidence.remove(key)
		x := e.features()
		terms = append(terms, l.model.terms(x)...)
		l.model.learn(x, probability)
	}
	h := l.host(p.URL)
	h.pages++
	h.onTopic += probability
	return Score{probability, terms}
}

// ScoreLinks adds what p says of its links' targets and appends the score that
// each target has now. probability is p's.
func (l *Learned) ScoreLinks(dst []float64, p *page.Page, probability float64) []float64 {
	words := make([][2]float64, len(p.Links))
	for i := range p.Links {
		words[i] = l.words(p, &p.Links[i])
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	told := make(map[uint64]struct{}, len(p.Links))
	for i := range p.Links {
		link := &p.Links[i]
		key := page.Key(link.URL)
		if _, done := l.fetched.get(key); done {
			dst = append(dst, 0)
			continue
		}
		e, ok := l.evidence.get(key)
		if !ok {
			e = &evidence{host: l.host(link.URL)}
			l.evidence.put(key, e)
		}
		if _, again := told[key]; !again { // one voice a page
			told[key] = struct{}{}
			l.add(e, link, probability, words[i])
		}
		dst = append(dst, l.model.probability(e.features()))
	}
	return dst
}

// Rescore returns the present score of a target that waits; false when nothing
// is known of it.
func (l *Learned) Rescore(key uint64) (float64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.evidence.peek(key)
	if !ok {
		return 0, false
	}
	return l.model.probability(e.features()), true
}

// words returns the log-odds of a link's words and of those around it.
func (l *Learned) words(p *page.Page, link *page.Link) [2]float64 {
	return [2]float64{
		logOdds(l.judge(features.Doc{Title: link.Anchor, URL: link.URL, Lang: p.Lang})),
		logOdds(l.judge(features.Doc{Text: link.Context, Lang: p.Lang})),
	}
}

func (l *Learned) add(e *evidence, link *page.Link, probability float64, words [2]float64) {
	first := e.parents == 0
	e.parents++
	if probability >= l.cut {
		e.onTopic++
	}
	if link.Nav {
		e.nav++
	}
	e.prob.add(probability, first)
	e.anchor.add(words[0], first)
	e.context.add(words[1], first)
}

func (l *Learned) host(url string) *record {
	key := page.Key(page.Host(url))
	h, ok := l.hosts.get(key)
	if !ok {
		h = &record{}
		l.hosts.put(key, h)
	}
	return h
}

// The parts of a link's score.
const (
	partBias = iota
	partMeanProb
	partMaxProb
	partParents
	partOnTopic
	partShare
	partMaxAnchor
	partMeanAnchor
	partMaxContext
	partMeanContext
	partHost
	partNav
	parts
)

var partNames = [parts]string{
	"bias", "mean probability of the parents", "best probability of a parent",
	"log(1 + parents)", "log(1 + parents on topic)", "share of parents on topic",
	"best anchor", "mean anchor", "best context", "mean context",
	"host so far", "share in navigation",
}

// hostPages is how many pages' worth of doubt a host's record begins with.
const hostPages = 1

func (e *evidence) features() (x [parts]float64) {
	n := float64(e.parents)
	x[partBias] = 1
	x[partMeanProb] = float64(e.prob.sum) / n
	x[partMaxProb] = float64(e.prob.max)
	x[partParents] = math.Log1p(n)
	x[partOnTopic] = math.Log1p(float64(e.onTopic))
	x[partShare] = float64(e.onTopic) / n
	x[partMaxAnchor] = float64(e.anchor.max)
	x[partMeanAnchor] = float64(e.anchor.sum) / n
	x[partMaxContext] = float64(e.context.max)
	x[partMeanContext] = float64(e.context.sum) / n
	x[partHost] = (e.host.onTopic + 0.3*hostPages) / (e.host.pages + hostPages)
	x[partNav] = float64(e.nav) / n
	return x
}

// logOdds is bounded, so that one sure word does not drown all else.
func logOdds(p float64) float64 {
	const most = 4
	return max(-most, min(most, math.Log(p/(1-p))))
}

// terms tells what each part brought to the score.
func (m *logistic) terms(x [parts]float64) []Term {
	terms := []Term{{"expected", m.probability(x), "when it was fetched, by what its links told:"}}
	for i, v := range x {
		terms = append(terms, Term{"  " + partNames[i], m.weight[i] * v, fmt.Sprintf("%.3g × %.3g", m.weight[i], v)})
	}
	return terms
}
