package ipaddr

import (
	"strings"
	"unicode/utf8"
)

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
