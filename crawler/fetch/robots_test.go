package fetch

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jimsmart/grobotstxt"
)

// robotsCases are the cases of RFC 9309 and of Google's documentation, in our words: a file, an
// agent, and whether each path may be fetched. grobotstxt must agree unless differs says how it
// differs; these are all known differences.
var robotsCases = []struct {
	name, file, agent string
	allow, deny       string // separated by blanks
	differs           string
}{
	{name: "empty file", agent: "bot", allow: "/ /x"},
	{name: "one group", file: "user-agent: bot\ndisallow: /x", agent: "bot", allow: "/ /y /X", deny: "/x /xy /x/y /x?z"},
	{name: "everything", file: "User-Agent: *\nDisallow: /", agent: "bot", deny: "/ /x"},
	{name: "nothing", file: "User-Agent: *\nDisallow:", agent: "bot", allow: "/ /x"},
	{name: "rule before any agent", file: "disallow: /\nuser-agent: bot\nallow: /", agent: "bot", allow: "/x"},
	{name: "two agents, one group", file: "user-agent: a\nuser-agent: bot\ndisallow: /x", agent: "bot", deny: "/x"},
	{name: "blank lines don't end groups", file: "user-agent: a\n\nuser-agent: bot\n\n\ndisallow: /x", agent: "bot", deny: "/x"},
	{name: "groups of one token merge", file: "user-agent: bot\ndisallow: /x\nuser-agent: c\ndisallow: /\nuser-agent: bot\ndisallow: /y", agent: "bot", allow: "/z", deny: "/x /y"},
	{name: "own group beats *", file: "user-agent: *\ndisallow: /\nuser-agent: bot\nallow: /x", agent: "bot", allow: "/ /x"},
	{name: "own group without rules beats *", file: "user-agent: *\ndisallow: /\n\nuser-agent: bot\n", agent: "bot", allow: "/ /x"},
	{name: "own and * share a group", file: "user-agent: bot\nuser-agent: *\ndisallow: /x", agent: "bot", deny: "/x"},
	{name: "* after own", file: "user-agent: bot\ndisallow: /x\nuser-agent: *\ndisallow: /y", agent: "bot", allow: "/y", deny: "/x"},
	{name: "agent in any case", file: "USER-AGENT: BoT\nDISALLOW: /x", agent: "bot", deny: "/x"},
	{name: "agent with version", file: "user-agent: bot/2.1 (x)\ndisallow: /x", agent: "bot", deny: "/x"},
	{name: "agent up to a blank", file: "user-agent: bot news\ndisallow: /x", agent: "bot", deny: "/x"},
	{name: "agent is no prefix", file: "user-agent: bot\ndisallow: /x", agent: "botnews", allow: "/x"},
	{name: "agent is no extension", file: "user-agent: botnews\ndisallow: /x", agent: "bot", allow: "/x"},
	{name: "star and more", file: "user-agent: * baz\ndisallow: /x", agent: "bot", deny: "/x"},
	{name: "star glued", file: "user-agent: *baz\ndisallow: /x", agent: "bot", allow: "/x"},
	{name: "other lines in a group", file: "user-agent: a\nsitemap: http://s/\nuser-agent: bot\nunknown: x\ndisallow: /x", agent: "bot", deny: "/x"},
	{name: "crawl-delay doesn't end the agents", file: "user-agent: bot\ncrawl-delay: 5\nuser-agent: c\ndisallow: /x", agent: "bot", deny: "/x"},
	{name: "longest wins", file: "user-agent: bot\nallow: /x/page\ndisallow: /x/", agent: "bot", allow: "/x/page /x/page.html", deny: "/x/ /x/pag"},
	{name: "order is nothing", file: "user-agent: bot\ndisallow: /x/\nallow: /x/page", agent: "bot", allow: "/x/page", deny: "/x/"},
	{name: "allow wins ties", file: "user-agent: bot\ndisallow: /x\nallow: /x", agent: "bot", allow: "/x"},
	{name: "allow wins ties of wildcards", file: "user-agent: bot\ndisallow: /x/*\nallow: /*/y", agent: "bot", allow: "/x/y", deny: "/x/z"},
	{name: "wildcards count as octets", file: "user-agent: bot\ndisallow: /*.html\nallow: /page", agent: "bot", deny: "/page.html", allow: "/page"},
	{name: "end", file: "user-agent: bot\ndisallow: /x$", agent: "bot", allow: "/xy /x? /x/", deny: "/x"},
	{name: "end of a wildcard", file: "user-agent: bot\ndisallow: /*.php$", agent: "bot", allow: "/a.php5 /a.php?q", deny: "/a.php /.php /b/a.php"},
	{name: "end needs room", file: "user-agent: bot\ndisallow: /aba*aba$", agent: "bot", allow: "/aba /ababa", deny: "/abaaba /aba-aba"},
	{name: "dollar inside", file: "user-agent: bot\ndisallow: /a$b", agent: "bot", allow: "/a", deny: "/a$b /a$bc"},
	{name: "stars", file: "user-agent: bot\ndisallow: /a*b*c", agent: "bot", allow: "/a /ab /acb", deny: "/abc /axbxc /aabbcc"},
	{name: "many stars", file: "user-agent: bot\ndisallow: /a***b", agent: "bot", allow: "/a", deny: "/ab /axb"},
	{name: "star first", file: "user-agent: bot\ndisallow: *x", agent: "bot", allow: "/", deny: "/x /ax"},
	{name: "pattern without slash", file: "user-agent: bot\ndisallow: x", agent: "bot", allow: "/x"},
	{name: "comments", file: "user-agent: bot # me\n# disallow: /y\ndisallow: /x # x#y", agent: "bot", allow: "/y", deny: "/x /x#y"},
	{name: "no colon", file: "user-agent bot\ndisallow /x\ndisallow /y z", agent: "bot", allow: "/y", deny: "/x"},
	{name: "typing errors", file: "useragent: bot\ndissallow: /a\ndisalow: /b\ndiaslow: /c\ndisallaw: /d\ndissalow: /e\ndiasllow: /f", agent: "bot", allow: "/x", deny: "/a /b /c /d /e /f"},
	{name: "line ends", file: "user-agent: bot\rdisallow: /x\r\n\r\ndisallow: /y\n\rdisallow: /z", agent: "bot", deny: "/x /y /z"},
	{name: "byte order mark", file: "\xef\xbb\xbfuser-agent: bot\ndisallow: /x", agent: "bot", deny: "/x"},
	{name: "part of a byte order mark", file: "\xef\xbbuser-agent: bot\ndisallow: /x", agent: "bot", deny: "/x"},
	{name: "broken byte order mark", file: "\xef\x11\xbfuser-agent: bot\ndisallow: /x", agent: "bot", allow: "/x"},
	{name: "blanks", file: " \t user-agent \t : \t bot \t \n  disallow:/x", agent: "bot", deny: "/x"},
	{name: "non-ASCII pattern", file: "user-agent: bot\ndisallow: /foo/ツ", agent: "bot", allow: "/foo/", deny: "/foo/%E3%83%84"},
	{name: "escaped pattern", file: "user-agent: bot\ndisallow: /foo/%E3%83%84", agent: "bot", deny: "/foo/%E3%83%84 /foo/ツ"},
	{name: "reserved stays escaped", file: "user-agent: bot\ndisallow: /foo/bar?q=a%2Fb", agent: "bot", allow: "/foo/bar?q=a/b", deny: "/foo/bar?q=a%2Fb"},
	{name: "index.html is its folder", file: "user-agent: bot\ndisallow: /\nallow: /a/index.html", agent: "bot", allow: "/a/ /a/index.html", deny: "/a /a/x"},
	{name: "a long line is cut", file: "user-agent: bot\ndisallow: /" + strings.Repeat("x", 20000) + "y", agent: "bot", allow: "/x", deny: "/" + strings.Repeat("x", 19000)},

	{name: "small digits in escapes", file: "user-agent: bot\ndisallow: /foo/%e3%83%84", agent: "bot", deny: "/foo/%E3%83%84 /foo/%e3%83%84 /foo/ツ",
		differs: "%e3 is %E3 (RFC 3986, 2.1), as in Google's own code; grobotstxt's toUpper makes something else of the 3"},
	{name: "escaped unreserved", file: "user-agent: bot\ndisallow: /foo/%62%61%7A", agent: "bot", deny: "/foo/baz /foo/%62az",
		differs: "RFC 9309, 2.2.2, wants escapes of unreserved characters undone; Google compares octets"},
	{name: "escaped $ and *", file: "user-agent: bot\ndisallow: /a%2A\ndisallow: /b%24", agent: "bot", allow: "/ax /b", deny: "/a* /b$ /b$x",
		differs: "RFC 9309, 2.2.3, lets a pattern mean a literal $ or * by its escape; Google compares octets"},
	{name: "robots.txt itself", file: "user-agent: bot\ndisallow: /", agent: "bot", allow: "/robots.txt", deny: "/robots.txt.bak",
		differs: "RFC 9309, 2.2.2: /robots.txt is implicitly allowed; Google leaves that to the caller"},
	{name: "whole user agent asks", file: "user-agent: bot\ndisallow: /x", agent: "Bot/1.0 (+https://b.example)", deny: "/x",
		differs: "we take the product token out of what asks as well"},
	{name: "no-break space of Latin-1 behind *", file: "user-agent: *\xa0\ndisallow: /x", agent: "bot", deny: "/x"},
	{name: "no-break space of Latin-1 before *", file: "user-agent:\xa0*\ndisallow: /x", agent: "bot", deny: "/x", differs: blanks},
	{name: "no-break space of Latin-1 before a key", file: "\xa0user-agent: *\n\xa0disallow: /x", agent: "bot", deny: "/x", differs: blanks},
	{name: "no-break space of Latin-1 behind a rule", file: "user-agent: bot\xa0\ndisallow: /x\xa0\n", agent: "bot", deny: "/x", differs: blanks},
	{name: "no-break space of Latin-1 before a rule", file: "user-agent:\xa0bot\ndisallow:\xa0/x\n", agent: "bot", deny: "/x", differs: blanks},
	{name: "no-break space of Unicode", file: "user-agent: *\u00a0\ndisallow: /x\u00a0", agent: "bot", deny: "/x"},
	{name: "space without width", file: "user-agent: *\u200b\ndisallow: /x\ufeff", agent: "bot", deny: "/x", differs: blanks},
	{name: "ideographic space", file: "user-agent: *\u3000\ndisallow: /x\u3000", agent: "bot", deny: "/x"},
	{name: "ideographic space of GBK", file: "user-agent: *\xa1\xa1\ndisallow: /x\xa1\xa1", agent: "bot", deny: "/x", differs: blanks},
	{name: "ideographic space of Shift JIS", file: "user-agent: *\x81\x40\ndisallow: /x\x81\x40", agent: "bot", deny: "/x", differs: blanks},
	{name: "no-break space of the Mac", file: "user-agent: *\xca\ndisallow: /x", agent: "bot", deny: "/x", differs: blanks},
	{name: "no-break space of DOS", file: "user-agent: *\xff\ndisallow: /x", agent: "bot", deny: "/x", differs: blanks},
	{name: "control characters", file: "user-agent: *\x00\ndisallow: /x\x1a", agent: "bot", deny: "/x", differs: blanks},
	{name: "a character that ends in the byte of a blank", file: "user-agent: bot\ndisallow: /à\n", agent: "bot", allow: "/", deny: "/%C3%A0"},
	{name: "a character of Latin-1", file: "user-agent: bot\ndisallow: /caf\xe9\n", agent: "bot", allow: "/caf", deny: "/caf%E9"},
	{name: "UTF-16", file: "\xff\xfeu\x00s\x00e\x00r\x00-\x00a\x00g\x00e\x00n\x00t\x00:\x00*\x00\n\x00d\x00i\x00s\x00a\x00l\x00l\x00o\x00w\x00:\x00/\x00x\x00", agent: "bot", deny: "/x",
		differs: "the owner's words can be read; Google's code sees none"},

	{name: "agent with !", file: "user-agent: b!t\ndisallow: /x", agent: "b!t", deny: "/x",
		differs: "! and & are token characters (RFC 9110, 5.6.2); grobotstxt leaves them out"},
}

// blanks tells why odd blanks differ.
const blanks = "on doubt, what may be refused is not fetched; Google's code cuts blanks of ASCII off, and no others"

func TestRobotsCases(t *testing.T) {
	for _, c := range robotsCases {
		t.Run(c.name, func(t *testing.T) {
			r := parseRobots([]byte(c.file))
			agreed := true
			ask := func(paths string, want bool) {
				for path := range strings.FieldsSeq(paths) {
					if got := r.Allowed(c.agent, path); got != want {
						t.Errorf("%.99q: %.99q allowed %v, want %v", c.file, path, got, want)
					}
					if narrow := r.Narrow(c.agent).Allowed(c.agent, path); narrow != want {
						t.Errorf("%.99q: %.99q allowed %v once narrowed, want %v", c.file, path, narrow, want)
					}
					agreed = agreed && grobotstxt.AgentAllowed(c.file, c.agent, "http://h.example"+path) == want
				}
			}
			ask(c.allow, true)
			ask(c.deny, false)
			if agreed != (c.differs == "") {
				t.Errorf("agrees with grobotstxt: %v, but differs says %q", agreed, c.differs)
			}
		})
	}
}

// TestRobotsOracle compares with grobotstxt on random small files that provoke conflicts.
func TestRobotsOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pick := func(s ...string) string { return s[rng.IntN(len(s))] }
	for range 50_000 {
		var file strings.Builder
		for range rng.IntN(12) {
			switch rng.IntN(4) {
			case 0:
				file.WriteString(pick("user-agent: ", "User-agent:", "useragent:") + pick("a", "b", "*", "A/1", "ab", "* x", ""))
			case 1:
				file.WriteString(pick("allow: ", "Allow:", "disallow: ", "disallow: "))
				for range rng.IntN(6) {
					file.WriteString(pick("/", "/", "a", "b", "*", "$", "index.html", "%2F", "?", "é", "."))
				}
			case 2:
				file.WriteString(pick("disallow: /a", "allow: /", "disallow: /", "allow: /a/b", "disallow: /*b$", "disallow:"))
			case 3:
				file.WriteString(pick("", "#", "sitemap: http://x/", "crawl-delay: 3", "allow", "junk", "disallow /a"))
			}
			file.WriteString(pick("\n", "\n", "\r\n", "\r"))
		}
		r := parseRobots([]byte(file.String()))
		var path strings.Builder
		path.WriteString("/")
		for range rng.IntN(6) {
			path.WriteString(pick("/", "a", "b", "?", "%2F", "%C3%A9", ".", "index.html", "$"))
		}
		for _, agent := range []string{"a", "b", "c"} {
			want := grobotstxt.AgentAllowed(file.String(), agent, "http://h.example"+path.String())
			if got := r.Allowed(agent, path.String()); got != want {
				t.Fatalf("agent %s, path %q: allowed %v, grobotstxt says %v of\n%q", agent, path.String(), got, want, file.String())
			}
		}
	}
}

func TestCrawlDelayAndSitemaps(t *testing.T) {
	r := parseRobots([]byte(`
Sitemap: https://a.example/one.xml
User-agent: slow
Crawl-delay: 10
User-agent: half
Crawl-delay: 0.5
Disallow: /x
Sitemap: https://a.example/two.xml
User-agent: *
Disallow:
Crawl-delay: 3s
Crawl-delay: 2
User-agent: never
Crawl-delay: 1e9
User-agent: odd
Crawl-delay: -4
Crawl-delay: soon
Crawl-delay: ..
User-agent: ages
Crawl-delay: 9999999999999999999999999999999
Sitemap: https://a.example/one.xml
`))
	for _, c := range []struct {
		agent string
		want  time.Duration
		ok    bool
	}{
		{"slow", 10 * time.Second, true},
		{"half", 500 * time.Millisecond, true}, // a delay belongs only to the agents before it
		{"other", 3 * time.Second, true},       // the longest of several
		{"never", time.Second, true},           // the numeric part
		{"odd", 0, false},
		{"ages", 24 * time.Hour, true},
	} {
		for _, rules := range []*Robots{r, r.Narrow(c.agent)} {
			if d, ok := rules.CrawlDelay(c.agent); d != c.want || ok != c.ok {
				t.Errorf("%s: %v %v, want %v %v", c.agent, d, ok, c.want, c.ok)
			}
		}
	}
	if got, want := r.Sitemaps(), []string{"https://a.example/one.xml", "https://a.example/two.xml"}; !reflect.DeepEqual(got, want) {
		t.Errorf("sitemaps %q, want %q", got, want)
	}
}

func TestRobotsText(t *testing.T) {
	for _, c := range robotsCases {
		checkRobotsText(t, []byte(c.file))
	}
	checkRobotsText(t, []byte("user-agent: a\nuser-agent: a\ncrawl-delay: 0.25\nallow: /é/index.html\nsitemap: x\nuser-agent: b\ncrawl-delay: 7"))
}

// checkRobotsText checks that parsing, writing and parsing again keeps the text and the answers.
func checkRobotsText(t *testing.T, file []byte) {
	t.Helper()
	r := parseRobots(file)
	text, _ := r.MarshalText()
	var again Robots
	again.UnmarshalText(text)
	for _, a := range r.agents {
		d, ok := r.CrawlDelay(a.token)
		if d2, ok2 := again.CrawlDelay(a.token); d != d2 || ok != ok2 {
			t.Errorf("%q: crawl-delay of %s is %v %v, was %v %v, in %q", file, a.token, d2, ok2, d, ok, text)
		}
		if a.token == "*" {
			continue // productToken keeps it, so it stands for itself
		}
		if !reflect.DeepEqual(rulesOf(r, a.token), rulesOf(&again, a.token)) {
			t.Errorf("%q: rules of %s changed in %q", file, a.token, text)
		}
	}
	if !reflect.DeepEqual(rulesOf(r, "nobody-else"), rulesOf(&again, "nobody-else")) || !reflect.DeepEqual(r.Sitemaps(), again.Sitemaps()) {
		t.Errorf("%q: rules of * or sitemaps changed in %q", file, text)
	}
}

func rulesOf(r *Robots, agent string) (rules []robotsRule) {
	if a := r.agent(agent); a != nil {
		for _, g := range a.groups {
			rules = append(rules, r.groups[g].rules...)
		}
	}
	return rules
}

// TestUsage: the longest matching pattern of a name counts; licences hold for the whole file.
func TestUsage(t *testing.T) {
	r := parseRobots([]byte(`License: https://a.test/rsl.xml
User-agent: *
Content-Usage: train-ai=n
content-usage:	/ai-ok/	train-ai=y
Content-Usage: /ai-ok/not/ train-ai=n, ai-use=n
Content-Usage: /ai-ok/not/ search=n # also
Content-Usage: /*.pdf$ search=y
Content-Signal: ai-input=no
Disallow: /never

User-agent: other
License: https://a.test/more.xml
License: https://a.test/rsl.xml
License: /relative
License:
Content-Usage: /only train-ai=y
Allow: /
`))
	const licences = "license https://a.test/rsl.xml|license https://a.test/more.xml"
	for _, c := range []struct{ agent, path, want string }{
		{"fossick", "/", "content-usage train-ai=n|content-signal ai-input=no|"},
		{"fossick", "/ai-ok/x", "content-usage train-ai=y|content-signal ai-input=no|"},
		{"fossick", "/ai-ok", "content-usage train-ai=n|content-signal ai-input=no|"},
		{"fossick", "/ai-ok/not/x", "content-usage train-ai=n, ai-use=n|content-usage search=n|content-signal ai-input=no|"},
		{"fossick", "/a.pdf", "content-usage search=y|content-signal ai-input=no|"},
		{"other", "/", ""},
		{"other", "/only", "content-usage train-ai=y|"},
	} {
		for _, rules := range []*Robots{r, r.Narrow(c.agent)} {
			var lines []string
			for _, line := range rules.Usage(c.agent, c.path) {
				lines = append(lines, line[0]+" "+line[1])
			}
			if got := strings.Join(lines, "|"); got != c.want+licences {
				t.Errorf("%s %s: %q, want %q", c.agent, c.path, got, c.want+licences)
			}
		}
	}
	if got := parseRobots([]byte("License: https://a.test/\nLicense: https://b.test/")).Usage("x", "/"); len(got) != 2 {
		t.Errorf("without a group: %q", got)
	}
}

func FuzzRobots(f *testing.F) {
	for _, c := range robotsCases {
		path, _, _ := strings.Cut(c.allow+" "+c.deny, " ")
		if len(c.file) < 500 {
			f.Add([]byte(c.file), path)
		}
	}
	f.Add([]byte("user-agent:*\ndisallow:/*a*b$"), "/xaxb")
	f.Add([]byte("user-agent: bot\ndillllow: /x\nuser-agent: *=bxM5P\ndisallow: /y"), "/y")
	f.Fuzz(func(t *testing.T, file []byte, path string) {
		r := parseRobots(file)
		checkRobotsText(t, file)
		for _, agent := range []string{"fossick", "a", "bot"} {
			got := r.Allowed(agent, path)
			if narrow := r.Narrow(agent).Allowed(agent, path); narrow != got {
				t.Errorf("%q %q: %v, narrowed %v", file, path, got, narrow)
			}
			// The oracle recodes unusual paths and differs on escapes (see robotsCases), so
			// compare only where we promise to agree.
			if !plainPath(path) || path == "/robots.txt" || strings.ContainsAny(string(file), "%!&") || !utf8Lines(file) {
				continue
			}
			if want := grobotstxt.AgentAllowed(string(file), agent, "http://h.example"+path); got != want {
				t.Errorf("%q %q %s: %v, grobotstxt %v", file, path, agent, got, want)
			}
		}
	})
}

func plainPath(path string) bool {
	if !strings.HasPrefix(path, "/") {
		return false
	}
	for _, c := range path {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("/-._~?=;", c)) {
			return false
		}
	}
	u, err := url.Parse("http://h.example" + path)
	return err == nil && u.RequestURI() == path
}

// utf8Lines excludes files that the two trim or fold differently outside ASCII.
func utf8Lines(file []byte) bool {
	for _, b := range file {
		if b >= 0x7F || b < 0x20 && b != '\n' && b != '\r' && b != '\t' {
			return false
		}
	}
	return true
}

func TestRobotsFrom(t *testing.T) {
	for _, c := range []struct {
		state    State
		code     int
		final    bool
		allowed  bool
		whyHolds string
	}{
		{StateOK, 200, true, false, ""},
		{StateRedirect, 301, false, false, ""},
		{StateNotModified, 304, false, false, ""},
		{StateCode, 304, true, false, "refused"},
		{StateNone, 0, false, false, ""},
		{StateCode, 404, true, true, "404"},
		{StateCode, 401, true, true, "401"},
		{StateCode, 403, true, true, "403"},
		{StateCode, 204, true, true, "204"},
		{StateCode, 429, true, false, "429"},
		{StateCode, 500, true, false, "500"},
		{StateCode, 503, true, false, "503"},
		{StateNoIP, 0, true, false, "no_ip"},
		{StateConnectTimeout, 0, true, false, "connect_timeout"},
		{StateBodyError, 200, true, false, "body_error"},
		{StateTooLarge, 200, true, false, "too_large"},
	} {
		r, final := RobotsFrom(&Response{State: c.state, Code: c.code, Body: []byte("user-agent: *\ndisallow: /p")})
		if final != c.final || (r == nil) == final {
			t.Errorf("%s %d: rules %v, final %v", c.state, c.code, r, final)
			continue
		}
		if r != nil && (r.Allowed("fossick", "/p") != c.allowed || !strings.Contains(r.Why(), c.whyHolds) || !r.Allowed("fossick", "/robots.txt")) {
			t.Errorf("%s %d: allowed %v because %q", c.state, c.code, !c.allowed, r.Why())
		}
	}
}

// TestRobotsRequest: a robots.txt of any size and type is read up to the limit.
func TestRobotsRequest(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		fmt.Fprintf(w, "User-agent: *\nDisallow: /first\n#%s\nDisallow: /last\n", strings.Repeat("x", maxRobotsBytes))
	})
	resp := newTest(t, Options{}).Fetch(t.Context(), RobotsRequest(srv.URL+"/robots.txt"))
	checkState(t, resp, StateOK)
	if len(resp.Body) != maxRobotsBytes {
		t.Errorf("%d bytes, want the limit of %d", len(resp.Body), maxRobotsBytes)
	}
	r, _ := RobotsFrom(resp)
	if r.Allowed("fossick", "/first") || !r.Allowed("fossick", "/last") {
		t.Error("the rules are not those of the first 500 KiB")
	}
}

// TestAllowed: the verdict of robots.txt for a URL, also after redirects of robots.txt.
func TestAllowed(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt":
			http.Redirect(w, r, "/rules", http.StatusFound)
		case r.URL.Path == "/rules":
			fmt.Fprint(w, "User-agent: *\nDisallow: /no\n")
		}
	})
	f := newTest(t, Options{})
	for path, want := range map[string]bool{"/yes": true, "/no/page": false} {
		if err := f.Allowed(t.Context(), mustURL(t, srv.URL+path), "fossick"); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	around := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/robots.txt?", http.StatusFound) })
	if err := f.Allowed(t.Context(), mustURL(t, around.URL+"/no"), "fossick"); err != nil {
		t.Errorf("redirects without end: %v", err)
	}
	broken := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	if err := f.Allowed(t.Context(), mustURL(t, broken.URL+"/no"), "fossick"); err == nil || !strings.Contains(err.Error(), "code 503") {
		t.Errorf("out of service: %v", err)
	}
}

// BenchmarkRobotsAllowedHostile is the worst case of 500 KiB of rules for one question.
func BenchmarkRobotsAllowedHostile(b *testing.B) {
	r := parseRobots([]byte("user-agent:*\n" + strings.Repeat("disallow:*ab\n", maxRobotsBytes/13-2)))
	path := "/" + strings.Repeat("a", 2047)
	b.ReportAllocs()
	for b.Loop() {
		r.Allowed("fossick", path)
	}
}

// TestRobotsUnderAnySuccess: any 2xx may bring a robots.txt (RFC 9309, 2.3.1.1).
func TestRobotsUnderAnySuccess(t *testing.T) {
	var status int
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(status)
		if status != http.StatusNoContent {
			_, _ = w.Write([]byte("User-agent: *\nDisallow: /\n"))
		}
	})
	f := newTest(t, Options{})
	for _, c := range []struct {
		status  int
		allowed bool
	}{{200, false}, {201, false}, {202, false}, {203, false}, {204, true}, {206, false}, {226, false}, {299, false}, {404, true}} {
		status = c.status
		rules, final := RobotsFrom(f.Fetch(t.Context(), RobotsRequest(srv.URL+"/robots.txt")))
		if !final || rules.Allowed("fossick", "/") != c.allowed {
			t.Errorf("status %d: allowed %v, want %v", c.status, !c.allowed, c.allowed)
		}
		if want := map[bool]State{true: StateOK, false: StateCode}[status == 200]; f.Fetch(t.Context(), Request{URL: srv.URL}).State != want {
			t.Errorf("status %d of a page: want %s", c.status, want)
		}
	}
}

// TestLongVersions: validators that are sent back are bounded.
func TestLongVersions(t *testing.T) {
	var got http.Header
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		w.WriteHeader(http.StatusNotModified)
	})
	f := newTest(t, Options{})
	for _, n := range []int{1, 100, maxValidatorBytes - 2, maxValidatorBytes - 1, 200 << 10} {
		tag := `"` + strings.Repeat("\xff", n) + `"`
		r := f.Fetch(t.Context(), Request{URL: srv.URL, ETag: tag})
		if sent := got.Get("If-None-Match") == tag; sent != (len(tag) <= maxValidatorBytes) {
			t.Errorf("version of %d bytes: sent %v", len(tag), sent)
		} else if want := map[bool]State{true: StateNotModified, false: StateCode}[sent]; r.State != want {
			t.Errorf("version of %d bytes: 304 is %s, want %s", len(tag), r.State, want)
		}
	}
}
