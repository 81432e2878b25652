package learned

// maxPrior bounds the log-odds that prior adds: a crawl of the topic alone would make
// anything of a page.
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
// lost may yet find the topic, and 0 where π, the share given, is not known.
func (b *base) prior(share float64) float64 {
	if !(share > 0 && share < 1) {
		return 0
	}
	return max(0, min(maxPrior, b.odds-logit(share)))
}

// inCrawl is a probability by the judge with a prior.
func inCrawl(probability, prior float64) float64 {
	if prior == 0 {
		return probability
	}
	return sigmoid(logit(inside(probability)) + prior)
}
