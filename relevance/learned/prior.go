package learned

// maxPrior bounds the log-odds that prior adds: a crawl of the topic alone would make
// anything of a page. Chosen on sub-topics of Biology in wikispeedia, where 2 to 3 give
// the same and 4 loses what 3 gains.
const maxPrior = 2.5

// prior is by how much the topic's log-odds are larger among the pages of this crawl than
// among those that the judge was trained on. A judge that met one page in thirty on
// topic doubts every page that it does not know, and a crawl that goes well fetches one
// in two. By Bayes' rule a page has there
//
//	logit p + logit π' − logit π,
//
// π and π' the topic's shares at training and now (Saerens, Latinne and Decaestecker
// 2002), π' as the crawl believes it so far. It is never below 0, as a crawl that is
// lost may yet find the topic, and 0 where π is not known. Once people have marked pages
// it is 0 for all: the prior would lift again what they say is off topic.
func (l *Scorer) prior() float64 {
	if !(l.share > 0 && l.share < 1) || l.marks.fix != nil {
		return 0
	}
	return max(0, min(maxPrior, l.base.odds-logit(l.share)))
}

// inCrawl is a probability by the judge with a prior.
func inCrawl(probability, prior float64) float64 {
	if prior == 0 {
		return probability
	}
	return sigmoid(logit(inside(probability)) + prior)
}
