package fetch

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/idna"

	"fossick/internal/ipaddr"
)

// guard decides which addresses may be connected to. It is fixed at New, so it is
// safe for concurrent use.
type guard struct {
	allow []netip.Prefix // --allow-net: goes before ipaddr.Special
	only  *Nets          // --cidr: all else is refused; nil for all
}

func newGuard(allow []netip.Prefix) guard {
	g := guard{allow: make([]netip.Prefix, len(allow))}
	for i, p := range allow {
		if a := p.Addr(); a.Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(a.Unmap(), p.Bits()-96) // as check sees addresses
		}
		g.allow[i] = p.Masked()
	}
	return g
}

// check refuses a with an error that means guard_denied. An IPv4 address inside
// an IPv6 one is judged as what it is.
func (g *guard) check(a netip.Addr) error {
	a = a.WithZone("").Unmap()
	if !g.allowed(a) {
		a = ipaddr.Inner(a)
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
	if what := ipaddr.Special(a); what != "" {
		return deniedError(a.String(), what)
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
			if ipaddr.TooLong(host) {
				break
			}
			if ascii, err := idna.Lookup.ToASCII(host); err == nil {
				return ascii
			}
			break
		}
	}
	return host
}

// parseLiteral reads a host that is an address: IPv6 with or without brackets,
// and IPv4 in every spelling that browsers know. literal is false for a name; a
// host that ends in a number but is no address is an error.
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
	name := strings.TrimSuffix(asciiHost(host), ".")
	if !ipaddr.EndsInNumber(name) {
		return addr, false, nil
	}
	if addr, literal = ipaddr.ParseIPv4(name); !literal {
		return addr, false, fmt.Errorf("host %q ends in a number but is not an IPv4 address", host)
	}
	return addr, true, nil
}
