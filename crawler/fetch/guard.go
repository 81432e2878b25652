package fetch

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/idna"

	"fossick/internal/page"
)

// guard decides which addresses may be connected to. It is fixed at New, so it is
// safe for concurrent use.
type guard struct {
	allow []netip.Prefix // --allow-net: goes before page.SpecialAddr
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

// check refuses a with an error that means guard_denied. An IPv4 address inside an IPv6
// one is judged as what it is. That its net is let through does not let the other form
// through, by which a gateway is reached and not that net: its own net must be named.
func (g *guard) check(a netip.Addr) error {
	a = a.WithZone("").Unmap()
	if !a.IsValid() {
		return &stateError{StateGuardDenied, fmt.Errorf("no address to check")}
	}
	allowed, inner := g.allowed(a), a
	if !allowed {
		inner = page.InnerAddr(a)
	}
	if err := g.only.check(inner); err != nil || allowed {
		return err
	}
	if what := page.SpecialAddr(inner); what != "" {
		return deniedError(a.String(), what)
	}
	return nil
}

func (g *guard) allowed(a netip.Addr) bool {
	return slices.ContainsFunc(g.allow, func(p netip.Prefix) bool { return p.Contains(a) })
}

func deniedError(who, what string) error {
	return &stateError{StateGuardDenied,
		fmt.Errorf("the egress guard refuses %s (%s); --allow-net allows it", who, what)}
}

// checkHost judges a URL's host that somebody else will resolve (a proxy):
// literal addresses in every notation, and names that no public server has.
func (g *guard) checkHost(host string) error {
	addr, literal, err := parseLiteral(host)
	if err != nil {
		return &stateError{StateGuardDenied, err}
	}
	if literal {
		return g.check(addr)
	}
	name := strings.ToLower(strings.TrimRight(asciiHost(host), "."))
	if what, where := specialName(name); what != "" && !slices.ContainsFunc(where, g.opens) {
		return deniedError("host "+name, what)
	}
	return nil
}

// opens says whether --allow-net names a part of a net.
func (g *guard) opens(net netip.Prefix) bool {
	return slices.ContainsFunc(g.allow, net.Overlaps)
}

// asciiHost maps look-alike digits, dots and letters to ASCII as browsers do,
// and leaves a host that has no such form alone.
func asciiHost(host string) string {
	for i := range len(host) {
		if host[i] >= 0x80 {
			if page.NameTooLong(host) {
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
	if !page.EndsInNumber(name) {
		return addr, false, nil
	}
	if addr, literal = page.ParseIPv4(name); !literal {
		return addr, false, fmt.Errorf("host %q ends in a number but is not an IPv4 address", host)
	}
	return addr, true, nil
}
