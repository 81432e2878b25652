package urlfrontier

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"fossick/crawler"
	"fossick/crawler/urlfrontier/api"
	"fossick/internal/page"
)

const (
	ofStart   = 1   // priority of a start page, and what a scorer is told of its parent (paper A eq. 1)
	unknown   = 0.3 // score of a page of which nothing is known; of links that nobody follows it matters little
	remembers = 200_000
)

// topicScorer says what the URLs of one crawl are worth.
type topicScorer struct {
	scorer crawler.Scorer

	mu    sync.Mutex             // guards what follows
	pages page.Recent[pageScore] // by page.Key: pages and links that were named last
}

// pageScore is what a page is worth, or promises.
type pageScore struct {
	value  float64
	judged bool // by its text
	read   bool // its links were, with it
	links  int  // named so far
}

// NewScorer returns a scorer of URLs by that of a crawl policy.
func NewScorer(scorer crawler.Scorer) *topicScorer {
	return &topicScorer{scorer: scorer, pages: page.NewRecent[pageScore](remembers)}
}

// Found takes in a discovered URL: a link of the last page of its url.path or, without
// one, a start page. A score that the client gives is its priority as it stands.
func (s *topicScorer) Found(info *api.URLInfo) (score float64, key uint64) {
	if given, ok := number(info, scoreKey); ok {
		return given, 0
	}
	target, err := page.Normalize(info.GetUrl())
	if err != nil {
		return 0, 0 // not of the web: last
	}
	key = page.Key(target)
	link := page.Link{URL: target, Anchor: words(info, anchorKey, anchorsKey, titleKey), Context: words(info, textKey)}
	parent, from := s.parent(info)
	if parent == "" {
		if link.Anchor == "" && link.Context == "" {
			return ofStart, 0
		}
		if parent = rootOf(target); parent == target {
			return ofStart, 0
		}
	}
	score = s.link(parent, from, link)
	s.promise(key, score)
	return score, key
}

// rootOf is the start page of a URL's host: what names a link whose page is not known.
func rootOf(target string) string {
	if u, err := url.Parse(target); err == nil {
		return u.Scheme + "://" + u.Host + "/"
	}
	return target
}

// parent returns the page whose link led to a URL, and what is known of it: what its text
// said, else what the client says, else what links promised of it.
func (s *topicScorer) parent(info *api.URLInfo) (parent string, from pageScore) {
	from.value = unknown
	if p, err := page.Normalize(parentOf(info)); err == nil {
		parent = p
		s.mu.Lock()
		key := page.Key(parent)
		if known, ok := s.pages.Get(key); ok {
			from = known
			known.links++
			s.pages.Update(key, known)
		} else {
			s.pages.Put(key, pageScore{value: unknown, links: 1})
		}
		s.mu.Unlock()
	}
	if given, ok := number(info, parentScoreKey); ok && given >= 0 && given <= 1 && !from.judged {
		from.value = given
	}
	return parent, from
}

// link tells the scorer of a link, unless it has read the whole page, and returns what the
// target is worth.
func (s *topicScorer) link(parent string, from pageScore, link page.Link) float64 {
	if from.read || parent == link.URL { // which says nothing of itself
		if r, ok := s.scorer.(crawler.Rescorer); ok {
			if score, ok := r.Rescore(page.Key(link.URL)); ok {
				return score
			}
		}
	}
	if parent == link.URL {
		return from.value
	}
	if _, learns := s.scorer.(crawler.Rescorer); !learns && !from.judged {
		return s.byWords(parent, from, link)
	}
	p := &page.Page{
		URL: parent, Links: []page.Link{link},
		Excerpt: &page.Excerpt{Places: []int{from.links}, Of: from.links + 1},
	}
	scores := s.scorer.ScoreLinks(nil, p, crawler.Score{Value: from.value, Relevant: from.value >= 0.5})
	return scores[0]
}

// byWords is for a scorer that gives all links of a page the page's own score: where that
// is not known, the words with the link stand for the target's.
func (s *topicScorer) byWords(parent string, from pageScore, link page.Link) float64 {
	p := &page.Page{URL: link.URL, Title: link.Anchor, Text: link.Context}
	return s.scorer.ScorePage(p, from.value).Value
}

// promise remembers what a URL is worth, until its page is read.
func (s *topicScorer) promise(key uint64, score float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.pages.Get(key); !ok {
		s.pages.Put(key, pageScore{value: score})
	} else if !known.judged {
		known.value = score
		s.pages.Update(key, known)
	}
}

// Rescore returns the present priority of a URL that waits.
func (s *topicScorer) Rescore(key uint64) (score float64, known bool) {
	if r, ok := s.scorer.(crawler.Rescorer); ok {
		return r.Rescore(key)
	}
	return 0, false
}

// Known takes in what became of a URL: the text of its page, which the scorer judges and
// learns from, or whether it was on topic. The text is then taken out of the metadata.
func (s *topicScorer) Known(info *api.URLInfo) (score float64, judged, learned bool) {
	p := s.pageOf(info)
	for _, key := range pageKeys {
		delete(info.GetMetadata(), key)
	}
	if p == nil {
		return 0, false, false
	}
	onTopic, said := yes(info, relevantKey)
	hasText := p.Text != "" || p.Title != ""
	if hasText {
		score = s.judge(info, p)
	}
	if said {
		score = 0
		if onTopic {
			score = 1
		}
		s.note(p, score, len(p.Links) > 0)
		if m, ok := s.scorer.(crawler.Marker); ok {
			if !hasText {
				m.Mark([]crawler.Marked{{URL: p.URL, OnTopic: onTopic}})
			} else {
				m.Mark([]crawler.Marked{{URL: p.URL, Page: p, OnTopic: onTopic}})
			}
		}
	}
	return score, hasText || said, hasText || said
}

// judge has the scorer read a page, and its links where they came with it.
func (s *topicScorer) judge(info *api.URLInfo, p *page.Page) float64 {
	parent := float64(ofStart)
	if from := parentOf(info); from != "" {
		parent = unknown
		if n, err := page.Normalize(from); err == nil {
			parent = s.known(page.Key(n)).value
		}
	}
	score := s.scorer.ScorePage(p, parent)
	if len(p.Links) > 0 {
		s.scorer.ScoreLinks(nil, p, score)
	}
	s.note(p, score.Value, len(p.Links) > 0)
	return score.Value
}

func (s *topicScorer) known(key uint64) pageScore {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.pages.Get(key); ok {
		return known
	}
	return pageScore{value: unknown}
}

// note remembers what a page turned out to be.
func (s *topicScorer) note(p *page.Page, score float64, read bool) {
	key := page.Key(p.URL)
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.pages.Get(key)
	known.value, known.judged, known.read = score, true, read
	if ok {
		s.pages.Update(key, known)
	} else {
		s.pages.Put(key, known)
	}
}

// pageOf is the page that a client describes: without words where it sends none, nil where
// it is none.
func (s *topicScorer) pageOf(info *api.URLInfo) *page.Page {
	at, err := page.Normalize(info.GetUrl())
	if err != nil {
		return nil
	}
	if html := whole(info, pageHTMLKey); html != "" {
		if p, err := page.Parse([]byte(html), page.ParseOptions{URL: at, ContentType: "text/html; charset=utf-8"}); err == nil {
			return p
		}
	}
	if text := whole(info, pageTextKey); text != "" {
		if p, err := page.Parse([]byte(text), page.ParseOptions{URL: at, ContentType: "text/plain; charset=utf-8"}); err == nil {
			p.Title = whole(info, pageTitleKey)
			return p
		}
	}
	return &page.Page{URL: at}
}

// What clients say of a URL. url.path is what StormCrawler sends with each link: the URLs
// that led there, the page that has it last.
const (
	pathKey        = "url.path"
	anchorKey      = "anchor"
	anchorsKey     = "anchors"
	titleKey       = "title"
	textKey        = "text"
	scoreKey       = "score"
	parentScoreKey = "parent.score"

	relevantKey  = "fossick.relevant"
	pageTextKey  = "fossick.text"
	pageTitleKey = "fossick.title"
	pageHTMLKey  = "fossick.html"
)

// pageKeys are of use once, and not kept.
var pageKeys = []string{pageTextKey, pageTitleKey, pageHTMLKey}

// maxWordsBytes bounds what is read of the words with a link; a page may have more.
const maxWordsBytes = 2 << 10

// words are the values of some keys, as one text.
func words(info *api.URLInfo, keys ...string) string {
	var b strings.Builder
	for _, key := range keys {
		for _, v := range info.GetMetadata()[key].GetValues() {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(v)
			if b.Len() > maxWordsBytes {
				return strings.ToValidUTF8(b.String()[:maxWordsBytes], "")
			}
		}
	}
	return b.String()
}

// whole is the first value of a key.
func whole(info *api.URLInfo, key string) string {
	if v := info.GetMetadata()[key].GetValues(); len(v) > 0 {
		return v[0]
	}
	return ""
}

// parentOf is the page whose link led to a URL, "" when there is none.
func parentOf(info *api.URLInfo) string {
	if path := info.GetMetadata()[pathKey].GetValues(); len(path) > 0 {
		return path[len(path)-1]
	}
	return ""
}

// number reads a finite number.
func number(info *api.URLInfo, key string) (x float64, ok bool) {
	x, err := strconv.ParseFloat(strings.TrimSpace(whole(info, key)), 64)
	return x, err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
}

// yes reads yes or no, true or false, 1 or 0.
func yes(info *api.URLInfo, key string) (is, said bool) {
	switch strings.ToLower(strings.TrimSpace(whole(info, key))) {
	case "yes", "true", "1":
		return true, true
	case "no", "false", "0":
		return false, true
	}
	return false, false
}
