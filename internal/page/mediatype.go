package page

import (
	"bytes"
	"net/http"
	"strings"
)

// SniffBytes is how much of a body decides its type (section 5.2, "resource header").
const SniffBytes = 1445

// MediaEssence returns the type in lower case without its parameters (section 4.4, "parse a MIME
// type"), or "" if it is invalid; then the body decides.
func MediaEssence(contentType string) string {
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.ToLower(strings.Trim(media, " \t\r\n"))
	kind, sub, _ := strings.Cut(media, "/")
	if !isToken(kind) || !isToken(sub) {
		return ""
	}
	return media
}

// isToken reports a token of RFC 9110, 5.6.2, but without the quote ', which no type has.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"'(),/:;<=>?@[\\]{}", c) >= 0 {
			return false
		}
	}
	return s != ""
}

// UnknownMedia reports an essence without information (section 7).
func UnknownMedia(essence string) bool {
	switch essence {
	case "", "*/*", "unknown/unknown", "application/unknown":
		return true
	}
	return false
}

// MediaType returns the type of a body, by its Content-Type header and its first SniffBytes
// (section 7). With noSniff (see NoSniff), a body without a usable type is never markup.
func MediaType(contentType string, noSniff bool, head []byte) string {
	essence := MediaEssence(contentType)
	switch {
	case UnknownMedia(essence) && noSniff:
		switch t := SniffMedia(head); t {
		case "text/html", "application/xhtml+xml", "text/xml", "application/pdf":
			return textOrBinary(head)
		default:
			return t
		}
	case UnknownMedia(essence):
		return SniffMedia(head)
	case apacheDefaults[contentType] && !noSniff:
		return textOrBinary(head)
	}
	return essence
}

// apacheDefaults are headers of old servers for unknown files (section 5.1,
// "check-for-apache-bug").
var apacheDefaults = map[string]bool{
	"text/plain": true, "text/plain; charset=ISO-8859-1": true, "text/plain; charset=iso-8859-1": true, "text/plain; charset=UTF-8": true,
}

func textOrBinary(head []byte) string {
	head = head[:min(len(head), SniffBytes)]
	if Binary(head) && !marked(head) {
		return "application/octet-stream"
	}
	return "text/plain"
}

// NoSniff reports whether the server forbids sniffing (Fetch standard, "determine nosniff"): the
// first value of X-Content-Type-Options counts.
func NoSniff(h http.Header) bool {
	first, _, _ := strings.Cut(h.Get("X-Content-Type-Options"), ",")
	return strings.EqualFold(strings.Trim(first, " \t"), "nosniff")
}

// SniffMedia guesses the type of a body from its first SniffBytes (section 7.1). A file without a
// binary byte is text, even if it begins like a picture or sound: the standard would take "BMW" for
// a bitmap. Go's table calls XHTML "text/xml".
func SniffMedia(head []byte) string {
	head = head[:min(len(head), SniffBytes)]
	essence := MediaEssence(http.DetectContentType(head))
	switch {
	case essence == "text/xml":
		if bytes.Contains(bytes.ToLower(head), []byte("<html")) {
			return "application/xhtml+xml"
		}
	case essence == "text/html", essence == "application/pdf", essence == "application/postscript", marked(head):
	case Binary(head):
		if strings.HasPrefix(essence, "text/") {
			return "application/octet-stream" // Go examines only 512 bytes
		}
	default:
		return "text/plain"
	}
	return essence
}

// marked reports a byte order mark, which makes a body text.
func marked(head []byte) bool {
	for _, mark := range []string{"\xfe\xff", "\xff\xfe", "\xef\xbb\xbf"} {
		if bytes.HasPrefix(head, []byte(mark)) {
			return true
		}
	}
	return false
}

func Binary(head []byte) bool { return BinaryBytes(head) > 0 }

// BinaryBytes counts the bytes that no text has (section 3, "binary data byte").
func BinaryBytes(head []byte) (n int) {
	for _, c := range head {
		if c < ' ' && c != '\t' && c != '\n' && c != '\f' && c != '\r' && c != 0x1b {
			n++
		}
	}
	return n
}
