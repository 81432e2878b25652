package render

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"

	exchange "fossick/crawler/fetch"
	urls "fossick/internal/page"
)

// asked are the types of requests that are made.
var asked = []network.ResourceType{network.ResourceTypeDocument, network.ResourceTypeScript, network.ResourceTypeXHR, network.ResourceTypeFetch}

// trackers are sites that count visitors and show adverts; a page's text does not come from
// them.
var trackers = []string{
	"adnxs.com", "adsrvr.org", "amazon-adsystem.com", "bat.bing.com", "clarity.ms", "cloudflareinsights.com", "connect.facebook.net",
	"criteo.com", "criteo.net", "doubleclick.net", "google-analytics.com", "googleadservices.com", "googlesyndication.com",
	"googletagmanager.com", "hotjar.com", "mixpanel.com", "newrelic.com", "nr-data.net", "quantserve.com", "scorecardresearch.com",
	"segment.com", "segment.io", "taboola.com", "outbrain.com", "mc.yandex.ru", "stats.wp.com", "plausible.io",
}

// tracks reports whether a host is a tracker's.
func tracks(host string) bool {
	return slices.ContainsFunc(trackers, func(t string) bool { return host == t || strings.HasSuffix(host, "."+t) })
}

// refused reports whether a request is not made: by its type, its method, or its host.
func refused(e *fetch.EventRequestPaused, site string) bool {
	u := e.Request.URL
	host, _, _ := strings.Cut(urls.Host(u), ":")
	switch {
	case !strings.HasPrefix(u, "http://") && !strings.HasPrefix(u, "https://"), tracks(host):
		return true
	case e.Request.Method != http.MethodGet || !slices.Contains(asked, e.ResourceType):
		return true
	}
	return e.ResourceType == network.ResourceTypeDocument && urls.Site(u) != site
}

// answer answers the requests of a page one after the other, until its tab ends.
func (v *visit) answer() {
	for {
		select {
		case <-v.tab.Done():
			return
		case <-v.news:
		}
		for e := v.next(); e != nil && v.tab.Err() == nil; e = v.next() {
			v.answerOne(e)
			v.mu.Lock()
			v.pending--
			v.mu.Unlock()
		}
	}
}

// next returns the first request without an answer, or nil.
func (v *visit) next() *fetch.EventRequestPaused {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.paused) == 0 {
		return nil
	}
	e := v.paused[0]
	v.paused = v.paused[1:]
	return e
}

// answerOne answers a request. An error of the protocol is the tab's end, which others see.
func (v *visit) answerOne(e *fetch.EventRequestPaused) {
	own := e.ResourceType == network.ResourceTypeDocument && e.FrameID == v.frame
	switch {
	case own && !v.served:
		v.served = true
		v.fulfil(e, http.StatusOK, pageHeader(v.page.Header), v.page.Body)
	case own:
		v.fulfil(e, http.StatusNoContent, nil, nil) // the page stays where it is
		v.moves(e.Request.URL)
	case refused(e, urls.Site(v.page.URL)):
		v.refuse(e)
	default:
		v.ask(e)
	}
}

// moves notes that the page's scripts have left for another page.
func (v *visit) moves(to string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.moved == "" {
		v.moved = to
		close(v.left)
	}
}

// ask has the caller make a request.
func (v *visit) ask(e *fetch.EventRequestPaused) {
	r := v.page.Ask(v.tab, e.Request.URL)
	if r == nil {
		v.refuse(e)
		return
	}
	switch r.State {
	case exchange.StateOK:
		v.fulfil(e, http.StatusOK, header("Content-Type", r.ContentType), r.Body)
	case exchange.StateRedirect: // its target comes back as another request
		v.fulfil(e, http.StatusFound, header("Location", r.Location), nil)
	case exchange.StateCode:
		v.fulfil(e, r.Code, nil, nil)
	default:
		v.refuse(e)
	}
}

func header(name, value string) []*fetch.HeaderEntry {
	return []*fetch.HeaderEntry{{Name: name, Value: value}}
}

func (v *visit) fulfil(e *fetch.EventRequestPaused, code int, header []*fetch.HeaderEntry, body []byte) {
	phrase := cmp.Or(http.StatusText(code), "Unknown") // the browser takes no code without one
	answer := fetch.FulfillRequestParams{RequestID: e.RequestID, ResponseCode: int64(code), ResponsePhrase: phrase, ResponseHeaders: header, Body: body}
	if call(v.tab, fetch.FulfillRequest, answer)() != nil {
		v.refuse(e)
	}
}

func (v *visit) refuse(e *fetch.EventRequestPaused) {
	_ = call(v.tab, fetch.FailRequest, fetch.FailRequestParams{RequestID: e.RequestID, ErrorReason: network.ErrorReasonBlockedByClient})()
}

// dismiss closes the dialogs of a page, until its tab ends.
func (v *visit) dismiss() {
	for {
		select {
		case <-v.tab.Done():
			return
		case <-v.dialogs:
			_ = call(v.tab, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})()
		}
	}
}

// pageHeader is the part of a page's header that matters to its scripts.
func pageHeader(sent http.Header) (kept []*fetch.HeaderEntry) {
	for _, name := range []string{"Content-Type", "Content-Security-Policy", "Content-Language", "Last-Modified"} {
		for _, value := range sent.Values(name) {
			kept = append(kept, &fetch.HeaderEntry{Name: name, Value: value})
		}
	}
	return kept
}

// text decodes a string of the protocol.
func text(v jsonv2.Value) ([]byte, error) {
	var s string
	err := json.Unmarshal(v, &s)
	return []byte(s), err
}
