package learned

import (
	"math"
	"slices"
	"strings"
)

// evidence is what is known of a target that waits: 176 bytes.
type evidence struct {
	host, folder *record
	yield        *yield              // of the URL's pattern
	sources      [maxSources]*source // the first pages that link here
	at           [maxSources]uint8   // places of their links, see cocitation.go
	parents      uint16              // pages that link here
	words        [maxLinkWords]token // of the links' texts and the URL, the first of them
	endings      [maxEndings]token   // of the links' words, the first of them
	count        uint8               // of words
	ended        uint8               // of endings
	early        uint8               // 255 is the first link of its page, near 0 the last: the best
	hops         uint8               // links since a page on topic, on the shortest way, 255 at most
	depth        uint8               // links from a start page, on the shortest way; 0: not known
	text         bool                // a link stands in running text, not in navigation
	explored     bool                // to be fetched because little is known of it
	label        int8                // what a person said of it
	turn         uint32              // of the page that named it last
	prob         extreme             // of the parents
	anchor       extreme             // log-odds of the links' words, by the judge, above silence
	context      extreme             // the same of the words around the links
	over         float32             // of the words around, see surroundings: the sum
	degree       float32             // R of the best page that links here
}

// More of these would tell little more, and there are half a million targets.
const (
	maxSources   = 6
	maxLinkWords = 8
)

// extreme keeps the sum and the largest of some numbers.
type extreme struct{ sum, max float32 }

func (e *extreme) add(x float64, first bool) {
	e.sum += float32(x)
	if first || float32(x) > e.max {
		e.max = float32(x)
	}
}

// linkText is what a link says of its target by itself, whatever page it stands on.
type linkText struct {
	anchor  float64 // log-odds of its text and URL, by the judge, above those of silence
	words   [maxLinkWords]token
	endings [maxEndings]token
	count   uint8 // of words
	ended   uint8 // of endings
}

// inLink is what one page says of a target.
type inLink struct {
	linkText
	context float64 // log-odds of the words around, by the judge, above those of silence
	over    float64 // of them, see surroundings
	early   uint8
	at      uint8 // place of the link in its page
	nav     bool
}

// logit is for probabilities that are not 0 or 1.
func logit(p float64) float64 { return math.Log(p / (1 - p)) }

// maxTexts is how many pages' words about a target count, those of the first.
// By then it is known what the target is called, and one more would move a mean
// by a ninth at most. But in a crawl that has grown most links lead to what
// many pages have named. Who they are counts on.
const maxTexts = 8

// add takes in one more page that links here.
func (e *evidence) add(v *inLink, from *source, probability float64) {
	if e.parents == math.MaxUint16 { // one more would change nothing
		return
	}
	first := e.parents == 0
	if e.parents < maxTexts {
		e.addText(v, first)
	}
	if n := int(e.parents); n < maxSources {
		e.sources[n], e.at[n] = from, v.at
	}
	e.parents++
	e.text = e.text || !v.nav
	e.prob.add(probability, first)
	e.early = max(e.early, v.early)
	e.degree = max(e.degree, from.degree)
	if first || from.hops < e.hops {
		e.hops = from.hops
	}
	if depth := min(from.depth, math.MaxUint8-2) + 1; first || depth < e.depth {
		e.depth = depth
	}
}

// addText takes in the words of a link, and those around.
func (e *evidence) addText(v *inLink, first bool) {
	for _, w := range v.words[:v.count] {
		if int(e.count) < maxLinkWords && !slices.Contains(e.words[:e.count], w) {
			e.words[e.count] = w
			e.count++
		}
	}
	for _, w := range v.endings[:v.ended] {
		if int(e.ended) < maxEndings && !slices.Contains(e.endings[:e.ended], w) {
			e.endings[e.ended] = w
			e.ended++
		}
	}
	e.anchor.add(v.anchor, first)
	e.context.add(v.context, first)
	e.over += float32(v.over)
}

// texts is how many pages' words were taken in.
func (e *evidence) texts() int { return min(int(e.parents), maxTexts) }

// named returns the pages that named the target, the first few.
func (e *evidence) named() []*source { return e.sources[:min(int(e.parents), maxSources)] }

// record counts pages and sums their probabilities.
type record struct{ pages, onTopic float32 }

func (r *record) add(probability float64) {
	r.pages++
	r.onTopic += float32(probability)
}

// mean is the mean probability, in (0,1): with one half of doubt, one half where
// there is no page.
func (r *record) mean() float64 { return (float64(r.onTopic) + 0.5) / (float64(r.pages) + 1) }

// folder is a URL without its query and what follows its last slash.
func folder(url string) string {
	path, _, _ := strings.Cut(url, "?")
	return path[:strings.LastIndexByte(path, '/')+1]
}
