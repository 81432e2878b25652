package web

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Fault is one kind of server misbehaviour.
type Fault struct {
	Name  string
	About string // what the server does, for users
	// States are the fetch states that a crawler should record, as named in cli.md. For a fault of a
	// whole host they apply to its pages.
	States []string

	scope faultScope
	serve func(*victim)
	shake func(*handshake) *tls.Config // onTLS; nil ends the connection
}

type faultScope uint8

const (
	onPage    faultScope = iota // a single page
	onRobots                    // a host's robots.txt
	onSitemap                   // a host's sitemap
	onTLS                       // a host's TLS handshakes
)

// Host reports whether the fault affects a whole host rather than a single page.
func (f *Fault) Host() bool { return f.scope != onPage }

// Faults returns all faults, sorted by name.
func Faults() []Fault {
	all := slices.Concat(
		wireFaults(), bodyFaults(), codingFaults(), contentFaults(), redirectFaults(), statusFaults(), oddFaults(),
		robotsFaults(), sitemapFaults(), tlsFaults(), trapFaults(),
	)
	slices.SortFunc(all, func(a, b Fault) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// FaultPlan selects the faults of a web. The zero value has none.
type FaultPlan struct {
	Share float64 // fraction of pages with a page fault, in [0,1]
	Names []string
}

// defaultFaultShare is the Share of a plan that only names faults.
const defaultFaultShare = 1.0 / 3

// hostFaultShare makes host faults rarer than page faults if a plan has both, because a host with a
// broken robots.txt loses all its pages.
const hostFaultShare = 0.25

// ParseFaults parses a share of all faults ("0.3"), fault names ("silence,gzip-bomb": a third of all
// pages), or both ("0.1:silence,gzip-bomb"). "" means no faults.
func ParseFaults(s string) (FaultPlan, error) {
	if s == "" {
		return FaultPlan{}, nil
	}
	plan := FaultPlan{Share: defaultFaultShare}
	head, names, both := strings.Cut(s, ":")
	share, err := strconv.ParseFloat(head, 64)
	switch {
	case err == nil && !(share >= 0 && share <= 1):
		return FaultPlan{}, fmt.Errorf("faults %q: share %s; want one from 0 to 1", s, head)
	case err == nil:
		plan.Share = share
	case both:
		return FaultPlan{}, fmt.Errorf("faults %q: %q is not a share; want SHARE:NAME,NAME", s, head)
	default:
		names = s
	}
	if names == "" {
		return plan, nil
	}
	known := Faults()
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		if !slices.ContainsFunc(known, func(f Fault) bool { return f.Name == name }) {
			return FaultPlan{}, fmt.Errorf("faults %q: no fault %q; 'list' shows them all", s, name)
		}
		plan.Names = append(plan.Names, name)
	}
	return plan, nil
}

// faults applies a plan. It is safe for concurrent use.
type faults struct {
	all       [onTLS + 1][]Fault // by scope
	share     float64            // fraction of pages
	hostShare float64
	draw      draw
	spared    [2]string // the first page and its host, so that a start page works

	mu    sync.Mutex     // guards tried
	tried map[string]int // requests per URL, for faults that pass at the second try
}

func newFaults(plan FaultPlan, d draw, first string) *faults {
	fs := &faults{share: plan.Share, hostShare: plan.Share, draw: d, spared: [2]string{first, hostOf(first)}, tried: map[string]int{}}
	for _, f := range Faults() {
		if len(plan.Names) == 0 || slices.Contains(plan.Names, f.Name) {
			fs.all[f.scope] = append(fs.all[f.scope], f)
		}
	}
	if len(fs.all[onPage]) > 0 {
		fs.hostShare *= hostFaultShare
	}
	return fs
}

// pick returns the fault of a URL or host, or nil. It depends only on the seed and the name.
func (fs *faults) pick(scope faultScope, name string) *Fault {
	from, share := fs.all[scope], fs.hostShare
	if scope == onPage {
		share = fs.share
	}
	if len(from) == 0 || slices.Contains(fs.spared[:], name) || fs.draw.uniform("faulty", name) >= share {
		return nil
	}
	return &from[int(fs.draw.uniform("fault", name)*float64(len(from)))]
}

// tries counts a request and returns the number of requests for the URL.
func (fs *faults) tries(url string) int {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.tried[url]++
	return fs.tried[url]
}

func whole(name, about, states string, f func(*victim)) Fault {
	return Fault{Name: name, About: about, States: strings.Fields(states), serve: f}
}

func wire(name, about, states string, f func(*rawConn)) Fault {
	return whole(name, about, states, func(v *victim) { v.raw(f) })
}

func markup(name, about string, body func(v *victim) string) Fault {
	return whole(name, about, "ok duplicate", func(v *victim) {
		v.html([]byte("<!DOCTYPE html><title>" + name + " " + v.q.url() + "</title>" + body(v)))
	})
}

// moved makes a redirect fault with one Location field per target.
func moved(name, about string, targets func(*victim) []string) Fault {
	return whole(name, about, "redirect", func(v *victim) {
		v.rw.Header()["Location"] = targets(v)
		problem(v.rw, http.StatusFound, "moved")
	})
}

func fixed(targets ...string) func(*victim) []string {
	return func(*victim) []string { return targets }
}

// status makes a fault that answers with a status and no page.
func status(code int, about string, fields ...string) Fault {
	return whole("status-"+strconv.Itoa(code), about, "code", func(v *victim) {
		v.fields(fields)
		problem(v.rw, code, "no page")
	})
}

// later makes a fault that sends Retry-After once and the page after that.
func later(name, about string, code int, after func() string) Fault {
	return whole(name, about, "ok duplicate", func(v *victim) {
		if v.tries() > 1 {
			v.honest()
			return
		}
		v.rw.Header().Set("Retry-After", after())
		problem(v.rw, code, "later")
	})
}

func rules(name, about, states string, f func(*victim)) Fault {
	return Fault{Name: name, About: "robots.txt " + about, States: strings.Fields(states), scope: onRobots, serve: f}
}

func manyLinks(title string, n int) []byte {
	var b bytes.Buffer
	b.WriteString("<!DOCTYPE html><title>links " + title + "</title>")
	for i := range n {
		b.WriteString("<a href=/~nothing/")
		b.WriteString(strconv.Itoa(i))
		b.WriteString(">n</a>")
	}
	return b.Bytes()
}

// chainPrefix starts the URLs of redirect-chain; each redirects to the next.
const chainPrefix = "/~chain/"

// oddHosts returns URLs with host names that no name server resolves.
func oddHosts(host string) []string {
	return []string{
		"http://" + strings.Repeat("l", 64) + ".test/", "http://" + strings.Repeat("label.", 50) + "test/",
		"http://under_score.test/", "http://-dash-.test/", "http://a..test/", "http://.test/", "http://.../",
		"http://" + strings.ToUpper(host) + "./", "http://%00.test/", "http://a%2fb.test/", "http://xn--a.test/", "http://xn--0000000000.test/",
		"http://\u0430pple.test/", "http://\u202etset.test/", "http://\uff41.test/", "http://\U0001f4a9.test/", "http://*.test/",
		"http://1.2.3/", "http://0x7f000001/", "http://[::1%25eth0]/", "http://[::ffff:127.0.0.1]:80/", "http://127.1:6379/",
		"http://user:pass@127.0.0.1/", "http://127.0.0.1\\@a.test/", "http://a.test\\@127.0.0.1/", "http:\\\\127.0.0.1\\", "///127.0.0.1/",
	}
}

// contentFaults strain parsers or lead to useless URLs. Pages of one kind are near-duplicates.
func contentFaults() []Fault {
	inside := "<a href=http://127.0.0.1:22/script>in</a>"
	return []Fault{
		whole("deep-nesting", "nests a million elements", "ok", func(v *victim) {
			v.html([]byte("<!DOCTYPE html><title>deep " + v.q.url() + "</title>" + strings.Repeat("<b>", 1_000_000) + "deep"))
		}),
		whole("attributes", "gives one element 100,000 attributes", "ok", func(v *victim) {
			var b bytes.Buffer
			fmt.Fprintf(&b, "<!DOCTYPE html><title>attributes %s</title><p", v.q.url())
			for i := range 100_000 {
				fmt.Fprintf(&b, " a%d=%d", i, i)
			}
			v.html(append(b.Bytes(), ">attributes"...))
		}),
		whole("unclosed", "opens a comment, a script and a tag and closes none", "ok", func(v *victim) {
			v.html([]byte("<!DOCTYPE html><title>unclosed " + v.q.url() + "</title><p>text<script>" +
				strings.Repeat("<!-- <script> ", 50_000) + "<a href=\""))
		}),
		whole("entities", "is made of entities, named, numbered and broken", "ok", func(v *victim) {
			v.html([]byte("<!DOCTYPE html><title>entities " + v.q.url() + "</title><p>" +
				strings.Repeat("&amp;&#x0;&#1114112;&CounterClockwiseContourIntegral;&#xD800;&", 20_000)))
		}),
		whole("million-links", "links to a million pages", "ok too_large", func(v *victim) {
			v.html(manyLinks(v.q.url(), 1_000_000))
		}),
		whole("many-links", "links to 50,000 missing pages", "ok", func(v *victim) {
			v.html(manyLinks(v.q.url(), 50_000))
		}),
		whole("long-links", "has links of 64 KB each", "ok", func(v *victim) {
			v.html(links("long "+v.q.url(), []string{"/" + strings.Repeat("l", 64<<10), "/?" + strings.Repeat("q=1&", 16<<10)}))
		}),
		whole("odd-links", "has links that are not to web pages", "ok", func(v *victim) {
			v.html(links("odd "+v.q.url(), []string{"javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "http://[::1", "http://",
				"//", "gopher://a/", "mailto:a@b", "http://127.0.0.1/", "http://0x7f.1/", "http://2130706433/",
				"http://169.254.169.254/latest/meta-data/", "http://[::ffff:10.0.0.1]/", "http://user:pass@" + v.q.host + "/", "http://a..b/", "\x00\x01"}))
		}),
		markup("attributes-million", "gives one element a million attributes", func(*victim) string {
			return "<p" + strings.Repeat(" a", 1_000_000) + ">attributes"
		}),
		markup("nested-tables", "nests 50,000 tables", func(*victim) string {
			return strings.Repeat("<table><tr><td>", 50_000) + "deep"
		}),
		markup("nested-foreign", "nests drawings, formulas and templates in each other", func(*victim) string {
			return strings.Repeat("<svg><foreignObject><template><math><annotation-xml>", 20_000) + "<a href=/~nothing/deep>deep</a>"
		}),
		markup("misnested", "closes 100,000 elements in the wrong order", func(*victim) string {
			return strings.Repeat("<a><b><i><p></b></a><font></i>", 100_000) + "crossed"
		}),
		markup("open-comment", "opens a comment, CDATA and a declaration, and closes none", func(*victim) string {
			return "<p>text<svg><![CDATA[ <a href=/~nothing/1>" + strings.Repeat("<!", 100_000) + "<!--" + strings.Repeat("--!", 100_000)
		}),
		markup("open-attribute", "opens an attribute's value and never closes it", func(*victim) string {
			return "<p>text<a href='" + strings.Repeat("<a href=/~nothing/2>", 100_000)
		}),
		markup("frameset", "is a frameset with frames in frames", func(v *victim) string {
			return "<frameset cols=*,*>" + strings.Repeat("<frame src=\""+v.q.path+"\"><frameset rows=*>", 1000) + "<frame src=javascript:top.location><noframes>no frames</noframes>"
		}),
		markup("huge-link", "has a link of 2 MB", func(*victim) string {
			return "<a href=\"/" + strings.Repeat("u", 2<<20) + "\">long</a><a href=/~nothing/after>after</a>"
		}),
		markup("base-elsewhere", "sets another host as the base of its links", func(*victim) string {
			return "<base href=\"http://127.0.0.1:22/\"><base href=\"data:text/html,x\"><a href=relative>in</a>"
		}),
		markup("base-data", "sets a data URL as the base of its links", func(*victim) string {
			return "<base href=\"data:text/html,x\"><a href=relative>in</a><a href=//>none</a>"
		}),
		markup("refresh-self", "refreshes itself at once, for ever", func(v *victim) string {
			return "<meta http-equiv=refresh content=\"0\"><meta http-equiv=refresh content=\"0;url=" + v.q.path + "\"><meta http-equiv=refresh content=\"-1;url='//[\">"
		}),
		markup("odd-hosts", "links to hosts with impossible names", func(v *victim) string {
			return string(links("odd hosts", oddHosts(v.q.host)))
		}),
		markup("odd-ports", "links to ports of other protocols", func(v *victim) string {
			name := hostName(v.q.host)
			var targets []string
			for _, port := range []int{0, 1, 22, 25, 110, 6379, 65536, 99999999} {
				targets = append(targets, fmt.Sprintf("http://%s:%d/", name, port))
			}
			return string(links("odd ports", targets))
		}),
		markup("many-hosts", "links to a hundred new hosts", func(v *victim) string {
			targets := make([]string, 100)
			for i := range targets {
				targets[i] = fmt.Sprintf("http://n%d.%s.invalid/", i, hostName(v.q.host))
			}
			return string(links("many hosts", targets))
		}),
		markup("script-links", "has links in scripts, styles, comments and text areas", func(*victim) string {
			var b strings.Builder
			for _, tag := range []string{"script", "style", "textarea", "template", "xmp", "iframe", "noembed", "noscript", "title"} {
				fmt.Fprintf(&b, "<%s>%s</%s>", tag, inside, tag)
			}
			return b.String() + "<!--" + inside + "--><script>document.write('" + inside + "')</script>"
		}),
		markup("link-spellings", "spells a few links in many ways", func(v *victim) string {
			host, path := v.q.host, v.q.path
			var targets []string
			for _, l := range []string{
				"hTTp://" + host + path, "HTTP:" + path, "http:\\\\" + host + "\\x", "\\\\" + host + "\\..\\y", "//" + host + "/%2e%2e/%2E./z", "ht\ntp://" + host + "/line",
				"http://" + host + "/a\tb\x01\x7f", " \x00http://" + host + "/ ", "http://a:b@" + host + "/", "http://@@@" + host + "/", "http:///" + host + "/", "http://" + host + "/%", "http://" + host + "/%zz%00",
				"http://" + host + "?#?#", "http://" + host + ":080/", "http://" + host + ":/", "http://%6c%6f%63%61%6c%68%6f%73%74/", "http://[::ffff:7f00:1%25lo]/", "javascript\n:alert(1)", "view-source:http://" + host + "/",
			} {
				targets = append(targets, strings.ReplaceAll(l, `"`, "&quot;"))
			}
			return string(links("spellings", targets))
		}),
		markup("canonical", "names the crawler's own machine, itself and a broken URL as its canonical URL", func(v *victim) string {
			return "<link rel=canonical href=http://127.0.0.1:22/><link rel=canonical href=" + v.q.path + "><link rel='canonical alternate' hreflang=xx href='http://[::1'>" +
				"<meta property=og:url content=http://169.254.169.254/><p>who am I?"
		}),
		markup("huge-words", "has a title, a word and attributes of 600 KB each", func(*victim) string {
			long := strings.Repeat("endless", 90_000)
			return "<title>" + long + "</title><p title=" + long + ">" + long + "<a href=/~nothing/huge title=" + long + ">link</a>"
		}),
		markup("only-marks", "is a megabyte of accents on one letter, and of signs that change the direction", func(*victim) string {
			return "<p>a" + strings.Repeat("\u0301", 250_000) + strings.Repeat("\u202e\u2066\u200f", 80_000) + "b"
		}),
	}
}

// redirectFaults redirect where a client must not go, or as only browsers understand.
func redirectFaults() []Fault {
	to := func(name, about, target string) Fault {
		return wire(name, about, "redirect", func(c *rawConn) {
			_, _ = c.Write([]byte("HTTP/1.1 302 Found\r\nLocation: " + target + "\r\nContent-Length: 0\r\n\r\n"))
		})
	}
	return []Fault{
		moved("redirect-self", "redirects to itself", func(v *victim) []string { return []string{v.q.url()} }),
		moved("redirect-chain", "redirects to ever new URLs", func(v *victim) []string { return []string{v.root() + chainPrefix + "1"} }),
		moved("redirect-loopback", "redirects to the crawler's own machine", fixed("http://127.0.0.1:22/")),
		moved("redirect-private", "redirects to a private network", fixed("http://10.0.0.1/admin")),
		moved("redirect-metadata", "redirects to the metadata service of a cloud", fixed("http://169.254.169.254/latest/meta-data/")),
		moved("redirect-mapped", "redirects to an IPv4 address written as IPv6", fixed("http://[::ffff:127.0.0.1]/")),
		moved("redirect-decimal", "redirects to loopback as one number", fixed("http://2130706433/")),
		moved("redirect-scheme", "redirects to a file", fixed("file:///etc/passwd")),
		moved("redirect-nowhere", "redirects to an invalid URL", fixed("http://[::1")),
		moved("redirect-long", "redirects to a URL of 100 KB", fixed("/"+strings.Repeat("l", 100<<10))),
		whole("redirect-empty", "redirects without saying where", "code", func(v *victim) {
			problem(v.rw, http.StatusMovedPermanently, "moved")
		}),
		moved("redirect-login", "redirects to itself with a name and a password", func(v *victim) []string {
			return []string{v.q.scheme + "://user:pass@" + v.q.host + v.q.path}
		}),
		moved("redirect-script", "redirects to a script", fixed("javascript:alert(document.domain)")),
		moved("redirect-data", "redirects to a data URL", fixed("data:text/html,<a href=http://127.0.0.1/>in</a>")),
		moved("redirect-bytes", "redirects to bytes that are not UTF-8", fixed("/\xff\xfe\x80\xc0/\xed\xa0\x80")),
		moved("redirect-twin", "redirects to a host whose name looks like its own", func(v *victim) []string {
			return []string{"http://" + strings.Replace(hostName(v.q.host), "t", "\u0442", 1) + "/"}
		}),
		moved("redirect-port", "redirects to a port of another protocol", func(v *victim) []string {
			return []string{"http://" + hostName(v.q.host) + ":25/"}
		}),
		moved("redirect-flip", "redirects from http to https and back, for ever", func(v *victim) []string {
			other := map[string]string{"http": "https", "https": "http"}[v.q.scheme]
			return []string{other + "://" + hostName(v.q.host) + v.q.path}
		}),
		moved("redirect-two", "redirects to two places at once", fixed("/~nothing/1", "http://127.0.0.1/")),
		moved("redirect-hash", "redirects to a part of itself", fixed("#top")),
		moved("redirect-grow", "redirects to itself with an ever longer query", func(v *victim) []string {
			return []string{v.q.path + map[bool]string{true: "&", false: "?"}[strings.Contains(v.q.path, "?")] + "n=1"}
		}),
		whole("cookie-wall", "redirects to itself until a cookie comes back", "redirect", func(v *victim) {
			if _, err := v.r.Cookie("seen"); err == nil {
				v.honest()
				return
			}
			http.SetCookie(v.rw, &http.Cookie{Name: "seen", Value: "1"})
			redirect(v.rw, v.q.url(), http.StatusFound)
		}),
		to("redirect-blanks", "redirects to a URL with a tab and spaces in it", " /~moved/a\tb c"),
		to("redirect-percent", "redirects to a URL with a percent sign that is not an escape", "/~moved/100%_off"),
		to("redirect-backslash", "redirects to the crawler's own machine, with backslashes for slashes", `\\127.0.0.1:22\~moved`),
		to("redirect-mixed", "redirects to the crawler's own machine, with a slash and a backslash", `/\127.0.0.1:22/~moved`),
	}
}

// statusFaults answer with another status than 200, some only once.
func statusFaults() []Fault {
	seconds := func() string { return "1" }
	once := func(name, about, layout string) Fault {
		return later(name, "says 503 with a date two seconds ahead, "+about+", once, then answers", http.StatusServiceUnavailable, func() string {
			return time.Now().Add(2 * time.Second).UTC().Format(layout)
		})
	}
	busy := func(name, about, after string) Fault {
		return later(name, about, http.StatusServiceUnavailable, func() string { return after })
	}
	proxy := status(407, "asks for the proxy's password", "Proxy-Authenticate", "Basic realm=\"in\"")
	proxy.States = append(proxy.States, "connect_error") // through a proxy it looks like the proxy's own answer
	return []Fault{
		status(403, "forbids the page"),
		whole("challenge", "shows a challenge in place of the page", "challenge", func(v *victim) {
			v.rw.Header().Set("Cf-Mitigated", "challenge")
			problem(v.rw, http.StatusForbidden, "prove that you are no robot")
		}),
		whole("challenge-200", "shows a challenge with status 200, and links to follow", "challenge", func(v *victim) {
			v.html([]byte("<title>Wait</title><script>document.cookie=\"seen=1\";location.reload()</script><a href=/~nothing/1></a>"))
		}),
		whole("payment", "asks for payment", "payment_required", func(v *victim) {
			v.rw.Header().Set("Crawler-Price", "USD 0.01")
			problem(v.rw, http.StatusPaymentRequired, "for payment")
		}),
		status(410, "says that the page is gone"),
		status(500, "fails on every request"),
		later("busy-503", "says 503 and Retry-After: 1 once, then answers", http.StatusServiceUnavailable, seconds),
		later("busy-429", "says 429 and Retry-After: 1 once, then answers", http.StatusTooManyRequests, seconds),
		later("busy-date", "says 429 with a date two seconds ahead once, then answers", http.StatusTooManyRequests, func() string {
			return time.Now().Add(2 * time.Second).UTC().Format(http.TimeFormat)
		}),
		later("busy-nonsense", "says 503 with an invalid Retry-After, then answers", http.StatusServiceUnavailable, func() string { return "soon" }),
		whole("status-999", "answers with an unknown status", "code", func(v *victim) {
			problem(v.rw, 999, "no page")
		}),
		whole("unasked-304", "says not modified although the crawler has no copy", "code", func(v *victim) {
			v.rw.WriteHeader(http.StatusNotModified)
		}),
		whole("unasked-206", "sends a part without a request for it", "code", func(v *victim) {
			v.rw.Header().Set("Content-Range", "bytes 0-9/5000")
			v.rw.Header().Set("Content-Type", "text/html")
			v.rw.WriteHeader(http.StatusPartialContent)
			_, _ = io.WriteString(v.rw, "<p>a part\n")
		}),
		whole("switch", "switches to another protocol without being asked", "code header_error", func(v *victim) {
			v.raw(func(c *rawConn) {
				_ = c.say("HTTP/1.1 101 Switching Protocols\r\nUpgrade: nonsense\r\nConnection: Upgrade\r\n")
				c.wait()
			})
		}),
		once("busy-rfc850", "written as in 1987", time.RFC850),
		once("busy-asctime", "written as C does", time.ANSIC),
		once("busy-iso", "in the format of ISO 8601", time.RFC3339),
		busy("busy-past", "says 503 and Retry-After with a date of 1990 once, then answers", time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC).Format(http.TimeFormat)),
		busy("busy-minus", "says 503 and Retry-After: -5 once, then answers", "-5"),
		busy("busy-fraction", "says 503 and Retry-After: 1e9 once, then answers", "1e9"),
		busy("busy-list", "says 503 and Retry-After with a list once, then answers", "1, 100000, 2"),
		status(401, "asks for a password", "WWW-Authenticate", "Basic realm=\"in\""),
		proxy,
		status(451, "is forbidden by law"),
		wire("204-body", "says that it has no content, and sends some", "code", sends("HTTP/1.1 204 No Content\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n<p>a page")),
		whole("empty", "sends an empty page", "ok duplicate", func(v *victim) { v.html(nil) }),
		wire("refresh-header", "refreshes itself by a header field", "ok", func(c *rawConn) {
			body := "<title>refresh</title><p>" + strings.Repeat("again ", 20) + c.RemoteAddr().String()
			_ = c.head("Refresh: 0;url=http://127.0.0.1/", "Link: <http://[::1>; rel=canonical, </~nothing/next>; rel=next", "Content-Length: "+strconv.Itoa(len(body)))
			_, _ = c.Write([]byte(body))
		}),
	}
}

// oddFaults come from misconfigured servers, or fit no other group.
func oddFaults() []Fault {
	body := func(v *victim) []byte {
		return []byte("<!DOCTYPE html><title>odd " + v.q.url() + "</title><p>an odd page of its own: " + v.q.url())
	}
	header := func(name, about, states string, fields ...string) Fault {
		return whole(name, about, states+" duplicate", func(v *victim) {
			v.fields(fields)
			v.html(body(v))
		})
	}
	cookies := make([]string, 0, 1000)
	for i := range 500 {
		cookies = append(cookies, "Set-Cookie", fmt.Sprintf("c%d=%s; Domain=com; Path=/; Max-Age=99999999999", i, strings.Repeat("x", 200)))
	}
	// bare sends nothing but these fields with the page: browsers accept them, other clients may reject
	// them, or they do harm only if stored.
	bare := func(name, about string, fields ...string) Fault {
		return whole(name, about, "ok duplicate", func(v *victim) {
			v.fields(fields)
			v.rw.WriteHeader(http.StatusOK)
			_, _ = v.rw.Write(v.page) // the client may be gone
		})
	}
	const html = "Content-Type"
	return []Fault{
		header("cookie-flood", "sets 500 cookies, for all of .com", "ok", cookies...),
		header("cookie-huge", "sets a cookie of 200 KB", "ok", "Set-Cookie", "c="+strings.Repeat("x", 200<<10)),
		header("clock-past", "lives in 1970, and its pages change in 2999", "ok",
			"Date", "Thu, 01 Jan 1970 00:00:00 GMT", "Last-Modified", "Mon, 01 Jan 2999 00:00:00 GMT", "Age", "-1", "Expires", "0", "Cache-Control", "max-age=-5"),
		header("elsewhere-fields", "names the crawler's own machine in every possible field", "ok",
			"Alt-Svc", `h3="127.0.0.1:443", h2="127.0.0.1:22"; ma=99999999`, "Content-Location", "http://127.0.0.1:22/", "Link", `<http://127.0.0.1:22/>; rel="preload next"`,
			"Upgrade", "h2c", "Refresh", "0;url=http://127.0.0.1:22/", "SourceMap", "http://127.0.0.1:22/"),
		wire("two-types", "gives two types that differ", "ok wrong_type duplicate", answers("<title>two</title><p>types", "Content-Type: application/pdf", "Content-Length: 26")),
		header("coding-charset", "calls a character set a content coding", "ok", "Content-Encoding", "utf-8"),
		header("coding-none", "names none as its content coding", "ok", "Content-Encoding", "none"),
		whole("coding-stack", "names three codings and uses none", "body_error", func(v *victim) {
			v.html(body(v), "Content-Encoding", "gzip, br, deflate")
		}),
		wire("odd-chunks", "writes the lengths of chunks with zeros and spaces", "ok duplicate body_error", answers("000000000000007  \r\n<p>odd \r\n00E;a=\"b;c\"\r\nchunks of words\r\n0000\r\n\r\n", "Transfer-Encoding: chunked")),
		bare("version-bytes", "names its version and its date in bytes that are not UTF-8",
			html, "text/html", "ETag", "\"\xff\xfe\x80\"", "Last-Modified", "\xc0\xaf yesterday"),
		bare("version-long", "names its version in 200 KB", html, "text/html", "ETag", `"`+strings.Repeat("e", 200<<10)+`"`),
		bare("type-bytes", "has bytes that are not UTF-8 in its type and X-Robots-Tag", html, "text/html; charset=\xff\xfe", "X-Robots-Tag", "\xff\xfe: noarchive"),
		bare("type-list", "names two types in one field", html, "text/plain, text/html"),
		bare("type-repeats", "names its type in three fields, one of them empty", html, "", html, "text/html", html, "*/*"),
	}
}

// robotsFaults affect a host's robots.txt; States apply to its pages (RFC 9309: an unreachable file
// forbids everything, 4xx and nonsense allow everything).
func robotsFaults() []Fault {
	text := func(name, about, states, body string) Fault {
		return rules(name, about, states, func(v *victim) { v.text(body) })
	}
	bomb := sync.OnceValue(func() []byte { return zipped([]byte(strings.Repeat("# nothing\n", 4<<20))) })
	fault := func(name, about string, status int, fields ...string) Fault {
		return rules(name, about, "robots_denied", func(v *victim) {
			const body = "User-agent: *\nDisallow: /\n"
			v.fields(fields)
			v.rw.Header().Set("Content-Length", strconv.Itoa(len(body)))
			v.rw.WriteHeader(status)
			_, _ = v.rw.Write([]byte(body)) // the client may be gone
		})
	}
	return []Fault{
		rules("robots-500", "fails with 500", "robots_denied", func(v *victim) { problem(v.rw, 500, "no rules") }),
		rules("robots-503", "fails with 503", "robots_denied", func(v *victim) { problem(v.rw, 503, "no rules") }),
		rules("robots-403", "is forbidden", "ok", func(v *victim) { problem(v.rw, 403, "no rules") }),
		rules("robots-loop", "redirects to itself", "ok", func(v *victim) { redirect(v.rw, v.q.url(), http.StatusFound) }),
		rules("robots-html", "is a web page", "ok", func(v *victim) { v.html([]byte("<!DOCTYPE html><p>Disallow: nothing here")) }),
		rules("robots-binary", "is an image", "ok", func(v *victim) {
			v.text("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + strings.Repeat("\x00", 4096))
		}),
		rules("robots-huge", "has 100 MB of rules", "ok", func(v *victim) {
			v.rw.Header().Set("Content-Type", "text/plain")
			_, _ = v.rw.Write([]byte("User-agent: *\nDisallow: /~nothing\n"))
			for i := 0; i < 100<<20; i += 4096 {
				if _, err := v.rw.Write([]byte(strings.Repeat("# many\n", 585) + "\n")); err != nil {
					return // the client is gone
				}
			}
		}),
		rules("robots-hang-up", "ends in a closed connection", "robots_denied header_error", func(v *victim) { v.raw(func(*rawConn) {}) }),
		rules("robots-stall", "never comes", "robots_denied header_timeout", func(v *victim) { v.raw((*rawConn).wait) }),
		rules("robots-delay", "asks for a rest that is not a number, and for a short one", "ok", func(v *victim) {
			v.text("User-agent: *\nCrawl-delay: forever\nCrawl-delay: -5\nCrawl-delay: NaN\nCrawl-delay: 0.01\n")
		}),
		text("robots-mark", "begins with a byte order mark", "robots_denied", "\ufeffUser-agent: *\nDisallow: /\n"),
		text("robots-cr", "ends its lines with CR alone", "robots_denied", "User-agent: *\rDisallow: /\r"),
		text("robots-zeros", "is full of zeros", "ok", "User-agent: *\x00\nDis\x00allow: /\nDisallow:\x00\n"+strings.Repeat("\x00", 10_000)),
		text("robots-wide", "is UTF-16", "robots_denied", "\xff\xfeU\x00s\x00e\x00r\x00-\x00a\x00g\x00e\x00n\x00t\x00:\x00 \x00*\x00\n\x00D\x00i\x00s\x00a\x00l\x00l\x00o\x00w\x00:\x00/\x00"),
		text("robots-line", "is one line of 10 MB", "ok", "Disallow: /"+strings.Repeat("l", 10<<20)),
		text("robots-groups", "has 100,000 groups", "ok", strings.Repeat("User-agent: somebody\nDisallow: /\n\n", 100_000)),
		text("robots-stars", "has patterns of stars only", "ok", "User-agent: *\n"+strings.Repeat("Disallow: /"+strings.Repeat("*a", 500)+"$\n", 400)),
		text("robots-sitemap", "names sitemaps at file URLs and at the crawler's own machine", "ok", "Sitemap: file:///etc/passwd\nSitemap: http://127.0.0.1/sitemap.xml\nSitemap: gopher://x\nSitemap: http://[::1\n"),
		text("robots-rest", "asks for rests in strange numbers", "ok", "User-agent: *\nCrawl-delay: 1e308\nCrawl-delay: Infinity\nCrawl-delay: 0x1p10\nCrawl-delay: .\nCrawl-delay: --5\n"),
		rules("robots-204", "has no content", "ok", func(v *victim) { v.rw.WriteHeader(http.StatusNoContent) }),
		rules("robots-429", "is answered with 429", "robots_denied", func(v *victim) { problem(v.rw, http.StatusTooManyRequests, "later") }),
		rules("robots-inside", "redirects to the crawler's own machine", "robots_denied", func(v *victim) {
			redirect(v.rw, "http://127.0.0.1:22/robots.txt", http.StatusFound)
		}),
		rules("robots-drip", "comes a byte at a time", "robots_denied body_timeout", func(v *victim) {
			v.raw(func(c *rawConn) {
				_ = c.head("Content-Length: 100000")
				c.drip(strings.Repeat("# slow\n", 10_000))
			})
		}),
		rules("robots-bomb", "unpacks to a gigabyte", "ok robots_denied", func(v *victim) {
			v.raw(func(c *rawConn) {
				_ = c.head("Content-Encoding: gzip", "Connection: close")
				_, _ = c.Write(bomb())
			})
		}),
		rules("robots-gzip", "is a gzip file that is not announced as one", "ok", func(v *victim) {
			v.text(string(zipped([]byte("User-agent: *\nDisallow: /\n"))))
		}),
		rules("robots-home", "redirects to a web page, like every missing page", "ok", func(v *victim) {
			redirect(v.rw, v.root()+softPath+"robots", http.StatusFound)
		}),
		rules("robots-304", "is said to be unchanged although it was never fetched", "robots_denied", func(v *victim) { v.rw.WriteHeader(http.StatusNotModified) }),
		rules("robots-mixed", "has rules in mixed case, with spaces and comments between them", "robots_denied", func(v *victim) {
			v.rw.Header().Set("Content-Type", "text/html")
			send(v.rw, v.r, []byte("\r\n\r\n  USER-AGENT : * # all\r\n\r\n# and\r\n\tdIsAlLoW\t:\t/\t# everything\r\n"))
		}),
		fault("robots-203", "comes through a proxy that changed it", http.StatusNonAuthoritativeInfo),
		fault("robots-206", "comes in a part without a request for it", http.StatusPartialContent, "Content-Range", "bytes 0-25/9999"),
		fault("robots-version", "names its version in bytes that are not UTF-8", http.StatusOK, "ETag", "\"\xff\xfe\"", "Content-Type", "text/plain; x=\xff"),
	}
}
