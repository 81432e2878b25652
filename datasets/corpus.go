package datasets

import (
	"errors"
	"fmt"
	"iter"
	"strings"
)

func (s *Set) openSitemap(dir, path string) error {
	s.layout, s.read = "sitemap", readSitemap(path)
	return s.openBeside(dir)
}

// openBeside adds the optional links.tsv (source TAB target) and labels.tsv (as in ReadTruth) beside
// the pages. labels.tsv overrides labels in the rows.
func (s *Set) openBeside(dir string) error {
	links, err := one(dir, "links.tsv")
	if err != nil {
		return err
	}
	labels, err := one(dir, "labels.tsv")
	if err != nil {
		return err
	}
	if labels != "" {
		s.read = withLabels(s.read, labels)
	}
	if links != "" {
		s.links = func() iter.Seq2[Link, error] { return readLinks(links) }
	}
	return nil
}

// withLabels joins labels.tsv to the pages. It reads the file anew in each pass, so a set that is only
// served never holds it in memory.
func withLabels(read reader, path string) reader {
	return func(rep *passReport, yield func(*Example, error) bool) {
		truth, err := ReadTruth(path)
		if err != nil {
			yield(nil, err)
			return
		}
		found := map[string]struct{}{}
		read(rep, func(e *Example, err error) bool {
			if err != nil {
				return yield(nil, err)
			}
			key := URLKey(e.URL)
			if l, ok := truth.byURL[key]; ok {
				found[key] = struct{}{}
				e.Label, e.Labels = l.Label, append([]string{l.Label}, l.All...)
				e.uniqueLabels()
			}
			return yield(e, nil)
		})
		rep.Unmatched = truth.Len() - len(found)
	}
}

func (e *Example) uniqueLabels() {
	seen, n := map[string]bool{}, 0
	for _, l := range e.Labels {
		if l != "" && !seen[l] {
			seen[l] = true
			e.Labels[n] = l
			n++
		}
	}
	e.Labels = e.Labels[:n]
}

func readLinks(path string) iter.Seq2[Link, error] {
	return func(yield func(Link, error) bool) {
		eachLine(path, func(n int, line []byte, err error) bool {
			switch {
			case errors.Is(err, errTooLong):
				return yield(Link{}, &RowError{path, n, err})
			case err != nil:
				return yield(Link{}, broken(path, n, err))
			}
			if skipLine(line) {
				return true
			}
			l, err := parseLink(string(line))
			if err != nil {
				return yield(Link{}, &RowError{path, n, err})
			}
			return yield(l, nil)
		})
	}
}

func parseLink(line string) (Link, error) {
	src, dst, ok := strings.Cut(line, "\t")
	if !ok || src == "" || dst == "" {
		return Link{}, errors.New("want source URL TAB target URL")
	}
	if strings.Contains(dst, "\t") {
		return Link{}, fmt.Errorf("%d columns; want source URL TAB target URL", strings.Count(line, "\t")+1)
	}
	return Link{src, dst}, nil
}

// Web describes how a corpus behaves as a web server, beyond its pages.
type Web struct {
	Redirects map[string]Redirect // by URL
	Status    map[string]int      // status of URLs answered without a page
	Robots    map[string]string   // robots.txt by host name; a missing host allows everything
	Traps     []Trap
	Starts    map[string][]string // suggested start pages by label
	Copies    map[string]string   // URLs that serve a copy of the page at another URL
}

// Redirect is an HTTP redirect.
type Redirect struct {
	To     string
	Status int // 301, 302, 303, 307 or 308
}

// Trap is an endless URL space whose pages are generated on request.
type Trap struct {
	Prefix string // prefix of its URLs
	// Page returns the page at a URL with Prefix, or false for 404. It is deterministic and safe for
	// concurrent use.
	Page func(url string) (html string, ok bool)
}
