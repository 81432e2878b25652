package learned

import (
	"math"
	"slices"
	"strconv"

	"fossick/internal/page"
)

// linkModel turns a target's evidence into features and weights them. It learns the crawl's base rate,
// the worth of words, and the weights.
type linkModel struct {
	base    base
	words   vocabulary
	weights logistic
	local   locality
	scarce  float64 // how little the judge saw of the topic, see scarceOf
	doubt   float64 // about the judge, see belief
	blind   float64 // how far parents and distance replace words, see featureVector.blind
	away    float64 // current weight of the distance from the start pages
	begun   bool    // a page other than a start page was scored
	sums    *Sums   // what was learned since the last Learned; nil unless shared
}

func newLinkModel(background *Background, start *WarmStart) linkModel {
	m := linkModel{base: newBase(background, start), words: newVocabulary(), weights: newLogistic(background != nil, start != nil)}
	m.words.take(start)
	return m
}

// promise is the probability that a target is on topic. fix comes from people's labels.
func (m *linkModel) promise(e *evidence, fix *correction) float64 {
	var x featureVector
	m.features(&x, e, fix)
	return highest * m.weights.probability(&x)
}

// learn applies a target's outcome to the weights, the words of its links, and the pages that link to it.
// found are its features.
func (m *linkModel) learn(e *evidence, found *featureVector, probability float64) {
	m.sums.learnWeights(&m.weights, found, probability)
	m.weights.learn(found, probability)
	for _, words := range [][]token{e.words[:e.count], e.endings[:e.ended]} {
		m.words.learnLink(words, probability)
		m.sums.learnLink(words, probability)
	}
	for i, s := range e.named() {
		s.setOutcome(e.at[i], probability)
		m.sums.learnOutcome(s, e.at[i], probability)
	}
}

// learnPage counts a page's distinct words, and returns as how many pages they count. The part of a page
// that is an echo does not count.
func (m *linkModel) learnPage(key uint64, words []token, probability, echo float64) (counted float64) {
	if counted = (1 - echo) * wordWeight(m.base.all.pages, key, probability); counted > 0 {
		m.words.learnPage(words, probability, counted)
		m.sums.learnPage(words, probability, counted)
	}
	m.base.all.add(probability * (1 - echo))
	if m.sums != nil {
		m.sums.all.add(probability * (1 - echo))
	}
	return counted
}

func (m *linkModel) begin() {
	m.begun = true
	if m.sums != nil {
		m.sums.begun = true
	}
}

// nextPage moves to the next page: it updates the base rate, the warm-up and the locality effects.
func (m *linkModel) nextPage() {
	m.base.move()
	m.weights.age(float64(m.base.all.pages))
	m.blind = max(m.blind, m.scarce*m.local.ramp(blindFrom, blindTo))
	m.away = m.doubt*m.local.ramp(awayFrom, awayTo) + m.blind
}

// rarity is the inverse document frequency of a word in the crawl.
func (m *linkModel) rarity(w token) float64 {
	known := float64(m.words.words.find(w).page.pages)
	return math.Log((float64(m.base.all.pages) + 1) / (known + 1))
}

// A grown crawl has mostly pages off topic, each of which adds little. Their words are undersampled:
// every other page is skipped and the others count twice, so expectations stay and the work is halved.
const (
	undersampleFrom  = 2000 // pages; before that all count
	undersampleBelow = 0.1  // probability; from that on all count
)

// wordWeight is as how many pages a page's words count. pages is the number of pages so far.
func wordWeight(pages float32, key uint64, probability float64) float64 {
	switch {
	case pages < undersampleFrom || probability >= undersampleBelow:
		return 1
	case key&1 == 0:
		return 0
	}
	return 2
}

// weighAround converts contexts to surroundings, with the current worth of words.
func (m *linkModel) weighAround(read *Around) []surroundings {
	all := make([]surroundings, len(read.Judged))
	from := 0
	for i, wanted := range read.Wanted {
		if wanted {
			all[i] = surroundings{true, read.Judged[i], m.words.over(read.Words[from:read.Ends[i]], &m.base)}
		}
		from = read.Ends[i]
	}
	return all
}

// account returns the parts of a target's score.
func (m *linkModel) account(e *evidence, fix *correction) *account {
	a := &account{
		parents: float64(e.parents), host: float64(e.host.pages), folder: float64(e.folder.pages), hops: float64(e.hops),
		explored: e.explored && m.begun, byDegree: !m.begun, inText: e.text,
	}
	m.features(&a.found, e, fix)
	a.expected = m.weights.probability(&a.found)
	for i, x := range a.found {
		a.weighs[i] = m.weights.at(i) * x
	}
	return a
}

// logistic is an online logistic regression with normally distributed weights. Each example is one Newton
// step that shrinks the covariance along its features (Spiegelhalter and Lauritzen 1990). Correlated
// features thus share the blame, and the weight of a feature never seen can still move far.
type logistic struct {
	weight     featureVector
	covariance [numFeatures]featureVector
	warmUp     *featureVector // warmUp or taughtWarmUp
	fade       float64        // factor of warmUp
}

const (
	// firstVariance is the initial variance of a weight.
	firstVariance = 0.1
	// leastSlope is the minimum of the slope p·(1−p), so that a certain model still learns.
	leastSlope = 0.05
	// steadied is the factor on the covariance once people label pages.
	steadied = 0.1
)

// newLogistic returns the initial model. background says whether featOver is known, taught whether there
// is a WarmStart.
func newLogistic(background, taught bool) logistic {
	m := logistic{weight: prior, warmUp: &warmUp, fade: 1}
	if taught {
		m.warmUp = &taughtWarmUp
	}
	if !background {
		m.weight[featMeanWord] = wordAlone
	}
	for i := range m.covariance {
		switch i {
		case featAway, featKin, featLabels: // fixed: doubt and people's labels decide, not the judge's verdicts on pages
		case featDegree: // fixed: R only breaks ties, the larger first
		default:
			m.covariance[i][i] = firstVariance
		}
	}
	return m
}

// at is the current weight of a feature.
func (m *logistic) at(part int) float64 { return m.weight[part] + m.fade*m.warmUp[part] }

// age sets the warm-up for the number of pages.
func (m *logistic) age(pages float64) { m.fade = math.Exp(-pages / warmUpPages) }

func (m *logistic) probability(x *featureVector) float64 {
	z := 0.0
	for i, v := range x {
		z += m.at(i) * v
	}
	return 1 / (1 + math.Exp(-z))
}

// scale changes the speed of learning. Once people label pages it is steadied, because outcomes are mostly
// the judge's verdicts and would unlearn the labels.
func (m *logistic) scale(factor float64) {
	for i := range m.covariance {
		for j := range m.covariance[i] {
			m.covariance[i][j] *= factor
		}
	}
}

// learn moves the weights towards an outcome y in [0,1]. With features x, covariance C and slope
// s = p·(1−p), it adds C·x·(y−p)/(1 + s·xᵀCx) to the weights and subtracts s·C·x·xᵀC/(1 + s·xᵀCx)
// from C.
func (m *logistic) learn(x *featureVector, y float64) {
	p := m.probability(x)
	slope := max(leastSlope, p*(1-p))
	var cx featureVector
	spread := 0.0
	for i := range cx {
		for j, v := range x {
			cx[i] += m.covariance[i][j] * v
		}
		spread += cx[i] * x[i]
	}
	shrink := 1 + slope*spread
	for i, c := range cx {
		m.weight[i] += c * (y - p) / shrink
		for j := range cx {
			m.covariance[i][j] -= slope * c * cx[j] / shrink
		}
	}
}

// linkWork is a reusable buffer for the links of one page. It serves one goroutine.
type linkWork struct {
	keys    []uint64    // page.Key of the targets
	links   []inLink    // evidence from the page
	targets []*evidence // nil for fetched targets
}

func (w *linkWork) begin(p *page.Page) {
	n := len(p.Links)
	w.links, w.targets = zeros(w.links, n), zeros(w.targets, n)
	w.name(p)
}

func (w *linkWork) name(p *page.Page) {
	w.keys = w.keys[:0]
	for i := range p.Links {
		w.keys = append(w.keys, page.Key(p.Links[i].URL))
	}
}

// zeros returns n zero values, reusing s.
func zeros[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// The features of a link's score. Lifts are differences of log-odds from the crawl's base rate; verdicts
// of the judge are log-odds above an empty text, in [-4,4]. Stored accounts use these numbers: append
// new features, and remove none.
const (
	featBias        = iota
	featMeanParent  // mean probability of the parents, the pages that link here
	featBestParent  // maximum of these
	featOnTopic     // log(1 + sum of these)
	featBestAnchor  // best verdict on an anchor with the URL
	featMeanAnchor  // mean of these
	featBestContext // best verdict on a context
	featMeanContext
	featWord     // best lift, on pages, of the anchors' words
	featMeanWord // mean of these
	featLinkWord // mean lift of the anchors' words in followed links
	featOver     // mean over-representation of the anchors' words, see Background
	featAround   // the same for the contexts
	featEnding   // mean lift, in followed links, of the endings of the anchors' words
	featHub      // mean lift of the parents' followed links
	featNear     // lift of those that are near
	featHost     // lift of the host
	featFolder   // lift of the folder over its host
	featNav      // 1 if all links are in navigation
	featEarly    // best place on a page: 1 the first link, near 0 the last
	featHops     // log(1 + distance from a page on topic)
	featLabels   // effect of people's labels on the anchors' words, see labelShift
	featAway     // log distance from the start pages, scaled by doubt and locality
	featYield    // lift of the latest pages at URLs of the pattern
	featKin      // log-odds of the best parent, scaled by blindness
	featDegree   // R of the best parent, minus middleDegree
	numFeatures
)

// featureVector has one value per feature.
type featureVector [numFeatures]float64

// prior has the initial weights, rounded from a fit that ranks targets on topic first, see
// docs/relevance.md. warmUp is added at first.
var prior = featureVector{
	featBias:        -3.5,
	featMeanParent:  1,
	featOnTopic:     0.2,
	featBestAnchor:  0.6,
	featMeanAnchor:  0.6,
	featBestContext: 0.2,
	featMeanContext: 0.1,
	featLinkWord:    2,
	featOver:        1,
	featAround:      0.5,
	featEnding:      0.8,
	featHub:         0.8,
	featNear:        0.7,
	featHost:        0.2,
	featFolder:      0.2,
	featNav:         -0.5,
	featLabels:      1,
	featAway:        -16,
	featYield:       0.2,
	featKin:         1.5,
	featDegree:      degreeWeight,
}

// warmUp is added to the weights and decays by e in warmUpPages pages. At first nearly all parents are
// start pages, so their probability says little, and lifts are small because words have few pages.
var warmUp = featureVector{
	featMeanParent: -0.9,
	featLinkWord:   2.5,
	featOver:       0.7,
}

// taughtWarmUp replaces warmUp if there is a WarmStart.
var taughtWarmUp = featureVector{
	featMeanParent: -0.9,
	featLinkWord:   1.5,
}

const warmUpPages = 60

// wordAlone is the initial weight of featMeanWord without a Background.
const wordAlone = 0.7

// The weight of R is not learned. middleDegree centres R, so that the other weights keep their meaning.
const (
	degreeWeight = 0.05
	middleDegree = 0.5
)

// Weights within featLabels, used once people have labelled pages: the correction's shift for the
// anchors' words; mean and best lift of these words, in which a labelled page counts several times; and a
// reduction of featOver and featAround, which ignore labels.
const (
	labelShift = 4.5
	labelMean  = 3
	labelBest  = 1.5
	labelLarge = -0.4
)

// aFewLinks is the neutral distance from the start pages.
const aFewLinks = 2

// The distance from the start pages counts in proportion to the doubt about the judge, rising from none
// to full between these means of locality. Blindness adds to that.
const (
	awayFrom = 0.3
	awayTo   = 0.6
)

// features fills x, which must be zero, from a target's evidence. fix is nil without labels.
func (m *linkModel) features(x *featureVector, e *evidence, fix *correction) {
	n := float64(e.texts())
	x[featBias] = 1
	sum, most := e.probs()
	x[featMeanParent] = sum / float64(e.parents)
	x[featBestParent] = most
	x[featOnTopic] = math.Log1p(sum)
	x[featBestAnchor] = float64(e.anchor.max)
	x[featMeanAnchor] = float64(e.anchor.sum) / n
	x[featBestContext] = float64(e.context.max)
	x[featMeanContext] = float64(e.context.sum) / n
	worth := m.words.worth(e.words[:e.count], &m.base)
	x[featMeanWord], x[featWord], x[featLinkWord], x[featOver] = worth.mean, worth.most, worth.inLinks, worth.over
	x[featAround] = float64(e.over) / n
	x[featEnding] = m.words.ended(e.endings[:e.ended], &m.base)
	x[featHub] = m.base.hubs(e.named())
	near := e.near()
	x[featNear] = near.lift(m.base.mean, m.base.odds)
	x[featHost] = e.host.lift(m.base.mean, m.base.odds)
	host := e.host.mean()
	x[featFolder] = e.folder.lift(host, logit(host))
	x[featYield] = e.yield.lift(m.base.mean, m.base.odds)
	if !e.text {
		x[featNav] = 1
	}
	x[featEarly] = float64(e.early) / 255
	x[featHops] = math.Log1p(float64(e.hops))
	if m.away > 0 && e.depth > 0 {
		x[featAway] = m.away * math.Log(float64(e.depth)/aFewLinks)
	}
	if fix != nil {
		x[featLabels] = labelShift*fix.shift(e.words[:e.count]) + fix.surprise*(labelMean*x[featMeanWord]+labelBest*x[featWord]+
			labelLarge*(x[featOver]+x[featAround]))
	}
	x[featDegree] = float64(e.degree) - middleDegree
	if m.blind > 0 {
		x.blind(m.blind, most)
	}
}

// about returns the name and description of each feature.
func (a *account) about() [numFeatures][2]string {
	x := &a.found
	odds := func(part int) string { return "odds × " + strconv.FormatFloat(math.Exp(x[part]), 'g', 2, 64) }
	f := func(v float64, decimals int) string { return strconv.FormatFloat(v, 'f', decimals, 64) }
	where := "in running text"
	if !a.inText {
		where = "in navigation only"
	}
	return [numFeatures][2]string{
		featBias:        {"start", "the starting value of every link"},
		featMeanParent:  {"pages that link here", f(a.parents, 0) + ", mean probability " + f(x[featMeanParent], 2)},
		featBestParent:  {"best of these", "probability " + f(x[featBestParent], 2)},
		featOnTopic:     {"their number", f(math.Expm1(x[featOnTopic]), 1) + " of them on topic, by the sum of their probabilities"},
		featBestAnchor:  {"link text, best", odds(featBestAnchor) + " by the model, with the URL"},
		featMeanAnchor:  {"link text, mean", odds(featMeanAnchor) + " by the model, with the URL"},
		featBestContext: {"words around, best", odds(featBestContext) + " by the model"},
		featMeanContext: {"words around, mean", odds(featMeanContext) + " by the model"},
		featWord:        {"best word", odds(featWord) + ", by the outcomes of fetched pages with this word of the link"},
		featMeanWord:    {"words, mean", odds(featMeanWord) + ", by the outcomes of fetched pages with these words"},
		featLinkWord:    {"link words", odds(featLinkWord) + ", by the outcomes of other links with these words, and by titles of training pages if the model has them"},
		featOver:        {"words at large", "odds × " + strconv.FormatFloat(math.Exp(x[featOver]), 'g', 2, 64) + ", by how often they occur on pages on topic and on all pages"},
		featAround:      {"words around at large", odds(featAround) + ", by how often they occur on pages on topic and on all pages"},
		featEnding:      {"word endings", odds(featEnding) + ", by the outcomes of other links whose words end alike, and by titles of training pages if the model has them"},
		featHub:         {"sister links", odds(featHub) + ", by the outcomes of the other links of the same pages, including links to known pages"},
		featNear:        {"links beside", odds(featNear) + ", by the outcomes of nearby links on the same pages"},
		featHost:        {"host", odds(featHost) + ", by its " + f(a.host, 0) + " fetched pages"},
		featFolder:      {"folder", odds(featFolder) + " compared with its host, by its " + f(a.folder, 0) + " fetched pages"},
		featYield:       {"pattern", odds(featYield) + ", by how often the last pages at similar URLs brought something new on topic"},
		featNav:         {"navigation", "links stand " + where},
		featEarly:       {"place", f(100*(1-x[featEarly]), 0) + " % of a page's links come before it"},
		featHops:        {"distance", f(a.hops, 0) + " links since a page on topic"},
		featAway:        {"away", "odds × " + strconv.FormatFloat(math.Exp(a.weighs[featAway]), 'g', 2, 64) + " for the links from a start page: the start pages show that the model knows little of the topic"},
		featKin:         {"best of these again", odds(featKin) + ": the model knows little of a topic whose pages link to each other"},
		featDegree:      {"R of the link", "degree of relevance " + f(x[featDegree]+middleDegree, 3) + " of the best page that links here"},
		featLabels:      {"marks", odds(featLabels) + ", by the words of pages that people labelled, and by the outcomes of pages with these words"},
	}
}
