package fetch

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fossick/internal/document"
	"fossick/internal/page"

	"golang.org/x/net/http/httpguts"
)

// Request asks for one page.
type Request struct {
	URL string // absolute, http or https, in normal form; sent as it is
	// ETag and LastModified of a known copy make the request conditional.
	ETag, LastModified string
	// Accept lists the wanted media types; "*/*" takes any. [those of Options.Types]
	Accept []string
	// MaxBodyBytes overrides the fetcher's limits when positive.
	MaxBodyBytes int64
	// Truncate cuts a body at the limit instead of refusing it (robots.txt).
	Truncate bool
	// AnySuccess treats other 2xx with a file as 200 (robots.txt).
	AnySuccess bool
	// Addr is the only address to connect to, from Resolve; the zero Addr allows all of the
	// host's. It has no effect through a proxy.
	Addr netip.Addr
	// Stream, when set, receives a wanted body while it comes, decompressed and under the
	// limits; Response.Body stays nil. It is called once, on Fetch's goroutine, and may stop
	// early. The Response has the body's outcome.
	Stream func(body io.Reader)
	// Pace, when set, reports the body's progress. It is for one exchange.
	Pace *Pace
}

// Response is the outcome of an exchange. State determines which other fields count.
type Response struct {
	URL         string // as requested
	State       State
	Code        int           // HTTP status; 0 when no header came
	Header      http.Header   // nil when no header came
	Body        []byte        // decompressed, in the server's charset; StateOK only; cut at the limit if requested
	ContentType string        // as sent; sniffed when the server sent no readable one
	Location    string        // absolute target of a redirect, not normalised; as sent where net/url cannot read it
	RetryAfter  time.Duration // from Retry-After; 0 when none
	Start       time.Time     // start of the exchange
	Took        time.Duration // until the body's end, or the error
	Further     int           // requests for the same page, whose time is in Took; the caller counts them
	Wire        *Wire         // both headers as sent and received; nil when none came
	WireBytes   int64         // of the body as it came, before decompression
	Addr        netip.Addr    // of the server; zero through a proxy
	Note        string        // oddity in the body of an ok answer
	Err         error         // cause of a failure; nil for ok, redirect and not_modified
}

// ErrorText returns Err's text, else the note, else "".
func (r *Response) ErrorText() string {
	if r.Err == nil {
		return r.Note
	}
	return r.Err.Error()
}

// A Fetcher makes concurrent exchanges. It is safe for concurrent use.
type Fetcher struct {
	opt       Options
	guard     guard
	dns       *dnsCache
	transport *http.Transport
	cookies   *cookies  // nil: none are kept
	clones    sync.Pool // *clone
	closed    atomic.Bool

	// Header values that all requests share; read only.
	userAgent, accept, acceptGzip []string
	limits                        map[string]int64 // bytes of a body by wanted media type; read only
	most                          int64            // the largest of limits
}

// New returns a Fetcher; Close it when done. The error names the option that cannot work.
func New(opt Options) (*Fetcher, error) {
	opt = opt.withDefaults()
	if err := opt.check(); err != nil {
		return nil, fmt.Errorf("fetch options: %w", err)
	}
	f := &Fetcher{
		opt:        opt,
		guard:      newGuard(opt.AllowNet),
		userAgent:  []string{opt.UserAgent},
		accept:     []string{document.Accept(slices.Collect(maps.Keys(opt.Types)))},
		acceptGzip: []string{"gzip"},
		limits:     map[string]int64{},
	}
	for kind, limit := range opt.Types {
		for media := range document.MediaTypes(kind) {
			f.limits[media], f.most = limit, max(f.most, limit)
		}
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

// Close drops idle connections. Exchanges in progress continue; later ones are refused.
func (f *Fetcher) Close() {
	f.closed.Store(true)
	f.transport.CloseIdleConnections()
}

// Fetch makes one exchange. It never returns nil, and only idle connections remain afterwards.
// When ctx ends first the state is none: the URL is still to be fetched.
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

// parseURL accepts fetchable URLs. It drops credentials: a link must not log us in.
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

// keepEscapes escapes characters that no path may have (RFC 3986), like ^ and |. Otherwise
// net/url treats the path as unescaped and sends its %2F as a slash.
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

// Options sets up a Fetcher. The zero value works; a zero field takes the default in brackets.
type Options struct {
	// UserAgent is sent unchanged; see the function UserAgent. ["fossick"]
	UserAgent string
	// Proxy, when set, carries every exchange (http, https, socks5, socks5h) and resolves
	// names. The guard does not apply to its own address.
	Proxy *url.URL
	// Hosts answers for names before the resolver does, and may change the port (0: the
	// URL's). See ParseHosts. The guard applies to its addresses. Unused through a proxy.
	Hosts map[string]netip.AddrPort
	// RootCAs verifies servers; ReadCAs adds a file to the system's. [the system's]
	RootCAs *x509.CertPool
	// AllowNet lists nets that the guard would refuse.
	AllowNet []netip.Prefix
	// Only, when set, lists the addresses that may be dialled, within the guard's rules. It
	// excludes a proxy, which alone knows the addresses.
	Only *Nets
	// Signer, when set, signs each request's header. Safe for concurrent use.
	Signer interface {
		Sign(h http.Header, u *url.URL)
	}
	// Cookies keeps sites' cookies in memory, within limits, until the Fetcher is closed.
	Cookies bool

	Timeout        time.Duration // the whole exchange [60 s]
	ConnectTimeout time.Duration // name, connection, TLS [15 s]
	HeaderTimeout  time.Duration // from the connection to the header's end [20 s]
	MinRate        int64         // least mean body rate in bytes/s after RateGrace; negative: none [256]
	RateGrace      time.Duration // how long a body may be slower than MinRate [5 s]

	// Types are the wanted types of documents (see document.Types), each with the most bytes of
	// a body after decompression; 0 is its default. [all: PDFs and office documents of up to
	// 25 MiB, others of MaxBodyBytes]
	Types map[string]int64

	MaxHeaderBytes int64 // response header [256 KiB]
	MaxBodyBytes   int64 // body after decompression, unless Types says otherwise [4 MiB]
	MaxRatio       int64 // decompressed to compressed, beyond the first MiB [200]

	// ConnsPerHost bounds the connections to one host, as a second safeguard beside the
	// frontier. It has no effect through a proxy. [2]
	ConnsPerHost int
	MaxIdleConns int           // open for later exchanges, all hosts [256]
	IdleTimeout  time.Duration // how long they stay open [30 s]

	// Resolver looks up names that are not in the fetcher's cache. [net.DefaultResolver]
	Resolver resolver
	DNSTTL   time.Duration // how long an answer is kept [5 min]
	DNSFail  time.Duration // how long a missing name is kept [30 s]
	DNSNames int           // names kept [65,536]

	Logger *slog.Logger     // a debug line per exchange; nil is silent
	Now    func() time.Time // for Start, Took, the DNS cache and Retry-After [time.Now]
}

// A Resolver finds the addresses of a name, as *net.Resolver does.
type resolver interface {
	// network is always "ip".
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

func (o Options) withDefaults() Options {
	def(&o.UserAgent, "fossick")
	def(&o.Timeout, 60*time.Second)
	def(&o.ConnectTimeout, 15*time.Second)
	def(&o.HeaderTimeout, 20*time.Second)
	def(&o.MinRate, 256)
	def(&o.RateGrace, 5*time.Second)
	def(&o.MaxHeaderBytes, 256<<10)
	def(&o.MaxBodyBytes, 4<<20)
	def(&o.MaxRatio, 200)
	o.Types = o.typeLimits()
	def(&o.ConnsPerHost, 2)
	def(&o.MaxIdleConns, 256)
	def(&o.IdleTimeout, 30*time.Second)
	def(&o.DNSTTL, 5*time.Minute)
	def(&o.DNSFail, 30*time.Second)
	def(&o.DNSNames, 65536)
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// maxDocumentBytes is the default limit of PDFs and office documents, which hold their pictures.
const maxDocumentBytes = 25 << 20

// typeLimits returns Types with the defaults.
func (o *Options) typeLimits() map[string]int64 {
	limits := map[string]int64{}
	for _, kind := range document.Types() {
		limit, wanted := o.Types[kind]
		if !wanted && o.Types != nil {
			continue
		}
		if limits[kind] = cmp.Or(limit, o.MaxBodyBytes); limit == 0 && (kind == "pdf" || kind == "office") {
			limits[kind] = max(o.MaxBodyBytes, maxDocumentBytes)
		}
	}
	return limits
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// check reports settings that cannot work.
func (o *Options) check() error {
	if !httpguts.ValidHeaderFieldValue(o.UserAgent) {
		return fmt.Errorf("user agent %q has characters that a header can't carry; use printable ones", o.UserAgent)
	}
	if o.Proxy != nil {
		switch o.Proxy.Scheme {
		case "http", "https", "socks5", "socks5h":
		default:
			return fmt.Errorf("proxy %s: unknown scheme %q; use http, https, socks5 or socks5h",
				o.Proxy.Redacted(), o.Proxy.Scheme)
		}
		if o.Proxy.Hostname() == "" {
			return fmt.Errorf("proxy %s: no host; give it as http://host:port", o.Proxy.Redacted())
		}
	}
	if o.Only != nil && o.Proxy != nil {
		return errors.New("a list of networks with a proxy: only the proxy knows the hosts' addresses; leave one out")
	}
	for _, d := range []time.Duration{o.Timeout, o.ConnectTimeout, o.HeaderTimeout, o.RateGrace} {
		if d < 0 {
			return fmt.Errorf("time limit %v is negative; leave it out for the default", d)
		}
	}
	for _, n := range append(slices.Collect(maps.Values(o.Types)), o.MaxHeaderBytes, o.MaxBodyBytes, o.MaxRatio) {
		if n < 0 {
			return fmt.Errorf("size limit %d is negative; leave it out for the default", n)
		}
	}
	return nil
}

// UserAgent builds a User-Agent header for site owners: name, version, and a contact.
// Robots.txt addresses the name. An empty contact is left out (for one's own servers only).
func UserAgent(name, version, contact string) string {
	ua := name
	if version != "" {
		ua += "/" + version
	}
	if contact != "" {
		ua += " (+" + contact + ")"
	}
	return ua
}

// ReadCAs returns the system's certificate authorities and those in r, a PEM file named name
// in errors.
func ReadCAs(r io.Reader, name string) (*x509.CertPool, error) {
	pem, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("certificate authorities %s: %w", name, err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // without a system store the file's alone will do
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("certificate authorities %s: no certificate in it; give a PEM file", name)
	}
	return pool, nil
}

// State is the network state in which an exchange, and so a URL, ended (paper E, E3). The
// journal and by_state use these names.
type State string

// The states of a URL. Fetch never returns duplicate, script_only, no_text, robots_denied or
// trap, which the crawler assigns.
const (
	StateOK              State = "ok"               // 200, a wanted type, the whole body
	StateNotModified     State = "not_modified"     // 304 to a conditional request
	StateRedirect        State = "redirect"         // 301, 302, 303, 307 or 308 with a Location
	StateDuplicate       State = "duplicate"        // same content as another page (crawler)
	StateScriptOnly      State = "script_only"      // 200, but scripts would make the page (crawler)
	StateNoText          State = "no_text"          // 200, but a document without text, such as scanned pages (crawler)
	StateChallenge       State = "challenge"        // a challenge or block page of an edge, whatever its status
	StatePaymentRequired State = "payment_required" // 402; Err has the price
	StateCode            State = "code"             // any other status
	StateNoIP            State = "no_ip"            // the name has no address
	StateConnectError    State = "connect_error"    // refused, unreachable, reset while connecting
	StateConnectTimeout  State = "connect_timeout"  // no connection, TLS included, in time
	StateTLSError        State = "tls_error"        // bad certificate, handshake broken off
	StateHeaderError     State = "header_error"     // not HTTP, too long, cut off
	StateHeaderTimeout   State = "header_timeout"   // connected, but no whole header in time
	StateBodyError       State = "body_error"       // cut short, broken coding
	StateBodyTimeout     State = "body_timeout"     // too slow: in total, or below the least rate
	StateTooLarge        State = "too_large"        // over the limit, a decompression bomb, or too long to read (crawler)
	StateWrongType       State = "wrong_type"       // 200, but not a wanted type, or a document that cannot be read (crawler)
	StateRobotsDenied    State = "robots_denied"    // forbidden by robots.txt (crawler)
	StateGuardDenied     State = "guard_denied"     // the egress guard refused the address
	StateTrap            State = "trap"             // cut off as a crawler trap (crawler)
	StateNone            State = "none"             // no exchange yet, or cancelled by the caller
)
