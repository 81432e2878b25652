package page

import (
	"net/http"
	"strings"
	"testing"
)

// TestEssence: a value that the standard's parser rejects has no essence.
func TestEssence(t *testing.T) {
	for value, want := range map[string]string{
		"text/html":                    "text/html",
		" Text/HTML ;charset=utf-8":    "text/html",
		"text/html;":                   "text/html",
		"text/html\t; charset=\"utf":   "text/html",
		"image/svg+xml":                "image/svg+xml",
		"":                             "",
		"html":                         "",
		"text/":                        "",
		"/html":                        "",
		"/":                            "",
		"text/html charset=utf-8":      "",
		"text/html, text/plain":        "",
		"text/html:charset=utf-8":      "",
		"text/html/xml":                "",
		"text / html":                  "",
		"[text/html]":                  "",
		"<text/html>":                  "",
		"(text/html)":                  "",
		"{text/html}":                  "",
		`"text/html"`:                  "",
		`text/html"`:                   "",
		"Content-Type: text/html":      "",
		"text/html=utf-8":              "",
		"text/html@utf-8":              "",
		"text/html?utf-8":              "",
		`text\html`:                    "",
		"text/htmlü":                   "",
		"text/ht\x00ml; charset=utf-8": "",
	} {
		if got := MediaEssence(value); got != want {
			t.Errorf("%q is %q, want %q", value, got, want)
		}
	}
}

// signatures are those whose bytes are all printable.
var signatures = []string{"BM", "GIF87a", "GIF89a", "RIFF0000WEBPVP", "RIFF0000AVI ", "RIFF0000WAVE", "FORM0000AIFF", "ID3", "OTTO", "ttcf", "wOFF", "wOF2", "Rar! "}

// TestSniff: a file that begins with a printable signature is text, unless it has binary bytes.
func TestSniff(t *testing.T) {
	for _, s := range signatures {
		if got := SniffMedia([]byte(s + " are the letters that this text begins with")); got != "text/plain" {
			t.Errorf("text that begins with %s is %s", s, got)
		}
		if got := SniffMedia([]byte(s + "\x00\x01\x02\x03 some bytes")); strings.HasPrefix(got, "text/") {
			t.Errorf("a file that begins with %s is %s", s, got)
		}
	}
	for head, want := range map[string]string{
		"":                                     "text/plain",
		" \n<!DOCTYPE html><p>":                "text/html",
		"<html\x00>":                           "application/octet-stream",
		"<p>\x00":                              "text/html",
		"<!-- x":                               "text/html",
		"<section>no known tag":                "text/plain",
		"<?xml version='1.0'?><rss>":           "text/xml",
		"<?xml version='1.0'?><html>":          "application/xhtml+xml",
		"%PDF-1.4 all letters":                 "application/pdf",
		"%!PS-Adobe-3.0":                       "application/postscript",
		"\xfe\xff\x00a":                        "text/plain",
		"\xff\xfea\x00":                        "text/plain",
		"\xef\xbb\xbf\x01":                     "text/plain",
		"\x1f\x8b\x08":                         "application/x-gzip",
		"\x89PNG\r\n\x1a\n":                    "image/png",
		strings.Repeat("words ", 90) + "\x00":  "application/octet-stream",
		strings.Repeat("words ", 300) + "\x00": "text/plain",
	} {
		if got := SniffMedia([]byte(head)); got != want {
			t.Errorf("%.40q is %s, want %s", head, got, want)
		}
	}
}

// TestOf: the standard's precedence of announced and sniffed types.
func TestOf(t *testing.T) {
	const page, binary = "<!DOCTYPE html><p>words", "words \x00\x01"
	for _, c := range []struct {
		contentType string
		noSniff     bool
		head, want  string
	}{
		{"", false, page, "text/html"},
		{"", true, page, "text/plain"},
		{"", true, "<!DOCTYPE html>\x00", "application/octet-stream"},
		{"", true, "\x89PNG\r\n\x1a\n", "image/png"},
		{"unknown/unknown", true, "%PDF-1.4 all letters", "text/plain"},
		{"text/plain", false, page, "text/plain"}, // a page shown as source
		{"text/plain", false, binary, "application/octet-stream"},
		{"text/plain; charset=ISO-8859-1", false, binary, "application/octet-stream"},
		{"text/plain; charset=iso-8859-1", false, binary, "application/octet-stream"},
		{"text/plain; charset=UTF-8", false, binary, "application/octet-stream"},
		{"text/plain; charset=utf-8", false, binary, "text/plain"}, // not the exact header
		{"text/plain;charset=UTF-8", false, binary, "text/plain"},
		{"Text/Plain", false, binary, "text/plain"},
		{"text/plain", true, binary, "text/plain"},
		{"text/plain", false, "\xef\xbb\xbf\x00", "text/plain"}, // has a byte order mark
		{"text/html", false, binary, "text/html"},
	} {
		if got := MediaType(c.contentType, c.noSniff, []byte(c.head)); got != c.want {
			t.Errorf("%q, nosniff %v, %q is %s, want %s", c.contentType, c.noSniff, c.head, got, c.want)
		}
	}
	for value, want := range map[string]bool{"nosniff": true, " NoSniff , x": true, "x, nosniff": false, "": false} {
		if got := NoSniff(http.Header{"X-Content-Type-Options": {value}}); got != want {
			t.Errorf("%q: nosniff %v, want %v", value, got, want)
		}
	}
}
