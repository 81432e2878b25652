package ipaddr

import (
	_ "embed"
	"net/netip"
	"strings"
	"sync"
)

//go:embed special.tsv
var specialTSV string

// Net is a net that no public server is in, and what it is kept for.
type Net struct {
	Prefix       netip.Prefix
	What, Source string
}

// Nets returns the rows of special.tsv.
var Nets = sync.OnceValue(func() (all []Net) {
	for line := range strings.Lines(specialTSV) {
		if fields := strings.Split(strings.TrimSpace(line), "\t"); len(fields) == 3 {
			all = append(all, Net{netip.MustParsePrefix(fields[0]), fields[1], fields[2]})
		}
	}
	return all
})

var (
	nat64   = netip.MustParsePrefix("64:ff9b::/96") // well-known NAT64 (RFC 6052)
	unicast = netip.MustParsePrefix("2000::/3")     // all of IPv6 that IANA has given out
)

// Special says what an address is kept for, "" for one that a public server may have.
// One that carries another must be asked about by Inner.
func Special(a netip.Addr) (what string) {
	for _, n := range Nets() {
		if n.Prefix.Contains(a) {
			return n.What
		}
	}
	if a.Is6() && !unicast.Contains(a) {
		return "not global unicast"
	}
	return ""
}

// Inner returns the IPv4 address that is reached by an IPv6 one, else a itself.
// It may be mapped (::ffff:a.b.c.d), or in the well-known NAT64 prefix, by
// which networks without IPv4 reach real servers. 6to4, Teredo and other forms
// lead nowhere any more.
func Inner(a netip.Addr) netip.Addr {
	a = a.WithZone("").Unmap()
	if nat64.Contains(a) {
		b := a.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return a
}
