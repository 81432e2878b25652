package propose

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"fossick/internal/page"
	"fossick/models/features"
)

// maxLine bounds a line of a list.
const maxLine = 1 << 20

// List reads a list of URLs or links, a line each, # comments:
//
//	URL
//	URL TAB words that say something of it
//	URL TAB URL of a page that it links to
//	URL TAB URL of a page that it links to TAB words of the link
//
// Links of one page that stand in a row are those of one candidate; then all pages
// that are linked to are candidates as well. A URL in no http form is left out. open
// is called once a pass, twice where there are links.
func List(open func() (io.ReadCloser, error)) Source {
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

// bareURL returns the candidate of a URL in any form of which nothing else is known; it
// is nil when that is no http URL.
func bareURL(url string) *Candidate {
	u, err := page.Normalize(strings.TrimSpace(url))
	if err != nil {
		return nil
	}
	return bare(u, "")
}
