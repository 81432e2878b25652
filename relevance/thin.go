package relevance

// Most pages of a crawl that has grown are off topic, and one more of them says little of
// what its words are worth. So of these every other one is not counted for its words, and
// the others count twice: what is expected of a word is the same, for less work.
const (
	thinFrom  = 2000// pages, before which all count
	thinBelow = 0.1 // probability, from which on all count
)

// counts says as how many pages the words of a page count, by its page.Key and how far it
// is taken to be on topic.
func (l *Learned) counts(key uint64, probability float64) float64 {
	switch {
	case l.all.pages < thinFrom || probability >= thinBelow:
		return 1
	case key&1 == 0:
		return 0
	}
	return 2
}
