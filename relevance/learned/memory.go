package learned

import "fossick/internal/page"

// What is remembered, in each half: 184,000 targets of about 185 bytes in both,
// half a million fetched pages. And 130,000 hosts and folders, 260,000 words of
// pages and as many of links.
const (
	maxTargets     = 92_000
	maxFetched     = 1 << 18
	maxPlaces      = 1 << 16
	maxPatterns    = 1 << 14
	maxVocabulary  = 1 << 17
	maxRedirected  = 1 << 12
	maxSourcePages = 1 << 10 // pages scored whose links were not, one a worker at most
)

// token is a word of a link or a page, as a number: of 2^32, so that among 100,000
// words one or two share one.
type token = uint32

// divide bounds what is remembered where so many scorers are of one crawl: from three on,
// all together remember as much as two.
func (l *Scorer) divide(scorers int) {
	part := (scorers + 1) / 2
	if part <= 1 {
		return
	}
	l.links.waiting, l.links.fetched, l.links.places = page.NewRecent[*evidence](maxTargets/part), page.NewRecent[known](maxFetched/part), page.NewRecent[*record](maxPlaces/part)
	l.links.yields = newYields(maxPatterns / part)
	l.model.words.words.limit = maxVocabulary / part
	l.history.limit = maxPastWords / part
}
