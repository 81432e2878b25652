package page

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// maxURLBytes is the longest normal form: the old limit of the strictest browser. A longer URL is
// nearly always a trap that grows by a segment per page.
const maxURLBytes = 2083

// maxRawBytes bounds a URL before normalisation, which may lengthen or shorten it.
const maxRawBytes = 4 * maxURLBytes

// Reasons why a string has no normal form.
var (
	ErrURL     = errors.New("not a URL; expected something like http://host/path")
	ErrScheme  = errors.New("scheme is not http or https")
	ErrTooLong = fmt.Errorf("URL is longer than %d bytes", maxURLBytes)
)

// Normalizer normalises URLs. It is immutable; the zero value drops no parameters.
type Normalizer struct {
	drop dropList
}

// NewNormalizer returns a Normalizer that removes the query and path parameters named by drop. An
// entry is
//
//	name        that parameter
//	name*       all parameters whose names begin so
//	name={hex}  that parameter if its value has at least 16 hexadecimal digits:
//	            for names that mean something else on other sites
//	(s())       a path segment with an ASP.NET session, "(S(…))"
//
// Names ignore case.
func NewNormalizer(drop []string) *Normalizer {
	return &Normalizer{drop: newDropList(drop)}
}

// standard serves the package's functions. It never changes.
var standard = NewNormalizer(DefaultDrop())

// Normalize is Normalizer.Normalize with DefaultDrop.
func Normalize(raw string) (string, error) { return standard.Normalize(raw) }

// Normalize returns the normal form of an absolute URL, without fragment and user name: one string
// for all spellings that browsers (WHATWG URL) and RFC 3986 §6.2.2 treat as equal. It is
// idempotent. The error wraps ErrURL, ErrScheme or ErrTooLong and quotes raw.
func (n *Normalizer) Normalize(raw string) (string, error) {
	var arr, refArr [256]byte
	out, err := n.resolve(arr[:0], nil, append(refArr[:0], raw...))
	if err != nil {
		return "", fmt.Errorf("%w: %q", err, abbreviate(raw))
	}
	if string(out) == raw {
		return raw, nil // most URLs are in normal form, and share the caller's memory
	}
	return string(out), nil
}

type Base struct {
	url                string // normal form
	path, dir, pathEnd int    // start of the path, start of its last segment, end of the path
}

// Base returns raw as a base for Resolve, with the errors of Normalize.
func (n *Normalizer) Base(raw string) (Base, error) {
	u, err := n.Normalize(raw)
	if err != nil {
		return Base{}, err
	}
	return newBase(u), nil
}

func newBase(u string) Base {
	b := Base{url: u, pathEnd: len(u)}
	for i := len("http://"); i < len(u); i++ {
		switch u[i] {
		case '?':
			b.pathEnd = i
			return b
		case '/':
			if b.path == 0 && u[i-1] != '/' {
				b.path = i
			}
			b.dir = i + 1
		}
	}
	return b
}

func (b Base) scheme() string {
	if b.url[4] == ':' {
		return b.url[:4]
	}
	return b.url[:5]
}

// Resolve returns the normal form of a reference relative to base, with the errors of Normalize.
func (n *Normalizer) Resolve(base Base, ref string) (string, error) {
	var arr, refArr [256]byte
	b := &base
	if base.url == "" {
		b = nil
	}
	out, err := n.resolve(arr[:0], b, append(refArr[:0], ref...))
	if err != nil {
		return "", fmt.Errorf("%w: %q", err, abbreviate(ref))
	}
	return string(out), nil
}

// resolve appends to dst, which is empty, the normal form of ref relative to base (which may be
// nil), by the WHATWG basic URL parser for special schemes. It may change ref. It returns bare
// sentinel errors, since wrapping would cost more than the link.
func (n *Normalizer) resolve(dst []byte, base *Base, ref []byte) ([]byte, error) {
	ref = clean(ref)
	scheme, rest := splitScheme(ref)
	if scheme == "other" {
		return nil, ErrScheme
	}
	if len(ref) > maxRawBytes {
		return nil, ErrTooLong
	}
	if scheme == "" {
		if base == nil {
			return nil, ErrURL
		}
		scheme = base.scheme()
	} else if base != nil && scheme != base.scheme() {
		base = nil // "http:page.html" is relative only on an http page
	}
	slashes := 0
	for slashes < len(rest) && isSlash(rest[slashes]) {
		slashes++
	}
	var err error
	if base != nil && slashes < 2 {
		dst = n.relative(dst, base, rest)
	} else if dst, err = n.absolute(dst, scheme, rest[slashes:]); err != nil {
		return nil, err
	}
	if len(dst) > maxURLBytes {
		return nil, ErrTooLong
	}
	return dst, nil
}

func (n *Normalizer) absolute(dst []byte, scheme string, rest []byte) ([]byte, error) {
	dst = append(append(dst, scheme...), "://"...)
	end := 0
	for end < len(rest) && !isSlash(rest[end]) && rest[end] != '?' {
		end++
	}
	dst, err := appendAuthority(dst, scheme, rest[:end])
	if err != nil {
		return nil, err
	}
	start := len(dst)
	path, query, hasQuery := bytes.Cut(rest[end:], []byte{'?'})
	dst = n.appendPath(append(dst, '/'), start, trimSlash(path))
	if hasQuery {
		dst = n.appendQuery(dst, query)
	}
	return dst, nil
}

func (n *Normalizer) relative(dst []byte, base *Base, rest []byte) []byte {
	path, query, hasQuery := bytes.Cut(rest, []byte{'?'})
	switch {
	case len(rest) == 0:
		return append(dst, base.url...)
	case len(path) == 0:
		dst = append(dst, base.url[:base.pathEnd]...)
	case isSlash(path[0]):
		dst = n.appendPath(append(dst, base.url[:base.path+1]...), base.path, path[1:])
	default:
		dst = n.appendPath(append(dst, base.url[:base.dir]...), base.path, path)
	}
	if hasQuery {
		dst = n.appendQuery(dst, query)
	}
	return dst
}

// clean removes outer spaces and controls, tabs, line ends (as in WHATWG) and the fragment.
func clean(ref []byte) []byte {
	for len(ref) > 0 && ref[0] <= ' ' {
		ref = ref[1:]
	}
	for len(ref) > 0 && ref[len(ref)-1] <= ' ' {
		ref = ref[:len(ref)-1]
	}
	if i := bytes.IndexByte(ref, '#'); i >= 0 {
		ref = ref[:i]
	}
	if bytes.IndexByte(ref, '\n') < 0 && bytes.IndexByte(ref, '\t') < 0 && bytes.IndexByte(ref, '\r') < 0 {
		return ref
	}
	out := ref[:0]
	for _, c := range ref {
		if c != '\n' && c != '\t' && c != '\r' {
			out = append(out, c)
		}
	}
	return out
}

// splitScheme returns "http", "https", "other" or "", and the text after the colon.
func splitScheme(ref []byte) (string, []byte) {
	for i, c := range ref {
		switch {
		case isLetter(c):
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			switch {
			case equalFold(ref[:i], "http"):
				return "http", ref[i+1:]
			case equalFold(ref[:i], "https"):
				return "https", ref[i+1:]
			}
			return "other", ref[i+1:]
		default:
			return "", ref
		}
	}
	return "", ref
}

func isSlash(c byte) bool  { return c == '/' || c == '\\' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

func trimSlash(path []byte) []byte {
	if len(path) > 0 && isSlash(path[0]) {
		return path[1:]
	}
	return path
}

// equalFold compares b with s, which is in lower case, ignoring ASCII case.
func equalFold(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != s[i] {
			return false
		}
	}
	return true
}

func abbreviate(s string) string {
	if len(s) > 200 {
		return cut(s, 200) + "…"
	}
	return s
}

const (
	unreserved = 1 << iota // RFC 3986 §2.3: %XX of these is decoded
	pathRaw                // unencoded in a path
	queryRaw               // unencoded in a query
)

// byteClass follows the WHATWG path and special-query percent-encode sets, so it leaves "|", "[",
// "]", "^" as browsers send them. A percent sign that starts no escape is encoded; otherwise
// "%4%31" would become "%41" and then "A".
var byteClass = func() (class [256]byte) {
	for c := 0x21; c < 0x7f; c++ {
		if !bytes.ContainsRune([]byte(`"#<>?{}%`+"`"), rune(c)) {
			class[c] |= pathRaw
		}
		if !bytes.ContainsRune([]byte(`"#<>'%`), rune(c)) {
			class[c] |= queryRaw
		}
		if b := byte(c); isLetter(b) || isDigit(b) || b == '-' || b == '.' || b == '_' || b == '~' {
			class[c] |= unreserved
		}
	}
	return class
}()

// appendEscaped appends s percent-encoded in normal form: it decodes unreserved characters, writes
// hexadecimal digits in upper case and encodes bytes outside raw.
func appendEscaped(dst, s []byte, raw byte) []byte {
	const hex = "0123456789ABCDEF"
	for i := 0; i < len(s); i++ {
		c := s[i]
		if byteClass[c]&raw != 0 {
			dst = append(dst, c)
			continue
		}
		if c == '%' && i+2 < len(s) {
			if hi, lo := unhex(s[i+1]), unhex(s[i+2]); hi < 16 && lo < 16 {
				c = hi<<4 | lo
				i += 2
				if byteClass[c]&unreserved != 0 {
					dst = append(dst, c)
					continue
				}
			}
		}
		dst = append(dst, '%', hex[c>>4], hex[c&15])
	}
	return dst
}

func unhex(c byte) byte {
	switch {
	case isDigit(c):
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 255
}

// appendPath appends the segments of path to dst, which ends in a slash and whose path starts at
// start, and resolves dot segments (RFC 3986 §5.2.4).
func (n *Normalizer) appendPath(dst []byte, start int, path []byte) []byte {
	for {
		end := 0
		for end < len(path) && !isSlash(path[end]) {
			end++
		}
		at := len(dst)
		dst = appendEscaped(dst, path[:end], pathRaw)
		if bytes.IndexByte(path[:end], ';') >= 0 {
			dst = n.drop.cutPathParams(dst, at)
		}
		last := end == len(path)
		switch string(dst[at:]) {
		case ".":
			dst = dst[:at]
		case "..":
			dst = dst[:max(start, bytes.LastIndexByte(dst[:at-1], '/'))+1]
		default:
			if !last {
				dst = append(dst, '/')
			}
		}
		if last {
			return n.drop.cutSegments(dst, start)
		}
		path = path[end+1:]
	}
}

// appendQuery appends the parameters that are not dropped, in order, without empty ones.
func (n *Normalizer) appendQuery(dst, query []byte) []byte {
	joint := byte('?')
	for more := true; more; {
		var param []byte
		param, query, more = bytes.Cut(query, []byte{'&'})
		if len(param) == 0 {
			continue
		}
		at := len(dst)
		dst = appendEscaped(append(dst, joint), param, queryRaw)
		if n.drop.has(dst[at+1:]) {
			dst = dst[:at]
			continue
		}
		joint = '&'
	}
	return dst
}

// Host returns name:port of a normalised URL, always with a port ("h1.test:80"), or "".
func Host(u string) string {
	scheme, rest, ok := strings.Cut(u, "://")
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	if rest == "" {
		return ""
	}
	if i := strings.LastIndexByte(rest, ':'); i > strings.LastIndexByte(rest, ']') {
		return strings.Clone(rest) // cloned, so that a queue keyed by host does not keep the URLs alive
	}
	if scheme == "https" {
		return rest + ":443"
	}
	return rest + ":80"
}

// HostName returns the name of a URL's host for display, with a port unless that is 80 or 443.
func HostName(u string) string {
	name := Host(u)
	for _, port := range []string{":80", ":443"} {
		if short, ok := strings.CutSuffix(name, port); ok {
			return short
		}
	}
	return name
}

// Site returns the registrable domain of a normalised URL by the public suffix list
// ("a.b.example.co.uk" → "example.co.uk"), or "". An address, a single label or a public suffix is
// a site itself.
func Site(u string) string {
	host := Host(u)
	name := host[:max(0, strings.LastIndexByte(host, ':'))]
	if name == "" || name[0] == '[' || EndsInNumber(name) {
		return name
	}
	site, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		return name
	}
	return site
}

// appendAuthority appends host and port, but no user name, which may hold credentials.
func appendAuthority(dst []byte, scheme string, auth []byte) ([]byte, error) {
	auth = auth[bytes.LastIndexByte(auth, '@')+1:]
	name, port := auth, []byte(nil)
	if i := bytes.LastIndexByte(auth, ':'); i > bytes.LastIndexByte(auth, ']') {
		name, port = auth[:i], auth[i+1:]
	}
	dst, err := appendName(dst, name)
	if err != nil || len(port) == 0 {
		return dst, err
	}
	number := 0
	for _, c := range port {
		if !isDigit(c) {
			return nil, ErrURL
		}
		if number = number*10 + int(c-'0'); number > 65535 {
			return nil, ErrURL
		}
	}
	if scheme == "http" && number == 80 || scheme == "https" && number == 443 {
		return dst, nil
	}
	return strconv.AppendInt(append(dst, ':'), int64(number), 10), nil
}

// toASCII maps international names as browsers do (UTS 46, non-transitional).
var toASCII = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.BidiRule(),
	idna.CheckHyphens(false), idna.StrictDomainName(false), idna.VerifyDNSLength(false))

func asciiName(name []byte) (string, error) {
	if NameTooLong(name) {
		return "", ErrURL
	}
	ascii, err := toASCII.ToASCII(string(name))
	if err != nil {
		return "", ErrURL
	}
	return ascii, nil
}

// appendName appends a host name or address, without the final dot. It refuses names that DNS
// cannot resolve: empty and overlong labels, characters other than letters, digits, hyphen and
// underscore.
func appendName(dst, name []byte) ([]byte, error) {
	if len(name) > 0 && name[0] == '[' {
		return appendIPv6(dst, name)
	}
	at := len(dst)
	for _, c := range name {
		if c >= 0x80 || c == '%' {
			ascii, err := asciiName(unescapeAll(name))
			if err != nil {
				return nil, err
			}
			name = []byte(ascii)
			break
		}
	}
	dst = appendLower(dst, name)
	if bytes.Contains(dst[at:], []byte("xn--")) {
		ascii, err := asciiName(dst[at:])
		if err != nil {
			return nil, err
		}
		dst = append(dst[:at], ascii...)
	}
	if len(dst) > at && dst[len(dst)-1] == '.' {
		dst = dst[:len(dst)-1]
	}
	if !validName(dst[at:]) {
		return nil, ErrURL
	}
	if EndsInNumber(dst[at:]) {
		addr, ok := ParseIPv4(string(dst[at:]))
		if !ok {
			return nil, ErrURL
		}
		return addr.AppendTo(dst[:at]), nil
	}
	return dst, nil
}

// validName checks the limits of RFC 1035 §2.3.4.
func validName(name []byte) bool {
	label := 0
	for _, c := range name {
		switch {
		case c == '.':
			if label == 0 {
				return false
			}
			label = 0
			continue
		case isLetter(c), isDigit(c), c == '-', c == '_':
		default:
			return false
		}
		if label++; label > 63 {
			return false
		}
	}
	return label > 0 && len(name) <= 253
}

func unescapeAll(s []byte) []byte {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if hi, lo := unhex(s[i+1]), unhex(s[i+2]); hi < 16 && lo < 16 {
				out = append(out, hi<<4|lo)
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return out
}

// appendIPv6 appends a bracketed address as in RFC 5952 but, like WHATWG, without a dotted part.
func appendIPv6(dst, name []byte) ([]byte, error) {
	if name[len(name)-1] != ']' {
		return nil, ErrURL
	}
	addr, err := netip.ParseAddr(string(name[1 : len(name)-1]))
	if err != nil || !addr.Is6() || addr.Zone() != "" {
		return nil, ErrURL
	}
	if addr.Is4In6() {
		b := addr.As16()
		return fmt.Appendf(dst, "[::ffff:%x:%x]", uint16(b[12])<<8|uint16(b[13]), uint16(b[14])<<8|uint16(b[15])), nil
	}
	return append(addr.AppendTo(append(dst, '[')), ']'), nil
}

// WithScheme completes an address as people type it (www.example.org/bees) to an https URL.
func WithScheme(raw string) (full string, assumed bool) {
	s := strings.TrimSpace(raw)
	if strings.HasPrefix(s, "//") {
		return "https:" + s, true
	}
	if strings.Contains(s, "://") {
		return raw, false
	}
	host := s
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		host = s[:i]
	}
	name, port, _ := strings.Cut(host, ":")
	switch {
	case strings.Trim(port, "0123456789") != "", strings.ContainsAny(name, " @\\\"<>"):
		return raw, false // mailto:, user name and password, prose
	case name != "localhost" && !strings.Contains(strings.Trim(name, "."), "."):
		return raw, false
	}
	return "https://" + s, true
}

func RobotsURL(u string) string { return origin(u) + "/robots.txt" }

func TDMRepURL(u string) string { return origin(u) + "/.well-known/tdmrep.json" }

func origin(u string) string {
	scheme, rest, _ := strings.Cut(u, "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

// Path returns path and query of a normalised URL, as robots.txt rules match it.
func Path(u string) string {
	_, rest, _ := strings.Cut(u, "://")
	if at := strings.IndexByte(rest, '/'); at >= 0 && plainPath(rest[at:]) {
		return rest[at:]
	}
	parsed, err := url.Parse(u)
	if err != nil {
		return "/"
	}
	return parsed.RequestURI()
}

// plainPath reports paths that net/url would not change: nearly all.
func plainPath(path string) bool {
	for i := 0; i < len(path) && path[i] != '?'; i++ {
		c := path[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && strings.IndexByte("/-_.~%!$&'()*+,;=:@", c) < 0 {
			return false
		}
	}
	return true
}

// Key returns a hash of a normalised URL for small tables. One pair in 10^19 collides.
func Key(url string) uint64 { return xxhash.Sum64String(url) }
