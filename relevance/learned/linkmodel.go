package learned

import (
	"math"
	"slices"
	"strconv"

	"fossick/internal/page"
)

// linkModel makes features of a target's evidence and weighs them. It learns three things from fetched
// pages: the crawl's base rate, what words are worth, and the weights.
type linkModel struct {
	base    base
	words   vocabulary
	weights logistic
	local   locality
	scarce  float64 // how little the judge saw of the topic, see scarceOf
	doubt   float64 // of the judge, see belief
	blind   float64 // how far links go by where they come from, see blind.go
	away    float64 // what links from the start pages count now
	begun   bool    // there was a page that is no start page
	sums    *Sums   // what was learned since others were told; nil where nobody asks
}

func newLinkModel(background *Background, start *WarmStart) linkModel {
	m := linkModel{base: newBase(background, start), words: newVocabulary(), weights: newLogistic(background != nil, start != nil)}
	m.words.take(start)
	return m
}

// promise is the probability that a target is on topic. fix is of people's labels.
func (m *linkModel) promise(e *evidence, fix *correction) float64 {
	var x featureVector
	m.features(&x, e, fix)
	return highest * m.weights.probability(&x)
}

// learn takes in what the evidence of a target, and what was found in it, was worth. It does so for the
// weights, for the words of its links, and for the pages that named it.
func (m *linkModel) learn(e *evidence, found *featureVector, probability float64) {
	m.sums.learnWeights(&m.weights, found, probability)
	m.weights.learn(found, probability)
	for _, words := range [][]token{e.words[:e.count], e.endings[:e.ended]} {
		m.words.learnLink(words, probability)
		m.sums.learnLink(words, probability)
	}
	for i, s := range e.named() {
		s.turned(e.at[i], probability)
		m.sums.learnTurn(s, e.at[i], probability)
	}
}

// learnPage takes in a page's words, each given once, and returns as how many pages they count: less
// than one where they are an echo.
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

// begin takes in that there is a page that is no start page.
func (m *linkModel) begin() {
	m.begun = true
	if m.sums != nil {
		m.sums.begun = true
	}
}

// turn goes on to the next page: what lifts are above moves, and the warm-up fades.
func (m *linkModel) turn() {
	m.base.move()
	m.weights.age(float64(m.base.all.pages))
	m.blind = max(m.blind, m.scarce*m.local.ramp(blindFrom, blindTo))
	m.away = m.doubt*m.local.ramp(awayFrom, awayTo) + m.blind
}

// rarity is the weight of a word by how few of the crawl's pages have it.
func (m *linkModel) rarity(w token) float64 {
	known := float64(m.words.words.find(w).page.pages)
	return math.Log((float64(m.base.all.pages) + 1) / (known + 1))
}

// Most pages of a crawl that has grown are off topic, and one more of them says little of what its
// words are worth. So they are undersampled: the words of every other one are not counted, and those of
// the others count twice. What is expected of a word's record is the same, for half the work.
const (
	undersampleFrom  = 2000 // pages, before which all count
	undersampleBelow = 0.1  // probability, from which on all count
)

// wordWeight says as how many pages the words of a page count, by the pages so far, its page.Key and
// how far it is taken to be on topic.
func wordWeight(pages float32, key uint64, probability float64) float64 {
	switch {
	case pages < undersampleFrom || probability >= undersampleBelow:
		return 1
	case key&1 == 0:
		return 0
	}
	return 2
}

// weighAround makes surroundings of what was read, with what words are worth now.
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

// account returns what the score of a target is made of.
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

// logistic is a logistic model that learns one example at a time. Its weights are normal with a
// covariance, which each example shrinks along what it shows, by one step of Newton's method
// (Spiegelhalter and Lauritzen 1990). So a sign that always came with another is not blamed for it
// twice, and what was never seen may still move far.
type logistic struct {
	weight     featureVector
	covariance [numFeatures]featureVector
	warmUp     *featureVector // warmUp or taughtWarmUp
	fade       float64        // of warmUp
}

const (
	// firstVariance is how far the first weights may be wrong.
	firstVariance = 0.1
	// leastSlope bounds the slope p·(1−p) of what a model that is sure learns by.
	leastSlope = 0.05
	// steadied is how far the weights may still be wrong once people label pages.
	steadied = 0.1
)

// newLogistic returns the model as it begins; background says whether featOver is known, taught whether
// there was a WarmStart.
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
		case featAway, featKin, featLabels: // doubt and people say what these are worth, not the judge's word on pages
		case featDegree: // of two links that differ in R alone that of the larger R comes first
		default:
			m.covariance[i][i] = firstVariance
		}
	}
	return m
}

// at is the weight of a feature now.
func (m *logistic) at(part int) float64 { return m.weight[part] + m.fade*m.warmUp[part] }

// age takes in how many pages the crawl has.
func (m *logistic) age(pages float64) { m.fade = math.Exp(-pages / warmUpPages) }

func (m *logistic) probability(x *featureVector) float64 {
	z := 0.0
	for i, v := range x {
		z += m.at(i) * v
	}
	return 1 / (1 + math.Exp(-z))
}

// steady has the model learn slower. Once people have labelled pages, what the others turn out to be is
// the judge's word with a little of theirs, and would unlearn what they say.
func (m *logistic) steady() {
	for i := range m.covariance {
		for j := range m.covariance[i] {
			m.covariance[i][j] *= steadied
		}
	}
}

// learn moves the weights towards what a page turned out to be, y in [0,1]. With x the features, C the
// covariance and s the slope p·(1−p), it adds C·x·(y−p)/(1 + s·xᵀCx) to the weights and takes
// s·C·x·xᵀC/(1 + s·xᵀCx) from C.
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

// linkWork is room for what is found out about the links of a page, which is used again for the next
// page's. It serves one goroutine.
type linkWork struct {
	keys    []uint64    // page.Key of the targets
	links   []inLink    // with what the page says
	targets []*evidence // of those that wait
}

// begin makes room for p's links.
func (w *linkWork) begin(p *page.Page) {
	n := len(p.Links)
	w.links, w.targets = zeros(w.links, n), zeros(w.targets, n)
	w.name(p)
}

// name makes the targets' keys.
func (w *linkWork) name(p *page.Page) {
	w.keys = w.keys[:0]
	for i := range p.Links {
		w.keys = append(w.keys, page.Key(p.Links[i].URL))
	}
}

// zeros returns n zeros, in the place of s where there is room.
func zeros[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// The features of a link's score. Lifts are differences of log-odds, 0 is no better than the crawl so
// far; opinions of the judge are log-odds above those of a text without words, in [-4,4]. Stores have
// their numbers (see account): a new one goes to the end, and none is taken away.
const (
	featBias        = iota
	featMeanParent  // mean probability of the pages that link here
	featBestParent  // the largest of these
	featOnTopic     // log(1 + sum of these): agreement of many
	featBestAnchor  // judge of the links' words, with the URL: the best link
	featMeanAnchor  // the mean of the links
	featBestContext // judge of the words around the links
	featMeanContext
	featWord     // lift of the links' words on the pages so far: the best
	featMeanWord // and their mean
	featLinkWord // mean lift of the links' words, in the links that were followed
	featOver     // how much more often they stand on pages on topic than at large: the mean
	featAround   // the same of the words around the links
	featEnding   // mean lift of the endings of the links' words, in the links that were followed
	featHub      // mean lift of the parents' other links, as far as their pages are known
	featNear     // lift of those of them that stand near
	featHost     // lift of the host
	featFolder   // lift of the folder, above its host
	featNav      // 1 if all links stand in navigation
	featEarly    // place in the page, 1 the first link and near 0 the last: the best
	featHops     // log(1 + links since a page on topic)
	featLabels   // what people's labels add for the links' words, see labelShift
	featAway     // log of links from a start page, as far as the judge is doubted and the topic hangs together
	featYield    // lift of what the last pages at URLs of the pattern brought
	featKin      // log-odds of the best page that links here, as far as the judge is blind
	featDegree   // R of the best page that links here, less middleDegree
	numFeatures
)

// featureVector is what was found of a target.
type featureVector [numFeatures]float64

// prior is what the weights begin with, to which warmUp is added at the beginning. It is rounded from a
// fit to what ranks a queue's targets on topic before its others, see docs/relevance.md.
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

// warmUp is what is added to the weights at the beginning, and fades by a factor e in warmUpPages.
// While nearly all pages that link are start pages, who links says little, and lifts of words are
// small, as few pages have them.
var warmUp = featureVector{
	featMeanParent: -0.9,
	featLinkWord:   2.5,
	featOver:       0.7,
}

// taughtWarmUp is warmUp of a scorer that had a WarmStart.
var taughtWarmUp = featureVector{
	featMeanParent: -0.9,
	featLinkWord:   1.5,
}

const warmUpPages = 60

// wordAlone is the first weight of the links' words on pages where it is not known how often they stand
// on pages at large.
const wordAlone = 0.7

// R's weight, which is not learned, and what is taken from R so that the other weights mean what they
// do without it.
const (
	degreeWeight = 0.05
	middleDegree = 0.5
)

// What makes up featLabels, once people have labelled pages. It is the correction of the judge for the
// links' words, and how pages with these words went, in which a labelled page counts for several.
// Without labels pages at large say more than the latter; but they do not know what people say, and so
// with labels they weigh less.
const (
	labelShift = 4.5
	labelMean  = 3
	labelBest  = 1.5
	labelLarge = -0.4
)

// aFewLinks is the distance from the start pages that speaks neither for a target nor against it.
const aFewLinks = 2

// Distance from the start pages counts as the judge is doubted, and as the topic hangs together: not
// where links of pages on topic promise awayFrom, in full where they promise awayTo. It counts besides
// as far as the judge is blind.
const (
	awayFrom = 0.3
	awayTo   = 0.6
)

// features fills x, which is zero, with what evidence says of a target. fix is of people's labels, nil
// where there are none.
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

// about names each feature and says what it found.
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
