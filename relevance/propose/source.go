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

// Open opens a source of candidates: a set, or else a sitemap or a list of URLs or links. It logs
// unreadable rows.
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

// withoutPages reports whether a set is a sitemap without page files.
func withoutPages(set *datasets.Set) bool {
	for _, err := range set.Examples() {
		return errors.Is(err, datasets.ErrNoPages)
	}
	return false
}

// parsed is a candidate being parsed, in source order.
type parsed struct {
	done chan struct{}
	e    *Candidate // nil: not a web page
	err  error
}

// parsedCandidates parses the pages of a set on all cores and yields them in order. It skips unreadable
// rows and rows without an http URL.
func parsedCandidates(log *slog.Logger, rows datasets.Stream) Source {
	return func(yield func(*Candidate, error) bool) {
		queue := make(chan *parsed, 4*runtime.GOMAXPROCS(0))
		stop := make(chan struct{})
		go parseAhead(rows, queue, stop)
		defer func() {
			close(stop)
			for range queue { // drain until the sender closes it
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

// parseAhead starts one parsing goroutine per row, at most one per core. It is the only sender on queue,
// and closes it when all goroutines have ended.
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
			own := *e // the set may reuse its memory
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
	if page, err := e.Page(); err == nil { // otherwise the body is not a page
		p.e = candidateOf(page)
	}
}

// sitemapCandidates yields the URLs of a sitemap. A sitemap index is an error that lists its first
// sitemaps.
func sitemapCandidates(path string, open func() (io.ReadCloser, error)) Source {
	return func(yield func(*Candidate, error) bool) {
		r, err := open()
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.Close() // read-only: nothing can be lost
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

// candidateOf converts a stored page, without its nofollow links.
func candidateOf(p *page.Page) *Candidate {
	e := &Candidate{URL: p.URL, Doc: features.Doc(p.Fields()), Links: make([]Link, 0, len(p.Links))}
	for _, l := range p.Links {
		if !l.NoFollow {
			e.Links = append(e.Links, Link{URL: l.URL, Words: l.Anchor})
		}
	}
	return e
}

const maxLine = 1 << 20

// list reads a list of URLs or links, one per line, with # comments:
//
//	URL
//	URL TAB words about it
//	URL TAB URL of a page that it links to
//	URL TAB URL of a page that it links to TAB words of the link
//
// Consecutive links of one page form one candidate; all link targets follow as candidates. Invalid URLs are
// skipped. It calls open once per pass, and makes a second pass if there are links.
func list(open func() (io.ReadCloser, error)) Source {
	return func(yield func(*Candidate, error) bool) {
		links, ok := readList(open, pages, yield)
		if ok && links {
			readList(open, targets, yield)
		}
	}
}

// What a pass over a list yields.
const (
	pages = iota
	targets
)

// readList makes one pass. It reports whether there are links, and whether to continue.
func readList(open func() (io.ReadCloser, error), what int, yield func(*Candidate, error) bool) (links, ok bool) {
	r, err := open()
	if err != nil {
		return false, yield(nil, err)
	}
	defer r.Close() // read-only: nothing can be lost
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var at *Candidate // of consecutive links
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

// parseLine reads one line; nil if it names no page.
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

func bare(url, words string) *Candidate {
	return &Candidate{URL: url, Words: words, Doc: features.Doc{URL: url}}
}

// bareURL returns a candidate for a bare URL, or nil if it is not an http URL.
func bareURL(url string) *Candidate {
	u, err := page.Normalize(strings.TrimSpace(url))
	if err != nil {
		return nil
	}
	return bare(u, "")
}
