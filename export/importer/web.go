package importer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"fossick/crawler/fetch"
	"fossick/datasets"
	"fossick/internal/page"
)

// web is a set as a web that is asked for its pages nearly in their order: rows that are
// not asked for yet wait.
type web struct {
	stop func()

	mu    sync.Mutex // guards the rest: a worker that is slow gets another one beside it
	next  func() (*datasets.Example, error, bool)
	ahead map[string]*datasets.Example // by URL
	order []string                     // of those, as they were read
	label map[string]string            // of the pages that are being read
	err   error
}

// mostAhead bounds the rows that wait. More only come where an import goes on, of pages that
// are in the store: the first ones are not asked for again.
const mostAhead = 1000

func newWeb(set iter.Seq2[*datasets.Example, error]) *web {
	w := &web{ahead: map[string]*datasets.Example{}, label: map[string]string{}}
	w.next, w.stop = iter.Pull2(set)
	return w
}

func (w *web) close() { w.stop() }

// Resolve implements crawler.Fetcher: nobody needs an address.
func (w *web) Resolve(context.Context, string) (netip.Addr, error) { return netip.Addr{}, nil }

// errMissing is of a page that the set does not have on second reading.
var errMissing = errors.New("the source changed while it was read; import it again")

// Fetch implements crawler.Fetcher.
func (w *web) Fetch(_ context.Context, req fetch.Request) *fetch.Response {
	r := &fetch.Response{URL: req.URL, State: fetch.StateCode, Code: http.StatusNotFound, Start: time.Now(), Header: http.Header{}}
	if req.URL == page.RobotsURL(req.URL) {
		return r // whoever fetched the pages has asked it
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
	if len(w.label) > mostAhead { // of pages that nobody rated
		clear(w.label)
	}
	w.label[req.URL] = e.Label
	return r
}

// labelOf returns the label of a page that was asked for, once.
func (w *web) labelOf(url string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	label := w.label[url]
	delete(w.label, url)
	return label
}

// find reads on to a page.
func (w *web) find(url string) (*datasets.Example, error) {
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
