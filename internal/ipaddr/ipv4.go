package ipaddr

import (
	"net/netip"
	"strconv"
	"strings"
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
