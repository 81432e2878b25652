package learned

import "math"

// locality is how far the topic hangs together in the crawl so far: what the links of pages
// on topic promise in the mean, those to known pages by what these were. The last pages
// count most.
type locality struct{ links record }

const (
	localFades = 0.995 // what a page counts after one more
	localDoubt = 5     // pages of a promise of localFirst that are thought to have been met
	localFirst = 0.2
)

// add takes in a page on topic with a probability, and the mean promise of its links.
func (l *locality) add(onTopic, promise float64) {
	l.links.pages = l.links.pages*localFades + float32(onTopic)
	l.links.onTopic = l.links.onTopic*localFades + float32(onTopic*promise)
}

// hear takes in what others' pages on topic and their links promised, not yet faded, of so
// many pages.
func (l *locality) hear(told record, pages float64) {
	if pages <= 0 {
		return
	}
	fades := math.Pow(localFades, pages)
	counts := float32((1 - fades) / (1 - localFades) / pages) // each, in the mean
	l.links.pages = l.links.pages*float32(fades) + told.pages*counts
	l.links.onTopic = l.links.onTopic*float32(fades) + told.onTopic*counts
}

// mean is what links of pages on topic promise.
func (l *locality) mean() float64 {
	return (float64(l.links.onTopic) + localDoubt*localFirst) / (float64(l.links.pages) + localDoubt)
}

// ramp is 0 where the mean is from at most, 1 where it is to or more.
func (l *locality) ramp(from, to float64) float64 {
	return max(0, min(1, (l.mean()-from)/(to-from)))
}
