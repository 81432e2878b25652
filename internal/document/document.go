// Package document turns documents that are not HTML (PDF, Word, PowerPoint, Excel, OpenDocument,
// EPUB, RTF, Markdown, feeds) into plain HTML, so that everything that reads pages reads documents
// too: a title, a language, author and date, headings, paragraphs, lists, tables and links.
package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"mime"
	"net/http"
	"slices"
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
	ErrStart   = errors.New("PDFium does not start")
)

// format is a media type, the type of document that it is for a user (see Types), and its reader.
type format struct {
	media, kind string
	read        func(ctx context.Context, body []byte, w *writer) error // nil: package page reads it
}

const openXML, openDocument = "application/vnd.openxmlformats-officedocument.", "application/vnd.oasis.opendocument."

var formats = []format{
	{"text/html", "html", nil},
	{"application/xhtml+xml", "html", nil},
	{"text/plain", "text", nil},
	{"text/markdown", "text", readMarkdown},
	{"text/x-markdown", "text", readMarkdown},
	{"application/pdf", "pdf", readPDF},
	{openXML + "wordprocessingml.document", "office", readWord},
	{openXML + "wordprocessingml.template", "office", readWord},
	{openXML + "presentationml.presentation", "office", readSlides},
	{openXML + "presentationml.slideshow", "office", readSlides},
	{openXML + "spreadsheetml.sheet", "office", readSheets},
	{openDocument + "text", "office", readOpenDocument},
	{openDocument + "presentation", "office", readOpenDocument},
	{openDocument + "spreadsheet", "office", readOpenDocument},
	{"application/epub+zip", "office", readBook},
	{"application/rtf", "office", readRichText},
	{"text/rtf", "office", readRichText},
	{"application/rss+xml", "feed", readFeed},
	{"application/atom+xml", "feed", readFeed},
	{"application/xml", "feed", readFeed},
	{"text/xml", "feed", readFeed},
}

// Types names the types of documents, as users do.
func Types() []string { return []string{"html", "pdf", "office", "text", "feed"} }

// TypeOf returns the type of a media type; "" for one that is not read. A body without a media
// type is HTML.
func TypeOf(contentType string) string {
	if strings.TrimSpace(contentType) == "" {
		return "html"
	}
	f, _ := formatOf(contentType)
	return f.kind
}

// MediaTypes yields the media types of a type.
func MediaTypes(kind string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, f := range formats {
			if f.kind == kind && !yield(f.media) {
				return
			}
		}
	}
}

// Accept returns the value of the header Accept that asks for these types. It is short because
// it goes with every request: a range stands for the media types of offices and feeds.
func Accept(kinds []string) string {
	var ranges []string
	for _, t := range []struct{ kind, accept string }{
		{"html", "text/html, application/xhtml+xml"}, {"text", "text/plain"}, {"pdf", "application/pdf;q=0.9"},
		{"office", "application/*;q=0.5"}, {"feed", "application/*;q=0.5"},
	} {
		if slices.Contains(kinds, t.kind) && !slices.Contains(ranges, t.accept) {
			ranges = append(ranges, t.accept)
		}
	}
	return strings.Join(ranges, ", ")
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

// Sniff returns the media type by the first bytes of a body, for servers that send none or
// application/octet-stream; "" if they do not tell. Archives are told apart by the names of
// their first files, which are enough of them.
func Sniff(body []byte) string {
	head := body[:min(len(body), 2048)]
	switch {
	case bytes.HasPrefix(bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n\x00"), []byte("%PDF-")):
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
// body of HTML, plain text or an unknown type is returned as it is. Equal bodies give equal HTML,
// but for PDFs whose pages take longer than enoughTime. The error wraps ErrNoText, ErrLocked,
// ErrDamaged, ErrTooBig or ErrStart.
func ToHTML(ctx context.Context, body []byte, contentType string) (html []byte, is bool, err error) {
	f, _ := formatOf(contentType)
	if f.read == nil {
		return body, false, nil
	}
	if f.media != "application/pdf" { // which waits for PDFium first
		var cancel context.CancelFunc
		ctx, cancel = timed(ctx)
		defer cancel()
	}
	w := &writer{}
	err = readSafely(ctx, f, body, w)
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

// timed ends the reading of a document after maxTime.
func timed(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, maxTime, fmt.Errorf("%w: it takes over %v to read", ErrTooBig, maxTime))
}

// readSafely turns a panic of a reader, or of a library that it uses, into ErrDamaged.
func readSafely(ctx context.Context, f format, body []byte, w *writer) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, fault)
		}
	}()
	return f.read(ctx, body, w)
}
