package fetch

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/txtar"

	"fossick/internal/testkit"
)

// planted returns the answers of testdata/challenges.txtar by name, as they go over the wire.
func planted(t testing.TB) map[string]string {
	t.Helper()
	archive := testkit.Call(txtar.ParseFile("testdata/challenges.txtar")).Must(t)
	all := map[string]string{}
	for _, f := range archive.Files {
		head, body, found := strings.Cut(string(f.Data), "\n\n")
		if !found {
			t.Fatalf("%s: no empty line after the header", f.Name)
		}
		all[strings.TrimSuffix(f.Name, ".http")] = fmt.Sprintf("%s\r\nContent-Length: %d\r\n\r\n%s", strings.ReplaceAll(head, "\n", "\r\n"), len(body), body)
	}
	return all
}

// edgeOf gives the edge by the first word of a planted answer's name.
var edgeOf = map[string]string{
	"cloudflare": "Cloudflare", "akamai": "Akamai", "aws": "AWS WAF", "cloudfront": "CloudFront", "imperva": "Imperva", "datadome": "DataDome",
	"human": "HUMAN", "fastly": "Fastly", "f5": "F5", "shape": "F5", "kasada": "Kasada", "sucuri": "Sucuri", "vercel": "Vercel", "ddos": "DDoS-Guard",
	"azure": "Azure Front Door", "azwaf": "Azure WAF", "wordfence": "Wordfence", "anubis": "Anubis", "go": "go-away", "basedflare": "BasedFlare", "siteground": "SiteGround", "qrator": "Qrator",
	"radware": "Radware", "alibaba": "Alibaba Cloud", "testcookie": "testcookie", "captcha": "a captcha", "turnstile": "a captcha",
	"cookie": "a cookie by script", "denied": "a cookie by script",
}

// TestChallenges: every planted answer ends as a challenge of its edge, and no body is kept.
func TestChallenges(t *testing.T) {
	all := planted(t)
	if len(all) < 30 {
		t.Fatalf("%d kinds, want 30", len(all))
	}
	for name, raw := range all {
		t.Run(name, func(t *testing.T) {
			resp := newTest(t, Options{}).Fetch(t.Context(), Request{URL: "http://" + rawServer(t, false, say(raw)) + "/p"})
			checkState(t, resp, StateChallenge)
			word, _, _ := strings.Cut(name, "-")
			if resp.Body != nil || !strings.Contains(resp.ErrorText(), "("+edgeOf[word]+")") {
				t.Errorf("body %.40q, reason %q; want none, and %s", resp.Body, resp.ErrorText(), edgeOf[word])
			}
		})
	}
}

// TestSigns: each sign recognises a planted answer, and none is of visible text alone.
func TestSigns(t *testing.T) {
	var doors []door
	for name, raw := range planted(t) {
		r, err := http.ReadResponse(bufio.NewReader(strings.NewReader(raw)), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		d := newDoor(r.StatusCode, r.Header, "", body)
		doors = append(doors, d)
	}
	for i := range signs {
		s := &signs[i]
		seen := 0
		for j := range doors {
			if doors[j].shows(s) {
				seen++
			}
		}
		if seen == 0 {
			t.Errorf("sign %+v: no planted answer has it", *s)
		}
		if s.header == "" && s.cookie == "" && s.ref == "" && s.mark == "" && len(s.code) == 0 {
			t.Errorf("sign %+v is only of text and size", *s)
		}
		if s.header != http.CanonicalHeaderKey(s.header) {
			t.Errorf("header %s is not canonical", s.header)
		}
	}
}

// about are titles of pages about challenges, each with its sentence.
var about = [][2]string{
	{"Captchas and people who cannot see", "A captcha asks a visitor to read bent letters, which shuts out people who use a screen reader."},
	{"Just a moment: how bot walls work", "A bot wall shows \"Just a moment\" and \"Checking your browser\" while a script proves that it runs in a browser."},
	{"Access denied, or why the museum blocked us", "The answer was Access Denied with a Reference # and the advice to enable JavaScript and cookies."},
	{"Cloudflare, Akamai, DataDome compared", "All three send a challenge page; Cloudflare marks it with cf-mitigated, and DataDome loads captcha-delivery.com."},
	{"Please verify you are a human", "Press and hold the button: this is what HUMAN, once PerimeterX, asks with its px-captcha."},
	{"Setting up Anubis for a code forge", "Anubis asks for a proof of work before it lets a browser pass; its scripts lie below /.within.website/."},
	{"The request is blocked: reading an incident ID", "Your support ID is a number that the firewall prints, and Request unsuccessful. Incapsula incident ID is another."},
	{"hCaptcha, reCAPTCHA, Turnstile in one form", "Three widgets keep spam out of a comment form: g-recaptcha, h-captcha and cf-turnstile."},
	{"Error code: 1020 explained", "Error code: 1020 means that a rule of the owner refused the request, and 1015 that there were too many."},
	{"Robots, and what they may not do", "A polite robot that meets a challenge goes away, rests, and solves nothing."},
}

// pages are templates of pages about challenges: %[1]s is the title, %[2]s the sentence.
var pages = map[string]string{
	"article": `<!DOCTYPE html><html><head><title>%[1]s</title><script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script></head><body><nav><a href="/">Home</a> <a href="/a">Articles</a> <a href="/b">About</a></nav><h1>%[1]s</h1><p>%[2]s</p><p>More is in <a href="/more">the long version</a>.</p></body></html>`,
	"contact": `<html><head><title>%[1]s</title><script src="https://www.google.com/recaptcha/api.js"></script></head><body><h1>%[1]s</h1><p>%[2]s</p><form action="/send" method="post"><input name="name"><input type="email" name="mail"><textarea name="text"></textarea><div class="g-recaptcha" data-sitekey="0"></div><button>Send</button></form></body></html>`,
	"comment": `<html><head><title>%[1]s</title><script src="https://js.hcaptcha.com/1/api.js"></script><script src="https://challenges.cloudflare.com/turnstile/v0/api.js"></script><script>document.cookie="theme=dark";</script></head><body><article><h1>%[1]s</h1><p>%[2]s</p></article><form><textarea name="comment"></textarea><div class="h-captcha"></div><div class="cf-turnstile"></div></form></body></html>`,
	"code":    `<html><head><title>%[1]s</title></head><body><h1>%[1]s</h1><p>%[2]s</p><pre>&lt;script&gt;window._cf_chl_opt={}; sucuri_cloudproxy_js='';&lt;/script&gt; &lt;div id="px-captcha"&gt; window["bobcmn"] slowAES document.cookie location.reload &lt;script src="https://ct.captcha-delivery.com/c.js"&gt;</pre></body></html>`,
	"note":    `<html><head><title>%[1]s</title><script>window.dataLayer=[];if(document.cookie.indexOf("x")<0){location.hash="x"}</script></head><body><p>%[2]s</p><p><a href="https://geo.captcha-delivery.com/captcha/">see</a> <a href="/_Incapsula_Resource?x=1">one</a></p></body></html>`,
}

// TestPagesAboutChallenges: fifty pages about captchas and bot walls, with widgets in their
// forms, are pages.
func TestPagesAboutChallenges(t *testing.T) {
	n := 0
	for kind, template := range pages {
		for _, a := range about {
			body := fmt.Sprintf(template, a[0], a[1])
			if edge := challengeOf(200, http.Header{"Server": {"cloudflare"}, "Content-Type": {"text/html"}}, "text/html", []byte(body)); edge != "" {
				t.Errorf("%s %q is taken for a challenge of %s", kind, a[0], edge)
			}
			n++
		}
	}
	if n != 50 {
		t.Errorf("%d pages, want 50", n)
	}
}

// TestBoundsOfChallenges: a page with a mark is none beyond the bounds of size, text and links.
func TestBoundsOfChallenges(t *testing.T) {
	page := func(before string) string { return before + "<script></script><div id=px-captcha></div>" }
	for _, c := range []struct {
		name, body string
		edge       string
	}{
		{"text within", page(strings.Repeat("x", doorText)), "HUMAN"},
		{"text beyond", page(strings.Repeat("x", doorText+1)), ""},
		{"links within", page(strings.Repeat("<a href=/>", doorLinks)), "HUMAN"},
		{"links beyond", page(strings.Repeat("<a href=/>", doorLinks+1)), ""},
		{"size within", page("<!--" + strings.Repeat("x", doorBytes-len(page("<!---->"))) + "-->"), "HUMAN"},
		{"size beyond", page("<!--" + strings.Repeat("x", doorBytes-len(page("<!---->"))+1) + "-->"), ""},
		{"no script", "<div id=px-captcha></div>", ""},
	} {
		if edge := challengeOf(200, http.Header{}, "text/html", []byte(c.body)); edge != c.edge {
			t.Errorf("%s: %q, want %q", c.name, edge, c.edge)
		}
	}
	if edge := challengeOf(200, http.Header{}, "application/pdf", []byte(page(""))); edge != "" {
		t.Errorf("a document is taken for a challenge of %s", edge)
	}
}

// TestRefusalsThatAreNone: error pages without a sign keep their code.
func TestRefusalsThatAreNone(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		header http.Header
		body   string
	}{
		"nginx":       {403, http.Header{"Server": {"nginx"}}, "<html><head><title>403 Forbidden</title></head><body><center><h1>403 Forbidden</h1></center><hr><center>nginx</center></body></html>"},
		"s3":          {403, http.Header{"Server": {"AmazonS3"}, "X-Amz-Request-Id": {"1"}}, "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"},
		"cloudflare":  {503, http.Header{"Server": {"cloudflare"}}, "<html><body><h1>Back soon</h1><p>We work on the shop.</p></body></html>"},
		"maintenance": {503, nil, "<html><head><meta http-equiv=refresh content=30><script src=/a.js></script></head><body>Down for maintenance, please enable JavaScript and cookies</body></html>"},
		"rate":        {429, http.Header{"Server": {"cloudflare"}}, "error code: 1015, slow down: you asked for too many pages"},
		"rate limit":  {429, http.Header{"Server": {"cloudflare"}}, "error code: 1015"},
		"overloaded":  {503, http.Header{"Server": {"AkamaiGHost"}}, "<h1>Unavailable</h1><p>Try again soon.<p>Reference #11.0"},
		"limit page":  {429, http.Header{"Server": {"cloudflare"}}, `<script>1</script><div id="cf-error-details">Too many requests</div>`},
		"data":        {200, nil, `<div id=app></div><script type="application/json">{"body":"DataDome loads captcha-delivery.com, _cf_chl_opt"}</script><script src=/app.js></script>`},
		"shell":       {200, nil, `<script>var t=document.cookie.match(/theme/);addEventListener("vite:preloadError",()=>location.reload())</script><div id="app"></div><script type=module src=/a.js></script>`},
		"datadome":    {200, http.Header{"X-Datadome": {"protected"}}, "<p>A short page"},
		"app":         {403, nil, "<html><body><noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div><script src=/main.js></script></body></html>"},
		"long":        {403, http.Header{"Server": {"AkamaiGHost"}}, "<p>Reference #18 " + strings.Repeat("and a great deal of other text ", 99)},
	} {
		if edge := challengeOf(c.status, c.header, "text/html", []byte(c.body)); edge != "" {
			t.Errorf("%s is taken for a challenge of %s", name, edge)
		}
	}
}

// TestRefusalWithoutEnd: a refusal keeps its code when its body never ends or breaks.
func TestRefusalWithoutEnd(t *testing.T) {
	for name, answer := range map[string]string{
		"silent": "HTTP/1.1 403 Forbidden\r\nContent-Length: 99\r\n\r\n<p>wait",
		"broken": "HTTP/1.1 429 Many\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"bomb":   "HTTP/1.1 503 Busy\r\nContent-Encoding: gzip\r\n\r\n" + gzipped(make([]byte, 8<<20)),
		"402":    "HTTP/1.1 402 Pay\r\nContent-Length: 99\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := StateCode
			if name == "402" {
				want = StatePaymentRequired
			}
			checkState(t, newTest(t, Options{}).Fetch(t.Context(), Request{URL: "http://" + rawServer(t, false, say(answer)) + "/"}), want)
		})
	}
}

// TestRobotsBehindDoors: a challenge before robots.txt refuses everything; payment is no file.
func TestRobotsBehindDoors(t *testing.T) {
	for _, c := range []struct {
		resp    Response
		allowed bool
	}{{Response{State: StateChallenge, Code: 403}, false}, {Response{State: StatePaymentRequired, Code: 402}, true}} {
		rules, final := RobotsFrom(&c.resp)
		if !final || rules.Allowed("fossick", "/x") != c.allowed {
			t.Errorf("%s: final %v, allowed %v", c.resp.State, final, !c.allowed)
		}
	}
}

// TestNoChallengesInCorpora: no page of the corpora at hand is taken for a challenge.
func TestNoChallengesInCorpora(t *testing.T) {
	testkit.Only(t, "reads all pages of all corpora")
	for _, corpus := range []string{"wikispeedia", "webkb", "debdocs", "mdn", "uci_ics", "msdocs", "bbc", "20news"} {
		t.Run(corpus, func(t *testing.T) {
			f := testkit.Call(os.Open(testkit.Corpus(t, corpus+"/pages.jsonl.zst"))).Must(t)
			defer f.Close()
			z := testkit.Call(zstd.NewReader(f, zstd.WithDecoderConcurrency(1))).Must(t)
			defer z.Close()
			lines := bufio.NewScanner(z)
			lines.Buffer(nil, 64<<20)
			n, looked := 0, 0
			for lines.Scan() {
				var p struct{ URL, HTML, Text string }
				testkit.Must(t, json.Unmarshal(lines.Bytes(), &p))
				body := []byte(p.HTML + p.Text)
				for _, status := range []int{200, 403, 503} {
					if edge := challengeOf(status, http.Header{}, "text/html", body); edge != "" {
						t.Errorf("%s with status %d is taken for a challenge of %s", p.URL, status, edge)
					}
				}
				if d := newDoor(200, nil, "text/html", body); d.text >= 0 {
					looked++
				}
				n++
			}
			if err := lines.Err(); err != nil || n == 0 {
				t.Fatalf("%d pages; %v", n, err)
			}
			t.Logf("%d pages, %d of them read for signs", n, looked)
		})
	}
}

func TestPrice(t *testing.T) {
	v1 := `{"x402Version":1,"error":"pay","accepts":[{"scheme":"exact","network":"base","maxAmountRequired":"10000","asset":"0x833","extra":{"name":"USDC"}},{"maxAmountRequired":"9"}]}`
	v2 := `{"x402Version":2,"accepts":[{"scheme":"exact","network":"eip155:8453","amount":"25000","asset":"0x833"}]}`
	request := base64.RawURLEncoding.EncodeToString([]byte(`{"amount":"500","currency":"usd","recipient":"a"}`))
	for _, c := range []struct{ name, field, value, body, want string }{
		{"pay per crawl", "Crawler-Price", "USD 0.01", v1, "USD 0.01"},
		{"x402 in the body", "", "", v1, "10000 base units of USDC on base (x402)"},
		{"x402 in the header", "Payment-Required", base64.StdEncoding.EncodeToString([]byte(v2)), "{}", "25000 base units of 0x833 on eip155:8453 (x402)"},
		{"a number", "", "", `{"accepts":[{"amount":7}]}`, "7 base units of an asset without a name (x402)"},
		{"Payment", "Www-Authenticate", `Payment id="x", realm="a, b", method="card", intent="charge", request="` + request + `"`, "", "500 minor units of usd"},
		{"licence", "Link", `<https://a.test/x.css>; rel=preload, <https://a.test/license.xml>; rel="license"; type="application/rsl+xml"`, "", "a licence: https://a.test/license.xml"},
		{"nothing", "", "", "<h1>Pay</h1>", "payment and names no price"},
		{"null", "", "", "null", "payment and names no price"},
		{"no offer", "", "", `{"accepts":[]}`, "payment and names no price"},
		{"not base64", "Payment-Required", "§§", "", "payment and names no price"},
		{"a basic door", "Www-Authenticate", `Basic realm="in"`, "", "payment and names no price"},
		{"lines and marks", "Crawler-Price", "EUR\t1\x1b[31m\u202e€", "", "EUR 1 [31m €"},
		{"endless", "Crawler-Price", strings.Repeat("9", 500), "", strings.Repeat("9", maxPrice)},
	} {
		h := http.Header{}
		if c.field != "" {
			h.Set(c.field, c.value)
		}
		if got := priceOf(h, []byte(c.body)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestPaymentRequired(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Crawler-Price", "USD 0.02")
		w.WriteHeader(http.StatusPaymentRequired)
	})
	resp := newTest(t, Options{}).Fetch(t.Context(), Request{URL: srv.URL})
	checkState(t, resp, StatePaymentRequired)
	if resp.Code != 402 || !strings.Contains(resp.ErrorText(), "USD 0.02") {
		t.Errorf("code %d, reason %q; want 402 and the price", resp.Code, resp.ErrorText())
	}
}

// FuzzChallenge: any body has a verdict, which does not depend on what came before, and a
// body that is thin is thin for more text too.
func FuzzChallenge(f *testing.F) {
	for _, raw := range planted(f) {
		_, body, _ := strings.Cut(raw, "\r\n\r\n")
		f.Add(403, "Server", "cloudflare", []byte(body))
	}
	f.Fuzz(func(t *testing.T, status int, field, value string, body []byte) {
		h := http.Header{field: {value}}
		edge := challengeOf(status, h, "text/html", body)
		if again := challengeOf(status, h, "text/html", bytes.Clone(body)); again != edge {
			t.Errorf("%q, then %q", edge, again)
		}
		_, short := thin(body, 100)
		if _, is := thin(body, 101); short && !is {
			t.Error("100 bytes of text at most, but not 101")
		}
		d := newDoor(status, h, "text/html", body)
		if d.text > len(body)*8 {
			t.Errorf("%d bytes of text from %d", d.text, len(body))
		}
	})
}

// FuzzPrice: a price is one short line.
func FuzzPrice(f *testing.F) {
	f.Add("USD 0.01", "", "", "", []byte(`{"accepts":[{"amount":"1"}]}`))
	f.Add("", "eyJhY2NlcHRzIjpbXX0=", `Payment request="e30"`, `<a>; rel=license`, []byte("null"))
	f.Fuzz(func(t *testing.T, price, required, challenge, link string, body []byte) {
		got := priceOf(http.Header{"Crawler-Price": {price}, "Payment-Required": {required}, "Www-Authenticate": {challenge}, "Link": {link}}, body)
		if n := utf8.RuneCountInString(got); n == 0 || n > maxPrice || strings.ContainsAny(got, "\n\r\t\x1b") {
			t.Errorf("%q", got)
		}
	})
}

// BenchmarkNoChallenge is what the look costs a page of 20 KB.
func BenchmarkNoChallenge(b *testing.B) {
	body := []byte("<html><head><title>A page</title><script>" + strings.Repeat("var a=1;", 500) + "</script></head><body>" +
		strings.Repeat("<div class=x><p>A line of text as pages have it.</p><a href=/x>next</a></div>\n", 200))
	h := http.Header{"Server": {"nginx"}, "Content-Type": {"text/html"}}
	b.ReportAllocs()
	for b.Loop() {
		if challengeOf(200, h, "text/html", body) != "" {
			b.Fatal("a page is taken for a challenge")
		}
	}
}
