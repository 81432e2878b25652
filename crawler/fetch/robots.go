package fetch

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	utf16 "golang.org/x/text/encoding/unicode"
)

// Robots is a parsed robots.txt (RFC 9309). It does not change once parsed and
// is safe for concurrent use. MarshalText writes it down.
type Robots struct {
	groups   []robotsGroup
	agents   []robotsAgent  // in the order of their first line
	index    map[string]int // lower-case product token, or "*", to agents
	sitemaps []string
	why      string
}

// robotsGroup is a run of rules and belongs to one or more agents.
type robotsGroup struct{ rules []robotsRule }

// robotsAgent is what the file says to one product token. Its groups are
// merged when matching, not when parsing: n agents that share a group of m
// rules must not cost n·m.
type robotsAgent struct {
	token    string
	groups   []int
	delay    time.Duration
	hasDelay bool
	usage    []usageLine // what pages may be used for
}

const (
	// maxRobotsBytes is how much of a robots.txt is read: the RFC's least and
	// Google's most.
	maxRobotsBytes = 500 << 10
	// maxRobotsLine cuts a line as Google does, eight times its longest URL.
	maxRobotsLine = 8*2083 - 1
	maxSitemaps   = 10_000
	maxCrawlDelay = 24 * time.Hour
)

// parseRobots reads a robots.txt of any quality: there are no errors, only
// lines without meaning. The matching is that of RFC 9309; typing errors are
// forgiven as Google forgives them ("disalow", a missing colon). Crawl-delay
// and Sitemap, which the RFC leaves open, are read too.
func parseRobots(body []byte) *Robots {
	p := robotsParser{r: &Robots{index: map[string]int{}}, seen: map[string]bool{}}
	if bytes.HasPrefix(body, []byte("\xff\xfe")) || bytes.HasPrefix(body, []byte("\xfe\xff")) {
		body, _ = utf16.UTF16(utf16.BigEndian, utf16.UseBOM).NewDecoder().Bytes(body) // its errors are characters
	}
	for _, b := range []byte("\xef\xbb\xbf") { // a byte order mark, or what is left of one
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

// robotsParser is the state between lines.
type robotsParser struct {
	r       *Robots
	current []int           // agents of the present group
	fresh   int             // of current, the first that no Crawl-delay came after yet
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
	case keySignal, keyUsage:
		p.usage(usageLine{key, value})
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
			token = "" // "*=x" means nobody, not everybody
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
		p.ruled = true // rules of an agent without a name are nobody's
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

// delay gives a Crawl-delay to the agents named since the last one. Of several
// the longest holds. As with Google it doesn't end the run of User-agent lines,
// so rules that follow are for all of them.
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

// parseCrawlDelay reads seconds, whole or not ("10", "0.5", "5s"), at most a day.
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

// splitRobotsLine cuts a line into key and value. Without a colon a blank will
// do, if there are exactly two words.
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

// trimRobots cuts blanks off both ends: those of Unicode, characters without width, controls,
// and those of other encodings. A blank that stays makes a rule nobody's, so that what it
// refuses would be fetched.
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

// endsInRune says whether the last bytes are a character beyond ASCII in UTF-8, of which
// a byte may look like a blank.
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
)

// robotsKey knows a key by its beginning, in any case, with the typing errors
// that Google found frequent.
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
	} {
		if len(key) >= len(k.prefix) && strings.EqualFold(key[:len(k.prefix)], k.prefix) {
			return k.key
		}
	}
	return keyUnknown
}

// productToken returns the part of a user agent that robots.txt addresses, in
// lower case: "Fossick/1.0 (+…)" is "fossick". Its characters are those of a
// token (RFC 9110, 5.6.2); RFC 9309 has letters, _ and - only, but files don't.
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

// Sitemaps returns the file's Sitemap lines, as they stand there, each once.
func (r *Robots) Sitemaps() []string { return slices.Clone(r.sitemaps) }

// Why says where these rules come from when not from a file: "robots.txt: code
// 503, all is refused". It is empty for a parsed file, and not written down.
func (r *Robots) Why() string { return r.why }

// MarshalText writes r as a robots.txt that parses to the same rules, without
// what has no meaning. It never fails.
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
	for _, s := range r.sitemaps {
		fmt.Fprintf(&b, "Sitemap: %s\n", s)
	}
	return b.Bytes(), nil
}

// UnmarshalText is ParseRobots into r; it never fails.
func (r *Robots) UnmarshalText(text []byte) error {
	*r = *parseRobots(text)
	return nil
}
