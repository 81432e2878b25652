package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"fossick/internal/page"
	"fossick/internal/reading"
	"fossick/internal/warc"
)

// warcName is how the files of an archive are called; those in .wet hold the text of
// pages alone.
var warcName = regexp.MustCompile(`\.(warc|warc\.wet|wet)(\.gz|\.zst)?$`)

// readWARC reads the pages of web archives, one file after the other.
func readWARC(paths ...string) reader {
	return func(rep *Report, yield func(*Example, error) bool) {
		a := newArchive(rep, yield)
		for _, path := range paths {
			f, err := reading.OpenNamed(path)
			if err != nil {
				yield(nil, err)
				return
			}
			goOn := a.file(path, f)
			if f.Close(); !goOn { // opened for reading: nothing can be lost
				return
			}
		}
		a.end()
	}
}

// warcFiles returns the archives' files in a folder, by name.
func warcFiles(dir string) (paths []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !e.IsDir() && warcName.MatchString(e.Name()) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, err
}

// archive makes rows of the records of files, and a Web of what is no page in them.
type archive struct {
	rep   *Report
	yield func(*Example, error) bool
	web   *Web
	pages map[uint64]struct{} // page.Key of their URLs

	held   *Example // a page whose label may stand in a record behind it
	heldID string   // of its record
}

func newArchive(rep *Report, yield func(*Example, error) bool) *archive {
	return &archive{
		rep: rep, yield: yield, pages: map[uint64]struct{}{},
		web: &Web{Redirects: map[string]Redirect{}, Status: map[string]int{}, Robots: map[string]string{}, Copies: map[string]string{}},
	}
}

// file reads one; false when nobody wants more. A row's line is the number of its record.
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

// damage tells an error. Behind one that has a place the archive is read on.
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

// record takes one record; errStop when nobody wants more.
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
		return nil // warcinfo, requests: there is no page in them
	}
	target := rec.Target()
	if _, err := Key(target); err != nil {
		a.rep.skip("a record of another scheme than http and https", path)
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

// beside takes what a server answers besides pages.
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

// page makes a row of a body.
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

// utf8 decodes a body as browsers do: by its byte order mark, its header or its markup.
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

// metadata reads the label of the page that is held, as `fossick export` writes it.
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

// revisit takes a page that had been captured before, at this URL or at another.
func (a *archive) revisit(rec *warc.Record, path string) {
	from, to := rec.Target(), rec.Header.Get("WARC-Refers-To-Target-URI")
	_, err := Key(from)
	if to == "" || to == from || err != nil {
		a.rep.skip("a repeated capture of an unchanged page", path)
		return
	}
	a.web.Copies[from] = to
}

// flush hands out the page that is held; false when nobody wants more.
func (a *archive) flush() bool {
	e := a.held
	a.held = nil
	return e == nil || a.yield(e, nil)
}

// end leaves out of the Web what has a page, too: a server that failed once and answered
// another time.
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
