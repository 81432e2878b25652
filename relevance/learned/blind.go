package learned

// A judge that saw next to nothing of a topic cannot tell its parts apart. What it says of a
// link's words foretells what it will say of the page, not what the page is. Where
// pages on topic link to each other, links then go by where they come from: by the best
// page that has one, and by the distance from the start pages. Their words count less.
const (
	// scarce is how many training pages on topic leave a judge half blind. The square of
	// their number counts: with five it misses parts of a topic, with ten few.
	scarce = 4
	// Nothing of this holds where links of pages on topic promise blindFrom, all of it where
	// they promise blindTo; or did once. What they promise falls when the topic's links are
	// used up, and as such a judge does not know the parts that a crawl comes to.
	blindFrom = 0.4
	blindTo   = 0.7
	// blindWords is what is taken from the signs of words.
	blindWords = 0.8
	// boundKin bounds the log-odds of a page that links.
	boundKin = 6
)

// scarceOf is how little a judge saw of a topic, in [0,1], that was trained on so many of
// its pages; 0 where that is not known.
func scarceOf(seen float64) float64 {
	if seen <= 0 {
		return 0
	}
	return scarce * scarce / (scarce*scarce + seen*seen)
}

// ofWords are the features of the words of links and around them.
var ofWords = [...]int{
	featBestAnchor, featMeanAnchor, featBestContext, featMeanContext, featWord, featMeanWord, featLinkWord, featOver, featAround, featEnding,
}

// blind takes from what words say, and adds what the best page that links here says, as far
// as the judge is blind, in [0,1].
func (x *featureVector) blind(far, best float64) {
	for _, i := range ofWords {
		x[i] *= 1 - blindWords*far
	}
	x[featKin] = far * max(-boundKin, min(boundKin, logit(inside(best))))
}
