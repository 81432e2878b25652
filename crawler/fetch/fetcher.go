package fetch

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fossick/internal/page"
)

// Request asks for one page.
type Request struct {
	URL string // absolute, http or https, in normal form; sent as it is
	// ETag and LastModified of the copy at hand make the request conditional.
	ETag, LastModified string
	// Accept lists the media types wanted; "*/*" takes any. [HTML, XHTML and plain text]
	Accept []string
	// MaxBodyBytes overrides the fetcher's limit when positive.
	MaxBodyBytes int64
	// Truncate cuts a body at the limit instead of refusing it (robots.txt).
	Truncate bool
	// AnySuccess takes other 2xx that come with a file for 200 (robots.txt).
	AnySuccess bool
	// Addr is the only address to connect to, as Resolve gave it; the zero Addr leaves
	// the choice among the host's. Through a proxy it says nothing.
	Addr netip.Addr
	// Stream, when set, gets a wanted body while it comes, decompressed and under
	// the limits; Response.Body stays nil. It is called once, on the goroutine of
	// Fetch, and may stop before the end. How the body ended is in the Response.
	Stream func(body io.Reader)
	// Pace, when set, tells others how fast the body comes. It is for one exchange.
	Pace *Pace
}

// defaultAccept returns the types that the crawl wants: pages with links or text.
func defaultAccept() []string {
	return []string{"text/html", "application/xhtml+xml", "text/plain"}
}

// Response says how an exchange ended. State says which other fields count.
type Response struct {
	URL         string // as asked
	State       State
	Code        int           // HTTP status; 0 when no header came
	Header      http.Header   // nil when no header came
	Body        []byte        // decompressed, in the server's charset; StateOK only; cut at the limit if that was asked
	ContentType string        // as sent; sniffed when the server sent none that can be read
	Location    string        // absolute target of a redirect, resolved but not normalised; as it came where net/url cannot read it
	RetryAfter  time.Duration // from Retry-After; 0 when none
	Start       time.Time     // when the exchange began
	Took        time.Duration // until the body's end, or the error
	Wire        *Wire         // both headers as they went over the wire; nil when none came
	WireBytes   int64         // of the body as it came, before decompression
	Addr        netip.Addr    // of the server; zero through a proxy
	Note        string        // what is odd about the body of an ok answer
	Err         error         // why, when State is no success; nil for ok, redirect and not_modified
}

// ErrorText is Err in words, else the note, "" where there is neither.
func (r *Response) ErrorText() string {
	if r.Err == nil {
		return r.Note
	}
	return r.Err.Error()
}

// A Fetcher makes exchanges, many at once. It is safe for concurrent use.
type Fetcher struct {
	opt       Options
	guard     guard
	dns       *dnsCache
	transport *http.Transport
	cookies   *cookies  // nil: none are kept
	clones    sync.Pool // *clone
	closed    atomic.Bool

	// Header values that every request shares; nobody writes to them.
	userAgent, accept, acceptGzip []string
	wanted                        []string // defaultAccept
}

// New returns a Fetcher; Close it when done. The error says which option
// cannot work.
func New(opt Options) (*Fetcher, error) {
	opt = opt.withDefaults()
	if err := opt.check(); err != nil {
		return nil, fmt.Errorf("fetch options: %w", err)
	}
	f := &Fetcher{
		opt:        opt,
		guard:      newGuard(opt.AllowNet),
		userAgent:  []string{opt.UserAgent},
		accept:     []string{strings.Join(defaultAccept(), ", ")},
		acceptGzip: []string{"gzip"},
		wanted:     defaultAccept(),
	}
	f.guard.only = opt.Only
	if opt.Cookies {
		f.cookies = newCookies()
	}
	f.dns = newDNSCache(opt)
	f.transport = newTransport(opt, &dialer{
		guard:   f.guard,
		dns:     f.dns,
		hosts:   opt.Hosts,
		proxied: opt.Proxy != nil,
		timeout: opt.ConnectTimeout,
	})
	base := newCollector(&gate{f, f.transport})
	f.clones.New = func() any { return newClone(base) }
	return f, nil
}

// Close drops idle connections. Exchanges under way end by themselves or by
// their contexts; later ones are refused.
func (f *Fetcher) Close() {
	f.closed.Store(true)
	f.transport.CloseIdleConnections()
}

// Fetch makes one exchange. It never returns nil and starts nothing that
// outlives it but idle connections. When ctx ends first the state is none: the
// URL is still to be fetched.
func (f *Fetcher) Fetch(ctx context.Context, req Request) *Response {
	start := f.opt.Now()
	resp := &Response{URL: req.URL, State: StateNone, Start: start}
	f.exchange(ctx, req, resp)
	resp.Took = f.opt.Now().Sub(start)
	if f.opt.Logger.Enabled(ctx, slog.LevelDebug) {
		f.opt.Logger.LogAttrs(ctx, slog.LevelDebug, "exchange", slog.String("url", req.URL),
			slog.String("state", string(resp.State)), slog.Int("code", resp.Code),
			slog.Duration("took", resp.Took), slog.Any("err", resp.Err))
	}
	return resp
}

func (f *Fetcher) exchange(ctx context.Context, req Request, resp *Response) {
	if f.closed.Load() {
		resp.Err = fmt.Errorf("%s: the fetcher is closed", req.URL)
		return
	}
	u, err := parseURL(req.URL)
	if err != nil {
		resp.Err = err
		return
	}
	if host := u.Hostname(); page.NameTooLong(host) { // Colly and net/http would ask IDNA
		resp.State, resp.Err = StateNoIP, notAName(host)
		return
	}
	if err := checkPort(u); err != nil {
		resp.State, resp.Err = StateGuardDenied, err
		return
	}
	ex := newExchange(f, u, req)
	ctx = ex.begin(ctx)
	defer ex.end()
	l := f.clones.Get().(*clone)
	err = l.run(ctx, ex)
	f.clones.Put(l)
	ex.report(ctx, err, resp)
}

// parseURL accepts what can be fetched. Credentials in a URL are dropped: a
// link must not make us log in.
func parseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("not a URL: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%s: scheme %q is not fetched, only http and https", raw, u.Scheme)
	}
	if u.Hostname() == "" {
		return nil, fmt.Errorf("%s: no host", raw)
	}
	u.User = nil
	u.Fragment, u.RawFragment = "", ""
	keepEscapes(u)
	return u, nil
}

// keepEscapes escapes what no path may have (RFC 3986), like ^ and |. net/url would
// take such a path for one without escapes, and send its %2F as a slash.
func keepEscapes(u *url.URL) {
	if u.RawPath == "" || u.EscapedPath() == u.RawPath {
		return
	}
	var path strings.Builder
	for _, c := range []byte(u.RawPath) {
		if c >= 0x80 || c <= ' ' || strings.IndexByte("\"<>\\^`{|}\x7f", c) >= 0 {
			fmt.Fprintf(&path, "%%%02X", c)
		} else {
			path.WriteByte(c)
		}
	}
	u.RawPath = path.String()
}
