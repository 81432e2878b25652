package crawler

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"fossick/crawler/journal"
	"fossick/crawler/sitemaps"
	"fossick/crawler/traps"
	"fossick/fetch"
	"fossick/page"
	"fossick/store"
)

// reader makes of a fetched page what the owner decides by: text, scores, links, and
// what the journal knows of them. It is what an executor does for a page beside the
// exchange. Safe for concurrent use.
type reader struct {
	opt      *Options
	journal  journal.Journal
	compress func(body []byte) []byte
	prints   traps.Fingerprinter
	sitemaps sitemaps.Rules
	// cores lets no more pages be parsed and scored at once than there are cores:
	// more would only divide the caches of words and stems.
	cores chan struct{}
	// storedPages are the pages that a look-up which begins now can see.
	storedPages atomic.Uint64
}

func newReader(opt *Options, j journal.Journal, maps sitemaps.Rules) *reader {
	return &reader{opt: opt, journal: j, sitemaps: maps, prints: traps.NewFingerprinter(), cores: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// maxLinkBytes bounds the URLs that one page may add, so that what follows from
// a page always fits into one batch.
const maxLinkBytes = 1 << 20

// read parses a fetched page and rates it, as long as the reading is not spent.
func (r *reader) read(o *outcome, spent func() error) error {
	p, err := page.Parse(o.resp.Body, page.ParseOptions{
		URL:         o.target,
		ContentType: o.resp.ContentType,
		RobotsTag:   robotsTag(o.resp.Header),
		Normalizer:  r.opt.URLs,
		Stop:        spent,
	})
	if over := spent(); over != nil {
		return over
	}
	if err != nil {
		o.resp.State, o.resp.Err = fetch.StateWrongType, err
		return nil
	}
	o.page, o.size = p, int64(len(o.resp.Body))
	o.print = r.prints.Of(p)
	if err := r.rate(o, spent); err != nil {
		return err
	}
	if _, unwanted := o.unwanted(); !unwanted {
		o.body = r.compress(o.resp.Body)
	}
	o.resp.Body = nil // the owner has no use for it
	return spent()
}

// rate scores a page and its links, and looks these and its likes up.
func (r *reader) rate(o *outcome, spent func() error) error {
	o.foreign = r.opt.Scope.foreign(o.page)
	o.score = r.opt.Scorer.ScorePage(o.page, o.queued.Score)
	if err := spent(); err != nil {
		return err
	}
	o.links = r.links(o)
	if o.watched {
		across := r.prints.AcrossHosts(o.page)
		o.across = &across
	}
	if err := spent(); err != nil {
		return err
	}
	hashes := make([]store.Hash, len(o.links))
	for i := range o.links {
		hashes[i] = o.links[i].hash
	}
	seen, err := r.journal.Lookup(hashes)
	if err != nil {
		return err
	}
	for i := range seen {
		o.links[i].seen = seen[i]
	}
	return r.findNear(o, spent)
}

// belowThreshold says that a link is not followed for its score, "" when it is.
func (r *reader) belowThreshold(score float64) string {
	if score >= r.opt.Threshold {
		return ""
	}
	return fmt.Sprintf("score %.4g is below the threshold %.4g", score, r.opt.Threshold)
}

// links returns the page's links, each target once with its best score, in the
// order of the page.
func (r *reader) links(o *outcome) []found {
	p := o.page
	scores := r.opt.Scorer.ScoreLinks(make([]float64, 0, len(p.Links)), p, o.score)
	r.translated(o, scores)
	at := make(map[string]int, len(p.Links))
	links := make([]found, 0, len(p.Links))
	size := 0
	for i := range p.Links {
		l := &p.Links[i]
		f := found{url: l.URL, score: scores[i], skip: r.opt.Scope.skipLink(p, l, o.birth.Depth+1)}
		if f.skip == "" {
			f.skip = r.belowThreshold(f.score)
		}
		if f.skip == "" && !r.opt.FollowTraps {
			f.skip = traps.Circular(l.URL)
			f.trap = f.skip != ""
		}
		if k, repeated := at[l.URL]; repeated {
			if old := &links[k]; old.skip != "" && f.skip == "" || old.skip == "" && f.skip == "" && f.score > old.score {
				f.hash = old.hash
				*old = f
			}
			continue
		}
		if l.URL == p.URL {
			continue
		}
		if size += len(l.URL); size > maxLinkBytes {
			r.opt.Log.Warn("page has too many links; the rest is left out", "url", p.URL, "links", len(links))
			break
		}
		f.hash = store.HashURL(l.URL)
		at[l.URL] = len(links)
		links = append(links, f)
	}
	return links
}
