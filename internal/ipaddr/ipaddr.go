// Package ipaddr knows three things of a URL's host. It knows in what spellings
// it is an IP address, which addresses no public server has, and which names
// are too long for any.
//
// In: host names, addresses. Out: addresses, and what an address is kept for. It
// decides nothing; the egress guard in package fetch does.
//
// Start with EndsInNumber and ParseIPv4, Special and Inner, or TooLong.
//
// Files: ipv4.go the spellings; special.go the table; special.tsv its rows; length.go
// names.
package ipaddr

import (
	_ "embed"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// EndsInNumber says whether the last label of an ASCII host name is a number (WHATWG
// URL, "ends in a number"). Then it is an IPv4 address or nothing. A dot at the end
// must be cut before.
func EndsInNumber[T string | []byte](name T) bool {
	at := len(name)
	for at > 0 && name[at-1] != '.' {
		at--
	}
	last := name[at:]
	if len(last) >= 2 && last[0] == '0' && last[1]|0x20 == 'x' {
		for i := 2; i < len(last); i++ {
			if c := last[i] | 0x20; !isDigit(last[i]) && (c < 'a' || c > 'f') {
				return false
			}
		}
		return true
	}
	for i := range len(last) {
		if !isDigit(last[i]) {
			return false
		}
	}
	return len(last) > 0
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// ParseIPv4 reads an address as browsers do (WHATWG URL, "IPv4 parser"). It has one to
// four parts, each decimal, octal or hexadecimal; the last fills what is left. So
// 2130706433, 0x7f.1 and 0177.0.0.1 are all 127.0.0.1.
func ParseIPv4(name string) (netip.Addr, bool) {
	parts := strings.Split(name, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var addr uint64
	for i, part := range parts {
		n, ok := parsePart(part)
		room := 8
		if i == len(parts)-1 {
			room = 8 * (5 - len(parts))
		}
		if !ok || n >= 1<<room {
			return netip.Addr{}, false
		}
		addr = addr<<room | n
	}
	return netip.AddrFrom4([4]byte{byte(addr >> 24), byte(addr >> 16), byte(addr >> 8), byte(addr)}), true
}

func parsePart(s string) (uint64, bool) {
	base := 10
	switch {
	case len(s) >= 2 && s[0] == '0' && s[1]|0x20 == 'x':
		s, base = s[2:], 16
		if s == "" {
			return 0, true // "0x" is 0, says the standard
		}
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil
}

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

// A name server knows labels of 63 characters and names of 253 (RFC 1035, 2.3.4). A
// character of another script has at most four bytes and becomes at least one of ASCII.
const (
	maxLabelBytes = 4 * 63
	maxNameBytes  = 4 * 253
)

// TooLong says that a host name, in UTF-8 of any script, is longer than any that a name
// server knows, whatever IDNA makes of it. It is asked before IDNA, whose punycode takes
// time by the square of a label. O(n), and no more than maxNameBytes of it.
func TooLong[T string | []byte](host T) bool {
	if len(host) > maxNameBytes {
		return true
	}
	label := 0
	for _, r := range string(host) {
		if strings.ContainsRune(".。．｡", r) { // the dots of IDNA (RFC 3490, 3.1)
			label = 0
		} else if label += utf8.RuneLen(r); label > maxLabelBytes {
			return true
		}
	}
	return false
}
