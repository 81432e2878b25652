package graph

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// The key of a name sorts in URL order and can be converted back. Bytes that occur in no URL separate its
// parts: reversed host labels, port, the rest, and a form byte for the original spelling.
//
//	http://www.a.org/x?y  →  org,a,www ␁ 80 ␁ /x?y ␁
//
// So each host (name:port) and each domain is a contiguous range of keys.
const (
	keySep = '\x01'

	formHTTP      = '\x01' // http, implicit port 80
	formHTTPS     = '\x02' // https, implicit port 443
	formHTTPPort  = '\x03' // http, explicit port
	formHTTPSPort = '\x04'
	formOther     = '\x05' // the text before the rest follows, after a zero byte

	// First bytes of names that are not URLs. A number is prefixed with its length, so that numbers sort
	// numerically.
	keyNoURL   = '\x00' // followed by keyText and the name, or by a number
	keyText    = ' '
	keyUnnamed = '\xff' // number of a node without a name, where others have one
)

func appendKey(dst, name []byte) []byte {
	i := bytes.Index(name, []byte("://"))
	if i <= 0 {
		return appendPlain(dst, name)
	}
	end := len(name)
	if j := bytes.IndexAny(name[i+3:], "/?#"); j >= 0 {
		end = i + 3 + j
	}
	scheme, auth, rest := name[:i], name[i+3:end], name[end:]
	host := auth[bytes.LastIndexByte(auth, '@')+1:]
	var port []byte
	written := false
	if j := bytes.LastIndexByte(host, ':'); j > bytes.LastIndexByte(host, ']') {
		host, port, written = host[:j], host[j+1:], true
	}
	if len(host) == 0 || bytes.IndexByte(name, 0) >= 0 || bytes.IndexByte(auth, keySep) >= 0 ||
		bytes.IndexByte(auth, keyUnnamed) >= 0 {
		return appendPlain(dst, name)
	}
	form, standard := formOf(scheme, written)
	plain := len(host)+len(port) == len(auth) || written && len(host)+1+len(port) == len(auth)
	if !plain || hasUpper(host) || host[0] != '[' && bytes.Contains(host, []byte(".[")) {
		form = formOther // otherwise it would decode as an address
	}
	if !written {
		port = []byte(standard)
	}
	dst = appendReversed(dst, host)
	dst = append(append(append(dst, keySep), port...), keySep)
	dst = append(dst, rest...)
	if form == formOther {
		dst = append(append(dst, 0), name[:end]...)
	}
	return append(dst, form)
}

func appendPlain(dst, name []byte) []byte {
	dst = append(dst, keyNoURL)
	if id, ok := parseID(name); ok && (name[0] != '0' || id == 0 && len(name) == 1) {
		return append(append(dst, byte(len(name))), name...)
	}
	return append(append(dst, keyText), name...)
}

func parseID(b []byte) (uint32, bool) {
	if len(b) == 0 || len(b) > 10 {
		return 0, false
	}
	x := uint64(0)
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		x = 10*x + uint64(c-'0')
	}
	return uint32(x), x < maxNodes
}

// formOf returns the form byte of a URL with this scheme, and the scheme's port.
func formOf(scheme []byte, port bool) (form byte, standard string) {
	switch strings.ToLower(string(scheme)) {
	case "http":
		form, standard = formHTTP, "80"
	case "https":
		form, standard = formHTTPS, "443"
	default:
		return formOther, ""
	}
	if hasUpper(scheme) {
		return formOther, standard
	}
	if port {
		form += formHTTPPort - formHTTP
	}
	return form, standard
}

func hasUpper(b []byte) bool {
	for _, c := range b {
		if c >= 'A' && c <= 'Z' || c == ',' {
			return true // a comma would decode as a dot
		}
	}
	return false
}

// appendReversed appends a host's labels in lower case, last to first; an IP address stays as it is.
func appendReversed(dst, host []byte) []byte {
	if isAddress(host) {
		return append(dst, host...)
	}
	for end := len(host); ; {
		i := bytes.LastIndexByte(host[:end], '.')
		for _, c := range host[i+1 : end] {
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
		}
		if i < 0 {
			return dst
		}
		dst = append(dst, ',')
		end = i
	}
}

func isAddress(host []byte) bool {
	return host[0] == '[' || len(bytes.Trim(host, "0123456789.")) == 0
}

// nameOfKey inverts appendKey, or returns false.
func nameOfKey(key []byte) (string, bool) {
	if len(key) == 0 {
		return "", false
	}
	switch {
	case key[0] == keyNoURL && len(key) > 1:
		return string(key[2:]), true
	case key[0] == keyNoURL:
		return "", false
	case key[0] == keyUnnamed:
		return string(key[1:]), true
	}
	host, port, rest, ok := splitKey(key)
	if !ok || len(rest) == 0 {
		return "", false
	}
	form, rest := rest[len(rest)-1], rest[:len(rest)-1]
	if form == formOther {
		i := bytes.LastIndexByte(rest, 0)
		if i < 0 {
			return "", false
		}
		return string(rest[i+1:]) + string(rest[:i]), true
	}
	scheme := "http://"
	if form == formHTTPS || form == formHTTPSPort {
		scheme = "https://"
	} else if form != formHTTP && form != formHTTPPort {
		return "", false
	}
	name := scheme + hostName(host)
	if form == formHTTPPort || form == formHTTPSPort {
		name += ":" + string(port)
	}
	return name + string(rest), true
}

func splitKey(key []byte) (host, port, rest []byte, ok bool) {
	host, after, ok1 := bytes.Cut(key, []byte{keySep})
	port, rest, ok2 := bytes.Cut(after, []byte{keySep})
	return host, port, rest, ok1 && ok2 && len(host) > 0 && host[0] != keyNoURL && host[0] != keyUnnamed
}

func hostName(reversed []byte) string {
	if isAddress(reversed) {
		return string(reversed)
	}
	labels := strings.Split(string(reversed), ",")
	slices.Reverse(labels)
	return strings.Join(labels, ".")
}

func siteOfHost(name string) string {
	if isAddress([]byte(name)) {
		return name
	}
	site, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		return name // a public suffix, or a single label
	}
	return site
}
