package learned

import (
	"math"
	"slices"
	"strconv"

	"fossick/internal/page"
)

// linkModel turns a target's evidence into features and weighs them by an Order. It learns the crawl's base
// rate, the worth of words, and a correction of the weights.
type linkModel struct {
	base    base
	words   vocabulary
	weights logistic
	local   locality
	order   *Order // weights learned offline
	judge   judgeSeen
	near    nearness
	gauges  gauges
	out     struct{ links, within float64 } // links of the pages, and those that stay on their host
	state   state                           // of the crawl, as of the last page
	now     uint32                          // number of pages whose links were read
	begun   bool                            // a page other than a start page was scored
	sums    *Sums                           // what was learned since the last Learned; nil unless shared
}

func newLinkModel(background *Background, start *WarmStart, order *Order, seen float64) linkModel {
	m := linkModel{base: newBase(background, start), words: newVocabulary(), order: order}
	m.judge.seen = seen
	m.weights.begin(order, m.judge.trust())
	m.words.take(start)
	m.nextPage()
	return m
}

// judgeSeen is what the crawl has seen of its judge.
type judgeSeen struct {
	seen      float64 // its training pages on topic; 0: unknown
	unknown   float64 // share of the start pages that it does not recognise
	pages     float64 // that it judged
	sum, size float64 // of its log-odds, and of their absolute values
	starts    float64 // mean log-odds of the start pages
}

// nearness is how near the crawl's pages lie to the start pages' folders.
type nearness struct {
	pages, sumMost, sumMean float64
	starts                  float64 // mean nearness of start pages to each other
}

func (n *nearness) add(most, mean float64) {
	n.pages++
	n.sumMost += most
	n.sumMean += mean
}

func (n *nearness) most() float64 { return n.sumMost / max(1, n.pages) }
func (n *nearness) mean() float64 { return n.sumMean / max(1, n.pages) }

// trust is how far corrections by the judge's verdicts may go.
func (j *judgeSeen) trust() float64 {
	if j.seen <= 0 {
		return 1 // unknown
	}
	return j.seen / (j.seen + few)
}

func (j *judgeSeen) add(odds float64) {
	j.pages++
	j.sum += odds
	j.size += math.Abs(odds)
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
	m.gauges.add(found, probability, m.base.odds)
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

// nextPage moves to the next page: it updates the base rate, the crawl's state and the weights.
func (m *linkModel) nextPage() {
	m.base.move()
	j := &m.judge
	pages, local, judged := float64(m.base.all.pages), m.local.mean(), max(1, j.pages)
	early, scarcely, fewSeen := math.Exp(-pages/earlyPages), 0.0, 0.0
	if j.seen > 0 {
		scarcely, fewSeen = scarce*scarce/(scarce*scarce+j.seen*j.seen), few/(few+j.seen)
	}
	for i, v := range [stateGains]float64{1, early, math.Log1p(pages) / 7, scarcely, fewSeen, j.unknown, local, local * fewSeen,
		m.base.odds / 5, j.sum / judged / 5, j.size / judged / 6, local * early, j.unknown * fewSeen,
		m.out.within / max(1, m.out.links), math.Log1p(m.out.links/max(1, pages)) / 5,
		clip(j.starts-j.sum/judged, 10) / 5, m.near.starts - m.near.mean()} {
		m.state[i] = float32(v)
	}
	for k, sum := range m.gauges.sum {
		m.state[stateGains+k] = float32(3 * sum / (m.gauges.pages + gaugeDoubt))
	}
	m.weights.learned = m.order.weights(&m.state)
	if m.base.background == nil {
		m.weights.learned[featMeanWord] += wordAlone
	}
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

// logistic is a logistic regression of learned weights and an online correction. The correction's weights
// are normally distributed. Each example is one Newton step that shrinks the covariance along its features
// (Spiegelhalter and Lauritzen 1990). Correlated features thus share the blame.
type logistic struct {
	learned    featureVector // from the Order
	weight     featureVector // correction
	covariance [numFeatures]featureVector
}

const (
	// leastSlope is the minimum of the slope p·(1−p), so that a certain model still learns.
	leastSlope = 0.05
	// steadied is the factor on the covariance once people label pages.
	steadied = 0.1
)

// begin sets how far corrections may go: by the weights' spread between crawls, times a trust in the judge, in
// [0,1].
func (m *logistic) begin(order *Order, trust float64) {
	for i := range m.covariance {
		if i != featLabels && i != featDegree { // people's labels decide; R only breaks ties, the larger first
			m.covariance[i][i] = trust * order.spread[i]
		}
	}
}

// at is the current weight of a feature.
func (m *logistic) at(part int) float64 { return m.learned[part] + m.weight[part] }

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
	featAway     // log distance from the start pages
	featYield    // lift of the latest pages at URLs of the pattern
	featKin      // log-odds of the best parent
	featDegree   // R of the best parent, minus middleDegree
	featMeanKin  // log-odds of the parents' mean probability, above the crawl's
	featParents  // log(1 + number of parents)
	featSince    // log(1 + pages since the last link)
	featAge      // log(1 + pages since the first link)
	featVisits   // log(1 + pages of the host)
	featNearby   // log(1 + weight of the links that are near)
	featFollowed // log(1 + mean number of the parents' followed links)
	featWordless // 1 if the anchors and the URL have no words
	featStart    // greatest nearness to a start page's folder, above the crawl's
	featStarts   // mean of these
	featShared   // greatest probability of a parent × nearness to its folder
	featStays    // share of the parents on the same host
	numFeatures
)

// featureVector has one value per feature.
type featureVector [numFeatures]float64

// wordAlone is added to the weight of featMeanWord where there is no Background.
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

// boundKin bounds log-odds of parents.
const boundKin = 6

// logs has log(1 + n) of small n: logarithms dominate the cost of a score.
var logs = func() (logs [256]float64) {
	for n := range logs {
		logs[n] = math.Log1p(float64(n))
	}
	return logs
}()

func log1p(n uint32) float64 {
	if n < uint32(len(logs)) {
		return logs[n]
	}
	return math.Log1p(float64(n))
}

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
	followed := float32(0)
	for _, s := range e.named() {
		followed += s.followed.pages
	}
	x[featNearby], x[featFollowed] = math.Log(1+float64(near.pages)), math.Log(1+float64(followed)/float64(max(1, len(e.named()))))
	x[featVisits] = log1p(uint32(e.host.pages))
	x[featParents] = log1p(uint32(e.parents))
	x[featSince], x[featAge] = log1p(m.now-e.lastPage), log1p(m.now-e.firstPage)
	x[featStart], x[featStarts] = float64(e.most)-m.near.most(), float64(e.mean)-m.near.mean()
	x[featShared], x[featStays] = float64(e.shared), float64(e.stays)/n
	if e.count == 0 {
		x[featWordless] = 1
	}
	best := logit(inside(most))
	mean := best
	if e.parents > 1 {
		mean = logit(inside(x[featMeanParent]))
	}
	x[featKin], x[featMeanKin] = clip(best, boundKin), clip(mean-m.base.odds, boundKin)
	x[featHost] = e.host.lift(m.base.mean, m.base.odds)
	host := e.host.mean()
	x[featFolder] = e.folder.lift(host, logit(host))
	x[featYield] = e.yield.lift(m.base.mean, m.base.odds)
	if !e.text {
		x[featNav] = 1
	}
	x[featEarly] = float64(e.early) / 255
	x[featHops] = log1p(uint32(e.hops))
	if e.depth > 0 {
		x[featAway] = math.Log(float64(e.depth) / aFewLinks)
	}
	if fix != nil {
		x[featLabels] = labelShift*fix.shift(e.words[:e.count]) + fix.surprise*(labelMean*x[featMeanWord]+labelBest*x[featWord]+
			labelLarge*(x[featOver]+x[featAround]))
	}
	x[featDegree] = float64(e.degree) - middleDegree
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
		featAway:        {"away", "odds × " + strconv.FormatFloat(math.Exp(a.weighs[featAway]), 'g', 2, 64) + " for the links from a start page"},
		featKin:         {"best of these again", odds(featKin)},
		featMeanKin:     {"mean of these again", odds(featMeanKin) + " compared with the crawl"},
		featParents:     {"number of these", f(a.parents, 0)},
		featSince:       {"last link", f(math.Expm1(x[featSince]), 0) + " pages ago"},
		featAge:         {"first link", f(math.Expm1(x[featAge]), 0) + " pages ago"},
		featVisits:      {"pages of the host", f(a.host, 0)},
		featNearby:      {"links beside followed", f(math.Expm1(x[featNearby]), 1)},
		featFollowed:    {"sister links followed", f(math.Expm1(x[featFollowed]), 1)},
		featStart:       {"place", f(x[featStart], 2) + " nearer to a start page's folder than the crawl's pages"},
		featStarts:      {"places", f(x[featStarts], 2) + " nearer to the start pages' folders than the crawl's pages"},
		featShared:      {"place of these", f(x[featShared], 2) + " by the best page that links here, times nearness to its folder"},
		featStays:       {"host of these", f(x[featStays], 2) + " of the pages that link here are on the same host"},
		featWordless:    {"wordless", "1 if the links have no words: " + f(x[featWordless], 0)},
		featDegree:      {"R of the link", "degree of relevance " + f(x[featDegree]+middleDegree, 3) + " of the best page that links here"},
		featLabels:      {"marks", odds(featLabels) + ", by the words of pages that people labelled, and by the outcomes of pages with these words"},
	}
}
