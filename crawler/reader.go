package crawler

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/internal/document"
	"fossick/internal/page"
	"fossick/store"
	"fossick/store/change"
)

// reader reads pages. It is safe for concurrent use.
type reader struct {
	opt     *Options
	scope   atomic.Pointer[Scope] // a copy, because the owner may change that of opt; Change replaces it
	earlier bool                  // an earlier build may have stored pages
	journal journal.Journal
	prints  hosts.Fingerprinter
	// cores limits the pages parsed at once to the number of cores; more would only divide
	// the caches of words and stems.
	cores chan struct{}
	// stored is the number of pages that a look-up sees now.
	stored atomic.Uint64
	noPDF  sync.Once // the log says once that PDFs cannot be read
}

func newReader(opt *Options, earlier bool, j journal.Journal) *reader {
	r := &reader{opt: opt, earlier: earlier, journal: j, prints: hosts.NewFingerprinter(), cores: make(chan struct{}, runtime.GOMAXPROCS(0))}
	r.setScope(opt.Scope)
	return r
}

func (r *reader) setScope(s Scope) { r.scope.Store(&s) }

// order tells the reader of the URL that a page was asked for.
type order struct {
	URL     string
	Depth   int         // links from a start page
	Parent  float64     // score of its parent
	Watched bool        // compare it with pages of the site's other hosts
	Old     *store.Page // the stored page, not a duplicate; nil for a new one
}

// parsedPage is a page that was read and scored.
type parsedPage struct {
	*page.Page
	Score   Score
	Foreign string          // why its language excludes it, "" if it does not
	Body    []byte          // compressed; nil if the page is not kept
	Former  []byte          // the replaced body, as a difference to this one; nil if it is not kept
	Size    int64           // of the uncompressed body, in bytes
	Digest  [sha1.Size]byte // of the body as it came, uncompressed; only if the page is kept
	Found   []link
	Sums    []page.Checksum // a stored page with one of these has the same content
	Near    nearMatch
	Change  change.Kind // since it was stored
	Print   hosts.Fingerprint
	Across  *hosts.Fingerprint // across the hosts of its site; only with order.Watched

	Rendering *store.Rendering // what its scripts did; nil if they did not run
	won       []link           // that only its scripts have shown, to unknown URLs
	Made      []store.Resource // what a rendered page is made of
}

// link is a link as the crawl needs it.
type link struct {
	URL   string
	Hash  store.Hash
	Score float64
	Skip  string     // why it is not followed, "" if it is
	Trap  bool       // Skip is because of a trap
	Seen  store.Seen // at the time of the look-up

	Modified int64 // lastmod of a sitemap, Unix seconds; 0 if unknown

	At    *page.Link // the link on its page; nil if it is on none
	Place int        // index on its page
}

// Stored sets the number of pages in the journal.
func (r *reader) Stored(pages uint64) { r.stored.Store(pages) }

// Read reads the body of an answer once a core is free. If the page cannot be used, it returns
// nil and sets the answer's state. If ctx ends, it returns that error, as if there had been no
// exchange.
func (r *reader) Read(ctx context.Context, order order, resp *fetch.Response) (*parsedPage, error) {
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

// read parses and scores a page until the budget is spent.
func (r *reader) read(order order, resp *fetch.Response, spent func() error) (*parsedPage, error) {
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
	if errors.Is(err, document.ErrStart) {
		r.noPDF.Do(func() { r.opt.Log.Error("this machine reads no PDF, so all PDFs end as wrong_type", "err", err) })
	}
	if err != nil {
		resp.State, resp.Err = unreadable(err), err
		return nil, nil
	}
	p := &parsedPage{Page: parsed, Size: int64(len(resp.Body)), Print: r.prints.Of(parsed)}
	if err := r.rate(p, order, spent); err != nil {
		return nil, err
	}
	if p.Change = r.changed(order.Old, p, resp); spent() != nil {
		return nil, spent()
	}
	if _, unwanted := p.unwanted(); !unwanted {
		p.Body, p.Digest = r.opt.Store.Compress(resp.Body), sha1.Sum(resp.Body)
	}
	resp.Body = nil // the owner does not need it
	return p, spent()
}

// unreadable returns the state of a body that was fetched but gives no page.
func unreadable(err error) fetch.State {
	switch {
	case errors.Is(err, document.ErrNoText):
		return fetch.StateNoText
	case errors.Is(err, document.ErrTooBig):
		return fetch.StateTooLarge
	}
	return fetch.StateWrongType
}

// rate scores a page that is parsed and has its fingerprint, and its links, and looks up the links and near-duplicates.
func (r *reader) rate(p *parsedPage, order order, spent func() error) error {
	p.Foreign, p.Sums = r.scope.Load().foreign(p.Page), []page.Checksum{p.Checksum, p.Raw}
	if r.earlier {
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

// unwanted reports that a page is not kept, and its URL's outcome: its author says noindex,
// scripts make it, or it is in an unwanted language.
func (p *parsedPage) unwanted() (store.Outcome, bool) {
	switch {
	case p.NoIndex:
		return store.Outcome{State: string(fetch.StateRobotsDenied), Reason: store.MetaRobots + " of the page says noindex: the page is not kept, but its links are followed"}, true
	case p.ScriptOnly && p.Rendering != nil:
		return store.Outcome{State: string(fetch.StateScriptOnly), Reason: p.Rendering.String() + ": the page is not kept, but its links are followed"}, true
	case p.ScriptOnly:
		return store.Outcome{State: string(fetch.StateScriptOnly), Reason: "scripts make this page, and fossick does not run scripts: the page is not kept, but its links are followed"}, true
	case p.Foreign != "":
		return store.Outcome{State: string(fetch.StateWrongType), Reason: fmt.Sprintf("%s: the page is not kept", p.Foreign)}, true
	}
	return store.Outcome{}, false
}

// origin says where a page's text comes from if a reader without scripts sees almost none, "" if
// one does.
func (p *parsedPage) origin() string {
	if p.Island == "" {
		return ""
	}
	return "almost nothing is to be seen without scripts; the text is from data on the page (" + p.Island + ")"
}

// robotsTag returns all lines of X-Robots-Tag; some are for one robot, others for all.
func robotsTag(h http.Header) string { return strings.Join(h.Values("X-Robots-Tag"), "\n") }

// maxLinkBytes bounds the URLs of one page, so that its outcome fits in one batch.
const maxLinkBytes = 1 << 20

// links returns the page's links in order, each target once with its best score.
func (r *reader) links(p *parsedPage, order order) []link {
	scores := r.opt.Scorer.ScoreLinks(make([]float64, 0, len(p.Links)), p.Page, p.Score)
	r.translated(p, order, scores)
	scope, at := r.scope.Load(), make(map[string]int, len(p.Links))
	links := make([]link, 0, len(p.Links))
	size := 0
	for i := range p.Links {
		l := &p.Links[i]
		if scope.unnamed(p.Page, l) {
			continue
		}
		f := link{URL: l.URL, At: l, Place: i, Score: scores[i], Skip: scope.skipLink(p.Page, l, order.Depth+1)}
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

// belowThreshold says that a link's score is too low, "" if it is not.
func (r *reader) belowThreshold(score float64) string {
	if score >= r.opt.Threshold {
		return ""
	}
	return fmt.Sprintf("score %.4g is below the threshold %.4g", score, r.opt.Threshold)
}

// told is what a sitemap or a feed says of a URL.
type told struct {
	ID       store.ID // 0 for an unknown URL
	URL      string
	Modified int64 // Unix seconds; 0 if not told
	Seen     int64 // when its stored page was seen, Unix milliseconds; 0 if there is none
}

// toldPart is how many URLs are looked up at a time.
const toldPart = 250

// Told looks up the pages of a sitemap, and returns those that are unknown or stored.
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
				if t.Seen, err = r.opt.Store.URLs().Seen(t.ID); err != nil {
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

// unknown returns the pages that the store does not know.
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

// rateUnlinked scores URLs that only a sitemap names, and marks those to be skipped. The
// policies on links do not apply to them.
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
		f.Skip = r.scope.Load().Excludes(f.URL)
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

// texter returns the main text of a body, "" if it has none.
type texter func(body []byte, contentType, url string) string

// changed says how a page differs from its stored version, and packs the former body if it is
// to be kept. A new advert or date changes the content but not the main text; paper E (E6)
// compares contents only.
func (r *reader) changed(old *store.Page, p *parsedPage, resp *fetch.Response) change.Kind {
	switch {
	case old == nil || p.Is(old.Checksum, old.Raw):
		return change.None
	case r.opt.Text == nil || old.Withdrawn:
		return change.Unsure
	}
	body, err := r.opt.Store.Body(old.Number)
	if err != nil { // storing the page anew mends that
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

// redirectTarget returns the target of a redirect in normal form. It reads the header as
// browsers read a link, because servers send tabs, broken escapes and backslashes that net/url
// rejects.
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

// wire packs the headers of an answer that brought a page, confirmed it or redirected. The
// caller sets the record's kind. p is nil if nothing was read.
func (r *reader) wire(resp *fetch.Response, p *parsedPage) (w store.WireRecord) {
	if resp.Wire == nil || r.opt.Store == nil {
		return w
	}
	switch resp.State {
	case fetch.StateNotModified, fetch.StateRedirect:
	case fetch.StateOK:
		if p == nil || p.Body == nil {
			return w // the page is not kept
		}
		w.Digest = p.Digest
	default:
		return w
	}
	w.Packed = packWire(resp)
	return w
}

// packWire packs the headers of an answer that has some.
func packWire(resp *fetch.Response) []byte {
	return store.PackWire(resp.URL, &store.Wire{
		Protocol: resp.Wire.Protocol, Addr: resp.Addr, Request: resp.Wire.Request, Response: resp.Wire.Response,
		Rebuilt: resp.Wire.Rebuilt, Cut: resp.Wire.Cut,
	})
}

const (
	// readTimeLimit bounds the time to read, score and compare a page.
	readTimeLimit = 10 * time.Second
	// readTimeStep bounds what counts between two looks at the clock, because no page is read
	// while the process is stopped or the machine sleeps.
	readTimeStep = time.Second
)

// errTooCostly reports a page that took longer than readTimeLimit.
var errTooCostly = fmt.Errorf("page_too_costly: reading the page took more than %v; the server may send such pages on purpose", readTimeLimit)

// budget returns a function that the steps of reading a page call. It returns an error when
// ctx has ended or readTimeLimit is spent.
func budget(ctx context.Context, now func() time.Time) (spent func() error) {
	last, used := now(), time.Duration(0)
	return func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := now()
		used += min(at.Sub(last), readTimeStep)
		last = at
		if used > readTimeLimit {
			return errTooCostly
		}
		return nil
	}
}
