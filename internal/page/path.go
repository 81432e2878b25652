package page

import "bytes"

// Bits of the byte classes below.
const (
	unreserved = 1 << iota // RFC 3986 §2.3: %XX of these is decoded
	pathRaw                // stands unencoded in a path
	queryRaw               // stands unencoded in a query
)

// byteClass follows the WHATWG path and special-query percent-encode sets, and
// so leaves "|", "[", "]", "^" as browsers send them. A percent sign is in no set:
// one that starts no escape is encoded, or "%4%31" would become "%41" and then "A".
var byteClass = func() (class [256]byte) {
	for c := 0x21; c < 0x7f; c++ {
		if !bytes.ContainsRune([]byte(`"#<>?{}%`+"`"), rune(c)) {
			class[c] |= pathRaw
		}
		if !bytes.ContainsRune([]byte(`"#<>'%`), rune(c)) {
			class[c] |= queryRaw
		}
		if b := byte(c); isLetter(b) || isDigit(b) || b == '-' || b == '.' || b == '_' || b == '~' {
			class[c] |= unreserved
		}
	}
	return class
}()

// appendEscaped appends s with the percent-encoding in normal form: unreserved
// characters decoded, hexadecimal digits in upper case, bytes outside raw encoded.
func appendEscaped(dst, s []byte, raw byte) []byte {
	const hex = "0123456789ABCDEF"
	for i := 0; i < len(s); i++ {
		c := s[i]
		if byteClass[c]&raw != 0 {
			dst = append(dst, c)
			continue
		}
		if c == '%' && i+2 < len(s) {
			if hi, lo := unhex(s[i+1]), unhex(s[i+2]); hi < 16 && lo < 16 {
				c = hi<<4 | lo
				i += 2
				if byteClass[c]&unreserved != 0 {
					dst = append(dst, c)
					continue
				}
			}
		}
		dst = append(dst, '%', hex[c>>4], hex[c&15])
	}
	return dst
}

// unhex returns the value of a hexadecimal digit, or 255.
func unhex(c byte) byte {
	switch {
	case isDigit(c):
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 255
}

// appendPath appends the segments of path to dst, which ends in a slash and
// whose own path starts at start, and resolves dot segments (RFC 3986 §5.2.4).
func (n *Normalizer) appendPath(dst []byte, start int, path []byte) []byte {
	for {
		end := 0
		for end < len(path) && !isSlash(path[end]) {
			end++
		}
		at := len(dst)
		dst = appendEscaped(dst, path[:end], pathRaw)
		if bytes.IndexByte(path[:end], ';') >= 0 {
			dst = n.drop.cutPathParams(dst, at)
		}
		last := end == len(path)
		switch string(dst[at:]) {
		case ".":
			dst = dst[:at]
		case "..":
			dst = dst[:max(start, bytes.LastIndexByte(dst[:at-1], '/'))+1]
		default:
			if !last {
				dst = append(dst, '/')
			}
		}
		if last {
			return n.drop.cutSegments(dst, start)
		}
		path = path[end+1:]
	}
}

// appendQuery appends the parameters that stay, and nothing when none does.
// Empty ones go; the order is kept, as it means something to some servers.
func (n *Normalizer) appendQuery(dst, query []byte) []byte {
	joint := byte('?')
	for more := true; more; {
		var param []byte
		param, query, more = bytes.Cut(query, []byte{'&'})
		if len(param) == 0 {
			continue
		}
		at := len(dst)
		dst = appendEscaped(append(dst, joint), param, queryRaw)
		if n.drop.has(dst[at+1:]) {
			dst = dst[:at]
			continue
		}
		joint = '&'
	}
	return dst
}
