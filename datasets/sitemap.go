package datasets

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"fossick/internal/fileio"
	"fossick/internal/page"
)

// ErrNoPages reports a sitemap whose pages have no files beside it.
var ErrNoPages = errors.New("none of the pages that it names has a file beside it")

// Reasons for skipping an entry.
const (
	noFile  = "the sitemap names it, but no file beside the sitemap has it"
	tooDeep = "a sitemap that an index names is an index itself"
	noHTML  = "the file that the sitemap names is not a page"
)

var sitemapNames = []string{"sitemap.xml", "sitemap.xml.gz", "sitemap_index.xml", "sitemap_index.xml.gz"}

func sitemapOf(dir string) string {
	for _, name := range sitemapNames {
		if path := filepath.Join(dir, name); fileio.Regular(path) {
			return path
		}
	}
	return ""
}

func isSitemap(path string) bool {
	return strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".xml")
}

// mirror is one pass over a sitemap and the pages in its folder.
type mirror struct {
	rep   *passReport
	yield func(*Example, error) bool
	dir   string
	own   ownURLs
	pages int
	first string // first URL without a file
	on    bool   // the consumer wants more rows
}

// readSitemap reads the pages of a sitemap, in its order. They lie below its folder, named as mirroring
// programs name them; see files.
func readSitemap(path string) reader {
	return func(rep *passReport, yield func(*Example, error) bool) {
		m := &mirror{rep: rep, yield: yield, dir: filepath.Dir(path), own: ownURLs{}, on: true}
		m.read(path, true)
		if m.on && m.pages == 0 && rep.Errors == 0 {
			where := ""
			if m.first != "" {
				where = fmt.Sprintf("; of %s one of these would be: %s", m.first, strings.Join(files(m.first), ", "))
			}
			yield(nil, fmt.Errorf("sitemap %s: %w%s", path, ErrNoPages, where))
		}
	}
}

// read reads one sitemap. From an index it follows the sitemaps beside it.
func (m *mirror) read(path string, mayIndex bool) {
	f, err := fileio.Open(path)
	if err != nil {
		m.fail(fmt.Errorf("sitemap %s: %w", path, err))
		return
	}
	defer f.Close()
	var further []string
	err = page.ReadSitemap(f, "", func(e page.SitemapEntry) bool {
		switch {
		case !e.Map:
			m.page(e)
		case mayIndex:
			further = append(further, e.URL)
		default:
			m.rep.skip(tooDeep, path)
			return false
		}
		return m.on
	})
	if err != nil && m.on {
		m.fail(fmt.Errorf("%s: %w: %w", path, ErrCut, err))
	}
	for _, u := range further {
		if m.on {
			m.further(u)
		}
	}
}

func (m *mirror) further(u string) {
	if file := m.find(u); file != "" {
		m.read(file, false)
		return
	}
	m.rep.skip(noFile, u)
}

func (m *mirror) fail(err error) {
	m.on = m.on && m.yield(nil, err)
}

func (m *mirror) page(entry page.SitemapEntry) {
	u := httpURL(entry.URL)
	if u == "" {
		return
	}
	if u = m.own.take(u); u == "" {
		return // repeats an earlier entry
	}
	file := m.find(u)
	if file == "" {
		m.first = cmp.Or(m.first, u)
		m.rep.skip(noFile, u)
		return
	}
	e, err := m.saved(file)
	switch {
	case err != nil:
		m.on = m.yield(nil, &RowError{file, 0, err})
	case e != nil:
		e.URL = u
		if !entry.Modified.IsZero() {
			e.Fields = map[string]string{"lastmod": entry.Modified.UTC().Format(time.RFC3339)}
		}
		m.pages++
		m.on = m.yield(e, nil)
	}
}

// saved reads a page's file, or returns nil if it is not a page. It checks the content because names
// tell little: a page may be called list.php?page=2.
func (m *mirror) saved(file string) (*Example, error) {
	if isMHTML(file) {
		e, _, err := mhtmlFile(file)
		return e, err
	}
	if !isPageFile(file) && !beginsLikeHTML(file) {
		m.rep.skip(noHTML, file)
		return nil, nil
	}
	return readPage(m.rep, file, strings.EqualFold(filepath.Ext(file), ".txt"))
}

func beginsLikeHTML(file string) bool {
	f, err := fileio.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 1024))
	return err == nil && looksLikeHTML(string(head))
}

func (m *mirror) find(u string) string {
	for _, name := range files(u) {
		path := filepath.Join(m.dir, filepath.FromSlash(name))
		if fileio.Regular(path) && m.inside(path) {
			return path
		}
	}
	return ""
}

// inside reports whether a file is below the folder after resolving symbolic links.
func (m *mirror) inside(path string) bool {
	root, err := filepath.EvalSymlinks(m.dir)
	if err != nil {
		return false
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(root, target)
	return err == nil && filepath.IsLocal(rel)
}

// files returns the candidate file names of a URL's copy, likeliest first: with the host (as wget and
// HTTrack save) or without, index.html for folders, .html for names without it. A query is part of the
// name.
func files(raw string) (names []string) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil
	}
	path, query := strings.TrimPrefix(u.Path, "/"), ""
	if u.RawQuery != "" {
		query = "?" + u.RawQuery
		if plain, err := url.QueryUnescape(u.RawQuery); err == nil {
			query = "?" + plain
		}
	}
	var ends []string
	if path == "" || strings.HasSuffix(path, "/") {
		ends = []string{path + "index.html" + query, path + "index.htm" + query}
	} else {
		ends = []string{path + query, path + query + ".html", path + query + ".htm"}
		if query == "" {
			ends = append(ends, path+"/index.html", path+"/index.htm")
		}
	}
	hosts := []string{u.Host + "/"}
	if host := u.Hostname(); host != u.Host {
		hosts = append(hosts, host+"_"+u.Port()+"/", host+"/")
	}
	for _, host := range append(hosts, "") {
		for _, end := range ends {
			if name := host + end; filepath.IsLocal(filepath.FromSlash(name)) {
				names = append(names, name)
			}
		}
	}
	return names
}
