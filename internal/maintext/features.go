package maintext

import (
	"bytes"
	"hash/maphash"
	"math"
	"strings"
)

// Features of a block; their order is part of the forest's format.
const (
	fWords = iota
	fLinkShare
	fLinks
	fWordLength
	fSentences
	fEndsSentence
	fCapitals
	fDigits
	fTag
	fHeading
	fDepth
	fContainerWords
	fContainerBlocks
	fContainerLinks
	fContainerShare
	fParentWords
	fParentLinks
	fScore
	fSteps
	fPathWords
	fPathLinks
	fPathShare
	fPathCount
	fPlace
	fWordsBefore
	fAfterH1
	fBlocksPastH1
	fLikeTitle
	fRepeated
	fPageWords
	fPageBlocks
	fPageLinks
	fPageParagraphs
	fPageTraits
	fPrevWords
	fPrevLinks
	fPrevTag
	fNextWords
	fNextLinks
	fNextTag
	fPrev2Words
	fPrev2Links
	fNext2Words
	fNext2Links
	fBlocksPastHeading
	fCopyright
	fPhrases
	fTraits
	fOwn          = fTraits + traitBits
	firstFeatures = fOwn + traitBits // number of features of the first forest
)

// Results of the first forest for the block and those around it.
const (
	fOpinion = firstFeatures + iota
	fOpinionPrev
	fOpinionNext
	fOpinionPrev2
	fOpinionNext2
	fOpinionNear
	fOpinionParent
	fOpinionGrandparent
	fOpinionPath
	fOpinionPage
	fOpinionBestNear
	allFeatures // number of features of the second forest
)

// describe computes the features of each block; opinions adds the last ones.
func describe(d *document) *view {
	v := newView(d)
	v.rows = make([][]float32, len(d.Blocks))
	all := make([]float32, len(d.Blocks)*allFeatures)
	seen := make(map[uint64]bool, len(d.Blocks))
	before, heading := int32(0), -99
	for i := range d.Blocks {
		x := all[i*allFeatures : (i+1)*allFeatures : (i+1)*allFeatures]
		v.rows[i] = x
		b := &d.Blocks[i]
		n := &d.Nodes[b.Node]
		if n.Tag.heading() {
			heading = i
		}
		x[fPlace] = float32(i) / float32(len(d.Blocks))
		x[fWordsBefore] = share(before, v.words)
		before += b.Words
		x[fBlocksPastHeading] = float32(min(99, i-heading))
		v.itself(x, b, n)
		v.repeated(x, d.textOf(i), seen)
		v.pastH1(x, i)
		v.place(x, b)
		v.page(x)
		v.neighbours(x, i)
		v.said(x, n)
	}
	return v
}

func (v *view) itself(x []float32, b *block, n *node) {
	text := v.Text[b.From:b.To]
	x[fWords] = lg(b.Words)
	x[fLinkShare] = share(b.linkWords, b.Words)
	x[fLinks] = lg(b.links)
	x[fWordLength] = share(b.letters, b.Words)
	x[fSentences] = share(b.sentences, b.Words)
	x[fEndsSentence] = endsSentence(text)
	x[fCapitals] = share(b.capitals, b.Words)
	x[fDigits] = share(b.digits, b.digits+b.letters)
	x[fTag] = float32(n.Tag)
	if n.Tag.heading() {
		x[fHeading] = float32(n.Tag-h1Tag) + 1
	}
	x[fDepth] = float32(n.depth)
	x[fPhrases] = phrases(text)
	if bytes.Contains(text, []byte("©")) || bytes.Contains(text, []byte("opyright")) {
		x[fCopyright] = 1
	}
}

// endsSentence returns 1 at the end of a sentence, -1 for truncated text.
func endsSentence(text []byte) float32 {
	if bytes.HasSuffix(text, []byte("…")) || bytes.HasSuffix(text, []byte("...")) {
		return -1
	}
	for _, end := range [...]string{".", "!", "?", "\"", ":", "。", "”", "»"} {
		if bytes.HasSuffix(text, []byte(end)) {
			return 1
		}
	}
	return 0
}

var hashSeed = maphash.MakeSeed()

// repeated marks a text that occurred before on the page, or is part of its title.
func (v *view) repeated(x []float32, text []byte, seen map[uint64]bool) {
	if len(text) <= 10 {
		return
	}
	h := maphash.Bytes(hashSeed, text)
	if seen[h] {
		x[fRepeated] = 1
	}
	seen[h] = true
	if len(text) <= len(v.Title) && bytes.Contains([]byte(v.Title), text) {
		x[fLikeTitle] = 1
	}
}

func (v *view) pastH1(x []float32, i int) {
	if v.h1 < 0 {
		return
	}
	x[fBlocksPastH1] = float32(i - v.h1)
	if x[fAfterH1] = 1; i < v.h1 {
		x[fAfterH1] = -1
	}
}

func (v *view) place(x []float32, b *block) {
	c := v.container(b)
	s := &v.below[c]
	x[fContainerWords] = lg(s.words)
	x[fContainerBlocks] = lg(s.blocks)
	x[fContainerLinks] = share(s.linkWords, s.words)
	x[fContainerShare] = share(s.words, v.words)
	up := &v.below[max(0, v.Nodes[c].Parent)]
	x[fParentWords] = lg(up.words)
	x[fParentLinks] = share(up.linkWords, up.words)
	if top := v.below[v.best].score; top > 0 {
		x[fScore] = float32(s.score / top)
	}
	x[fSteps] = v.steps(b.Node)
	p := v.paths[b.path]
	x[fPathWords] = lg(p.words / p.blocks)
	x[fPathLinks] = share(p.linkWords, p.words)
	x[fPathShare] = share(p.words, v.words)
	x[fPathCount] = lg(p.blocks)
}

func (v *view) page(x []float32) {
	x[fPageWords] = lg(v.words)
	x[fPageBlocks] = lg(int32(len(v.Blocks)))
	x[fPageLinks] = share(v.linkWords, v.words)
	x[fPageParagraphs] = share(v.paragraphs, v.words)
	for i, t := range [...]traits{inArticle, inMain, saysBody} {
		if v.traits&t != 0 {
			x[fPageTraits] += float32(int(1) << i)
		}
	}
}

func (v *view) neighbours(x []float32, i int) {
	for _, d := range [...]struct{ by, words, links, tag int }{
		{-1, fPrevWords, fPrevLinks, fPrevTag}, {1, fNextWords, fNextLinks, fNextTag},
		{-2, fPrev2Words, fPrev2Links, -1}, {2, fNext2Words, fNext2Links, -1},
	} {
		j := i + d.by
		if j < 0 || j >= len(v.Blocks) {
			x[d.words] = -1
			continue
		}
		b := &v.Blocks[j]
		x[d.words] = lg(b.Words)
		x[d.links] = share(b.linkWords, b.Words)
		if d.tag >= 0 {
			x[d.tag] = float32(v.Nodes[b.Node].Tag)
		}
	}
}

// said sets the features from the elements around a block.
func (v *view) said(x []float32, n *node) {
	own := n.own
	if n.Parent >= 0 {
		own |= v.Nodes[n.Parent].own
	}
	for bit := range traitBits {
		x[fTraits+bit] = float32(n.all >> bit & 1)
		x[fOwn+bit] = float32(own >> bit & 1)
	}
}

// furniture lists phrases of texts that belong to the site, not to the page.
var furniture = [][]byte{
	[]byte("cookie"), []byte("newsletter"), []byte("subscri"), []byte("sign up"), []byte("log in"), []byte("advertis"),
	[]byte("read more"), []byte("also read"), []byte("related"), []byte("share"), []byte("follow us"), []byte("comment"),
	[]byte("all rights reserved"), []byte("photo"), []byte("image"), []byte("click here"), []byte("privacy"), []byte("posted"),
	[]byte("updated"), []byte("published"), []byte("tags"), []byte("written by"),
}

const maxFurniture = 300

// phrases counts furniture in a short text; "by", as before an author, counts half.
func phrases(text []byte) float32 {
	if len(text) > maxFurniture {
		return 0
	}
	var buf [maxFurniture]byte
	low := buf[:copy(buf[:], text)]
	for i, c := range low {
		if 'A' <= c && c <= 'Z' {
			low[i] = c + 'a' - 'A'
		}
	}
	n := float32(0)
	for _, p := range furniture {
		if bytes.Contains(low, p) {
			n++
		}
	}
	if n == 0 && (bytes.HasPrefix(low, []byte("by ")) || bytes.HasPrefix(low, []byte("von "))) {
		return .5
	}
	return n
}

// view is a document with the sums that features are computed from.
type view struct {
	*document
	rows             [][]float32
	below            []subtree // by node
	paths            map[uint32]*sums
	best             int32 // node most likely to hold the article
	words, linkWords int32
	paragraphs       int32 // words in paragraphs
	h1               int   // index of the first h1 block, or -1
	traits           traits
}

type sums struct{ words, linkWords, blocks int32 }

type subtree struct {
	sums
	score float64 // likelihood of holding the article
}

func (s *sums) add(words, linkWords, blocks int32) {
	s.words += words
	s.linkWords += linkWords
	s.blocks += blocks
}

func newView(d *document) *view {
	v := &view{document: d, below: make([]subtree, len(d.Nodes)), paths: make(map[uint32]*sums), h1: -1}
	for i := range d.Blocks {
		b := &d.Blocks[i]
		n := &d.Nodes[b.Node]
		v.words += b.Words
		v.linkWords += b.linkWords
		v.traits |= n.all
		if n.Tag == pTag {
			v.paragraphs += b.Words
		}
		if n.Tag == h1Tag && v.h1 < 0 {
			v.h1 = i
		}
		p := v.paths[b.path]
		if p == nil {
			p = new(sums)
			v.paths[b.path] = p
		}
		p.add(b.Words, b.linkWords, 1)
		v.credit(b)
	}
	for i := len(d.Nodes) - 1; i > 0; i-- { // children follow their parents
		n, s := &d.Nodes[i], &v.below[i]
		s.add(n.words, n.linkWords, n.blocks)
		v.below[n.Parent].add(s.words, s.linkWords, s.blocks)
	}
	v.choose()
	return v
}

// credit adds a block's prose to the score of the elements above it, each half of the one below, as
// in Readability: the highest holds the article.
func (v *view) credit(b *block) {
	if b.Words < 5 {
		return
	}
	points := 1 + float64(b.sentences) + math.Min(3, float64(b.Words)/20)
	points *= 1 - float64(b.linkWords)/float64(b.Words)
	for n, step := v.container(b), 0; n > 0 && step < 4; step++ {
		v.below[n].score += points
		points /= 2
		n = v.Nodes[n].Parent
	}
}

// container returns the element that holds a block beside others.
func (v *view) container(b *block) int32 {
	switch n := &v.Nodes[b.Node]; n.Tag {
	case pTag, h1Tag, h2Tag, h3Tag, h4Tag, h5Tag, h6Tag, preTag, cellTag:
		return n.Parent
	}
	return b.Node
}

func (v *view) choose() {
	top := 0.0
	for i := range v.below {
		s := &v.below[i]
		if s.words > 0 {
			s.score *= 1 - float64(s.linkWords)/float64(s.words)
		}
		if s.score > top {
			top, v.best = s.score, int32(i)
		}
	}
}

// steps returns how many levels above the best node one must go to contain node n too.
func (v *view) steps(n int32) float32 {
	best, steps := v.best, 0
	for n != best && steps < 20 {
		if v.Nodes[n].depth > v.Nodes[best].depth {
			n = v.Nodes[n].Parent
			continue
		}
		best = v.Nodes[best].Parent
		if steps++; best < 0 {
			break
		}
	}
	return float32(steps)
}

func share(a, b int32) float32 {
	if b == 0 {
		return 0
	}
	return float32(a) / float32(b)
}

func lg(n int32) float32 {
	if n < int32(len(logs)) {
		return logs[n]
	}
	return float32(math.Log2(1 + float64(n)))
}

var logs = func() (table [1024]float32) {
	for i := range table {
		table[i] = float32(math.Log2(1 + float64(i)))
	}
	return table
}()

type mean struct{ sum, words float32 }

func (m *mean) add(p, words float32) {
	m.sum += p * words
	m.words += words
}

func (m *mean) value() float32 {
	if m.words == 0 {
		return 0
	}
	return m.sum / m.words
}

// near is how many blocks on either side count.
const near = 5

// opinions completes the rows with the first forest's results p for the block and those around it.
func (v *view) opinions(p []float32) {
	at := make([]mean, len(v.Nodes)) // of blocks at most two levels below
	paths := make(map[uint32]*mean, len(v.paths))
	var page mean
	for i := range v.Blocks {
		b := &v.Blocks[i]
		w := float32(b.Words)
		for n, up := b.Node, 0; n >= 0 && up < 3; up++ {
			at[n].add(p[i], w)
			n = v.Nodes[n].Parent
		}
		m := paths[b.path]
		if m == nil {
			m = new(mean)
			paths[b.path] = m
		}
		m.add(p[i], w)
		page.add(p[i], w)
	}
	of := func(i int) float32 {
		if i < 0 || i >= len(p) {
			return 0
		}
		return p[i]
	}
	for i := range v.Blocks {
		x, b := v.rows[i], &v.Blocks[i]
		x[fOpinion], x[fOpinionPrev], x[fOpinionNext] = p[i], of(i-1), of(i+1)
		x[fOpinionPrev2], x[fOpinionNext2] = of(i-2), of(i+2)
		x[fOpinionNear], x[fOpinionBestNear] = v.around(p, i)
		up := max(0, v.Nodes[b.Node].Parent)
		x[fOpinionParent] = at[up].value()
		x[fOpinionGrandparent] = at[max(0, v.Nodes[up].Parent)].value()
		x[fOpinionPath] = paths[b.path].value()
		x[fOpinionPage] = page.value()
	}
}

// around returns the mean result near a block, and the best of the longer blocks beside it.
func (v *view) around(p []float32, i int) (all, best float32) {
	var m mean
	for j := max(0, i-near); j <= min(len(p)-1, i+near); j++ {
		words := v.Blocks[j].Words
		m.add(p[j], float32(words))
		if j != i && words > 10 {
			best = max(best, p[j])
		}
	}
	return m.value(), best
}

// traits are properties of the elements around a text, one bit each.
type traits uint64

const (
	inNav traits = 1 << iota
	inHeader
	inFooter
	inAside
	inArticle
	inMain
	inForm
	inTable
	inList
	inItem
	inFigure
	inQuote
	inPre
	isHidden
	saysBody    // article-body, entry-content, itemprop=articleBody
	saysContent // content, main, text, article, post
	saysNav
	saysFooter
	saysHeader
	saysSide
	saysRelated
	saysComment
	saysShare
	saysAd
	saysNotice // cookies, consent, alerts
	saysPopup
	saysSign // subscribe, newsletter, log in
	saysTags
	saysMeta // byline, author, date
	saysCaption
	saysWidget
	saysList  // archive, card, grid
	traitBits = iota
)

// sayings are parts of class names and ids that reveal an element's purpose.
var sayings = map[traits]string{
	saysBody:    "articlebody article-body article_body article-content article__body article__content articletext article-text story-body storybody story-content entry-content entry_content post-content post-body postbody post_content body-content bodytext body-text content-body rich-text richtext prose markdown td-post",
	saysContent: "content article story entry post main text body paragraph",
	saysNav:     "nav menu breadcrumb pagination pager toc tabs skip",
	saysFooter:  "foot bottom copyright legal disclaimer impress",
	saysHeader:  "header masthead topbar logo toolbar",
	saysSide:    "side aside rail column-right rightcol",
	saysRelated: "related recommend more- readmore read-more also similar popular trending latest next prev outbrain taboola",
	saysList:    "teaser card grid archive list feed item",
	saysAd:      "promo advert sponsor banner -ad- ads dfp affiliate werbung anzeige",
	saysComment: "comment disqus respond reply discussion kommentar",
	saysShare:   "share social facebook twitter follow addthis sharing",
	saysNotice:  "cookie consent gdpr privacy alert notice warning",
	saysPopup:   "popup modal overlay lightbox dialog tooltip",
	saysSign:    "newsletter subscri signup sign-up login paywall donat cta form",
	saysTags:    "tag categor keyword label",
	saysMeta:    "meta byline author date time publish bio credit source",
	saysCaption: "caption figure gallery photo image slide",
	saysWidget:  "widget module box panel block infobox",
}

type saying struct {
	part   string
	traits traits
}

// sayingsFrom indexes the parts by their first two letters.
var sayingsFrom = func() *['z' - '-' + 1]['z' - '-' + 1][]saying {
	var from ['z' - '-' + 1]['z' - '-' + 1][]saying
	for t, parts := range sayings {
		for part := range strings.FieldsSeq(parts) {
			at := &from[part[0]-'-'][part[1]-'-']
			*at = append(*at, saying{part, t})
		}
	}
	return &from
}()

const maxNames = 256

func namesSay(names string) (t traits) {
	var buf [maxNames]byte
	low := buf[:copy(buf[:], names)]
	for i, c := range low {
		if 'A' <= c && c <= 'Z' {
			low[i] = c + 'a' - 'A'
		}
	}
	for i := 0; i+1 < len(low); i++ {
		a, b := low[i]-'-', low[i+1]-'-'
		if a > 'z'-'-' || b > 'z'-'-' { // bytes below '-' wrap around
			continue
		}
		for _, s := range sayingsFrom[a][b] {
			if end := i + len(s.part); end <= len(low) && string(low[i:end]) == s.part {
				t |= s.traits
			}
		}
	}
	return t
}

var tagTraits = [numTags]traits{
	nav: inNav, header: inHeader, footer: inFooter, aside: inAside, article: inArticle, mainElement: inMain,
	form: inForm, tableTag: inTable, ulTag: inList, olTag: inList, dlTag: inList, itemTag: inItem, figure: inFigure,
	caption: inFigure, quoteTag: inQuote, preTag: inPre,
}

var roleTraits = map[string]traits{
	"navigation": inNav, "menu": inNav, "menubar": inNav, "banner": inHeader, "contentinfo": inFooter,
	"complementary": inAside, "article": inArticle, "main": inMain, "search": inForm, "form": inForm,
	"dialog": saysPopup, "alertdialog": saysPopup,
}

func traitsOf(t tag, class string, s *scanner) traits {
	own := tagTraits[t] | namesSay(class) | namesSay(s.get("id")) | roleTraits[s.get("role")]
	if strings.EqualFold(s.get("itemprop"), "articleBody") {
		own |= saysBody
	}
	if s.has("hidden") || s.get("aria-hidden") == "true" || hiding(s.get("style")) {
		own |= isHidden
	}
	return own
}

func hiding(style string) bool {
	if style == "" {
		return false
	}
	style = strings.ReplaceAll(strings.ToLower(style), " ", "")
	return strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
}
