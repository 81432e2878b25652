package blocks

import "strings"

// traits are what the elements around a text say of it, a bit each.
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

// sayings are the parts of names of classes and ids that tell what an element is for.
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

// saying is one part of a name.
type saying struct {
	part   string
	traits traits
}

// sayingsFrom has the parts by their first two letters.
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

// maxNames bounds how much of a class attribute is read.
const maxNames = 256

// namesSay is what the names of an element's classes, or its id, say.
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
	form: inForm, Table: inTable, UL: inList, OL: inList, DL: inList, Item: inItem, figure: inFigure,
	caption: inFigure, Quote: inQuote, Pre: inPre,
}

var roleTraits = map[string]traits{
	"navigation": inNav, "menu": inNav, "menubar": inNav, "banner": inHeader, "contentinfo": inFooter,
	"complementary": inAside, "article": inArticle, "main": inMain, "search": inForm, "form": inForm,
	"dialog": saysPopup, "alertdialog": saysPopup,
}

// traitsOf is what an element says by itself.
func traitsOf(t Tag, class string, s *scanner) traits {
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
