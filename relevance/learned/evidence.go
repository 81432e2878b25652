package learned

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"fossick/internal/page"
)

// evidence is everything known of a queued target: 176 bytes.
type evidence struct {
	host, folder *record
	yield        *yield              // of the URL's pattern
	sources      [maxSources]*source // the first pages that link here
	at           [maxSources]uint8   // places of their links
	parents      uint16              // number of pages that link here
	words        [maxLinkWords]token // first words of the anchors and the URL
	endings      [maxEndings]token   // first endings of the anchors' words
	count        uint8               // of words
	ended        uint8               // of endings
	early        uint8               // best place of a link: 255 is the first on its page, near 0 the last
	hops         uint8               // shortest distance in links from a page on topic, at most 255
	depth        uint8               // shortest distance in links from a start page; 0: unknown
	text         bool                // a link is in running text, not navigation
	explored     bool                // chosen for exploration
	label        int8                // a person's label
	firstPage    uint32
	lastPage     uint32  // number of the page that last linked here
	prob         extreme // probability of the parents
	anchor       extreme // log-odds of the anchors by the judge, above an empty text
	context      extreme // the same for the contexts
	over         float32 // over-representation of the contexts, summed; see surroundings
	degree       float32 // R of the best parent
	most, mean   float32 // nearness to the start pages' folders, see startPages.near
	shared       float32 // greatest probability of a parent × nearness to its folder
	stays        uint8   // parents, of the first maxTexts, that are on the same host
}

// There are half a million targets, and more entries would add little.
const (
	maxSources   = 6
	maxLinkWords = 8
)

// extreme keeps the sum and maximum of numbers.
type extreme struct{ sum, max float32 }

func (e *extreme) add(x float64, first bool) {
	e.sum += float32(x)
	if first || float32(x) > e.max {
		e.max = float32(x)
	}
}

// linkText is the evidence in a link's own text and URL.
type linkText struct {
	anchor  float64 // log-odds of text and URL by the judge, above an empty text
	words   [maxLinkWords]token
	endings [maxEndings]token
	count   uint8 // of words
	ended   uint8 // of endings
}

// inLink is the evidence of one page for a target.
type inLink struct {
	linkText
	context float64 // log-odds of the context by the judge, above an empty text
	over    float64 // over-representation of the context, see surroundings
	early   uint8
	at      uint8 // place of the link on its page
	nav     bool
	near    float64 // nearness to the page's folder
}

// logit requires 0 < p < 1.
func logit(p float64) float64 { return math.Log(p / (1 - p)) }

// maxTexts is how many pages' link texts count per target. One more would change a mean by a ninth at
// most.
const maxTexts = 8

// add records one more page that links here.
func (e *evidence) add(v *inLink, from *source, probability float64) {
	if e.parents == math.MaxUint16 { // saturated
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
	e.shared = max(e.shared, float32(probability*v.near))
	if first || from.hops < e.hops {
		e.hops = from.hops
	}
	if depth := min(from.depth, math.MaxUint8-2) + 1; first || depth < e.depth {
		e.depth = depth
	}
}

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
	if v.near > 0 {
		e.stays++
	}
}

// texts is the number of pages whose link texts were counted.
func (e *evidence) texts() int { return min(int(e.parents), maxTexts) }

// named returns the first few pages that link here.
func (e *evidence) named() []*source { return e.sources[:min(int(e.parents), maxSources)] }

// record counts pages and sums their probabilities.
type record struct{ pages, onTopic float32 }

func (r *record) add(probability float64) {
	r.pages++
	r.onTopic += float32(probability)
}

// mean is the mean probability, in (0,1), smoothed by one pseudo-page of 0.5.
func (r *record) mean() float64 { return (float64(r.onTopic) + 0.5) / (float64(r.pages) + 1) }

// folder returns a URL up to its last slash, without the query.
func folder(url string) string {
	path, _, _ := strings.Cut(url, "?")
	return path[:strings.LastIndexByte(path, '/')+1]
}

// near tells how far a URL lies in a folder: the share of the folder's parts, host and names, that it has from
// the left. 0: another host. folder is as of folder.
func near(url, folder string) float64 {
	parts, common, same := 0, 0, true
	url = withoutScheme(url)
	for part := range strings.SplitAfterSeq(withoutScheme(folder), "/") {
		if part == "" {
			break
		}
		parts++
		if same = same && strings.HasPrefix(url, part); same {
			common++
			url = url[len(part):]
		}
	}
	return float64(common) / float64(max(1, parts))
}

func withoutScheme(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		return rest
	}
	return url
}

// originOf returns a URL up to its path, with the slash.
func originOf(url string) string {
	from := strings.Index(url, "://") + len("://")
	if n := strings.IndexByte(url[from:], '/'); n >= 0 {
		return url[:from+n+1]
	}
	return url
}

// source is a page as the origin of links. The outcomes of some of its links predict those of the
// others. A page may be a hub of the topic (co-citation, Small 1973). Links close together in a list or
// sentence resemble each other (Davison 2000, "Topical locality in the Web").
type source struct {
	key         uint64  // page.Key
	followed    record  // its links to known pages, fetched before or after
	outcomes    []uint8 // outcomes by place: 0 unknown, else 1 + 254 · probability
	probability float32 // when its links were read, see startPages
	moved       float32 // change since then by people's labels
	degree      float32 // R of the page; 0: unknown
	scored      bool    // probability is known
	depth       uint8   // distance in links from a start page, at most 254
	hops        uint8   // distance in links from a page on topic, at most 255; 0: on topic itself

	around []surroundings // per link, nil if unknown; dropped when the links are scored
}

const (
	// maxPlace is the last distinct place; all later links share it.
	maxPlace = 255
	// nearBy is the largest distance in places that counts as near.
	nearBy = 5
)

func placeOf(i int) uint8 { return uint8(min(i, maxPlace)) }

// hold makes room for the outcomes of a page's links.
func (s *source) hold(links int) {
	if n := min(links, maxPlace+1); n > len(s.outcomes) {
		s.outcomes = append(s.outcomes, make([]uint8, n-len(s.outcomes))...)
	}
}

// setOutcome records the outcome of a link.
func (s *source) setOutcome(at uint8, probability float64) {
	s.followed.add(probability)
	if int(at) < len(s.outcomes) {
		s.outcomes[at] = encodeOutcome(probability)
	}
}

// encodeOutcome encodes a probability for source.outcomes.
func encodeOutcome(probability float64) uint8 { return 1 + uint8(254*probability) }

// nearWeight weights a link by 1 / distance in places.
var nearWeight = [nearBy + 1]float32{1: 1, 2: 1. / 2, 3: 1. / 3, 4: 1. / 4, 5: 1. / 5}

// near sums the outcomes of links near the target's on the first pages that link to it, weighted by
// distance. It is empty while no link of these pages was followed.
func (e *evidence) near() (r record) {
	for i, s := range e.named() {
		if s.followed.pages == 0 {
			continue
		}
		at := int(e.at[i])
		from, to := max(0, at-nearBy), min(len(s.outcomes), at+nearBy+1)
		for k := from; k < to; k++ {
			if t := s.outcomes[k]; t > 0 && k != at {
				w := nearWeight[max(k-at, at-k)]
				r.pages += w
				r.onTopic += w * float32(t-1) * (1. / 254)
			}
		}
	}
	return r
}

// hubs is the mean lift of the followed links of some pages.
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

// A page and the targets of its links may belong to different agents. The page's properties therefore
// travel with its links, and outcomes go to all agents; see Sums.outcomes.

// maxReferrers is how many source pages, here called referrers, are remembered when there are other agents: about 5 MB.
const maxReferrers = 1 << 14

// share makes the graph remember source pages, to apply outcomes that other agents report.
func (g *linkGraph) share() {
	g.shared, g.referrers = true, page.NewRecent[*source](maxReferrers)
}

func (g *linkGraph) referrer(key uint64) *source {
	s, ok := g.referrers.Get(key)
	if !ok {
		s = &source{key: key, hops: 1}
		g.referrers.Put(key, s)
	}
	return s
}

// introductionBytes is the size of an introduction: probability, hops, depth and R.
const introductionBytes = 10

// introduction encodes what another agent's scorer needs to know of this source page.
func (s *source) introduction() []byte {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, introductionBytes), math.Float32bits(s.probability))
	return binary.LittleEndian.AppendUint32(append(b, s.hops, s.depth), math.Float32bits(s.degree))
}

// introduce decodes an introduction. If it is unreadable, only onTopic is used.
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

// linksOf is the page's number of links, of which an excerpt has only some.
func linksOf(p *page.Page) int {
	if p.Excerpt != nil {
		return p.Excerpt.Of
	}
	return len(p.Links)
}

// linkOutcome is the outcome of a link, as agents exchange it.
type linkOutcome struct {
	_        struct{} `cbor:",toarray"`
	Referrer uint64   // page.Key of the page with the link
	At       uint8    // place of the link
	Worth    uint8    // encoded as in source.outcomes
}

// maxOutcomes is how many outcomes are sent at once, the latest ones.
const maxOutcomes = 1200

func (s *Sums) learnOutcome(from *source, at uint8, probability float64) {
	if s == nil {
		return
	}
	if s.outcomes = append(s.outcomes, linkOutcome{Referrer: from.key, At: at, Worth: encodeOutcome(probability)}); len(s.outcomes) >= 2*maxOutcomes {
		s.outcomes = append(s.outcomes[:0], s.outcomes[len(s.outcomes)-maxOutcomes:]...)
	}
}

// merge applies outcomes that other agents report.
func (g *linkGraph) merge(outcomes []linkOutcome) {
	if !g.shared {
		return
	}
	for _, t := range outcomes {
		s := g.referrer(t.Referrer)
		s.hold(int(t.At) + 1)
		s.setOutcome(t.At, float64(t.Worth-1)/254)
	}
}

// locality measures how well the topic's pages link to each other: the mean promise of links on pages
// on topic, where links to known pages count their outcome. Recent pages weigh most.
type locality struct{ links record }

const (
	localFades = 0.995 // decay per page
	localDoubt = 5     // pseudo-pages with promise localFirst
	localFirst = 0.2
)

// add records a page on topic, with its probability and the mean promise of its links.
func (l *locality) add(onTopic, promise float64) {
	l.links.pages = l.links.pages*localFades + float32(onTopic)
	l.links.onTopic = l.links.onTopic*localFades + float32(onTopic*promise)
}

// merge adds other agents' undecayed sums over a number of pages.
func (l *locality) merge(theirs record, pages float64) {
	if pages <= 0 {
		return
	}
	fades := math.Pow(localFades, pages)
	counts := float32((1 - fades) / (1 - localFades) / pages) // mean weight of each page
	l.links.pages = l.links.pages*float32(fades) + theirs.pages*counts
	l.links.onTopic = l.links.onTopic*float32(fades) + theirs.onTopic*counts
}

func (l *locality) mean() float64 {
	return (float64(l.links.onTopic) + localDoubt*localFirst) / (float64(l.links.pages) + localDoubt)
}

// maxPrior bounds the log-odds that prior adds; otherwise a crawl of only the topic would accept any
// page.
const maxPrior = 2.5

// prior corrects the judge for the topic's share among the crawl's pages, which is often far above its
// share among the training pages. By Bayes' rule a page then has the log-odds
//
//	logit p + logit π' − logit π,
//
// with π and π' the topic's shares at training and in the crawl so far (Saerens, Latinne and Decaestecker
// 2002). prior returns logit π' − logit π, bounded by maxPrior. It is at least 0, because a crawl that is
// lost may still find the topic, and 0 if π (share) is unknown.
func (b *base) prior(share float64) float64 {
	if !(share > 0 && share < 1) {
		return 0
	}
	return max(0, min(maxPrior, b.odds-logit(share)))
}

// inCrawl applies a prior to a probability by the judge.
func inCrawl(probability, prior float64) float64 {
	if prior == 0 {
		return probability
	}
	return sigmoid(logit(inside(probability)) + prior)
}

// doubt is how many pseudo-pages at the base rate a record gets.
const doubt = 2

// lift is the log-odds of the record's next page being on topic, minus those of base; 0 without pages.
// odds is logit(base).
func (r *record) lift(base, odds float64) float64 {
	if r.pages == 0 {
		return 0
	}
	return math.Log(r.odds(base)) - odds
}

// odds returns the odds that the record's next page is on topic.
func (r *record) odds(base float64) float64 {
	return (float64(r.onTopic) + doubt*base) / (float64(r.pages) - float64(r.onTopic) + doubt*(1-base))
}

// logSum sums logarithms by multiplying first: logarithms dominate the cost of scores, which are sums of
// lifts.
type logSum struct{ product, sum float64 }

func newLogSum() logSum { return logSum{product: 1} }

// add adds ln x, for x in [1e-50, 1e50].
func (s *logSum) add(x float64) {
	s.product *= x
	if s.product < 1e-200 || s.product > 1e200 {
		s.sum, s.product = s.value(), 1
	}
}

func (s *logSum) value() float64 { return s.sum + math.Log(s.product) }
