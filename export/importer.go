package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"fossick/crawler"
	"fossick/crawler/fetch"
	"fossick/datasets"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/store"
)

var errNoPages = errors.New("it has no page with a URL; give a web archive, saved pages, a table or a corpus with URLs")

// errOther reports a store that is no import of this source.
var errOther = errors.New("is the store of another import or crawl; give another folder with --store")

// ImportOptions configure an import.
type ImportOptions struct {
	Source   string // name of the set; kept in the store
	Version  string // version of fossick
	Log      *slog.Logger
	Progress func(pages uint64)
}

type importResult struct {
	Pages      uint64 // in the store
	Duplicates uint64 // rows with the content of an earlier page
	Left       int    // rows without a valid URL, with a repeated one, or of robots.txt
	Refused    uint64 // pages that refuse indexing, or cannot be parsed
}

type importMark struct {
	Imported string `json:"imported"`
}

// openImport creates the store of an import, or opens an interrupted one's. Errors: errOther.
func openImport(ctx context.Context, dir string, opt ImportOptions) (*store.Store, error) {
	text, err := json.Marshal(importMark{opt.Source})
	if err != nil {
		return nil, err
	}
	s, err := store.Create(dir, store.Info{Version: opt.Version, Topic: "", Settings: text})
	if !errors.Is(err, store.ErrExists) {
		return s, err
	}
	if s, err = store.OpenWhenFree(ctx, dir); err != nil {
		return nil, err
	}
	var had importMark
	if err := json.Unmarshal(s.Info().Settings, &had); err != nil || had.Imported != opt.Source {
		return nil, errors.Join(fmt.Errorf("%s %w", dir, errOther), s.Close())
	}
	return s, nil
}

// Import stores a set, which it reads twice, in dir; an interrupted import resumes there. Errors: errNoPages,
// errOther, and those of the set. An unreadable set leaves no store.
func Import(ctx context.Context, set iter.Seq2[*datasets.Example, error], dir string, opt ImportOptions) (r importResult, err error) {
	urls, left, err := addresses(ctx, set)
	if err != nil {
		return r, err
	}
	if len(urls) == 0 {
		return r, errNoPages
	}
	s, err := openImport(ctx, dir, opt)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	order, err := orders.OrderingByName("relevance")
	if err != nil {
		return r, err
	}
	web := newImportWeb(set)
	defer web.close()
	engine, err := crawler.New(crawler.Options{
		Store: s, Fetcher: web, Scorer: &importLabels{web: web}, Ordering: order, URLs: standard, Seeds: urls,
		Threshold: 0.5, // above the score of every link
		Workers:   1, Delay: crawler.Delay{Off: true}, Patience: 1, FollowTraps: true, KeepNear: true, Log: opt.Log,
		Progress: func(p crawler.Progress) { opt.Progress(p.Counts.Pages) },
	})
	if err != nil {
		return r, err
	}
	done, err := engine.Run(ctx)
	if err := errors.Join(err, web.err); err != nil {
		return r, err
	}
	if done.Stopped == crawler.StopInterrupted {
		return r, ctx.Err()
	}
	counts, err := s.Counts()
	if err != nil {
		return r, err
	}
	r = importResult{Pages: counts.Pages, Duplicates: counts.States[string(fetch.StateDuplicate)], Left: left}
	r.Refused = uint64(len(urls)) - r.Pages - r.Duplicates
	return r, nil
}

var standard = page.NewNormalizer(page.DefaultDrop())

// addresses returns the distinct normalised URLs of the rows, in order.
func addresses(ctx context.Context, set iter.Seq2[*datasets.Example, error]) (urls []string, left int, err error) {
	had := map[uint64]bool{}
	for e, err := range set {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, 0, err
		}
		url, err := standard.Normalize(e.URL)
		if err != nil || had[page.Key(url)] || url == page.RobotsURL(url) {
			left++
			continue
		}
		had[page.Key(url)] = true
		urls = append(urls, url)
	}
	return urls, left, nil
}

// importWeb serves a set's rows as web pages. Requests come nearly in row order; rows read too early wait.
type importWeb struct {
	stop func()

	mu    sync.Mutex // guards the fields below: a slow worker gets a second one beside it
	next  func() (*datasets.Example, error, bool)
	ahead map[string]*datasets.Example // rows waiting, by URL
	order []string                     // their URLs in reading order
	label map[string]string            // of pages being processed
	err   error
}

// mostAhead bounds the waiting rows; only a resumed import exceeds it, by the pages already stored.
const mostAhead = 1000

func newImportWeb(set iter.Seq2[*datasets.Example, error]) *importWeb {
	w := &importWeb{ahead: map[string]*datasets.Example{}, label: map[string]string{}}
	w.next, w.stop = iter.Pull2(set)
	return w
}

func (w *importWeb) close() { w.stop() }

func (w *importWeb) Resolve(context.Context, string) (netip.Addr, error) { return netip.Addr{}, nil }

var errMissing = errors.New("the source changed while it was read; import it again")

func (w *importWeb) Fetch(_ context.Context, req fetch.Request) *fetch.Response {
	r := &fetch.Response{URL: req.URL, State: fetch.StateCode, Code: http.StatusNotFound, Start: time.Now(), Header: http.Header{}}
	if req.URL == page.RobotsURL(req.URL) {
		return r // checked by the crawler that fetched the pages
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	e, err := w.find(req.URL)
	if err != nil {
		w.err = fmt.Errorf("%s: %w", req.URL, err)
		return r
	}
	r.State, r.Code, r.ContentType, r.Body = fetch.StateOK, http.StatusOK, "text/html; charset=utf-8", []byte(e.HTML)
	if e.HTML == "" {
		r.ContentType, r.Body = "text/plain; charset=utf-8", []byte(e.Text)
	}
	r.Header.Set("Content-Type", r.ContentType)
	r.WireBytes = int64(len(r.Body))
	if at, err := time.Parse(time.RFC3339, e.Fields["date"]); err == nil {
		r.Start = at
	}
	if len(w.label) > mostAhead { // labels of pages that were never scored
		clear(w.label)
	}
	w.label[req.URL] = e.Label
	return r
}

func (w *importWeb) labelOf(url string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	label := w.label[url]
	delete(w.label, url)
	return label
}

func (w *importWeb) find(url string) (*datasets.Example, error) {
	for {
		if e := w.ahead[url]; e != nil {
			delete(w.ahead, url)
			return e, nil
		}
		e, err, more := w.next()
		if !more {
			return nil, errMissing
		}
		if err != nil {
			return nil, err
		}
		at, err := standard.Normalize(e.URL)
		if err != nil || w.ahead[at] != nil {
			continue
		}
		if w.order = append(w.order, at); len(w.order) > mostAhead {
			delete(w.ahead, w.order[0])
			w.order = w.order[1:]
		}
		w.ahead[at] = e
	}
}

// importLabels gives pages the labels of the set; nothing is on topic and all links score 0.
type importLabels struct{ web *importWeb }

func (l *importLabels) ScorePage(p *page.Page, _ float64) crawler.Score {
	label := l.web.labelOf(p.URL)
	if label == "" {
		return crawler.Score{}
	}
	return crawler.Score{Label: label, Probability: 1, Rule: "the source of the import has it so"}
}

func (l *importLabels) ScoreLinks(dst []float64, p *page.Page, _ crawler.Score) []float64 {
	return append(dst, make([]float64, len(p.Links))...)
}
