// Package document turns documents that are not HTML (PDF, Word, PowerPoint, Excel, OpenDocument,
// EPUB, RTF, Markdown, feeds) into plain HTML, so that everything that reads pages reads documents
// too: a title, a language, author and date, headings, paragraphs, lists, tables and links.
package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"
)

// Limits of one document. What is beyond the first three is left out; the others are errors.
const (
	maxHTML    = 4 << 20         // bytes of the HTML that is made
	maxPages   = 2_000           // pages of a PDF, slides, sheets, chapters
	enoughTime = 8 * time.Second // to read the pages of a PDF

	maxTime     = 10 * time.Second // to read a document
	maxParts    = 10_000           // files in an archive
	maxUnpacked = 128 << 20        // bytes unpacked from an archive
)

var (
	ErrNoText  = errors.New("the document has no text") // such as scanned pages
	ErrLocked  = errors.New("the document needs a password")
	ErrDamaged = errors.New("the document cannot be read")
	ErrTooBig  = errors.New("the document is beyond a limit")
)

// Type is a class of media types, as users name it.
type Type string

const (
	HTML   Type = "html"
	PDF    Type = "pdf"
	Office Type = "office" // Word, PowerPoint, Excel, OpenDocument, EPUB, RTF
	Text   Type = "text"   // plain text, Markdown
	Feed   Type = "feed"   // RSS, Atom, other XML with text
)

// Types lists all types.
var Types = []Type{HTML, PDF, Office, Text, Feed}

// format is a media type that can be read. HTML and plain text have no reader, because package
// page reads them itself.
type format struct {
	media string
	kind  Type
	read  func(ctx context.Context, body []byte, w *writer) error
}

const openXML, openDocument = "application/vnd.openxmlformats-officedocument.", "application/vnd.oasis.opendocument."

var formats = []format{
	{"text/html", HTML, nil},
	{"application/xhtml+xml", HTML, nil},
	{"application/pdf", PDF, readPDF},
	{openXML + "wordprocessingml.document", Office, readWord},
	{openXML + "wordprocessingml.template", Office, readWord},
	{openXML + "presentationml.presentation", Office, readSlides},
	{openXML + "presentationml.slideshow", Office, readSlides},
	{openXML + "spreadsheetml.sheet", Office, readSheets},
	{openDocument + "text", Office, readOpenDocument},
	{openDocument + "presentation", Office, readOpenDocument},
	{openDocument + "spreadsheet", Office, readOpenDocument},
	{"application/epub+zip", Office, readBook},
	{"application/rtf", Office, readRichText},
	{"text/rtf", Office, readRichText},
	{"text/plain", Text, nil},
	{"text/markdown", Text, readMarkdown},
	{"text/x-markdown", Text, readMarkdown},
	{"application/rss+xml", Feed, readFeed},
	{"application/atom+xml", Feed, readFeed},
	{"application/xml", Feed, readFeed},
	{"text/xml", Feed, readFeed},
}

func formatOf(contentType string) (format, bool) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		media, _, _ = strings.Cut(contentType, ";")
	}
	media = strings.ToLower(strings.TrimSpace(media))
	for _, f := range formats {
		if f.media == media {
			return f, true
		}
	}
	return format{}, false
}

// TypeOf returns the type of a media type, or "" if it has no text that fossick reads.
func TypeOf(contentType string) Type {
	f, _ := formatOf(contentType)
	return f.kind
}

// Accept returns the value of the Accept header for the types.
func Accept(types []Type) string {
	var b strings.Builder
	for _, f := range formats {
		for _, t := range types {
			if f.kind == t {
				if b.Len() > 0 {
					b.WriteString(", ")
				}
				b.WriteString(f.media)
				if t != HTML {
					b.WriteString(";q=0.8")
				}
			}
		}
	}
	return b.String()
}

// Sniff returns the media type by the first bytes of a body, for servers that send none or
// application/octet-stream; "" if they do not tell. Archives are told apart by the names of
// their first files.
func Sniff(body []byte) string {
	head := body[:min(len(body), 2048)]
	switch {
	case bytes.Contains(head[:min(len(head), 1024)], []byte("%PDF-")):
		return "application/pdf"
	case bytes.HasPrefix(head, []byte(`{\rtf`)):
		return "application/rtf"
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return sniffArchive(body)
	}
	if t := http.DetectContentType(head); strings.HasPrefix(t, "text/xml") {
		return "text/xml"
	}
	return ""
}

// ToHTML returns a document as HTML in UTF-8, and whether the media type is one of a document: a
// body of HTML, plain text or an unknown type is returned as it is. Equal bodies give equal HTML.
// The error wraps ErrNoText, ErrLocked, ErrDamaged or ErrTooBig.
func ToHTML(ctx context.Context, body []byte, contentType string) (html []byte, is bool, err error) {
	f, known := formatOf(contentType)
	if !known || f.read == nil {
		return body, false, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, fmt.Errorf("%w: it takes over %v to read", ErrTooBig, maxTime))
	defer cancel()
	w := &writer{}
	err = f.read(ctx, body, w)
	if ctx.Err() != nil {
		return nil, true, context.Cause(ctx)
	}
	if err == nil && !w.hasText {
		err = ErrNoText
	}
	if err != nil {
		return nil, true, fmt.Errorf("%s: %w", f.media, err)
	}
	return w.document(), true, nil
}
