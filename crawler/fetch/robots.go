package fetch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	utf16 "golang.org/x/text/encoding/unicode"
)

// Robots is a parsed robots.txt (RFC 9309). It is immutable and safe for concurrent use.
// MarshalText serialises it.
type Robots struct {
	groups   []robotsGroup
	agents   []robotsAgent  // in the order of their first line
	index    map[string]int // lower-case product token, or "*", to agents
	sitemaps []string
	licences []string // URLs of the whole file (RSL 1.0)
	why      string
}

// robotsGroup is a group of rules for one or more agents.
type robotsGroup struct{ rules []robotsRule }

// robotsAgent holds the rules for one product token. Groups are merged when matching: n agents
// that share m rules must not cost n·m.
type robotsAgent struct {
	token    string
	groups   []int
	delay    time.Duration
	hasDelay bool
	usage    []usageLine // permitted uses of pages
}

const (
	// maxRobotsBytes is the part of a robots.txt that is read: the RFC's minimum and Google's
	// maximum.
	maxRobotsBytes = 500 << 10
	// maxRobotsLine cuts a line as Google does, at eight times its longest URL.
	maxRobotsLine = 8*2083 - 1
	maxSitemaps   = 10_000
	maxLicences   = 16
	maxCrawlDelay = 24 * time.Hour
)

// parseRobots reads a robots.txt of any quality and ignores lines without meaning. Matching
// follows RFC 9309; it forgives the typing errors that Google forgives ("disalow", a missing
// colon). It also reads Crawl-delay, Sitemap and statements on use, which the RFC leaves open.
func parseRobots(body []byte) *Robots {
	p := robotsParser{r: &Robots{index: map[string]int{}}, seen: map[string]bool{}}
	if bytes.HasPrefix(body, []byte("\xff\xfe")) || bytes.HasPrefix(body, []byte("\xfe\xff")) {
		body, _ = utf16.UTF16(utf16.BigEndian, utf16.UseBOM).NewDecoder().Bytes(body) // its errors become characters
	}
	for _, b := range []byte("\xef\xbb\xbf") { // a byte order mark, or the rest of one
		if len(body) > 0 && body[0] == b {
			body = body[1:]
		} else {
			break
		}
	}
	for len(body) > 0 {
		line := body
		if end := bytes.IndexAny(body, "\r\n"); end >= 0 {
			line, body = body[:end], body[end+1:]
		} else {
			body = nil
		}
		p.line(string(line[:min(len(line), maxRobotsLine)]))
	}
	return p.r
}

type robotsParser struct {
	r       *Robots
	current []int           // agents of the present group
	fresh   int             // first of current without a Crawl-delay yet
	delayed bool            // a Crawl-delay came since the last User-agent
	ruled   bool            // the present group has a rule: the next agent begins another
	group   int             // in r.groups, once ruled
	seen    map[string]bool // sitemaps
}

func (p *robotsParser) line(line string) {
	key, value, ok := splitRobotsLine(line)
	if !ok {
		return
	}
	switch robotsKey(key) {
	case keyAgent:
		p.agent(value)
	case keyAllow:
		p.rule(true, value)
	case keyDisallow:
		p.rule(false, value)
	case keyDelay:
		p.delay(value)
	case keySignal:
		p.usage(usageLine{"content-signal", value})
	case keyUsage:
		p.usage(usageLine{"content-usage", value})
	case keyLicence:
		absolute := strings.HasPrefix(value, "https://") || strings.HasPrefix(value, "http://")
		if absolute && len(p.r.licences) < maxLicences && !slices.Contains(p.r.licences, value) {
			p.r.licences = append(p.r.licences, value)
		}
	case keySitemap:
		if value != "" && len(p.r.sitemaps) < maxSitemaps && !p.seen[value] {
			p.seen[value] = true
			p.r.sitemaps = append(p.r.sitemaps, value)
		}
	}
}

func (p *robotsParser) agent(value string) {
	if p.ruled {
		p.current, p.fresh, p.ruled, p.delayed = nil, 0, false, false
	}
	if p.delayed {
		p.fresh, p.delayed = len(p.current), false
	}
	token := "*"
	if !(strings.HasPrefix(value, "*") && (len(value) == 1 || value[1] <= ' ' || value[1] >= utf8.RuneSelf)) {
		if token = productToken(value); token == "*" {
			token = "" // "*=x" addresses no agent, not all
		}
	}
	if token == "" {
		return
	}
	i, known := p.r.index[token]
	if !known {
		i = len(p.r.agents)
		p.r.index[token] = i
		p.r.agents = append(p.r.agents, robotsAgent{token: token})
	}
	p.current = append(p.current, i)
}

func (p *robotsParser) rule(allow bool, value string) {
	if len(p.current) == 0 {
		p.ruled = true // rules of an agent without a name apply to no agent
		return
	}
	if !p.ruled {
		p.ruled = true
		p.group = len(p.r.groups)
		p.r.groups = append(p.r.groups, robotsGroup{})
		for _, i := range p.current {
			a := &p.r.agents[i]
			if n := len(a.groups); n == 0 || a.groups[n-1] != p.group {
				a.groups = append(a.groups, p.group)
			}
		}
	}
	g := &p.r.groups[p.group]
	g.rules = appendRule(g.rules, allow, value)
}

// delay gives a Crawl-delay to the agents named since the last one; the longest counts. As at
// Google it does not end the run of User-agent lines.
func (p *robotsParser) delay(value string) {
	p.delayed = true
	d, ok := parseCrawlDelay(value)
	if !ok {
		return
	}
	for _, i := range p.current[p.fresh:] {
		a := &p.r.agents[i]
		a.delay, a.hasDelay = max(a.delay, d), true
	}
}

// parseCrawlDelay reads seconds ("10", "0.5", "5s"), at most a day.
func parseCrawlDelay(value string) (time.Duration, bool) {
	end := strings.IndexFunc(value, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 0 {
		end = len(value)
	}
	secs, err := strconv.ParseFloat(value[:end], 64)
	if err != nil && !math.IsInf(secs, 0) {
		return 0, false
	}
	if secs >= maxCrawlDelay.Seconds() {
		return maxCrawlDelay, true
	}
	return time.Duration(math.Round(secs*1000)) * time.Millisecond, true
}

// splitRobotsLine cuts a line into key and value. Without a colon a blank separates exactly
// two words.
func splitRobotsLine(line string) (key, value string, ok bool) {
	line, _, _ = strings.Cut(line, "#")
	line = trimRobots(line)
	key, value, ok = strings.Cut(line, ":")
	if !ok {
		sep := strings.IndexAny(line, " \t")
		if sep < 0 {
			return "", "", false
		}
		key, value = line[:sep], trimRobots(line[sep:])
		if strings.ContainsAny(value, " \t") {
			return "", "", false
		}
	}
	key, value = trimRobots(key), trimRobots(value)
	return key, value, key != ""
}

// oldBlanks are blanks in encodings other than UTF-8: the no-break space of Latin ones and
// the ideographic space of GBK, EUC and Shift JIS.
var oldBlanks = [...]string{"\xa0", "\xa1\xa1", "\x81\x40"}

// trimRobots trims blanks: Unicode's, zero-width characters, controls, and those of other
// encodings. A remaining blank would void a rule, and its pages would be fetched.
func trimRobots(s string) string {
	for {
		before := len(s)
		s = strings.TrimFunc(s, func(r rune) bool {
			return r != utf8.RuneError && (!unicode.IsGraphic(r) || unicode.IsSpace(r))
		})
		for _, blank := range oldBlanks {
			if rest, ok := strings.CutPrefix(s, blank); ok {
				s = rest
			}
			if rest, ok := strings.CutSuffix(s, blank); ok && !endsInRune(s) {
				s = rest
			}
		}
		if len(s) == before {
			return s
		}
	}
}

// endsInRune reports whether the last bytes are a non-ASCII UTF-8 character, of which a byte
// may look like a blank.
func endsInRune(s string) bool {
	r, size := utf8.DecodeLastRuneInString(s)
	return r != utf8.RuneError && size > 1
}

type robotsLineKey int

const (
	keyUnknown robotsLineKey = iota
	keyAgent
	keyAllow
	keyDisallow
	keyDelay
	keySitemap
	keySignal
	keyUsage
	keyLicence
)

// robotsKey recognises a key by its beginning, in any case, with the typing errors that Google
// found frequent.
func robotsKey(key string) robotsLineKey {
	for _, k := range [...]struct {
		prefix string
		key    robotsLineKey
	}{
		{"user-agent", keyAgent}, {"useragent", keyAgent}, {"user agent", keyAgent},
		{"allow", keyAllow},
		{"disallow", keyDisallow}, {"dissallow", keyDisallow}, {"dissalow", keyDisallow}, {"disalow", keyDisallow},
		{"diaslow", keyDisallow}, {"diasllow", keyDisallow}, {"disallaw", keyDisallow},
		{"crawl-delay", keyDelay}, {"crawldelay", keyDelay},
		{"sitemap", keySitemap}, {"site-map", keySitemap},
		{"content-signal", keySignal}, {"content-usage", keyUsage},
		{"license", keyLicence},
	} {
		if len(key) >= len(k.prefix) && strings.EqualFold(key[:len(k.prefix)], k.prefix) {
			return k.key
		}
	}
	return keyUnknown
}

// productToken returns the lower-case part of a user agent that robots.txt addresses:
// "Fossick/1.0 (+…)" gives "fossick". It allows all token characters (RFC 9110, 5.6.2), as
// files do; RFC 9309 has only letters, _ and -.
func productToken(agent string) string {
	end := strings.IndexFunc(agent, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
	if end >= 0 {
		agent = agent[:end]
	}
	return strings.ToLower(agent)
}

// Sitemaps returns the file's Sitemap lines unchanged, each once.
func (r *Robots) Sitemaps() []string { return slices.Clone(r.sitemaps) }

// Why gives the source of rules that come from no file: "robots.txt: code 503, all is
// refused". It is "" for a parsed file, and not serialised.
func (r *Robots) Why() string { return r.why }

// MarshalText writes a robots.txt that parses to the same rules. It never fails.
func (r *Robots) MarshalText() ([]byte, error) {
	var b bytes.Buffer
	tokens := make([][]string, len(r.groups))
	for _, a := range r.agents {
		for _, g := range a.groups {
			tokens[g] = append(tokens[g], a.token)
		}
	}
	for g := range r.groups {
		for _, token := range tokens[g] {
			fmt.Fprintf(&b, "User-agent: %s\n", token)
		}
		for _, rule := range r.groups[g].rules {
			rule.write(&b)
		}
		if len(r.groups[g].rules) == 0 {
			b.WriteString("Disallow:\n")
		}
	}
	for _, a := range r.agents {
		if a.hasDelay || len(a.usage) > 0 || len(a.groups) == 0 {
			fmt.Fprintf(&b, "User-agent: %s\n", a.token)
			for _, u := range a.usage {
				fmt.Fprintf(&b, "%s: %s\n", u.name, u.value)
			}
			if a.hasDelay {
				fmt.Fprintf(&b, "Crawl-delay: %s\n", strconv.FormatFloat(a.delay.Seconds(), 'f', -1, 64))
			}
			b.WriteString("Disallow:\n") // without a rule the next agent would join this one
		}
	}
	for _, s := range r.licences {
		fmt.Fprintf(&b, "License: %s\n", s)
	}
	for _, s := range r.sitemaps {
		fmt.Fprintf(&b, "Sitemap: %s\n", s)
	}
	return b.Bytes(), nil
}

// UnmarshalText parses into r; it never fails.
func (r *Robots) UnmarshalText(text []byte) error {
	*r = *parseRobots(text)
	return nil
}

const (
	// RobotsTTL is how long rules may be used (RFC 9309, 2.4).
	RobotsTTL = 24 * time.Hour
	// MaxRobotsRedirects is the number of redirects of a robots.txt that are followed; beyond
	// it the file counts as unavailable: AllowAll (RFC 9309, 2.3.1.2).
	MaxRobotsRedirects = 5
)

// RobotsVersion changes when more of robots.txt is kept; 1 since License is.
const RobotsVersion = 1

// RobotsRequest requests the robots.txt at url, the host's or a redirect's target. It accepts
// any type and any 2xx (RFC 9309, 2.3.1.1), and cuts a long file at maxRobotsBytes.
func RobotsRequest(url string) Request {
	return Request{URL: url, Accept: []string{"*/*"}, MaxBodyBytes: maxRobotsBytes, Truncate: true, AnySuccess: true}
}

// AllowAll returns rules that allow everything, with the reason.
func AllowAll(why string) *Robots {
	return &Robots{index: map[string]int{}, why: why}
}

// DisallowAll returns rules that refuse everything but robots.txt, with the reason.
func DisallowAll(why string) *Robots {
	r := parseRobots([]byte("User-agent: *\nDisallow: /\n"))
	r.why = why
	return r
}

// RobotsFrom turns the answer to a RobotsRequest into rules (RFC 9309, 2.3.1). A 4xx means no
// file: all is allowed. A 5xx, a 429, an unexpected 304 or a network failure refuses
// everything until the next request, and so does a challenge. final is false, and r nil, when the answer decides
// nothing: a redirect, a 304 to known rules, a cancelled exchange.
func RobotsFrom(resp *Response) (r *Robots, final bool) {
	switch resp.State {
	case StateOK:
		return parseRobots(resp.Body), true
	case StateRedirect, StateNotModified, StateNone:
		return nil, false
	case StateCode, StatePaymentRequired:
		if c := resp.Code; c < 500 && c != http.StatusTooManyRequests && c != http.StatusNotModified {
			return AllowAll(fmt.Sprintf("robots.txt: code %d, so everything is allowed", c)), true
		}
		return DisallowAll(fmt.Sprintf("robots.txt: code %d, so everything is refused", resp.Code)), true
	}
	return DisallowAll(fmt.Sprintf("robots.txt: %s, so everything is refused", resp.State)), true
}

// ErrNoPage stands for the error of an exchange that has none and brought no page.
var ErrNoPage = errors.New("no page")

// Allowed fetches robots.txt of a URL's host as a crawl would; the error says why the URL may
// not be requested.
func (f *Fetcher) Allowed(ctx context.Context, u *url.URL, agent string) error {
	target := u.Scheme + "://" + u.Host + "/robots.txt"
	for range MaxRobotsRedirects + 1 {
		resp := f.Fetch(ctx, RobotsRequest(target))
		rules, final := RobotsFrom(resp)
		switch {
		case final && rules.Allowed(agent, u.RequestURI()):
			return nil
		case final:
			return fmt.Errorf("URL %s: robots.txt of %s does not allow it %s", u, u.Host, rules.Why())
		case resp.State != StateRedirect:
			return fmt.Errorf("URL %s: robots.txt: %s (%w)", u, resp.State, cmp.Or(resp.Err, ErrNoPage))
		}
		target = resp.Location
	}
	return nil // a redirect that leads nowhere is no robots.txt (RFC 9309, 2.3.1.2)
}

// usageLine states what pages may be used for: Content-Signal, or Content-Usage with a path
// pattern before its value (draft-ietf-aipref-attach-05).
type usageLine struct{ name, value string }

// maxUsageLines bounds the usage lines per agent.
const maxUsageLines = 64

// usage gives a line to the agents of the present group. Like a Crawl-delay it does not end
// the run of User-agent lines.
func (p *robotsParser) usage(u usageLine) {
	if u.value == "" {
		return
	}
	for _, i := range p.current {
		if a := &p.r.agents[i]; len(a.usage) < maxUsageLines {
			a.usage = append(a.usage, u)
		}
	}
}

// Usage returns what the file lets agent use a page for, by its path and query: names and values of
// lines. Of the lines of one name those with the longest matching pattern count. Those of the given
// tokens that may not fetch the page follow, and the licences that the file names.
func (r *Robots) Usage(agent, pathAndQuery string, tokens ...string) (said [][2]string) {
	if a := r.agent(agent); a != nil {
		longest := map[string]int{}
		values, octets := make([]string, len(a.usage)), make([]int, len(a.usage))
		for i, u := range a.usage {
			values[i], octets[i] = u.at(pathAndQuery)
			longest[u.name] = max(longest[u.name], octets[i])
		}
		for i, u := range a.usage {
			if octets[i] == longest[u.name] {
				said = append(said, [2]string{u.name, values[i]})
			}
		}
	}
	for _, token := range tokens {
		if r.speaks(token) && !r.Allowed(token, pathAndQuery) {
			said = append(said, [2]string{"user-agent", token})
		}
	}
	for _, url := range r.licences {
		said = append(said, [2]string{"license", url})
	}
	return said
}

// at returns the line's value and the length of its pattern, 0 without one and -1 if it does not match.
func (u usageLine) at(pathAndQuery string) (value string, octets int) {
	if !strings.HasPrefix(u.value, "/") {
		return u.value, 0
	}
	end := strings.IndexAny(u.value, " \t")
	if end < 0 {
		end = len(u.value)
	}
	rule := compileRule(true, u.value[:end])
	if !rule.matches(normalOctets(pathAndQuery)) {
		return "", -1
	}
	return strings.TrimSpace(u.value[end:]), rule.octets
}

// speaks reports whether the file has a group for the token itself.
func (r *Robots) speaks(token string) bool {
	_, ok := r.index[productToken(token)]
	return ok
}
