package learned

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"fossick/internal/page"
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

// maxTexts is how many pages' words about a target count, those of the first. By then it is known what
// the target is called, and one more would move a mean by a ninth at most.
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

// mean is the mean probability, in (0,1): with one half of doubt, one half where there is no page.
func (r *record) mean() float64 { return (float64(r.onTopic) + 0.5) / (float64(r.pages) + 1) }

// folder is a URL without its query and what follows its last slash.
func folder(url string) string {
	path, _, _ := strings.Cut(url, "?")
	return path[:strings.LastIndexByte(path, '/')+1]
}

// source is a page as a giver of links. What some of them turned out to be says what the others may be.
// A page is a hub of the topic or is not (co-citation, Small 1973). Links that stand together in a list
// or a sentence are of a kind (Davison 2000, "Topical locality in the Web").
type source struct {
	key         uint64  // page.Key
	followed    record  // its links whose pages are known, fetched before or since
	turns       []uint8 // what they turned out to be, by place: 0 unknown, else 1 + 254 · probability
	probability float32 // its probability, when its links were taken in, see startPages
	moved       float32 // by so much it has changed since, by what people said
	degree      float32 // R of the page; 0: not known
	scored      bool    // probability is known
	depth       uint8   // links from a start page, 254 at most
	hops        uint8   // links since a page on topic, 255 at most; 0 is one itself

	around []surroundings // until its links are scored: of each, nil when not known
}

const (
	// maxPlace is the last place that counts; all links behind share it.
	maxPlace = 255
	// nearBy is how many places away a link still stands near another.
	nearBy = 5
)

// placeOf returns the place of a page's link with number i.
func placeOf(i int) uint8 { return uint8(min(i, maxPlace)) }

// hold makes room for what so many links turn out to be.
func (s *source) hold(links int) {
	if n := min(links, maxPlace+1); n > len(s.turns) {
		s.turns = append(s.turns, make([]uint8, n-len(s.turns))...)
	}
}

// turned takes in what the page of a link turned out to be.
func (s *source) turned(at uint8, probability float64) {
	s.followed.add(probability)
	if int(at) < len(s.turns) {
		s.turns[at] = turnOf(probability)
	}
}

// turnOf is a probability as turns has it.
func turnOf(probability float64) uint8 { return 1 + uint8(254*probability) }

// nearWeight is what a link so many places away counts: 1 over its distance.
var nearWeight = [nearBy + 1]float32{1: 1, 2: 1. / 2, 3: 1. / 3, 4: 1. / 4, 5: 1. / 5}

// near returns what the links that stand near the target's turned out to be, on the first pages that
// name it: nearer ones weigh more. It is nothing as long as no link of the pages was followed.
func (e *evidence) near() (r record) {
	for i, s := range e.named() {
		if s.followed.pages == 0 {
			continue
		}
		at := int(e.at[i])
		from, to := max(0, at-nearBy), min(len(s.turns), at+nearBy+1)
		for k := from; k < to; k++ {
			if t := s.turns[k]; t > 0 && k != at {
				w := nearWeight[max(k-at, at-k)]
				r.pages += w
				r.onTopic += w * float32(t-1) * (1. / 254)
			}
		}
	}
	return r
}

// hubs is the mean lift of the links of some pages, as far as their pages are known.
func (b *base) hubs(pages []*source) float64 {
	if len(pages) == 0 {
		return 0
	}
	followed := newLogSum()
	for _, s := range pages {
		followed.add(s.followed.odds(b.mean))
	}
	return followed.value()/float64(len(pages)) - b.odds
}

// Pages and the targets of their links may be with different agents. So what an agent has to know of a
// page as a giver of links comes along with these, and what they turned out to be is told to all; see
// Sums.turns.

// maxGivers is how many pages are remembered as givers of links while there are other agents: some 5
// MB.
const maxGivers = 1 << 14

// share has the graph remember pages for what others tell of them.
func (g *linkGraph) share() {
	g.shared, g.givers = true, page.NewRecent[*source](maxGivers)
}

// giver returns what is known of a page, new where it is nothing.
func (g *linkGraph) giver(key uint64) *source {
	s, ok := g.givers.Get(key)
	if !ok {
		s = &source{key: key, hops: 1}
		g.givers.Put(key, s)
	}
	return s
}

// introductionBytes is the size of an introduction: a probability, links since a page on topic, links
// from a start page, and R.
const introductionBytes = 10

// introduction is what another agent's scorer has to know of a page that this one has read.
func (s *source) introduction() []byte {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, introductionBytes), math.Float32bits(s.probability))
	return binary.LittleEndian.AppendUint32(append(b, s.hops, s.depth), math.Float32bits(s.degree))
}

// introduce takes in an introduction. Without one that can be read, what is known is whether the page
// is on topic.
func (s *source) introduce(b []byte, onTopic bool) {
	if s.scored {
		return
	}
	if len(b) == introductionBytes {
		p, r := math.Float32frombits(binary.LittleEndian.Uint32(b)), math.Float32frombits(binary.LittleEndian.Uint32(b[6:]))
		if p >= 0 && p <= 1 && r >= 0 && r <= 1 {
			s.scored, s.probability, s.hops, s.depth, s.degree = true, p, b[4], b[5], r
			return
		}
	}
	if onTopic {
		s.hops = 0
	}
}

// linksOf is how many links a page has, though only some may be known.
func linksOf(p *page.Page) int {
	if p.Excerpt != nil {
		return p.Excerpt.Of
	}
	return len(p.Links)
}

// turn is what the page of a link turned out to be.
type turn struct {
	giver uint64 // page.Key of the page that has the link
	at    uint8  // its place there
	worth uint8  // as source.turns has it
}

// maxTurns is how many turns are told at once; of more those that were learned last.
const maxTurns = 1200

// learnTurn notes what a link of a page turned out to be.
func (s *Sums) learnTurn(from *source, at uint8, probability float64) {
	if s == nil {
		return
	}
	if s.turns = append(s.turns, turn{from.key, at, turnOf(probability)}); len(s.turns) >= 2*maxTurns {
		s.turns = append(s.turns[:0], s.turns[len(s.turns)-maxTurns:]...)
	}
}

// hear takes in what links of pages turned out to be with other agents.
func (g *linkGraph) hear(turns []turn) {
	if !g.shared {
		return
	}
	for _, t := range turns {
		s := g.giver(t.giver)
		s.hold(int(t.at) + 1)
		s.turned(t.at, float64(t.worth-1)/254)
	}
}

// locality is how far the topic hangs together in the crawl so far: what the links of pages on topic
// promise in the mean, those to known pages by what these were. The last pages count most.
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

// hear takes in what others' pages on topic and their links promised, not yet faded, of so many pages.
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

// maxPrior bounds the log-odds that prior adds: a crawl of the topic alone would make anything of a
// page.
const maxPrior = 2.5

// prior is by how much the topic's log-odds are larger among the pages of this crawl than among those
// that the judge was trained on. A judge that met one page in thirty on topic doubts every page that it
// does not know, and a crawl that goes well fetches one in two. By Bayes' rule a page has there
//
//	logit p + logit π' − logit π,
//
// π and π' the topic's shares at training and now (Saerens, Latinne and Decaestecker 2002), π' as the
// crawl believes it so far. It is never below 0, as a crawl that is lost may yet find the topic, and 0
// where π, the share given, is not known.
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

// doubt is how many pages of the base rate a record's pages are counted with.
const doubt = 2

// lift is how much more likely than base the record's next page is on topic, as a difference of
// log-odds; 0 where there is no page. odds is logit(base).
func (r *record) lift(base, odds float64) float64 {
	if r.pages == 0 {
		return 0
	}
	return math.Log(r.odds(base)) - odds
}

// odds is the odds that the record's next page is on topic.
func (r *record) odds(base float64) float64 {
	return (float64(r.onTopic) + doubt*base) / (float64(r.pages) - float64(r.onTopic) + doubt*(1-base))
}

// logSum is a sum of logarithms, taken as one of a product: scores are made of sums of lifts, and a
// logarithm takes longer than all else that a lift is made of.
type logSum struct{ product, sum float64 }

func newLogSum() logSum { return logSum{product: 1} }

// add adds the logarithm of x, a positive number between 1e-50 and 1e50.
func (s *logSum) add(x float64) {
	s.product *= x
	if s.product < 1e-200 || s.product > 1e200 {
		s.sum, s.product = s.value(), 1
	}
}

func (s *logSum) value() float64 { return s.sum + math.Log(s.product) }
