package learned

import (
	"math"
	"strconv"
)

// The parts of a link's score. Lifts are differences of log-odds, 0 is no better
// than the crawl so far; opinions of the judge are log-odds above those of a text
// without words, in [-4,4]. Stores have their numbers (see account): a new part goes to
// the end, and none is taken away.
const (
	partBias        = iota
	partMeanParent  // mean probability of the pages that link here
	partBestParent  // the largest of these
	partOnTopic     // log(1 + sum of these): agreement of many
	partBestAnchor  // judge of the links' words, with the URL: the best link
	partMeanAnchor  // the mean of the links
	partBestContext // judge of the words around the links
	partMeanContext
	partWord     // lift of the links' words on the pages so far: the best
	partMeanWord // and their mean
	partLinkWord // mean lift of the links' words, in the links that were followed
	partOver     // how much more often they stand on pages on topic than at large: the mean
	partAround   // the same of the words around the links
	partEnding   // mean lift of the endings of the links' words, in the links that were followed
	partHub      // mean lift of the parents' other links, as far as their pages are known
	partNear     // lift of those of them that stand near
	partHost     // lift of the host
	partFolder   // lift of the folder, above its host
	partNav      // 1 if all links stand in navigation
	partEarly    // place in the page, 1 the first link and near 0 the last: the best
	partHops     // log(1 + links since a page on topic)
	partMarks    // what people's marks add for the links' words, see markShift
	parts
)

// prior is what the weights begin with, to which young is added at the beginning:
// rounded from a fit to what ranks a queue's targets on topic before its others, on
// crawls by the weights of the fit before, for eleven sub-topics of Biology in
// wikispeedia and mixtures of these. Weights by a fit to one crawl's queues were no
// better than ones chosen by hand, and those nearer to the last fit than these worse
// on webkb, see docs/relevance.md. Hosts and folders say nothing in wikispeedia; their
// weights, and those of what the fit did not have, words around and endings, are chosen
// by hand.
var prior = [parts]float64{
	partBias:        -3.5,
	partMeanParent:  1,
	partOnTopic:     0.2,
	partBestAnchor:  0.6,
	partMeanAnchor:  0.6,
	partBestContext: 0.2,
	partMeanContext: 0.1,
	partLinkWord:    2,
	partOver:        1,
	partAround:      0.5,
	partEnding:      0.8,
	partHub:         0.8,
	partNear:        0.7,
	partHost:        0.2,
	partFolder:      0.2,
	partNav:         -0.5,
	partMarks:       1,
}

// young is what is added to the weights at the beginning, and fades by a factor e in
// childhood pages: while nearly all pages that link are start pages, who links says
// little, and lifts of words are small, as few pages have them. What the words are worth
// of which a Lesson told needs less of that, see taughtYoung.
var young = [parts]float64{
	partMeanParent: -0.9,
	partLinkWord:   2.5,
	partOver:       0.7,
}

// taughtYoung is young of a scorer that had a Lesson.
var taughtYoung = [parts]float64{
	partMeanParent: -0.9,
	partLinkWord:   1.5,
}

// childhood is in pages.
const childhood = 60

// wordAlone is the first weight of the links' words on pages where it is not known
// how often they stand on pages at large.
const wordAlone = 0.7

// What makes up partMarks, once people have marked pages: the correction of the judge
// for the links' words, and how pages with these words went, in which a marked page
// counts for several. Without marks pages at large say more than the latter; but they do
// not hear what people say, and so with marks they weigh less. Chosen on the sub-topics
// of wikispeedia's Biology.
const (
	markShift = 4.5
	markMean  = 3
	markBest  = 1.5
	markLarge = -0.4
)

// parts returns the numbers that say what a target may be.
func (l *Scorer) parts(e *evidence) (x [parts]float64) {
	l.partsTo(&x, e)
	return x
}

// partsTo fills x, which is zero, with parts.
func (l *Scorer) partsTo(x *[parts]float64, e *evidence) {
	n := float64(e.voices())
	x[partBias] = 1
	sum, most := e.probs()
	x[partMeanParent] = sum / float64(e.parents)
	x[partBestParent] = most
	x[partOnTopic] = math.Log1p(sum)
	x[partBestAnchor] = float64(e.anchor.max)
	x[partMeanAnchor] = float64(e.anchor.sum) / n
	x[partBestContext] = float64(e.context.max)
	x[partMeanContext] = float64(e.context.sum) / n
	worth := l.vocabulary.worth(e.words[:e.count], &l.base)
	x[partMeanWord], x[partWord], x[partLinkWord], x[partOver] = worth.mean, worth.most, worth.inLinks, worth.over
	x[partAround] = float64(e.over) / n
	x[partEnding] = l.vocabulary.ended(e.endings[:e.ended], &l.base)
	for _, s := range e.named() {
		x[partHub] += s.followed.above(&l.base)
	}
	x[partHub] /= float64(max(1, len(e.named())))
	near := e.near()
	x[partNear] = near.lift(l.base.mean, l.base.odds)
	x[partHost] = e.host.above(&l.base)
	x[partFolder] = e.folder.aboveHost(e.host, &l.base)
	if !e.text {
		x[partNav] = 1
	}
	x[partEarly] = float64(e.early) / 255
	x[partHops] = math.Log1p(float64(e.hops))
	if l.marks.fix != nil {
		x[partMarks] = markShift*l.marks.fix.shift(e.words[:e.count]) + markMean*x[partMeanWord] + markBest*x[partWord] +
			markLarge*(x[partOver]+x[partAround])
	}
}

// about names each part and says what it found.
func (a *account) about() [parts][2]string {
	x := &a.found
	odds := func(part int) string { return "odds × " + strconv.FormatFloat(math.Exp(x[part]), 'g', 2, 64) }
	f := func(v float64, decimals int) string { return strconv.FormatFloat(v, 'f', decimals, 64) }
	where := "in running text"
	if !a.inText {
		where = "in navigation only"
	}
	return [parts][2]string{
		partBias:        {"start", "what every link begins with"},
		partMeanParent:  {"pages that link here", f(a.parents, 0) + ", probability " + f(x[partMeanParent], 2) + " in the mean"},
		partBestParent:  {"best of these", "probability " + f(x[partBestParent], 2)},
		partOnTopic:     {"their number", f(math.Expm1(x[partOnTopic]), 1) + " of them on topic, by the sum of their probabilities"},
		partBestAnchor:  {"link text, best", odds(partBestAnchor) + " by the model, with the URL"},
		partMeanAnchor:  {"link text, mean", odds(partMeanAnchor) + " by the model, with the URL"},
		partBestContext: {"words around, best", odds(partBestContext) + " by the model"},
		partMeanContext: {"words around, mean", odds(partMeanContext) + " by the model"},
		partWord:        {"best word", odds(partWord) + ", as fetched pages that have this word of the link went"},
		partMeanWord:    {"words, mean", odds(partMeanWord) + ", as fetched pages with these words went"},
		partLinkWord:    {"link words", odds(partLinkWord) + ", as other links with these words went, and titles of training pages where the model tells of them"},
		partOver:        {"words at large", "odds × " + strconv.FormatFloat(math.Exp(x[partOver]), 'g', 2, 64) + ", as they stand on pages on topic and on pages at large"},
		partAround:      {"words around at large", odds(partAround) + ", as they stand on pages on topic and on pages at large"},
		partEnding:      {"word endings", odds(partEnding) + ", as other links whose words end alike went, and titles of training pages where the model tells of them"},
		partHub:         {"sister links", odds(partHub) + ", as the other links of the same pages went, those to known pages too"},
		partNear:        {"links beside", odds(partNear) + ", as links that stand near on the same pages went"},
		partHost:        {"host", odds(partHost) + ", as its " + f(a.host, 0) + " fetched pages went"},
		partFolder:      {"folder", odds(partFolder) + " against its host, as its " + f(a.folder, 0) + " fetched pages went"},
		partNav:         {"navigation", "links stand " + where},
		partEarly:       {"place", f(100*(1-x[partEarly]), 0) + " % of a page's links come before it"},
		partHops:        {"distance", f(a.hops, 0) + " links since a page on topic"},
		partMarks:       {"marks", odds(partMarks) + ", as the links' words are among those of pages that people marked, and as pages with these words went"},
	}
}
