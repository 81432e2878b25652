package priority

import (
	"net/url"
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

// Scorer says what the URLs of one crawl are worth.
type Scorer struct {
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

// New returns a scorer of URLs by that of a crawl policy.
func New(scorer crawler.Scorer) *Scorer {
	return &Scorer{scorer: scorer, pages: page.NewRecent[pageScore](remembers)}
}

// Found takes in a discovered URL: a link of the last page of its url.path or, without
// one, a start page. A score that the client gives is its priority as it stands.
func (s *Scorer) Found(info *api.URLInfo) (score float64, key uint64) {
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
func (s *Scorer) parent(info *api.URLInfo) (parent string, from pageScore) {
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
func (s *Scorer) link(parent string, from pageScore, link page.Link) float64 {
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
func (s *Scorer) byWords(parent string, from pageScore, link page.Link) float64 {
	p := &page.Page{URL: link.URL, Title: link.Anchor, Text: link.Context}
	return s.scorer.ScorePage(p, from.value).Value
}

// promise remembers what a URL is worth, until its page is read.
func (s *Scorer) promise(key uint64, score float64) {
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
func (s *Scorer) Rescore(key uint64) (score float64, known bool) {
	if r, ok := s.scorer.(crawler.Rescorer); ok {
		return r.Rescore(key)
	}
	return 0, false
}
