package learned

// Most pages of a crawl that has grown are off topic, and one more of them says little of
// what its words are worth. So of these the words of every other one are not counted, and
// those of the others count twice: what is expected of a word's record is the same, for
// half the work. Chosen on sub-topics of Biology in wikispeedia, 1,500 pages, where it
// made no difference from 500 pages on.
const (
	thinFrom  = 2000 // pages, before which all count
	thinBelow = 0.1  // probability, from which on all count
)

// counts says as how many pages the words of a page count, by its page.Key and how far it
// is taken to be on topic.
func (l *Scorer) counts(key uint64, probability float64) float64 {
	switch {
	case l.all.pages < thinFrom || probability >= thinBelow:
		return 1
	case key&1 == 0:
		return 0
	}
	return 2
}
