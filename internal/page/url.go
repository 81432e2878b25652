package page

import (
	"bytes"
	"errors"
	"fmt"
)

// maxURLBytes is the longest normal form that is kept. It is the limit of the
// browser that long had the lowest one, so servers that want visitors stay
// below it. What is longer is nearly always a trap that grows by a segment a
// page.
const maxURLBytes = 2083

// maxRawBytes bounds a URL before it is normalised: percent-encoding can make
// three bytes of one, dot segments and dropped parameters can take bytes away.
const maxRawBytes = 4 * maxURLBytes

// The reasons why a string has no normal form.
var (
	ErrURL     = errors.New("not a URL; expected something like http://host/path")
	ErrScheme  = errors.New("scheme is not http or https")
	ErrTooLong = fmt.Errorf("URL is longer than %d bytes", maxURLBytes)
)

// Normalizer brings URLs into normal form. It is immutable and safe for
// concurrent use. The zero value drops no parameters.
type Normalizer struct {
	drop dropList
}

// NewNormalizer returns a Normalizer that removes the query and path parameters
// named by drop. An entry is
//
//	name        that parameter
//	na*me       all parameters whose names match, * standing for any characters
//	name={hex}  that parameter when its value is 16 hexadecimal digits or more:
//	            names that mean something else on other sites
//	(s())       a path's segment with a session of ASP.NET, "(S(…))"
//	!entry      what matches stays
//
// Of several entries that match a parameter the last one decides, so that one's
// own list can follow DefaultDrop. Names have no case. CheckDrop finds mistakes.
func NewNormalizer(drop []string) *Normalizer {
	return &Normalizer{drop: newDropList(drop)}
}

// standard is what the package's functions use; it is never written to.
var standard = NewNormalizer(DefaultDrop())

// Normalize returns the normal form of raw with the parameters of DefaultDrop
// removed; see Normalizer.Normalize.
func Normalize(raw string) (string, error) { return standard.Normalize(raw) }

// Normalize returns the normal form of an absolute URL, without fragment and
// user name. It is one string for all spellings that browsers (WHATWG URL) and
// RFC 3986 §6.2.2 hold to be the same. Normal forms are their own normal form.
// The error wraps ErrURL, ErrScheme or ErrTooLong and quotes raw.
func (n *Normalizer) Normalize(raw string) (string, error) {
	var arr, refArr [256]byte
	out, err := n.resolve(arr[:0], nil, append(refArr[:0], raw...))
	if err != nil {
		return "", fmt.Errorf("%w: %q", err, abbreviate(raw))
	}
	if string(out) == raw {
		return raw, nil // shares the caller's memory, as most URLs are in normal form already
	}
	return string(out), nil
}

// Base is a URL that references are resolved against.
type Base struct {
	url                string // normal form
	path, dir, pathEnd int    // where the path starts, its last segment starts, it ends
}

// Base returns raw as a base for Resolve; errors as of Normalize.
func (n *Normalizer) Base(raw string) (Base, error) {
	u, err := n.Normalize(raw)
	if err != nil {
		return Base{}, err
	}
	return newBase(u), nil
}

// newBase finds the parts of a normal form, of which it knows that scheme, host
// and path are there.
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

// URL returns the base's normal form.
func (b Base) URL() string { return b.url }

// scheme returns "http" or "https".
func (b Base) scheme() string {
	if b.url[4] == ':' {
		return b.url[:4]
	}
	return b.url[:5]
}

// Resolve returns the normal form of a reference as it stands on a page whose
// base is base. Errors as of Normalize.
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

// resolve appends to dst, which is empty, the normal form of ref against base;
// base may be nil. It follows the WHATWG basic URL parser for special schemes.
// It may change ref. Errors are the bare sentinels: most pages have a few links
// that are none, and a wrapped error would cost more than the link.
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
		base = nil // "http:page.html" is relative on a page of http only
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

// absolute appends scheme and what follows the slashes after it.
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

// relative appends a reference without host.
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

// clean removes what the WHATWG parser removes first: control characters and
// spaces at both ends, tabs and line ends anywhere; and the fragment.
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

// splitScheme returns "http", "https", "other", or "" when ref has no scheme,
// and what follows the colon.
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

// trimSlash removes one slash in front.
func trimSlash(path []byte) []byte {
	if len(path) > 0 && isSlash(path[0]) {
		return path[1:]
	}
	return path
}

// equalFold says whether b is s, which is in lower case, without regard to
// the case of ASCII letters.
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

// abbreviate keeps messages readable.
func abbreviate(s string) string {
	if len(s) > 200 {
		return cut(s, 200) + "…"
	}
	return s
}
