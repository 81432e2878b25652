package fetch

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// guard decides which addresses may be connected to. Its tables are fixed at
// New, so it is safe for concurrent use.
type guard struct {
	deny  []deniedNet
	allow []netip.Prefix // --allow-net: goes before deny
	only  *Nets          // --cidr: all else is refused; nil for all
}

type deniedNet struct {
	net  netip.Prefix
	what string
}

// newGuard returns the guard with the nets of the IANA special-purpose
// registries (RFC 6890 and its successors) that no public server can have, and
// the addresses at which clouds keep their instances' secrets.
func newGuard(allow []netip.Prefix) guard {
	g := guard{allow: make([]netip.Prefix, len(allow))}
	for i, p := range allow {
		if a := p.Addr(); a.Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(a.Unmap(), p.Bits()-96) // as check sees addresses
		}
		g.allow[i] = p.Masked()
	}
	for _, row := range [...]struct{ what, nets string }{
		{"this network or unspecified", "0.0.0.0/8 ::/128"},
		{"loopback", "127.0.0.0/8 ::1/128"},
		{"private", "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16"},
		{"link-local or cloud metadata", "169.254.0.0/16 fe80::/10"},
		{"carrier-grade NAT", "100.64.0.0/10"},
		{"protocol assignments", "192.0.0.0/24 2001::/23"}, // holds Teredo, ORCHID, benchmarking
		{"documentation", "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20"},
		{"benchmarking", "198.18.0.0/15"},
		{"6to4", "192.88.99.0/24 2002::/16"},
		{"multicast", "224.0.0.0/4 ff00::/8"},
		{"reserved or broadcast", "240.0.0.0/4"},
		{"cloud metadata", "168.63.129.16/32"}, // Azure's, in public space
		{"unique local", "fc00::/7"},
		{"site local", "fec0::/10"},
		{"local NAT64", "64:ff9b:1::/48"},
		{"IPv4-compatible", "::/96"},
		{"IPv4-translated", "::ffff:0:0:0/96"},
	} {
		for _, n := range strings.Fields(row.nets) {
			g.deny = append(g.deny, deniedNet{netip.MustParsePrefix(n), row.what})
		}
	}
	return g
}

var (
	nat64Net   = netip.MustParsePrefix("64:ff9b::/96") // well-known NAT64 (RFC 6052)
	unicastNet = netip.MustParsePrefix("2000::/3")     // all that IANA has given out
)

// check refuses a with an error that means guard_denied. An IPv4 address inside
// an IPv6 one is judged as what it is: mapped (::ffff:a.b.c.d) and NAT64, which
// an IPv6-only network uses for real servers; other such forms are refused.
func (g *guard) check(a netip.Addr) error {
	a = a.WithZone("").Unmap()
	if nat64Net.Contains(a) && !g.allowed(a) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	if !a.IsValid() {
		return &stateError{StateGuardDenied, fmt.Errorf("no address to judge")}
	}
	if err := g.only.check(a); err != nil {
		return err
	}
	if g.allowed(a) {
		return nil
	}
	for _, d := range g.deny {
		if d.net.Contains(a) {
			return deniedError(a.String(), d.what)
		}
	}
	if a.Is6() && !unicastNet.Contains(a) {
		return deniedError(a.String(), "not global unicast")
	}
	return nil
}

func (g *guard) allowed(a netip.Addr) bool {
	return slices.ContainsFunc(g.allow, func(p netip.Prefix) bool { return p.Contains(a) })
}

func deniedError(who, what string) error {
	return &stateError{StateGuardDenied,
		fmt.Errorf("%s is refused by the egress guard (%s); --allow-net lets it through", who, what)}
}

// checkHost judges a URL's host that somebody else will resolve (a proxy):
// literal addresses in every notation, and names that mean this machine or a
// cloud's metadata service.
func (g *guard) checkHost(host string) error {
	addr, literal, err := parseLiteral(host)
	if err != nil {
		return &stateError{StateGuardDenied, err}
	}
	if literal {
		return g.check(addr)
	}
	name := strings.ToLower(strings.TrimSuffix(asciiHost(host), "."))
	if loopback := netip.AddrFrom4([4]byte{127, 0, 0, 1}); isLocalName(name) && !g.allowed(loopback) {
		return deniedError("host "+name, "this machine's own name")
	}
	if name == "metadata.google.internal" || name == "metadata" || name == "instance-data" {
		return deniedError("host "+name, "cloud metadata")
	}
	return nil
}

// isLocalName reports the names that resolvers and hosts files give to loopback.
func isLocalName(name string) bool {
	switch name {
	case "localhost", "localhost.localdomain", "localhost6", "localhost6.localdomain6", "ip6-localhost", "ip6-loopback":
		return true
	}
	return strings.HasSuffix(name, ".localhost")
}

// asciiHost maps look-alike digits, dots and letters to ASCII as browsers do,
// and leaves a host that has no such form alone.
func asciiHost(host string) string {
	for i := range len(host) {
		if host[i] >= 0x80 {
			if ascii, err := idna.Lookup.ToASCII(host); err == nil {
				return ascii
			}
			break
		}
	}
	return host
}

// parseLiteral reads a host that is an address: IPv6 with or without brackets,
// and IPv4 as the WHATWG URL standard reads it (one to four parts, decimal,
// octal, hex; 2130706433, 0x7f.1 and 0177.0.0.1 are all 127.0.0.1). literal is
// false for a name; a host that ends in a number but is no address is an error.
func parseLiteral(host string) (addr netip.Addr, literal bool, err error) {
	if strings.Contains(host, ":") {
		inner, ok := strings.CutPrefix(host, "[")
		if ok {
			inner = strings.TrimSuffix(inner, "]")
		}
		addr, err = netip.ParseAddr(inner)
		if err != nil {
			return addr, false, fmt.Errorf("host %q is not an IPv6 address: %w", host, err)
		}
		return addr, true, nil
	}
	parts := strings.Split(strings.TrimSuffix(asciiHost(host), "."), ".")
	last := parts[len(parts)-1]
	if _, ok := parseV4Number(last); !ok && !isDigits(last) {
		return addr, false, nil
	}
	v, ok := parseV4(parts)
	if !ok {
		return addr, false, fmt.Errorf("host %q ends in a number but is not an IPv4 address", host)
	}
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}), true, nil
}

// parseV4 puts the parts of an IPv4 address together: each is a byte, but the
// last, which fills what is left.
func parseV4(parts []string) (v uint64, ok bool) {
	if len(parts) > 4 {
		return 0, false
	}
	for i, part := range parts {
		n, ok := parseV4Number(part)
		if !ok {
			return 0, false
		}
		room := 8
		if i == len(parts)-1 {
			room = 8 * (5 - len(parts))
		}
		if n >= 1<<room {
			return 0, false
		}
		v = v<<room | n
	}
	return v, true
}

func parseV4Number(s string) (uint64, bool) {
	base := 10
	switch {
	case s == "":
		return 0, false
	case len(s) >= 2 && (s[:2] == "0x" || s[:2] == "0X"):
		s, base = s[2:], 16
		if s == "" {
			return 0, true // "0x" is 0, says the standard
		}
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil && s[0] != '+'
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
