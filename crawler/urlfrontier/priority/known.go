package priority

import (
	"fossick/crawler"
	"fossick/crawler/urlfrontier/api"
	"fossick/internal/page"
)

// Known takes in what became of a URL: the text of its page, which the scorer judges and
// learns from, or whether it was on topic. The text is then taken out of the metadata.
func (s *Scorer) Known(info *api.URLInfo) (score float64, judged, learned bool) {
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
func (s *Scorer) judge(info *api.URLInfo, p *page.Page) float64 {
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

func (s *Scorer) known(key uint64) pageScore {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.pages.Get(key); ok {
		return known
	}
	return pageScore{value: unknown}
}

// note remembers what a page turned out to be.
func (s *Scorer) note(p *page.Page, score float64, read bool) {
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
func (s *Scorer) pageOf(info *api.URLInfo) *page.Page {
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
