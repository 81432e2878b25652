package datasets

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/http"
	"net/mail"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"fossick/internal/fileio"
	"fossick/internal/page"
	"fossick/internal/warc"
)

// warcName matches WARC file names; .wet files hold only the text of pages.
var warcName = regexp.MustCompile(`\.(warc|warc\.wet|wet)(\.gz|\.zst)?$`)

func readWARC(paths ...string) reader {
	return func(rep *passReport, yield func(*Example, error) bool) {
		a := newArchive(rep, yield)
		for _, path := range paths {
			f, err := fileio.OpenNamed(path)
			if err != nil {
				yield(nil, err)
				return
			}
			goOn := a.file(path, f)
			if f.Close(); !goOn { // read-only: nothing can be lost
				return
			}
		}
		a.end()
	}
}

func warcFiles(dir string) (paths []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !e.IsDir() && warcName.MatchString(e.Name()) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, err
}

// archive converts records to rows, and collects the responses without a page in a Web.
type archive struct {
	rep   *passReport
	yield func(*Example, error) bool
	web   *Web
	pages map[uint64]struct{} // page.Key of the URLs with a page

	held   *Example // page waiting for a label, which a later record may hold
	heldID string   // record ID of held
}

func newArchive(rep *passReport, yield func(*Example, error) bool) *archive {
	return &archive{
		rep: rep, yield: yield, pages: map[uint64]struct{}{},
		web: &Web{Redirects: map[string]Redirect{}, Status: map[string]int{}, Robots: map[string]string{}, Copies: map[string]string{}},
	}
}

// file reads one archive file and numbers rows by record. It returns false if reading must stop.
func (a *archive) file(path string, f io.Reader) bool {
	r, err := warc.NewReader(f)
	if err != nil {
		return a.damage(path, 1, err)
	}
	for n := 1; ; n++ {
		rec, err := r.Next()
		switch {
		case err == io.EOF:
			return a.flush()
		case err == nil:
			err = a.record(rec, path, n)
		}
		if errors.Is(err, errStop) {
			return false
		}
		if err != nil && !a.damage(path, n, err) {
			return false
		}
	}
}

// damage yields an error. It returns true if the reader can continue after the damage.
func (a *archive) damage(path string, n int, err error) bool {
	var at *warc.Error
	if !errors.As(err, &at) {
		a.yield(nil, broken(path, n, err))
		return false
	}
	if errors.Is(err, warc.ErrCut) {
		err = fmt.Errorf("%w: %w", ErrCut, err)
	}
	return a.yield(nil, &RowError{path, n, err})
}

func (a *archive) record(rec *warc.Record, path string, n int) error {
	if rec.Segmented() || rec.Type() == warc.Continuation {
		a.rep.skip("a part of a page that is divided into records", path)
		return nil
	}
	switch rec.Type() {
	case warc.Metadata:
		return a.metadata(rec)
	case warc.Revisit:
		a.revisit(rec, path)
		return nil
	case warc.Response, warc.Resource, warc.Conversion:
	default:
		return nil // warcinfo and request records hold no page
	}
	target := rec.Target()
	if _, err := Key(target); err != nil {
		a.rep.skip("a record of another scheme than http and https", path)
		return nil
	}
	if about := rec.Header.Get("WARC-Page-ID"); about != "" && about == a.heldID && rec.ID() != about {
		a.rep.skip("a request of a page's scripts", path)
		return nil
	}
	if rec.Type() != warc.Response {
		body, err := io.ReadAll(io.LimitReader(rec.Body, MaxPageBytes+1))
		if err != nil {
			return err
		}
		return a.page(rec, target, rec.Header.Get("Content-Type"), false, body, path, n)
	}
	h, err := warc.ReadHTTP(rec.Body, MaxPageBytes+1)
	if errors.Is(err, warc.ErrHTTP) {
		a.rep.skip("a response that is not HTTP", path)
		return nil
	}
	if err != nil {
		return err
	}
	if a.beside(target, h) {
		return nil
	}
	return a.page(rec, target, h.Header.Get("Content-Type"), page.NoSniff(http.Header(h.Header)), h.Body, path, n)
}

func (a *archive) beside(target string, h *warc.HTTP) bool {
	u, err := url.Parse(target)
	switch {
	case err != nil:
		return true
	case u.Path == "/robots.txt":
		if h.Status == http.StatusOK {
			a.web.Robots[u.Host] = string(h.Body)
		}
		return true
	case h.Status == http.StatusOK, h.Status == http.StatusNonAuthoritativeInfo:
		return false
	}
	to, err := u.Parse(h.Header.Get("Location"))
	switch redirect := h.Status/100 == 3 && err == nil && h.Header.Get("Location") != ""; {
	case redirect:
		a.web.Redirects[target] = Redirect{To: to.String(), Status: h.Status}
	case http.StatusText(h.Status) != "" && h.Status >= 400:
		a.web.Status[target] = h.Status
	}
	return true
}

func (a *archive) page(rec *warc.Record, target, contentType string, noSniff bool, body []byte, path string, n int) error {
	media := page.MediaType(contentType, noSniff, body)
	e := &Example{URL: target, File: path, Line: n}
	switch media {
	case "text/html", "application/xhtml+xml":
		e.HTML = a.utf8(body, contentType, e)
	case "text/plain":
		e.Text = a.utf8(body, contentType, e)
	default:
		a.rep.skip("neither markup nor plain text", path)
		return nil
	}
	if rec.Type() == warc.Conversion && a.held != nil && rec.RefersTo() == a.heldID { // the page as a browser showed it
		a.held.HTML, a.held.Text = e.HTML, e.Text
		return nil
	}
	if date := rec.Header.Get("WARC-Date"); date != "" {
		e.Fields = map[string]string{"date": date}
	}
	if !a.flush() {
		return errStop
	}
	a.held, a.heldID = e, rec.ID()
	a.pages[page.Key(target)] = struct{}{}
	return nil
}

// utf8 decodes a body as browsers do: by byte order mark, then header, then markup.
func (a *archive) utf8(body []byte, contentType string, e *Example) string {
	enc, name, certain := charset.DetermineEncoding(body[:min(len(body), 1024)], contentType)
	if name == "utf-8" || !certain && utf8.Valid(body) {
		if utf8.Valid(body) {
			return string(bytes.TrimPrefix(body, []byte("\ufeff")))
		}
		a.rep.NotUTF8++
		a.rep.met(notUTF8, e)
		return strings.ToValidUTF8(string(body), "\ufffd")
	}
	decoded, err := enc.NewDecoder().Bytes(body)
	if err != nil {
		decoded = body
	}
	return strings.ToValidUTF8(string(decoded), "\ufffd")
}

// metadata reads the held page's label, in the format that `fossick export` writes.
func (a *archive) metadata(rec *warc.Record) error {
	about := rec.RefersTo()
	if a.held == nil || about == "" || about != a.heldID || !strings.HasPrefix(rec.Header.Get("Content-Type"), "application/warc-fields") {
		return nil
	}
	fields, err := warc.ReadFields(rec.Body)
	if err != nil {
		return err
	}
	if label := fields.Get(warc.LabelField); label != "" {
		a.held.Label, a.held.Labels = label, []string{label}
	}
	return nil
}

// revisit handles the repeated capture of a known page, at the same URL or another.
func (a *archive) revisit(rec *warc.Record, path string) {
	from, to := rec.Target(), rec.Header.Get("WARC-Refers-To-Target-URI")
	_, err := Key(from)
	if to == "" || to == from || err != nil {
		a.rep.skip("a repeated capture of an unchanged page", path)
		return
	}
	a.web.Copies[from] = to
}

// flush yields the held page. It returns false if the consumer stopped.
func (a *archive) flush() bool {
	e := a.held
	a.held = nil
	return e == nil || a.yield(e, nil)
}

// end removes URLs that have a page from the Web: a server may fail once and answer later.
func (a *archive) end() {
	maps.DeleteFunc(a.web.Redirects, func(at string, _ Redirect) bool { return a.hasPage(at) })
	maps.DeleteFunc(a.web.Status, func(at string, _ int) bool { return a.hasPage(at) })
	maps.DeleteFunc(a.web.Copies, func(at, _ string) bool { return a.hasPage(at) })
	a.rep.web = a.web
}

func (a *archive) hasPage(url string) bool {
	_, has := a.pages[page.Key(url)]
	return has
}

// maxZipEntries bounds the entries of a WACZ file; each costs half a kilobyte of memory.
const maxZipEntries = 1 << 20

func zipOf(f *os.File) (*zip.Reader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(f, info.Size())
	if err == nil && len(z.File) > maxZipEntries {
		err = fmt.Errorf("it has %d files, at most %d are read", len(z.File), maxZipEntries)
	}
	return z, err
}

// grows rejects a zip entry that expands implausibly. An entry that is itself compressed may hardly
// grow; others may grow as far as fileio.Bomb allows.
func grows(f *zip.File) error {
	const packedAgain, small = 20, 1 << 20
	out, in := int64(f.UncompressedSize64), int64(f.CompressedSize64)
	packed := strings.HasSuffix(f.Name, ".gz") || strings.HasSuffix(f.Name, ".zst")
	if !fileio.Bomb(in, out) && !(packed && out > small && out/packedAgain > in) {
		return nil
	}
	return fmt.Errorf("%w: %d KiB from %d", warc.ErrBomb, out>>10, in>>10)
}

// readWACZ reads the WARC files in the "archive" folder of a WACZ file, by name.
func readWACZ(path string) reader {
	return func(rep *passReport, yield func(*Example, error) bool) {
		file, err := fileio.Open(path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close() // read-only: nothing can be lost
		z, err := zipOf(file)
		if err != nil {
			yield(nil, fmt.Errorf("%s: %w; want a WACZ, which is a zip file", path, err))
			return
		}
		a := newArchive(rep, yield)
		found := false
		for _, f := range z.File {
			if !strings.HasPrefix(f.Name, "archive/") || !warcName.MatchString(f.Name) {
				continue
			}
			found = true
			r, err := f.Open()
			if err = errors.Join(err, grows(f)); err != nil {
				yield(nil, fmt.Errorf("%s: %s: %w", path, f.Name, err))
				return
			}
			goOn := a.file(path+"/"+f.Name, r)
			if r.Close(); !goOn { // Close verifies the entry's checksum
				return
			}
		}
		if !found {
			yield(nil, fmt.Errorf("%s: %w: no archive/*.warc.gz in it", path, ErrLayout))
			return
		}
		a.end()
	}
}

// maxHead bounds how much of a saved page is searched for its URL.
const maxHead = 64 << 10

// ownURLs are the URLs assigned to saved pages in one pass; each goes to one page only.
type ownURLs map[uint64]struct{}

// of returns the URL of a saved page: as the saving program recorded it, or else as the page declares
// it. It returns "" if there is none or an earlier page has the same.
func (o ownURLs) of(saved, page string) string {
	for _, claim := range append([]string{saved}, claimsOf(page)...) {
		if u := httpURL(claim); u != "" {
			return o.take(u)
		}
	}
	return ""
}

func (o ownURLs) take(u string) string {
	key := page.Key(u)
	if _, taken := o[key]; taken {
		return ""
	}
	o[key] = struct{}{}
	return u
}

// httpURL returns the normal form of an absolute web URL, or "".
func httpURL(raw string) string {
	if raw = strings.TrimSpace(raw); !strings.Contains(raw, "://") {
		return ""
	}
	u, err := Key(raw)
	if err != nil {
		return ""
	}
	return u
}

// claimsOf returns the URLs that a page declares for itself, most trustworthy first: a browser's
// comment, the canonical link, og:url, and a base that is not a folder.
func claimsOf(text string) []string {
	var comment, canonical, og, base string
	z := html.NewTokenizer(strings.NewReader(text[:min(len(text), maxHead)]))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return []string{comment, canonical, og, base}
		case html.CommentToken:
			if comment == "" {
				comment = savedFrom(string(z.Text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			switch {
			case t.Data == "body":
				return []string{comment, canonical, og, base}
			case t.Data == "link" && canonical == "" && hasWord(attr(t, "rel"), "canonical"):
				canonical = attr(t, "href")
			case t.Data == "meta" && og == "" && strings.EqualFold(attr(t, "property"), "og:url"):
				og = attr(t, "content")
			case t.Data == "base" && base == "":
				if href := attr(t, "href"); !strings.HasSuffix(href, "/") {
					base = href
				}
			}
		}
	}
}

func attr(t html.Token, key string) string {
	for _, a := range t.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

// savedFrom parses the comment that browsers and mirroring programs leave in a page:
//
//	saved from url=(0023)https://example.org/    browsers; the number is the length
//	Page saved with SingleFile … url: https://example.org/
//	Mirrored from example.org/ by HTTrack …
func savedFrom(comment string) string {
	comment = strings.TrimSpace(comment)
	if rest, ok := strings.CutPrefix(comment, "saved from url=("); ok {
		_, u, _ := strings.Cut(rest, ")")
		return firstWord(u)
	}
	if strings.HasPrefix(comment, "Page saved with SingleFile") {
		_, u, _ := strings.Cut(comment, "url:")
		return firstWord(u)
	}
	if rest, ok := strings.CutPrefix(comment, "Mirrored from "); ok && strings.Contains(rest, "HTTrack") {
		return "http://" + firstWord(rest)
	}
	return ""
}

func firstWord(text string) string {
	if words := strings.Fields(text[:min(len(text), maxHead)]); len(words) > 0 {
		return words[0]
	}
	return ""
}

// isCompanion reports whether dir holds the parts of a saved page: "bees_files", or a translated
// suffix such as -Dateien, next to "bees.html".
func isCompanion(dir string) bool {
	name := filepath.Base(dir)
	at := strings.LastIndexAny(name, "_-.")
	if at <= 0 {
		return false
	}
	for _, ext := range []string{".html", ".htm", ".xhtml"} {
		if _, err := os.Stat(filepath.Join(filepath.Dir(dir), name[:at]+ext)); err == nil {
			return true
		}
	}
	return false
}

func isMHTML(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".mhtml" || ext == ".mht"
}

var errMHTML = errors.New("not a page saved as MHTML")

const maxParts = 10_000

// parseMHTML returns the page in an MHTML file as UTF-8, and the URL it was saved from. Errors state
// how many bytes were read.
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
