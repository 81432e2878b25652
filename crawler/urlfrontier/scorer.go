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
	ofStart   = 1   // priority of a start page, and the parent's score for ScorePage (paper A eq. 1)
	unknown   = 0.3 // score of an unknown page
	remembers = 200_000
)

// topicScorer is the Scorer of one crawl, by a crawl policy. It remembers recent pages.
type topicScorer struct {
	scorer crawler.Scorer

	mu    sync.Mutex             // guards the rest
	pages page.Recent[pageScore] // by page.Key: recent pages and link targets
}

// pageScore is the known or predicted score of a page.
type pageScore struct {
	value  float64
	judged bool // from its text or a label
	read   bool // the scorer has seen all its links
	links  int  // number of its links found
}

// NewScorer returns a Scorer that uses the scorer of a crawl policy.
func NewScorer(scorer crawler.Scorer) *topicScorer {
	return &topicScorer{scorer: scorer, pages: page.NewRecent[pageScore](remembers)}
}

// Found implements Scorer. The URL is a link of the last page in url.path, or a start page. A
// score from the client is used unchanged.
func (s *topicScorer) Found(info *api.URLInfo) (score float64, key uint64) {
	if given, ok := number(info, scoreKey); ok {
		return given, 0
	}
	target, err := page.Normalize(info.GetUrl())
	if err != nil {
		return 0, 0 // not a web URL: lowest priority
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

// rootOf returns the start page of a URL's host, which stands in for an unknown parent page.
func rootOf(target string) string {
	if u, err := url.Parse(target); err == nil {
		return u.Scheme + "://" + u.Host + "/"
	}
	return target
}

// parent returns the linking page and its score: from its text, the client, or its in-links.
func (s *topicScorer) parent(info *api.URLInfo) (parent string, from pageScore) {
	from.value = unknown
	if p, err := page.Normalize(parentOf(info)); err == nil {
		parent = p
		s.mu.Lock()
		key := page.Key(parent)
		if known, ok := s.pages.Get(key); ok {
			from = known
			known.links++
			s.pages.Set(key, known)
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

// link returns a target's priority. It shows the link to a scorer that has not seen its page.
func (s *topicScorer) link(parent string, from pageScore, link page.Link) float64 {
	if from.read || parent == link.URL { // a link to itself is no evidence
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

// byWords scores the words of a link, for scorers that know only scores of pages.
func (s *topicScorer) byWords(parent string, from pageScore, link page.Link) float64 {
	p := &page.Page{URL: link.URL, Title: link.Anchor, Text: link.Context}
	return s.scorer.ScorePage(p, from.value).Value
}

// promise remembers a URL's predicted score until its page is read.
func (s *topicScorer) promise(key uint64, score float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.pages.Get(key); !ok {
		s.pages.Put(key, pageScore{value: score})
	} else if !known.judged {
		known.value = score
		s.pages.Set(key, known)
	}
}

// Rescore implements Scorer.
func (s *topicScorer) Rescore(key uint64) (score float64, known bool) {
	if r, ok := s.scorer.(crawler.Rescorer); ok {
		return r.Rescore(key)
	}
	return 0, false
}

// Known implements Scorer. The scorer learns from the page's text or label; the text is deleted.
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

func (s *topicScorer) note(p *page.Page, score float64, read bool) {
	key := page.Key(p.URL)
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.pages.Get(key)
	known.value, known.judged, known.read = score, true, read
	if ok {
		s.pages.Set(key, known)
	} else {
		s.pages.Put(key, known)
	}
}

// pageOf returns the page that a client describes, maybe without text; nil for an invalid URL.
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

// Metadata keys. StormCrawler's url.path has the URLs that led to a link, the linking page last.
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

// pageKeys are deleted after use.
var pageKeys = []string{pageTextKey, pageTitleKey, pageHTMLKey}

const maxWordsBytes = 2 << 10

// words joins the values of some keys, up to maxWordsBytes.
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

func whole(info *api.URLInfo, key string) string {
	if v := info.GetMetadata()[key].GetValues(); len(v) > 0 {
		return v[0]
	}
	return ""
}

// parentOf returns the page that links to a URL, or "".
func parentOf(info *api.URLInfo) string {
	if path := info.GetMetadata()[pathKey].GetValues(); len(path) > 0 {
		return path[len(path)-1]
	}
	return ""
}

func number(info *api.URLInfo, key string) (x float64, ok bool) {
	x, err := strconv.ParseFloat(strings.TrimSpace(whole(info, key)), 64)
	return x, err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
}

// yes parses yes or no, true or false, 1 or 0.
func yes(info *api.URLInfo, key string) (is, said bool) {
	switch strings.ToLower(strings.TrimSpace(whole(info, key))) {
	case "yes", "true", "1":
		return true, true
	case "no", "false", "0":
		return false, true
	}
	return false, false
}
