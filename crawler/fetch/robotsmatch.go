package fetch

import (
	"bytes"
	"strings"
	"time"
)

// robotsRule is one Allow or Disallow line.
type robotsRule struct {
	allow    bool
	derived  bool     // added by appendRule, not in the file
	anchored bool     // ends in $
	raw      string   // as in the file
	octets   int      // length of the escaped pattern: the longest match wins
	parts    []string // between the *, in normal form
}

// appendRule compiles a pattern. An empty one has no effect (RFC 9309, 2.2.2). "Allow:
// /a/index.html" also allows /a/, as at Google.
func appendRule(rules []robotsRule, allow bool, pattern string) []robotsRule {
	if pattern == "" {
		return rules
	}
	rules = append(rules, compileRule(allow, pattern))
	if slash := strings.LastIndexByte(pattern, '/'); allow && slash >= 0 && strings.HasPrefix(pattern[slash:], "/index.htm") {
		dir := compileRule(true, pattern[:slash+1]+"$")
		dir.derived = true
		rules = append(rules, dir)
	}
	return rules
}

func compileRule(allow bool, pattern string) robotsRule {
	r := robotsRule{allow: allow, raw: pattern, octets: escapedLen(pattern)}
	pattern, r.anchored = strings.CutSuffix(pattern, "$")
	r.parts = strings.Split(pattern, "*")
	for i := range r.parts {
		r.parts[i] = normalOctets(r.parts[i])
	}
	return r
}

func (r *robotsRule) write(b *bytes.Buffer) {
	if r.derived {
		return
	}
	if r.allow {
		b.WriteString("Allow: ")
	} else {
		b.WriteString("Disallow: ")
	}
	b.WriteString(r.raw)
	b.WriteByte('\n')
}

// matches reports whether path, in normal form, fits the pattern. Each part takes its first
// place after the previous part: if any places fit, these do. So the time is linear in path
// and pattern, even for a hostile file.
func (r *robotsRule) matches(path string) bool {
	first, rest := r.parts[0], r.parts[1:]
	if !strings.HasPrefix(path, first) {
		return false
	}
	path = path[len(first):]
	for i, part := range rest {
		if r.anchored && i == len(rest)-1 {
			return strings.HasSuffix(path, part)
		}
		at := strings.Index(path, part)
		if at < 0 {
			return false
		}
		path = path[at+len(part):]
	}
	return !r.anchored || path == ""
}

// Allowed reports whether agent (a product token, or a whole User-Agent that begins
// with it) may fetch a URL's path and query. The rules for its token hold, merged, or
// those for * when no group names it. Of the rules that match the longest wins, and
// Allow among equals (RFC 9309, 2.2). robots.txt itself is always allowed. O(rules ·
// length), no allocation for plain ASCII paths.
func (r *Robots) Allowed(agent, pathAndQuery string) bool {
	path, _, _ := strings.Cut(pathAndQuery, "#")
	if path == "/robots.txt" {
		return true
	}
	a := r.agent(agent)
	if a == nil {
		return true
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	path = normalOctets(path)
	longest, allowed := 0, true
	for _, g := range a.groups {
		for i := range r.groups[g].rules {
			rule := &r.groups[g].rules[i]
			if rule.octets < longest || rule.octets == longest && (allowed || !rule.allow) {
				continue // cannot change the verdict
			}
			if rule.matches(path) {
				longest, allowed = rule.octets, rule.allow
			}
		}
	}
	return allowed
}

// CrawlDelay returns the Crawl-delay for agent, at most a day, and whether there is one.
func (r *Robots) CrawlDelay(agent string) (time.Duration, bool) {
	a := r.agent(agent)
	if a == nil {
		return 0, false
	}
	return a.delay, a.hasDelay
}

// agent returns the rules for agent; nil without any.
func (r *Robots) agent(agent string) *robotsAgent {
	i, ok := r.index[productToken(agent)]
	if !ok {
		i, ok = r.index["*"]
	}
	if !ok {
		return nil
	}
	return &r.agents[i]
}

// Narrow returns the rules for agent, addressed to every agent, and the groups for the tokens
// in also. Allowed, CrawlDelay and Usage answer for these as r does. A store keeps this part
// alone.
func (r *Robots) Narrow(agent string, also ...string) *Robots {
	n := &Robots{index: map[string]int{}, sitemaps: r.sitemaps, licences: r.licences, why: r.why}
	if a := r.agent(agent); a != nil {
		n.take(r, a, "*")
	}
	for _, token := range also {
		if r.speaks(token) {
			n.take(r, r.agent(token), productToken(token))
		}
	}
	return n
}

// take adds an agent of r under the name token.
func (n *Robots) take(r *Robots, a *robotsAgent, token string) {
	took := robotsAgent{token: token, delay: a.delay, hasDelay: a.hasDelay, usage: a.usage}
	for _, g := range a.groups {
		took.groups = append(took.groups, len(n.groups))
		n.groups = append(n.groups, r.groups[g])
	}
	n.index[token] = len(n.agents)
	n.agents = append(n.agents, took)
}

const upperHex = "0123456789ABCDEF"

// normalOctets brings a path or a pattern's part to the form of comparison (RFC 9309, 2.2.2):
// octets outside ASCII are %-encoded, escapes have capital digits, and escapes of unreserved
// characters are undone. So are %24 and %2A, a pattern's literal $ and *.
func normalOctets(s string) string {
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		clean = s[i] < 0x80 && s[i] != '%'
	}
	if clean {
		return s
	}
	out := make([]byte, 0, len(s)+16)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if hi, lo := hexAt(s, i+1), hexAt(s, i+2); c == '%' && hi >= 0 && lo >= 0 {
			i += 2
			if c = byte(hi<<4 | lo); isUnreserved(c) || c == '$' || c == '*' {
				out = append(out, c)
				continue
			}
		} else if c < 0x80 {
			out = append(out, c)
			continue
		}
		out = append(out, '%', upperHex[c>>4], upperHex[c&15])
	}
	return string(out)
}

// escapedLen returns the length of a pattern with its non-ASCII octets %-encoded.
func escapedLen(s string) int {
	n := len(s)
	for i := range len(s) {
		if s[i] >= 0x80 {
			n += 2
		}
	}
	return n
}

// hexAt returns the value of the hex digit s[i]; -1 if there is none.
func hexAt(s string, i int) int {
	if i >= len(s) {
		return -1
	}
	switch c := s[i]; {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func isUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '-' || c == '.' || c == '_' || c == '~'
}
