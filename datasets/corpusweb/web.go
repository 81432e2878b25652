package corpusweb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"fossick/datasets"
)

// Options says how the web behaves. The zero value answers at once, allows all
// and logs nothing.
type Options struct {
	Latency  time.Duration // mean time before an answer; each URL has its own, from half to one and a half of it
	Disallow float64       // share of each host's pages that robots.txt forbids, in [0,1)
	// CrawlDelay is what the robots.txt of an eighth of the hosts asks for, in whole
	// milliseconds; 0 for none.
	CrawlDelay time.Duration
	Seed       uint64         // of the latencies and of what is disallowed
	Progress   func(rows int) // called for rows that were read; nil for nobody
	Log        io.Writer      // one JSON object a request; nil for none
	SpoolDir   string         // folder of the spool; "" for the system's temporary one
	CAFile     string         // where to write the authority's certificate; "" for a temporary file
	Logger     *slog.Logger   // nil is silent
	Faults     FaultPlan      // what goes wrong on purpose
	Change     ChangePlan     // how pages change, go and come back
	Sitemaps   bool           // each host has a sitemap, and its robots.txt names it
}

// Web is a corpus as a web. It is an http.Handler, safe for concurrent use.
type Web struct {
	opt   Options
	index datasets.Index   // of pages
	pages []entry          // by row
	hosts map[string]*host // by name, with the port when it is no default one
	extra []extra
	stats Stats
	first string // URL of the first page

	began  time.Time
	draw   draw
	faults *faults
	held   *held

	spool *spool
	ca    *authority
	tls   *tunnels
	log   *requestLog
}

// Stats counts what is served.
type Stats struct {
	Hosts    int
	Pages    int
	Repeated int // rows whose URL, without fragment, had come before; the first is served
	Unserved int // rows whose URL is neither http nor https
	Spooled  int64
}

// host is one host of the web. robots is complete once New has returned.
type host struct {
	scheme string
	paths  []string // of its pages, with query; once New has returned, only with Options.Sitemaps
	robots []byte
}

// extra is what one set brings beyond pages, its URLs as keys.
type extra struct {
	redirects map[string]datasets.Redirect
	status    map[string]int
	traps     []datasets.Trap
}

// New reads the sets once and returns their web; a page that two of them have
// comes from the first. It fails on the first row that cannot be read, and when
// no page is left to serve.
func New(ctx context.Context, opt Options, sets ...*datasets.Set) (w *Web, err error) {
	if opt.Disallow < 0 || opt.Disallow >= 1 {
		return nil, fmt.Errorf("disallow %v: want a share from 0 to less than 1", opt.Disallow)
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	w = &Web{
		began: time.Now(), opt: opt, hosts: map[string]*host{},
		draw: draw(opt.Seed), held: newHeld(),
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
			w = nil
		}
	}()
	if w.spool, err = newSpool(opt.SpoolDir); err != nil {
		return w, err
	}
	for _, set := range sets {
		if err = w.read(ctx, set); err != nil {
			return w, err
		}
	}
	if err = w.spool.done(); err != nil {
		return w, err
	}
	if w.stats.Pages = len(w.pages); w.stats.Pages == 0 {
		return w, fmt.Errorf("no page to serve: %d rows have no http URL", w.stats.Unserved)
	}
	w.stats.Hosts, w.stats.Spooled = len(w.hosts), w.spool.size
	w.writeRobots(sets)
	w.faults = newFaults(opt.Faults, w.draw, w.first)
	if w.ca, err = newAuthority(opt.CAFile); err != nil {
		return w, err
	}
	if opt.Log != nil {
		w.log = &requestLog{w: opt.Log, logger: opt.Logger}
	}
	w.tls = newTunnels(w)
	return w, nil
}

// Stats returns the counts of what is served.
func (w *Web) Stats() Stats { return w.stats }

// First returns the URL of the first page, as a start page to try.
func (w *Web) First() string { return w.first }

// CA returns the file with the certificate that https clients must trust.
func (w *Web) CA() string { return w.ca.file }

// Hosts returns the hosts' names, with the port when it is not the scheme's
// default, sorted.
func (w *Web) Hosts() []string {
	names := make([]string, 0, len(w.hosts))
	for name := range w.hosts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Close ends the tunnels and removes the files. The log's writer is the
// caller's to close, after Close.
func (w *Web) Close() error {
	w.held.drop()
	var errs []error
	if w.tls != nil {
		errs = append(errs, w.tls.close())
	}
	if w.ca != nil {
		errs = append(errs, w.ca.close())
	}
	if w.spool != nil {
		errs = append(errs, w.spool.close())
	}
	return errors.Join(errs...)
}

// read spools the pages of one set.
func (w *Web) read(ctx context.Context, set *datasets.Set) error {
	for e, err := range set.Examples() {
		if w.opt.Progress != nil {
			w.opt.Progress(1)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if err := w.add(e); err != nil {
			return err
		}
	}
	return w.addExtra(set.Web())
}

func (w *Web) add(e *datasets.Example) error {
	key, err := datasets.Key(e.URL)
	if err != nil {
		w.stats.Unserved++ // ftp: and file: occur
		w.opt.Logger.Debug("not served", "url", e.URL, "err", err)
		return nil
	}
	if !w.index.Add(key, len(w.pages)) {
		w.stats.Repeated++
		return nil
	}
	en, err := w.spool.add(e)
	if err != nil {
		return err
	}
	if w.first == "" {
		w.first = key
	}
	w.pages = append(w.pages, en)
	h, path := w.addHost(key)
	h.paths = append(h.paths, path)
	return nil
}

// addHost returns the host of a key, made if need be, and the key's path.
func (w *Web) addHost(key string) (*host, string) {
	u, err := url.Parse(key)
	if err != nil { // a key is a URL
		return &host{}, "/"
	}
	name := hostName(u.Host)
	h := w.hosts[name]
	if h == nil {
		h = &host{scheme: u.Scheme}
		w.hosts[name] = h
	}
	return h, u.RequestURI()
}

// hostOf returns the name in the index of a key's host.
func hostOf(key string) string {
	u, err := url.Parse(key)
	if err != nil {
		return ""
	}
	return hostName(u.Host)
}

// find returns the page for a key; see datasets.Index.
func (w *Web) find(key string) (en entry, moved string, ok bool) {
	row, moved, ok := w.index.Find(key)
	if !ok {
		return en, "", false
	}
	return w.pages[row], moved, true
}

// addCopy enters a URL at which the page of another stands; that one may be missing.
func (w *Web) addCopy(at, original string) error {
	key, err := datasets.Key(at)
	if err != nil {
		return err
	}
	row, _, ok := w.index.Find(original)
	if ok && w.index.Add(key, row) {
		h, path := w.addHost(key)
		h.paths = append(h.paths, path)
	}
	return nil
}

func (w *Web) addExtra(web *datasets.Web) error {
	if web == nil {
		return nil
	}
	for at, original := range web.Copies {
		if err := w.addCopy(at, original); err != nil {
			return fmt.Errorf("copy at %s: %w", at, err)
		}
	}
	x := extra{redirects: map[string]datasets.Redirect{}, status: map[string]int{}, traps: web.Traps}
	for from, r := range web.Redirects {
		key, err := datasets.Key(from)
		if err != nil {
			return fmt.Errorf("redirect from %s: %w", from, err)
		}
		x.redirects[key] = r
		w.addHost(key)
	}
	for at, code := range web.Status {
		key, err := datasets.Key(at)
		if err != nil || http.StatusText(code) == "" {
			return fmt.Errorf("status %d of %s: no such status or URL: %w", code, at, err)
		}
		x.status[key] = code
		w.addHost(key)
	}
	w.extra = append(w.extra, x)
	return nil
}

// hostName returns a host as the web's index has it: lower case, without the
// ports of http and https, so that a page answers by either.
func hostName(hostport string) string {
	name, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return strings.TrimSuffix(strings.ToLower(strings.Trim(hostport, "[]")), ".")
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if port == "80" || port == "443" || port == "" {
		return name
	}
	return net.JoinHostPort(name, port)
}
