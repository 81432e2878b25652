package learned

import (
	"math"
	"strconv"
)

// The features of a link's score. Lifts are differences of log-odds, 0 is no better
// than the crawl so far; opinions of the judge are log-odds above those of a text
// without words, in [-4,4]. Stores have their numbers (see account): a new one goes to
// the end, and none is taken away.
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

// prior is what the weights begin with, to which warmUp is added at the
// beginning. It is rounded from a fit to what ranks a queue's targets on topic
// before its others, see docs/relevance.md. The weights of
// hosts, folders, words around and endings are chosen by hand: the fit's web
// says nothing of them.
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

// warmUp is what is added to the weights at the beginning, and fades by a
// factor e in warmUpPages. While nearly all pages that link are start pages,
// who links says little, and lifts of words are small, as few pages have them.
// What the words are worth of which a WarmStart told needs less of that, see
// taughtWarmUp.
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

// wordAlone is the first weight of the links' words on pages where it is not known
// how often they stand on pages at large.
const wordAlone = 0.7

// R's weight, which is not learned, and what is taken from R so that the other weights mean
// what they do without it.
const (
	degreeWeight = 0.05
	middleDegree = 0.5
)

// What makes up featLabels, once people have labelled pages. It is the
// correction of the judge for the links' words, and how pages with these words
// went, in which a labelled page counts for several. Without labels pages at
// large say more than the latter; but they do not know what people say, and so
// with labels they weigh less.
const (
	labelShift = 4.5
	labelMean  = 3
	labelBest  = 1.5
	labelLarge = -0.4
)

// aFewLinks is the distance from the start pages that speaks neither for a target nor
// against it.
const aFewLinks = 2

// Distance from the start pages counts as the judge is doubted, and as the topic hangs
// together: not where links of pages on topic promise awayFrom, in full where they promise
// awayTo. It counts besides as far as the judge is blind.
const (
	awayFrom = 0.3
	awayTo   = 0.6
)

// features fills x, which is zero, with what evidence says of a target. fix is of
// people's labels, nil where there are none.
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
