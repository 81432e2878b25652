package page

import (
	_ "embed"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// EndsInNumber reports whether the last label of an ASCII host name without a final dot is a number
// (WHATWG URL, "ends in a number"): then it is an IPv4 address or invalid.
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

// ParseIPv4 parses an address as browsers do (WHATWG URL, "IPv4 parser"): one to four decimal,
// octal or hexadecimal parts, the last of which fills the rest. So 2130706433, 0x7f.1 and
// 0177.0.0.1 are all 127.0.0.1.
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
			return 0, true // by the standard, "0x" is 0
		}
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil
}

//go:embed special.tsv
var specialTSV string

// specialNet is a network without public servers, and its purpose.
type specialNet struct {
	Prefix       netip.Prefix
	What, Source string
}

var SpecialNets = sync.OnceValue(func() (all []specialNet) {
	for line := range strings.Lines(specialTSV) {
		if fields := strings.Split(strings.TrimSpace(line), "\t"); len(fields) == 3 {
			all = append(all, specialNet{netip.MustParsePrefix(fields[0]), fields[1], fields[2]})
		}
	}
	return all
})

var (
	nat64   = netip.MustParsePrefix("64:ff9b::/96") // well-known NAT64 (RFC 6052)
	unicast = netip.MustParsePrefix("2000::/3")     // all IPv6 addresses that IANA has allocated
)

// SpecialAddr returns the purpose of a non-public address, else "". Call it with an InnerAddr.
func SpecialAddr(a netip.Addr) (what string) {
	for _, n := range SpecialNets() {
		if n.Prefix.Contains(a) {
			return n.What
		}
	}
	if a.Is6() && !unicast.Contains(a) {
		return "not global unicast"
	}
	return ""
}

// InnerAddr returns the IPv4 address that an IPv6 address leads to, else a itself: mapped
// (::ffff:a.b.c.d), or in the well-known NAT64 prefix, which networks without IPv4 use. 6to4,
// Teredo and other forms are out of use.
func InnerAddr(a netip.Addr) netip.Addr {
	a = a.WithZone("").Unmap()
	if nat64.Contains(a) {
		b := a.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return a
}

// DNS allows labels of 63 characters and names of 253 (RFC 1035, 2.3.4). A character has at most
// four bytes and becomes at least one of ASCII.
const (
	maxLabelBytes = 4 * 63
	maxNameBytes  = 4 * 253
)

// NameTooLong reports whether a host name in UTF-8 exceeds the limits of DNS, whatever IDNA makes
// of it. Call it before IDNA, whose punycode takes quadratic time.
func NameTooLong[T string | []byte](host T) bool {
	if len(host) > maxNameBytes {
		return true
	}
	label := 0
	for _, r := range string(host) {
		if strings.ContainsRune(".。．｡", r) { // dots of IDNA (RFC 3490, 3.1)
			label = 0
		} else if label += utf8.RuneLen(r); label > maxLabelBytes {
			return true
		}
	}
	return false
}
