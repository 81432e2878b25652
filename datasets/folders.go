package datasets

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"fossick/internal/reading"
)

// maxFileBytes bounds one page's file.
const maxFileBytes = 128 << 20

// readFolders reads one folder a label. With nested folders (theme/category, as
// BankSearch's) Label is the top one, the theme, and Labels holds all from the
// top down, so that Options.Level picks the category. The names tell the labels,
// so the URL is made up from a hash that tells nothing.
func readFolders(dir string, classes []string) reader {
	host := hostOf(dir)
	return func(rep *Report, yield func(*Example, error) bool) {
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

// eachClass calls yield with what read makes of the files of each class, a folder of
// dir/sub, until it returns false; eachClass then does too. See eachRow.
func eachClass(rep *Report, dir, sub string, classes []string, yield func(*Example, error) bool, read func(path, rel string) (*Example, error)) bool {
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

// skipLinks counts the links among the folders of a set: they are none of its classes.
func skipLinks(rep *Report, dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // the pass over the set will say it
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 && !strings.HasPrefix(e.Name(), ".") {
			rep.skip("a link where folders are classes", filepath.Join(dir, e.Name()))
		}
	}
}

// readFiles reads a folder of pages without labels: examples of one topic.
func readFiles(dir string) reader {
	host := hostOf(dir)
	return func(rep *Report, yield func(*Example, error) bool) {
		own := ownURLs{}
		eachRow(rep, dir, ".", yield, func(path, rel string) (*Example, error) { return pageFile(rep, path, rel, host, own) })
	}
}

// pageFile reads a file as a page of the URL that it was saved from, or of a made-up one; nil
// if it is none.
func pageFile(rep *Report, path, rel, host string, own ownURLs) (e *Example, err error) {
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

// eachRow calls yield with what read makes of the files below dir/sub, given with their
// paths from dir, until it returns false; eachRow then does too. nil is no row.
func eachRow(rep *Report, dir, sub string, yield func(*Example, error) bool, read func(path, rel string) (*Example, error)) bool {
	return eachFile(rep, dir, sub, func(path string, err error) bool {
		var e *Example
		if err == nil {
			rel, _ := filepath.Rel(dir, path) // path is below dir
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

// eachFile calls do with the files below dir/sub in the order of their names, hidden
// ones left out, until it returns false; eachFile then does too. What is no file of dir,
// as a link out of it, is skipped.
func eachFile(rep *Report, dir, sub string, do func(path string, err error) bool) bool {
	top := filepath.Join(dir, sub)
	if filepath.Clean(sub) == "." {
		top += string(filepath.Separator) // dir itself may be a link
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
		if why := reading.Within(dir, path, d); why != "" {
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

// errStop ends a walk that its reader broke off.
var errStop = errors.New("stopped")

// readPage reads one file as a page. Text that begins like markup is markup,
// whatever the file is called.
func readPage(rep *Report, path string, text bool) (*Example, error) {
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
	body, err := reading.All(path, maxFileBytes)
	if errors.Is(err, reading.ErrSize) {
		err = fmt.Errorf("%w as a page; take it out of the set", err)
	}
	return body, err
}

// decode returns body as UTF-8: as it stands if it is, else by its byte order
// mark or <meta>, else as Windows-1252, which is what browsers do.
func decode(rep *Report, path string, body []byte) string {
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

// madeUpURL names a page whose set gives it no URL: the same file always gets
// the same name, and the name tells nothing of its label.
func madeUpURL(host, rel string) string {
	sum := sha256.Sum256([]byte(filepath.ToSlash(rel)))
	return fmt.Sprintf("http://%s/%x", host, sum[:8])
}

// hostOf makes a host name of a folder's name, below the reserved .example.
func hostOf(dir string) string {
	name := filepath.Base(dir)
	if abs, err := filepath.Abs(dir); err == nil { // "." has no name of its own
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
	// One hyphen at a time: "xn--" would say that the rest is punycode.
	label = strings.Join(strings.FieldsFunc(label[:min(len(label), 63)], func(r rune) bool { return r == '-' }), "-")
	if label == "" {
		label = "set"
	}
	return label + madeUpHost
}
