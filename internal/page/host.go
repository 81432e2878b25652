package page

import (
	"bytes"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"fossick/internal/ipaddr"
)

// Host returns name:port of a URL in normal form, the port always there
// ("h1.test:80"), or "" when u is none.
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
		return strings.Clone(rest) // a queue keyed by hosts must not keep the URLs alive
	}
	if scheme == "https" {
		return rest + ":443"
	}
	return rest + ":80"
}

// HostName is the name of a URL's host in normal form, with a port where that is neither
// of http's nor of https's: what people call a host.
func HostName(u string) string {
	name := Host(u)
	for _, port := range []string{":80", ":443"} {
		if short, ok := strings.CutSuffix(name, port); ok {
			return short
		}
	}
	return name
}

// Site returns the registrable domain of a URL in normal form by the public
// suffix list ("a.b.example.co.uk" → "example.co.uk"), or "" when u is none. An
// address, a single label and a public suffix are sites themselves.
func Site(u string) string {
	host := Host(u)
	name := host[:max(0, strings.LastIndexByte(host, ':'))]
	if name == "" || name[0] == '[' || ipaddr.EndsInNumber(name) {
		return name
	}
	site, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		return name
	}
	return site
}

// appendAuthority appends host and port; a user name is left out, as a crawler
// has no business with other people's credentials.
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

// toASCII maps names of any script as browsers do (UTS 46, non-transitional).
var toASCII = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.BidiRule(),
	idna.CheckHyphens(false), idna.StrictDomainName(false), idna.VerifyDNSLength(false))

// asciiName maps a name that IDNA may take long for only where it can be one.
func asciiName(name []byte) (string, error) {
	if ipaddr.TooLong(name) {
		return "", ErrURL
	}
	ascii, err := toASCII.ToASCII(string(name))
	if err != nil {
		return "", ErrURL
	}
	return ascii, nil
}

// appendName appends a host name or address. It refuses what no name server
// can answer: empty and overlong labels, characters beyond letters, digits,
// hyphen and underscore. The dot of the root is cut: it names the same host.
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
	if ipaddr.EndsInNumber(dst[at:]) {
		addr, ok := ipaddr.ParseIPv4(string(dst[at:]))
		if !ok {
			return nil, ErrURL
		}
		return addr.AppendTo(dst[:at]), nil
	}
	return dst, nil
}

// validName checks the limits of RFC 1035 §2.3.4 on labels and name.
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

// unescapeAll decodes every escape of a host name.
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

// appendIPv6 appends an address in brackets, written as RFC 5952 has it, but
// as WHATWG without a dotted part.
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
