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

// format is a media type that is read here. Package page reads HTML and plain text itself.
type format struct {
	media string
	read  func(ctx context.Context, body []byte, w *writer) error
}

const openXML, openDocument = "application/vnd.openxmlformats-officedocument.", "application/vnd.oasis.opendocument."

var formats = []format{
	{"application/pdf", readPDF},
	{openXML + "wordprocessingml.document", readWord},
	{openXML + "wordprocessingml.template", readWord},
	{openXML + "presentationml.presentation", readSlides},
	{openXML + "presentationml.slideshow", readSlides},
	{openXML + "spreadsheetml.sheet", readSheets},
	{openDocument + "text", readOpenDocument},
	{openDocument + "presentation", readOpenDocument},
	{openDocument + "spreadsheet", readOpenDocument},
	{"application/epub+zip", readBook},
	{"application/rtf", readRichText},
	{"text/rtf", readRichText},
	{"text/markdown", readMarkdown},
	{"text/x-markdown", readMarkdown},
	{"application/rss+xml", readFeed},
	{"application/atom+xml", readFeed},
	{"application/xml", readFeed},
	{"text/xml", readFeed},
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
// their first files.
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
// ErrDamaged or ErrTooBig, or says that PDFium did not start.
func ToHTML(ctx context.Context, body []byte, contentType string) (html []byte, is bool, err error) {
	f, known := formatOf(contentType)
	if !known {
		return body, false, nil
	}
	if f.media == "application/pdf" { // the first start takes seconds that are not the document's
		if _, err := pdfPool(); err != nil {
			return nil, true, fmt.Errorf("start PDFium: %w", err)
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, fmt.Errorf("%w: it takes over %v to read", ErrTooBig, maxTime))
	defer cancel()
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

// readSafely turns a panic of a reader, or of a library that it uses, into ErrDamaged.
func readSafely(ctx context.Context, f format, body []byte, w *writer) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, fault)
		}
	}()
	return f.read(ctx, body, w)
}
