package datasets

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/textproto"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/charmap"

	"fossick/internal/fileio"
)

// ErrLayout reports a path without a readable set.
var ErrLayout = errors.New("not a set that can be read")

const readable = `want "demo"; a .jsonl file (.gz, .zst) of objects with url and html or text; ` +
	`a table, .parquet; a sitemap, .xml, with its pages beside it; a web archive, .warc (.gz, .zst) or .wacz, or a folder of the former; a folder with pages.jsonl; a folder of one folder a label; a folder of .html, .mhtml or .txt pages without labels; ` +
	`or the layout of WebKB or 20 Newsgroups`

// Open recognises the layout of a path. It reads only file names; reading rows begins with Examples.
func Open(path string, opt Options) (*Set, error) {
	if path == "demo" {
		return openDemo(opt)
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("set %s: %w; %s", path, fs.ErrNotExist, readable)
	}
	if err != nil {
		return nil, fmt.Errorf("set %s: %w", path, err)
	}
	s := &Set{name: path, opt: opt}
	if !info.IsDir() {
		switch {
		case strings.HasSuffix(path, ".parquet"):
			s.layout, s.read = "parquet", readParquet(path)
		case strings.HasSuffix(path, ".wacz"):
			s.layout, s.read = "warc", readWACZ(path)
		case warcName.MatchString(path):
			s.layout, s.read = "warc", readWARC(path)
		case isJSONL(path):
			s.layout, s.read = "jsonl", readJSONL(path)
		case isSitemap(path):
			return s, s.openSitemap(filepath.Dir(path), path)
		default:
			return nil, fmt.Errorf("file %s: %w: its name does not end in .jsonl or .warc, with or without .gz or .zst, nor in .parquet or .xml; %s", path, ErrLayout, readable)
		}
		return s, nil
	}
	if err := s.openFolder(path); err != nil {
		return nil, fmt.Errorf("folder %s: %w", path, err)
	}
	return s, nil
}

// IsFile reports whether a file of this name holds a whole set rather than one page.
func IsFile(path string) bool {
	return strings.HasSuffix(path, ".parquet") || strings.HasSuffix(path, ".wacz") || warcName.MatchString(path) || isJSONL(path) || isSitemap(path)
}

func (s *Set) openFolder(dir string) error {
	pages, err := one(dir, "pages.jsonl")
	if err != nil {
		return err
	}
	if pages != "" {
		s.layout, s.read = "corpus", readJSONL(pages)
		return s.openBeside(dir)
	}
	if archives, err := warcFiles(dir); err != nil || len(archives) > 0 {
		s.layout, s.read = "warc", readWARC(archives...)
		return err
	}
	if file := sitemapOf(dir); file != "" {
		return s.openSitemap(dir, file)
	}
	classes, err := folders(dir)
	if err != nil {
		return err
	}
	if len(classes) == 0 {
		if !holdsPages(dir) {
			return fmt.Errorf("%w: it has neither pages.jsonl nor folders nor pages; %s", ErrLayout, readable)
		}
		s.layout, s.read = "files", readFiles(dir)
		return nil
	}
	if splits := newsSplits(classes); splits != nil {
		s.layout, s.read = "20news", readNews(dir, splits)
		return nil
	}
	switch looksLike(dir, classes) {
	case "webkb":
		s.layout, s.read = "webkb", readWebKB(dir, classes)
	case "20news":
		s.layout, s.read = "20news", readNews(dir, []newsSplit{{"", ""}})
	default:
		s.layout, s.read = "folders", readFolders(dir, classes)
	}
	return nil
}

// one returns the path of NAME, NAME.gz or NAME.zst in dir, or "" if none exists.
func one(dir, name string) (string, error) {
	var found string
	for _, ext := range []string{"", ".gz", ".zst"} {
		path := filepath.Join(dir, name+ext)
		if _, err := os.Stat(path); err != nil {
			continue // absent or unreadable, so ignored
		}
		if !fileio.Regular(path) {
			return "", fmt.Errorf("%w: %s is not a file; %w", ErrLayout, filepath.Base(path), fileio.ErrKind)
		}
		if found != "" {
			return "", fmt.Errorf("%w: both %s and %s are there; keep one", ErrLayout, filepath.Base(found), filepath.Base(path))
		}
		found = path
	}
	return found, nil
}

// folders lists the visible subfolders of dir by name, without companion folders of saved pages.
func folders(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !isCompanion(filepath.Join(dir, e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func holdsPages(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !e.IsDir() && !strings.HasPrefix(e.Name(), ".") && isPageFile(e.Name())
	})
}

func isJSONL(path string) bool {
	path = strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")
	return strings.HasSuffix(path, ".jsonl") || strings.HasSuffix(path, ".ndjson")
}

var postNumber = regexp.MustCompile(`^[0-9]+$`)

// looksLike distinguishes the folder layouts by their first file names: WebKB file names are URLs with
// ^ for /, and newsgroup posts are numbered.
func looksLike(dir string, classes []string) string {
	var carets, numbers, files int
	for _, class := range classes {
		n := 0
		err := filepath.WalkDir(filepath.Join(dir, class), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			switch name := d.Name(); {
			case strings.Contains(name, "^"):
				carets++
			case postNumber.MatchString(name):
				numbers++
			}
			files++
			if n++; n == 20 {
				return filepath.SkipAll
			}
			return nil
		})
		if err != nil {
			break // reading the set will report the error
		}
	}
	switch {
	case carets*2 > files:
		return "webkb"
	case numbers*2 > files:
		return "20news"
	}
	return "folders"
}

// maxFileBytes bounds the file of one page.
const maxFileBytes = 128 << 20

// readFolders reads one folder per label. With nested folders (theme/category, as in BankSearch) Label
// is the top folder and Labels has all from the top down, so Options.Level 1 picks the category.
func readFolders(dir string, classes []string) reader {
	host := hostOf(dir)
	return func(rep *passReport, yield func(*Example, error) bool) {
		own := ownURLs{}
		eachClass(rep, dir, "", classes, yield, func(path, rel string) (*Example, error) {
			e, err := pageFile(rep, path, rel, host, own)
			if e != nil {
				e.Labels = strings.Split(filepath.ToSlash(filepath.Dir(rel)), "/")
				e.Label = e.Labels[0]
			}
			return e, err
		})
	}
}

// eachClass reads the files of each class folder below dir/sub. It returns false once yield does. See
// eachRow.
func eachClass(rep *passReport, dir, sub string, classes []string, yield func(*Example, error) bool, read func(path, rel string) (*Example, error)) bool {
	skipLinks(rep, filepath.Join(dir, sub))
	for _, class := range classes {
		before := rep.Rows + rep.Errors
		if !eachRow(rep, dir, filepath.Join(sub, class), yield, read) {
			return false
		}
		if rep.Rows+rep.Errors == before {
			rep.EmptyClass = append(rep.EmptyClass, filepath.Join(sub, class))
		}
	}
	return true
}

// skipLinks counts symbolic links next to the class folders; links are not classes.
func skipLinks(rep *passReport, dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // reading the set will report the error
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 && !strings.HasPrefix(e.Name(), ".") {
			rep.skip("a link where folders are classes", filepath.Join(dir, e.Name()))
		}
	}
}

func readFiles(dir string) reader {
	host := hostOf(dir)
	return func(rep *passReport, yield func(*Example, error) bool) {
		own := ownURLs{}
		eachRow(rep, dir, ".", yield, func(path, rel string) (*Example, error) { return pageFile(rep, path, rel, host, own) })
	}
}

// pageFile reads a page file, under the URL it was saved from or a made-up one. It returns nil if the
// file is not a page.
func pageFile(rep *passReport, path, rel, host string, own ownURLs) (e *Example, err error) {
	if !isPageFile(path) {
		rep.skip("not .html, .htm, .xhtml, .mhtml, .mht or .txt", path)
		return nil, nil
	}
	saved := ""
	if isMHTML(path) {
		e, saved, err = mhtmlFile(path)
	} else {
		e, err = readPage(rep, path, strings.EqualFold(filepath.Ext(path), ".txt"))
	}
	if err != nil {
		return nil, err
	}
	e.URL = cmp.Or(own.of(saved, e.HTML), madeUpURL(host, rel))
	return e, nil
}

func mhtmlFile(path string) (*Example, string, error) {
	file, err := readFile(path)
	if err != nil {
		return nil, "", err
	}
	text, saved, err := parseMHTML(file)
	return &Example{File: path, HTML: text}, saved, err
}

// eachRow calls read for each file below dir/sub, with its path relative to dir, and yields the
// non-nil results. It returns false once yield does.
func eachRow(rep *passReport, dir, sub string, yield func(*Example, error) bool, read func(path, rel string) (*Example, error)) bool {
	return eachFile(rep, dir, sub, func(path string, err error) bool {
		var e *Example
		if err == nil {
			rel, _ := filepath.Rel(dir, path) // cannot fail: path is below dir
			e, err = read(path, rel)
		}
		if err != nil {
			return yield(nil, &RowError{path, 0, err})
		}
		return e == nil || yield(e, nil)
	})
}

func isPageFile(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".html", ".htm", ".xhtml", ".mhtml", ".mht", ".txt":
		return true
	}
	return false
}

// eachFile calls do with each visible file below dir/sub in name order, and returns false once do
// does. It skips anything that is not a regular file inside dir, such as a link that leads out.
func eachFile(rep *passReport, dir, sub string, do func(path string, err error) bool) bool {
	top := filepath.Join(dir, sub)
	if filepath.Clean(sub) == "." {
		top += string(filepath.Separator) // follow dir even if it is a link
	}
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		hidden := d != nil && strings.HasPrefix(d.Name(), ".")
		switch {
		case err != nil:
			if !do(path, err) {
				return errStop
			}
			return nil
		case d.IsDir() && path != top && (hidden || isCompanion(path)):
			return filepath.SkipDir
		case d.IsDir() || hidden:
			return nil
		}
		if why := fileio.Within(dir, path, d); why != "" {
			rep.skip(why, path)
			return nil
		}
		if !do(path, nil) {
			return errStop
		}
		return nil
	})
	return err == nil
}

var errStop = errors.New("stopped")

// readPage reads one file as a page. A text file that starts like HTML counts as HTML.
func readPage(rep *passReport, path string, text bool) (*Example, error) {
	body, err := readFile(path)
	if err != nil {
		return nil, err
	}
	e := &Example{File: path}
	s := decode(rep, path, body)
	if text && !looksLikeHTML(s) {
		e.Text = s
	} else {
		e.HTML = s
	}
	return e, nil
}

func readFile(path string) ([]byte, error) {
	body, err := fileio.All(path, maxFileBytes)
	if errors.Is(err, fileio.ErrSize) {
		err = fmt.Errorf("%w as a page; take it out of the set", err)
	}
	return body, err
}

// decode returns body as UTF-8. For other encodings it follows the browsers: byte order mark, then
// <meta>, then Windows-1252.
func decode(rep *passReport, path string, body []byte) string {
	if utf8.Valid(body) {
		return strings.TrimPrefix(string(body), "\ufeff")
	}
	rep.NotUTF8++
	rep.met(notUTF8, &Example{File: path})
	enc, _, _ := charset.DetermineEncoding(body[:min(len(body), 1024)], "")
	s, err := enc.NewDecoder().Bytes(body)
	if err != nil {
		return strings.ToValidUTF8(string(body), "\ufffd")
	}
	return strings.ToValidUTF8(string(s), "\ufffd")
}

func looksLikeHTML(s string) bool {
	head := strings.ToLower(strings.TrimSpace(s[:min(len(s), 1024)]))
	return strings.HasPrefix(head, "<!doctype html") || strings.HasPrefix(head, "<?xml") ||
		strings.Contains(head, "<html") || strings.Contains(head, "<head") || strings.Contains(head, "<body")
}

// madeUpURL invents a stable URL for a file. The URL does not reveal the label.
func madeUpURL(host, rel string) string {
	sum := sha256.Sum256([]byte(filepath.ToSlash(rel)))
	return fmt.Sprintf("http://%s/%x", host, sum[:8])
}

// hostOf derives a host below .example from a folder's name.
func hostOf(dir string) string {
	name := filepath.Base(dir)
	if abs, err := filepath.Abs(dir); err == nil { // "." must become a real name
		name = filepath.Base(abs)
	}
	label := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, name)
	// Collapse hyphens: "xn--" would announce punycode.
	label = strings.Join(strings.FieldsFunc(label[:min(len(label), 63)], func(r rune) bool { return r == '-' }), "-")
	if label == "" {
		label = "set"
	}
	return label + madeUpHost
}

// readWebKB reads the original layout of the 4 Universities data set: class/university/URL with ^ for
// /, and the server's MIME header before each page. Site is the university.
func readWebKB(dir string, classes []string) reader {
	return func(rep *passReport, yield func(*Example, error) bool) {
		eachClass(rep, dir, "", classes, yield, func(path, rel string) (*Example, error) {
			return webKBPage(rep, filepath.ToSlash(rel), path)
		})
	}
}

func webKBPage(rep *passReport, rel, path string) (*Example, error) {
	e, err := webKBName(rel)
	if err != nil {
		return nil, err
	}
	body, err := readFile(path)
	if err != nil {
		return nil, err
	}
	header, body := cutHeader(body)
	s := decode(rep, path, body)
	if header != nil && strings.HasPrefix(header.Get("Content-Type"), "text/plain") {
		e.Text = s
	} else {
		e.HTML = s
	}
	e.File = path
	return e, nil
}

func webKBName(rel string) (*Example, error) {
	parts := strings.Split(rel, "/")
	if len(parts) != 3 {
		return nil, errors.New("want class/university/URL, the URL with ^ for /")
	}
	url := strings.ReplaceAll(parts[2], "^", "/")
	if !strings.Contains(url, "://") {
		return nil, errors.New("its name is not a URL with ^ for /, such as http:^^cs.cornell.edu^info.html")
	}
	return &Example{
		URL: url, Label: parts[0], Labels: []string{parts[0]}, Site: parts[1],
		Fields: map[string]string{"file": rel},
	}, nil
}

var headerLine = regexp.MustCompile(`^(HTTP/[0-9.]+ |[A-Za-z][A-Za-z0-9-]*:)`)

// maxHeaderBytes is far above any real header; a longer one does not count as a header.
const maxHeaderBytes = 16 << 10

// cutHeader splits a stored response into MIME header and body; the header is nil if there is none.
// Every line up to the first empty one must look like a header line, so no page loses its first lines.
func cutHeader(body []byte) (textproto.MIMEHeader, []byte) {
	h := textproto.MIMEHeader{}
	rest := body
	for len(body)-len(rest) < maxHeaderBytes {
		line, next, ok := bytes.Cut(rest, []byte("\n"))
		line = bytes.TrimRight(line, "\r")
		switch {
		case !ok:
			return nil, body
		case len(line) == 0 && len(h) > 0:
			return h, next
		case len(h) > 0 && (line[0] == ' ' || line[0] == '\t'): // continuation line
		case !headerLine.Match(line):
			return nil, body
		default:
			name, value, _ := strings.Cut(string(line), ":")
			h.Set(name, strings.TrimSpace(value))
		}
		rest = next
	}
	return nil, body
}

type newsSplit struct{ folder, split string }

// newsSplits recognises 20news-bydate-train and -test, or plain train and test. It returns nil if
// other folders are present.
func newsSplits(folders []string) []newsSplit {
	var splits []newsSplit
	for _, name := range folders {
		switch strings.TrimPrefix(name, "20news-bydate-") {
		case "train":
			splits = append(splits, newsSplit{name, "train"})
		case "test":
			splits = append(splits, newsSplit{name, "test"})
		default:
			return nil
		}
	}
	return splits
}

// readNews reads split/group/number, the layout of 20 Newsgroups.
func readNews(dir string, splits []newsSplit) reader {
	host := hostOf(dir)
	return func(rep *passReport, yield func(*Example, error) bool) {
		for _, split := range splits {
			groups, err := folders(filepath.Join(dir, split.folder))
			if err != nil {
				yield(nil, err)
				return
			}
			if !eachClass(rep, dir, split.folder, groups, yield, func(path, rel string) (*Example, error) {
				body, err := readFile(path)
				if err != nil {
					return nil, err
				}
				e := newsPost(rep, path, body)
				e.URL, e.File, e.Split = madeUpURL(host, rel), path, split.split
				in, _ := filepath.Rel(split.folder, rel) // cannot fail: rel is below folder
				e.Label, _, _ = strings.Cut(filepath.ToSlash(in), "/")
				e.Labels, e.Fields = []string{e.Label}, map[string]string{"file": filepath.ToSlash(rel)}
				return e, nil
			}) {
				return
			}
		}
	}
}

// newsPost reads one Latin-1 post and cuts its mail header, because the header names the group. The
// title stays empty, as the subject is in the header.
func newsPost(rep *passReport, path string, body []byte) *Example {
	body = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	if !utf8.Valid(body) {
		rep.NotUTF8++
		rep.met(notUTF8, &Example{File: path})
		body, _ = charmap.ISO8859_1.NewDecoder().Bytes(body) // cannot fail: every byte is valid Latin-1
	}
	_, text, ok := bytes.Cut(body, []byte("\n\n"))
	if !ok {
		text = body // no header
	}
	return &Example{Text: string(text)}
}
