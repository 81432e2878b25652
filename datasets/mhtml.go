package datasets

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"path/filepath"
	"strings"

	"golang.org/x/net/html/charset"
)

// isMHTML says whether a file, by its name, is a page with all that belongs to it (RFC 2557).
func isMHTML(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".mhtml" || ext == ".mht"
}

// errMHTML reports a file that is no saved page.
var errMHTML = errors.New("not a page saved as MHTML")

// maxParts bounds the parts of a file that are looked at for its page.
const maxParts = 10_000

// parseMHTML returns the page in an MHTML file, in UTF-8, and the address that the browser
// saved it from. Errors tell how far the file could be read.
func parseMHTML(file []byte) (text, saved string, err error) {
	r := bytes.NewReader(file)
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w: by byte %d of %d: %w; save the page again", errMHTML, len(file)-r.Len(), len(file), err)
		}
	}()
	m, err := mail.ReadMessage(r)
	if err != nil {
		return "", "", err
	}
	at := cmp.Or(m.Header.Get("Snapshot-Content-Location"), m.Header.Get("Content-Location"))
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		return "", "", fmt.Errorf("its Content-Type: %w", err)
	}
	if kind == "text/html" {
		text, err = htmlOf(textproto.MIMEHeader(m.Header), m.Body)
		return text, at, err
	}
	if !strings.HasPrefix(kind, "multipart/") || params["boundary"] == "" {
		return "", "", fmt.Errorf("its Content-Type is %s, want multipart/related with a boundary", kind)
	}
	parts := multipart.NewReader(m.Body, params["boundary"])
	for range maxParts {
		p, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", "", err
		}
		if kind, _, _ := mime.ParseMediaType(p.Header.Get("Content-Type")); kind != "text/html" && kind != "application/xhtml+xml" {
			continue
		}
		text, err = htmlOf(p.Header, p)
		return text, cmp.Or(at, p.Header.Get("Content-Location")), err
	}
	return "", "", errors.New("none of its parts is HTML")
}

// htmlOf decodes a part.
func htmlOf(h textproto.MIMEHeader, body io.Reader) (string, error) {
	switch strings.ToLower(strings.TrimSpace(h.Get("Content-Transfer-Encoding"))) {
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return "", err
	}
	enc, _, _ := charset.DetermineEncoding(text[:min(len(text), 1024)], h.Get("Content-Type"))
	if decoded, err := enc.NewDecoder().Bytes(text); err == nil {
		text = decoded
	}
	return strings.TrimPrefix(strings.ToValidUTF8(string(text), "\ufffd"), "\ufeff"), nil
}
