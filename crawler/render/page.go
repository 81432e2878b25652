package render

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	exchange "fossick/crawler/fetch"
)

// Page is a page to render.
type Page struct {
	URL    string
	Header http.Header // as the server sent it
	Body   []byte      // decompressed
	// Ask makes a request of the page's scripts; nil says that it may not be made. It is called
	// for one request at a time, and returns when ctx ends.
	Ask func(ctx context.Context, url string) *exchange.Response
}

// Result is what the scripts of a page have left.
type Result struct {
	HTML []byte
	Late bool          // the scripts were not ready in time
	Took time.Duration // in its tab
}

const (
	// quiet is how long, in the time of the page, there is no request before it is ready.
	quiet = 500 * time.Millisecond
	// closing bounds the end of a page after its time.
	closing = 5 * time.Second
)

// visit is a page in its tab.
type visit struct {
	page   Page
	tab    context.Context // chromedp's handle
	frame  cdp.FrameID     // the page's own
	served bool            // the page itself was answered

	crashed, loaded chan struct{}
	expired         chan struct{} // the time that was granted is over
	news            chan struct{} // paused has grown
	dialogs         chan struct{} // one has opened
	left            chan struct{} // moved is set

	mu      sync.Mutex // guards the rest
	paused  []*fetch.EventRequestPaused
	pending int    // requests without an answer
	count   int    // requests so far
	moved   string // page that the scripts have left for
}

// render renders a page in a context of its own.
func (p *process) render(ctx context.Context, opt *Options, of Page) (*Result, error) {
	bound, cancel := context.WithTimeout(p.browser, opt.pageTime+closing)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	v := &visit{page: of, crashed: make(chan struct{}), loaded: make(chan struct{}), expired: make(chan struct{}, 1), news: make(chan struct{}, 1), dialogs: make(chan struct{}, 1), left: make(chan struct{})}
	tab, end := chromedp.NewContext(bound,
		chromedp.WithNewBrowserContext(func(params *target.CreateBrowserContextParams) {
			params.ProxyServer, params.ProxyBypassList = deadProxy, "<-loopback>"
		}),
		chromedp.WithListener(v.hear()))
	defer end()
	var requests sync.WaitGroup
	defer requests.Wait()
	defer cancel() // ends the requests
	result, err := v.run(tab, opt, &requests)
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case p.browser.Err() != nil || isClosed(v.crashed) || errors.Is(err, context.Canceled):
		return nil, ErrCrashed
	}
	return nil, fmt.Errorf("rendering %s: %w", of.URL, err)
}

// run opens the page, waits until it is ready and takes its HTML.
func (v *visit) run(tab context.Context, opt *Options, requests *sync.WaitGroup) (*Result, error) {
	if err := chromedp.Do(tab); err != nil {
		return nil, err
	}
	c := chromedp.FromContext(tab)
	v.tab, v.frame = tab, cdp.FrameID(c.Target.TargetID)
	if err := v.prepare(opt, c.BrowserContextID); err != nil {
		return nil, err
	}
	requests.Go(v.answer)
	requests.Go(v.dismiss)
	requests.Go(func() { // returns when the document is there
		_, _ = chromedp.Call(tab, page.Navigate, page.NavigateParams{URL: v.page.URL}) // a failure shows in the HTML
	})
	late, err := v.wait(opt.pageTime)
	if err != nil {
		return nil, err
	}
	if late {
		ended, cancel := context.WithTimeout(tab, time.Second)
		defer cancel()
		_, _ = chromedp.Call(ended, runtime.TerminateExecution, cdp.Empty{}) // an endless loop
	}
	markup, err := v.take(opt.pageSize)
	if isClosed(v.left) {
		markup = fmt.Appendf(markup, "<a href=\"%s\"></a>", html.EscapeString(v.moved))
	}
	return &Result{HTML: markup, Late: late}, err
}

// without removes from a page what would ask by other ways than the Fetch domain sees.
const without = `for (const name of ["WebSocket", "WebSocketStream", "WebTransport", "RTCPeerConnection", "webkitRTCPeerConnection", "EventSource", "Worker", "SharedWorker"]) delete globalThis[name];
for (const name of ["serviceWorker", "sendBeacon"]) delete Navigator.prototype[name];
globalThis.open = () => null; globalThis.print = () => {};`

// prepare closes all ways out of the page but one.
func (v *visit) prepare(opt *Options, id cdp.BrowserContextID) error {
	steps := []func() error{
		call(v.tab, fetch.Enable, fetch.EnableParams{}),
		call(v.tab, network.SetBypassServiceWorker, network.SetBypassServiceWorkerParams{Bypass: true}),
		call(v.tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: without}),
		callBrowser(v.tab, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorDeny, BrowserContextID: id}),
	}
	if opt.UserAgent != "" {
		steps = append(steps, call(v.tab, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: opt.UserAgent}))
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func call[P, R any](tab context.Context, cmd cdp.Command[P, R], params P) func() error {
	return func() error {
		_, err := chromedp.Call(tab, cmd, params)
		return err
	}
}

func callBrowser[P, R any](tab context.Context, cmd cdp.Command[P, R], params P) func() error {
	return func() error {
		_, err := chromedp.CallBrowser(tab, cmd, params)
		return err
	}
}

// hear returns the listener of a tab. It must not wait.
func (v *visit) hear() func(any) {
	var crashed, loaded sync.Once
	return func(e any) {
		switch e := e.(type) {
		case *fetch.EventRequestPaused:
			v.mu.Lock()
			v.paused = append(v.paused, e)
			v.pending++
			v.count++
			v.mu.Unlock()
			signal(v.news)
		case *emulation.EventVirtualTimeBudgetExpired:
			signal(v.expired)
		case *page.EventLoadEventFired:
			if v.begun() {
				loaded.Do(func() { close(v.loaded) })
			}
		case *page.EventJavascriptDialogOpening:
			signal(v.dialogs)
		case *inspector.EventTargetCrashed:
			crashed.Do(func() { close(v.crashed) })
		}
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// begun reports whether the page has asked for itself; the blank page of the tab loads too.
func (v *visit) begun() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.count > 0
}

// wait grants the page time until it has loaded and no request came or was under way for a
// while. The page's clock stands still during a request, and runs ahead while nothing happens.
func (v *visit) wait(limit time.Duration) (late bool, err error) {
	limited, cancel := context.WithTimeout(v.tab, limit)
	defer cancel()
	budget := float64(quiet.Milliseconds())
	for {
		before := v.state()
		grant := call(limited, emulation.SetVirtualTimePolicy, emulation.SetVirtualTimePolicyParams{Policy: emulation.VirtualTimePolicyPauseIfNetworkFetchesPending, Budget: &budget})
		if err := grant(); err != nil && limited.Err() == nil {
			return false, err
		}
		select {
		case <-v.expired:
		case <-v.left:
			return false, nil // the clock of a page that leaves stands still
		case <-v.crashed:
			return false, ErrCrashed
		case <-limited.Done():
			return true, v.tab.Err()
		}
		if now := v.state(); isClosed(v.loaded) && now.pending == 0 && now.count == before.count {
			return false, nil
		}
	}
}

type requestState struct{ pending, count int }

func (v *visit) state() requestState {
	v.mu.Lock()
	defer v.mu.Unlock()
	return requestState{v.pending, v.count}
}

// snapshot gives the HTML, cut at a character. Links of a page that has changed its address are written out.
const snapshot = `(() => {
	const root = document.documentElement;
	if (!root) return "";
	if (document.URL.split("#")[0] !== %q) for (const a of document.querySelectorAll("a[href], area[href]")) a.setAttribute("href", a.href);
	const html = "<!DOCTYPE html>" + root.outerHTML, most = %d;
	if (html.length * 3 <= most) return html;
	return html.slice(0, new TextEncoder().encodeInto(html, new Uint8Array(most)).read);
})()`

// take returns the HTML, in a world that the page's scripts cannot reach.
func (v *visit) take(limit int) ([]byte, error) {
	world, err := chromedp.Call(v.tab, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: v.frame})
	if err != nil {
		return nil, err
	}
	byValue := true
	out, err := chromedp.Call(v.tab, runtime.Evaluate, runtime.EvaluateParams{
		Expression: fmt.Sprintf(snapshot, v.page.URL, limit), ContextID: world.ExecutionContextID, ReturnByValue: &byValue,
	})
	if err != nil {
		return nil, err
	}
	if out.ExceptionDetails != nil {
		return nil, fmt.Errorf("its HTML: %s", out.ExceptionDetails.Text)
	}
	return text(out.Result.Value)
}
