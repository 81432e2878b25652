package propose

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"

	"fossick/datasets"
	"fossick/internal/page"
	"fossick/models/features"
)

// Open opens what start pages can be proposed from: a set, else a sitemap or a list of URLs or links.
// Rows that cannot be read are logged.
func Open(path string, open datasets.Opener, log *slog.Logger) (Source, error) {
	set, err := open(path, datasets.Options{})
	info, statErr := os.Stat(path)
	isFile := statErr == nil && !info.IsDir()
	switch {
	case err == nil && !(isFile && withoutPages(set)):
		return parsedCandidates(log, set.Examples()), nil
	case err != nil && !(isFile && errors.Is(err, datasets.ErrLayout)):
		return nil, err
	}
	file := func() (io.ReadCloser, error) { return datasets.OpenFile(path) }
	xml, err := isXML(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if xml {
		return sitemapCandidates(path, file), nil
	}
	return list(file), nil
}

// withoutPages says whether a set is a sitemap alone, of which there is no page.
func withoutPages(set *datasets.Set) bool {
	for _, err := range set.Examples() {
		return errors.Is(err, datasets.ErrNoPages)
	}
	return false
}

// parsed is a candidate on its way, in the order of the source.
type parsed struct {
	done chan struct{}
	e    *Candidate // nil: not a page of the web
	err  error
}

// parsedCandidates parses the pages of a set on all cores, and yields them in its order. Rows that
// cannot be read, and those without an http URL, are left out.
func parsedCandidates(log *slog.Logger, rows datasets.Stream) Source {
	return func(yield func(*Candidate, error) bool) {
		queue := make(chan *parsed, 4*runtime.GOMAXPROCS(0))
		stop := make(chan struct{})
		go parseAhead(rows, queue, stop)
		defer func() {
			close(stop)
			for range queue { // until its sender is gone
			}
		}()
		for p := range queue {
			<-p.done
			switch {
			case p.err != nil && datasets.IsRow(p.err):
				log.Warn("row left out", "err", p.err)
			case p.err != nil:
				yield(nil, p.err)
				return
			case p.e != nil && !yield(p.e, nil):
				return
			}
		}
	}
}

// parseAhead reads rows and has each parsed by a goroutine of its own, as many at a time as the queue
// has room for. It is the queue's only sender and closes it, when all goroutines have ended.
func parseAhead(rows datasets.Stream, queue chan<- *parsed, stop <-chan struct{}) {
	defer close(queue)
	cores := make(chan struct{}, runtime.GOMAXPROCS(0))
	defer func() {
		for range cap(cores) {
			cores <- struct{}{}
		}
	}()
	for e, err := range rows {
		p := &parsed{done: make(chan struct{}), err: err}
		if err != nil {
			close(p.done)
		} else {
			own := *e // the set may hand out its own memory
			cores <- struct{}{}
			go func() {
				defer func() { <-cores; close(p.done) }()
				parsePage(p, &own)
			}()
		}
		select {
		case queue <- p:
		case <-stop:
			return
		}
	}
}

func parsePage(p *parsed, e *datasets.Example) {
	if bareURL(e.URL) == nil {
		return
	}
	if page, err := e.Page(); err == nil { // else a body that is no page
		p.e = candidateOf(page)
	}
}

// sitemapCandidates are the pages that a sitemap names. An index names none: it is an error that lists
// the first of its sitemaps.
func sitemapCandidates(path string, open func() (io.ReadCloser, error)) Source {
	return func(yield func(*Candidate, error) bool) {
		r, err := open()
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.Close() // opened for reading: nothing can be lost
		var further []string
		pages, on := 0, true
		err = page.ReadSitemap(r, "", func(e page.SitemapEntry) bool {
			if e.Map {
				further = append(further, e.URL)
			} else if c := bareURL(e.URL); c != nil {
				pages++
				on = yield(c, nil)
			}
			return on
		})
		switch {
		case !on:
		case err != nil:
			yield(nil, fmt.Errorf("%s: %w", path, err))
		case pages == 0 && len(further) > 0:
			yield(nil, fmt.Errorf("%s is an index of %d sitemaps; fetch them and give one of them, as %s", path, len(further), further[0]))
		}
	}
}

// isXML reports whether a file begins like a sitemap in XML.
func isXML(open func() (io.ReadCloser, error)) (bool, error) {
	r, err := open()
	if err != nil {
		return false, err
	}
	defer r.Close()
	head, err := io.ReadAll(io.LimitReader(r, 512))
	if err != nil {
		return false, err
	}
	text := strings.TrimLeft(strings.TrimPrefix(string(head), "\ufeff"), " \t\r\n")
	return strings.HasPrefix(text, "<"), nil
}

// candidateOf is a stored page as a candidate.
func candidateOf(p *page.Page) *Candidate {
	e := &Candidate{URL: p.URL, Doc: features.Doc(p.Fields()), Links: make([]Link, 0, len(p.Links))}
	for _, l := range p.Links {
		if !l.NoFollow {
			e.Links = append(e.Links, Link{URL: l.URL, Words: l.Anchor})
		}
	}
	return e
}

// maxLine bounds a line of a list.
const maxLine = 1 << 20

// list reads a list of URLs or links, a line each, # comments:
//
//	URL
//	URL TAB words that say something of it
//	URL TAB URL of a page that it links to
//	URL TAB URL of a page that it links to TAB words of the link
//
// Links of one page that stand in a row are those of one candidate; then all pages that are linked to
// are candidates as well. A URL in no http form is left out. open is called once a pass, twice where
// there are links.
func list(open func() (io.ReadCloser, error)) Source {
	return func(yield func(*Candidate, error) bool) {
		links, ok := readList(open, pages, yield)
		if ok && links {
			readList(open, targets, yield)
		}
	}
}

// What a reading of a list hands out.
const (
	pages = iota
	targets
)

// readList makes one pass. It reports whether there are links, and whether to go on.
func readList(open func() (io.ReadCloser, error), what int, yield func(*Candidate, error) bool) (links, ok bool) {
	r, err := open()
	if err != nil {
		return false, yield(nil, err)
	}
	defer r.Close() // opened for reading: nothing can be lost
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var at *Candidate // of links in a row
	n := 0
	for lines.Scan() {
		n++
		e, isLink := parseLine(lines.Text())
		links = links || isLink
		switch {
		case e == nil:
			continue
		case what == targets:
			if isLink && !yield(bare(e.Links[0].URL, e.Links[0].Words), nil) {
				return links, false
			}
			continue
		case at != nil && at.URL == e.URL:
			if len(at.Links) < keptLinks {
				at.Links = append(at.Links, e.Links...)
			}
			if at.Words == "" {
				at.Words = e.Words
			}
			continue
		case at != nil && !yield(at, nil):
			return links, false
		}
		at = e
	}
	if at != nil && !yield(at, nil) {
		return links, false
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("%w; want one URL a line", err)
		}
		return links, yield(nil, fmt.Errorf("line %d: %w", n+1, err))
	}
	return links, true
}

// parseLine reads one line; nil when it names no page.
func parseLine(line string) (e *Candidate, link bool) {
	fields := strings.Split(strings.TrimRight(line, " \r"), "\t")
	first := strings.TrimSpace(fields[0])
	if first == "" || strings.HasPrefix(first, "#") {
		return nil, false
	}
	url, err := page.Normalize(first)
	if err != nil {
		return nil, false
	}
	fields = slices.DeleteFunc(fields[1:], func(f string) bool { return strings.TrimSpace(f) == "" })
	if len(fields) == 0 {
		return bare(url, ""), false
	}
	to, err := page.Normalize(strings.TrimSpace(fields[0]))
	if err != nil {
		return bare(url, strings.Join(fields, " ")), false
	}
	e = bare(url, "")
	e.Links = []Link{{URL: to, Words: strings.Join(fields[1:], " ")}}
	return e, true
}

// bare is a candidate of which nothing but the URL, and some words, is known.
func bare(url, words string) *Candidate {
	return &Candidate{URL: url, Words: words, Doc: features.Doc{URL: url}}
}

// bareURL returns the candidate of a URL in any form of which nothing else is known; it is nil when
// that is no http URL.
func bareURL(url string) *Candidate {
	u, err := page.Normalize(strings.TrimSpace(url))
	if err != nil {
		return nil
	}
	return bare(u, "")
}
