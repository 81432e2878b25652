package page

import (
	"bytes"
	"context"

	"fossick/internal/document"
)

// asHTML returns a document, such as a PDF, as HTML, and its new media type; anything else as it
// is. Text of XML is a document unless it is XHTML.
func asHTML(body []byte, contentType string) ([]byte, string, error) {
	switch MediaEssence(contentType) {
	case "application/xml", "text/xml":
		if bytes.Contains(bytes.ToLower(body[:min(len(body), SniffBytes)]), []byte("<html")) {
			return body, contentType, nil
		}
	}
	html, is, err := document.ToHTML(context.Background(), body, contentType) // it has a limit of its own
	if is {
		contentType = "text/html; charset=utf-8"
	}
	return html, contentType, err
}
