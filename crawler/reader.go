package crawler

import (
	"context"
	"crypto/sha1"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/internal/page"
	"fossick/store"
	"fossick/store/change"
)

// readingOptions are a Reader's settings; see crawler.Options for what they mean.
type readingOptions struct {
	URLs        *page.Normalizer
	Scope       Scope
	Scorer      Scorer
	Threshold   float64
	FollowTraps bool
	KeepNear    bool
	Earlier     bool // there may be pages that an earlier build stored
	Now         func() time.Time
	Log         *slog.Logger

	// Compress makes of a body what the journal keeps; nil where it keeps none.
	Compress func(body []byte) []byte
	// Body returns the body of a stored page; nil where there are none.
	Body func(number uint64) ([]byte, error)
	// Seen returns when a stored page was last seen to be as it is; nil where there are none.
	Seen func(store.ID) (int64, error)
	// KeepVersions keeps the body that a changed page had before.
	KeepVersions bool
	// Text returns a page's main text; nil where nobody asks whether that has changed.
	Text texter
}

// reader reads pages. It is safe for concurrent use.
type reader struct {
	opt     readingOptions
	journal journal.Journal
	prints  hosts.Fingerprinter
	// cores lets no more pages be parsed and scored at once than there are cores:
	// more would only divide the caches of words and stems.
	cores chan struct{}
	// stored are the pages that a look-up which begins now can see.
	stored atomic.Uint64
}

// newReading returns a reader of pages that are compared with those in a journal.
func newReading(opt readingOptions, j journal.Journal) *reader {
	return &reader{opt: opt, journal: j, prints: hosts.NewFingerprinter(), cores: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// order is what a page was asked for as.
type order struct {
	URL     string
	Depth   int         // links from a start page
	Parent  float64     // score of what led to it
	Watched bool        // it is compared with the pages of its site's other hosts
	Old     *store.Page // as it is stored: nothing that it could repeat; nil where it is not
}

// readingPage is a page that was read.
type readingPage struct {
	*page.Page
	Score   Score
	Foreign string          // why it is not kept for its language, "" when it is
	Body    []byte          // compressed; nil where the page is not kept
	Former  []byte          // the body that it replaces, packed against this one; nil where it is not kept
	Size    int64           // of the body before that, in bytes
	Digest  [sha1.Size]byte // of the body before that; only where the page is kept
	Found   []link
	Sums    []page.Checksum // those by any of which a stored page has the same content
	Near    readingNear
	Change  change.Kind // since it was stored
	Print   hosts.Fingerprint
	Across  *hosts.Fingerprint // among the hosts of its site; only where Order.Watched
}

// link is a link as the crawl needs it.
type link struct {
	URL   string
	Hash  store.Hash
	Score float64
	Skip  string     // why it is not followed, "" when it is
	Trap  bool       // that is because it leads into a trap
	Seen  store.Seen // at the time of the look-up

	Modified int64 // as a sitemap says, Unix seconds; 0 when nobody does

	At    *page.Link // as it stands in its page; nil where it stands in none
	Place int        // where it stands there, from 0
}

// Stored says how many pages the journal has by now.
func (r *reader) Stored(pages uint64) { r.stored.Store(pages) }

// print returns a page's fingerprint.
func (r *reader) print(p *page.Page) hosts.Fingerprint { return r.prints.Of(p) }

// Read reads the body of an answer once a core is free for it. Where the page cannot be
// used the answer says so afterwards, and there is no Page. A reading that ctx breaks off
// ends with its error, and is as if the exchange had not been.
func (r *reader) Read(ctx context.Context, order order, resp *fetch.Response) (*readingPage, error) {
	select {
	case r.cores <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-r.cores }()
	p, err := r.read(order, resp, budget(ctx, r.opt.Now))
	switch {
	case err == errTooCostly:
		resp.State, resp.Err = fetch.StateTooLarge, errTooCostly
		return nil, nil
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	}
	return p, nil
}

// read parses a fetched page and rates it, as long as the reading is not spent.
func (r *reader) read(order order, resp *fetch.Response, spent func() error) (*readingPage, error) {
	parsed, err := page.Parse(resp.Body, page.ParseOptions{
		URL:         order.URL,
		ContentType: resp.ContentType,
		RobotsTag:   robotsTag(resp.Header),
		Normalizer:  r.opt.URLs,
		Stop:        spent,
	})
	if over := spent(); over != nil {
		return nil, over
	}
	if err != nil {
		resp.State, resp.Err = fetch.StateWrongType, err
		return nil, nil
	}
	p := &readingPage{Page: parsed, Size: int64(len(resp.Body)), Print: r.prints.Of(parsed)}
	if err := r.rate(p, order, spent); err != nil {
		return nil, err
	}
	if p.Change = r.changed(order.Old, p, resp); spent() != nil {
		return nil, spent()
	}
	if _, unwanted := p.unwanted(); !unwanted {
		p.Body, p.Digest = r.opt.Compress(resp.Body), sha1.Sum(resp.Body)
	}
	resp.Body = nil // the owner has no use for it
	return p, spent()
}

// Rate is Read for a page that is parsed and has its fingerprint.
func (r *reader) Rate(p *readingPage, order order) error {
	return r.rate(p, order, func() error { return nil })
}

// rate scores a page and its links, and looks these and its likes up.
func (r *reader) rate(p *readingPage, order order, spent func() error) error {
	p.Foreign, p.Sums = r.opt.Scope.foreign(p.Page), []page.Checksum{p.Checksum, p.Raw}
	if r.opt.Earlier {
		p.Sums = append(p.Sums, p.AbsoluteChecksum())
	}
	p.Score = r.opt.Scorer.ScorePage(p.Page, order.Parent)
	if err := spent(); err != nil {
		return err
	}
	p.Found = r.links(p, order)
	if order.Watched {
		across := r.prints.AcrossHosts(p.Page)
		p.Across = &across
	}
	if err := spent(); err != nil {
		return err
	}
	hashes := make([]store.Hash, len(p.Found))
	for i := range p.Found {
		hashes[i] = p.Found[i].Hash
	}
	seen, err := r.journal.Lookup(hashes)
	if err != nil {
		return err
	}
	for i := range seen {
		p.Found[i].Seen = seen[i]
	}
	return r.findNear(p, order, spent)
}

// unwanted says that a page is not kept, and how its URL ends: its author asks not to, scripts
// make it, or it is in another language.
func (p *readingPage) unwanted() (store.Fate, bool) {
	switch {
	case p.NoIndex:
		return store.Fate{State: string(fetch.StateRobotsDenied), Reason: store.MetaRobots + " of the page says noindex: the page is not kept, but its links are followed"}, true
	case p.ScriptOnly:
		return store.Fate{State: string(fetch.StateScriptOnly), Reason: "scripts make this page, and fossick does not run scripts: the page is not kept, but its links are followed"}, true
	case p.Foreign != "":
		return store.Fate{State: string(fetch.StateWrongType), Reason: fmt.Sprintf("%s: the page is not kept", p.Foreign)}, true
	}
	return store.Fate{}, false
}

// robotsTag returns the lines of X-Robots-Tag, all of them: a server may send one
// for a robot by name, and another for everybody.
func robotsTag(h http.Header) string { return strings.Join(h.Values("X-Robots-Tag"), "\n") }

// maxLinkBytes bounds the URLs that one page may add, so that what follows from
// a page always fits into one batch.
const maxLinkBytes = 1 << 20

// links returns the page's links, each target once with its best score, in the
// order of the page.
func (r *reader) links(p *readingPage, order order) []link {
	scores := r.opt.Scorer.ScoreLinks(make([]float64, 0, len(p.Links)), p.Page, p.Score)
	r.translated(p, order, scores)
	at := make(map[string]int, len(p.Links))
	links := make([]link, 0, len(p.Links))
	size := 0
	for i := range p.Links {
		l := &p.Links[i]
		if r.opt.Scope.unnamed(p.Page, l) {
			continue
		}
		f := link{URL: l.URL, At: l, Place: i, Score: scores[i], Skip: r.opt.Scope.skipLink(p.Page, l, order.Depth+1)}
		if f.Skip == "" {
			f.Skip = r.belowThreshold(f.Score)
		}
		if f.Skip == "" && !r.opt.FollowTraps {
			f.Skip = hosts.Circular(l.URL)
			f.Trap = f.Skip != ""
		}
		if k, repeated := at[l.URL]; repeated {
			if old := &links[k]; old.Skip != "" && f.Skip == "" || old.Skip == "" && f.Skip == "" && f.Score > old.Score {
				f.Hash = old.Hash
				*old = f
			}
			continue
		}
		if l.URL == p.URL {
			continue
		}
		if size += len(l.URL); size > maxLinkBytes {
			r.opt.Log.Warn("page has too many links; the rest are dropped", "url", p.URL, "links", len(links))
			break
		}
		f.Hash = store.HashURL(l.URL)
		at[l.URL] = len(links)
		links = append(links, f)
	}
	return links
}

// belowThreshold says that a link is not followed for its score, "" when it is.
func (r *reader) belowThreshold(score float64) string {
	if score >= r.opt.Threshold {
		return ""
	}
	return fmt.Sprintf("score %.4g is below the threshold %.4g", score, r.opt.Threshold)
}

// told is what a sitemap or a feed says of a URL.
type told struct {
	ID       store.ID // 0 where nobody knows the URL
	URL      string
	Modified int64 // Unix seconds; 0 when not told
	Seen     int64 // when its page was, Unix milliseconds; 0 where none is stored
}

// toldPart is how many URLs are looked up at a time.
const toldPart = 250

// Told looks up what is known of the pages of a sitemap.
func (r *reader) Told(pages []page.Announced) (all []told, err error) {
	for len(pages) > 0 {
		part := pages[:min(toldPart, len(pages))]
		pages = pages[len(part):]
		hashes := make([]store.Hash, len(part))
		for i, p := range part {
			hashes[i] = store.HashURL(p.URL)
		}
		seen, err := r.journal.Lookup(hashes)
		if err != nil {
			return nil, err
		}
		for i, p := range part {
			t := told{ID: seen[i].ID, URL: p.URL, Modified: unixSeconds(p.Modified)}
			if t.ID != 0 && t.Modified > 0 {
				if t.Seen, err = r.opt.Seen(t.ID); err != nil {
					return nil, err
				}
			}
			if t.ID == 0 || t.Seen != 0 {
				all = append(all, t)
			}
		}
	}
	return all, nil
}

// unknown returns the pages that the store has never heard of.
func (r *reader) unknown(pages []page.Announced) ([]link, error) {
	hashes := make([]store.Hash, len(pages))
	for i, p := range pages {
		hashes[i] = store.HashURL(p.URL)
	}
	seen, err := r.journal.Lookup(hashes)
	if err != nil {
		return nil, err
	}
	links := make([]link, 0, len(pages))
	for i, p := range pages {
		if seen[i].ID == 0 {
			links = append(links, link{URL: p.URL, Hash: hashes[i], Modified: unixSeconds(p.Modified)})
		}
	}
	return links, nil
}

// rateUnlinked scores URLs that only a sitemap names, and says which are not wanted. They
// count as one link away from a start page; --links is of links and does not
// touch them.
func (r *reader) rateUnlinked(links []link, parent float64) {
	r.cores <- struct{}{}
	defer func() { <-r.cores }()
	scorer, ok := r.opt.Scorer.(SitemapScorer)
	for i := range links {
		f := &links[i]
		f.Score = parent
		if ok {
			f.Score = scorer.ScoreUnlinked(f.URL, parent)
		}
		f.Skip = r.opt.Scope.Excludes(f.URL)
		if f.Skip == "" {
			f.Skip = r.belowThreshold(f.Score)
		}
		if f.Skip == "" && !r.opt.FollowTraps {
			f.Skip = hosts.Circular(f.URL)
			f.Trap = f.Skip != ""
		}
	}
}

func unixSeconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// texter returns the main text of a body, "" where it has none.
type texter func(body []byte, contentType, url string) string

// changed says what has changed of a page since it was stored, and packs the former body
// where it is to be kept. An advert or a date that is another one changes the content and
// not the main text (paper E, E6, knew contents only).
func (r *reader) changed(old *store.Page, p *readingPage, resp *fetch.Response) change.Kind {
	switch {
	case old == nil || p.Is(old.Checksum, old.Raw):
		return change.None
	case r.opt.Text == nil || old.Withdrawn:
		return change.Unsure
	}
	body, err := r.opt.Body(old.Number)
	if err != nil { // the page is stored anew all the same, which mends it
		return change.Unsure
	}
	if r.opt.KeepVersions || old.Versions > 0 {
		if p.Former, err = store.CompressFormer(body, resp.Body); err != nil {
			r.opt.Log.Warn("the earlier body of a page is not kept", "url", old.URL, "err", err)
		}
	}
	if change.SameText(r.opt.Text(body, old.ContentType, old.URL), r.opt.Text(resp.Body, resp.ContentType, old.URL)) {
		return change.Content
	}
	return change.Text
}

// redirectTarget returns where a redirect leads, in normal form. The field is read as
// a browser reads it, like a link of the page that was asked for. Servers send
// plenty of tabs, broken escapes and backslashes, of which Go's net/url knows
// nothing.
func redirectTarget(urls *page.Normalizer, r *fetch.Response) (string, error) {
	field := r.Header.Get("Location")
	if field == "" {
		return urls.Normalize(r.Location)
	}
	base, err := urls.Base(r.URL)
	if err != nil {
		return "", err
	}
	return urls.Resolve(base, field)
}

// wire packs the headers of an answer that brought a page, said that one is as it was, or
// led elsewhere; nothing of others. p is what was read of it, nil where nothing was. The
// record's kind is for whoever decides what becomes of the URL.
func (r *reader) wire(resp *fetch.Response, p *readingPage) (w store.WireRecord) {
	if resp.Wire == nil || r.opt.Compress == nil {
		return w
	}
	switch resp.State {
	case fetch.StateNotModified, fetch.StateRedirect:
	case fetch.StateOK:
		if p == nil || p.Body == nil {
			return w // it is not kept
		}
		w.Digest = p.Digest
	default:
		return w
	}
	w.Packed = store.PackWire(resp.URL, &store.Wire{
		Protocol: resp.Wire.Protocol, Addr: resp.Addr, Request: resp.Wire.Request, Response: resp.Wire.Response,
		Rebuilt: resp.Wire.Rebuilt, Cut: resp.Wire.Cut,
	})
	return w
}
