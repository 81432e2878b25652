package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"fossick/internal/printable"
)

// Labels is what the truth says of one page.
type Labels struct {
	Label string
	All   []string // finer, coarser or further labels; may repeat Label or be empty
}

// Match reports whether label is the page's label or one of its others.
func (l Labels) Match(label string) bool {
	return label != "" && (l.Label == label || slices.Contains(l.All, label))
}

// Truth is the labels of a corpus's pages by URL. Its URLs are compared in their
// normal form, so that a crawl's URLs are found whatever their spelling.
type Truth struct {
	byURL map[string]Labels

	// Repeated counts rows whose URL had come before; such a page keeps its
	// first label and has the later ones among its others.
	Repeated int
}

// Len returns the number of pages.
func (t *Truth) Len() int { return len(t.byURL) }

// Of returns the labels of a page, false when the truth does not know it.
func (t *Truth) Of(url string) (Labels, bool) {
	l, ok := t.byURL[URLKey(url)]
	return l, ok
}

// Targets returns the normal forms of the pages that match label, sorted.
func (t *Truth) Targets(label string) []string {
	var urls []string
	for u, l := range t.byURL {
		if l.Match(label) {
			urls = append(urls, u)
		}
	}
	slices.Sort(urls)
	return urls
}

// Names returns every label that matches a page, with the number of its pages.
func (t *Truth) Names() map[string]int {
	n := map[string]int{}
	for _, l := range t.byURL {
		seen := map[string]bool{}
		for _, name := range append([]string{l.Label}, l.All...) {
			if name != "" && !seen[name] {
				seen[name] = true
				n[name]++
			}
		}
	}
	return n
}

// Known says whether label matches any page, and if not, which labels do: a
// misspelt target must not look like a crawl without success.
func (t *Truth) Known(label string) error {
	names := t.Names()
	if names[label] > 0 {
		return nil
	}
	return fmt.Errorf("label %q matches no page of the truth; it has %s", label, printable.SomeNames(label, printable.SortedKeys(names)))
}

func (t *Truth) add(url string, l Labels) {
	key := URLKey(url)
	old, again := t.byURL[key]
	if !again {
		t.byURL[key] = l
		return
	}
	t.Repeated++
	for _, name := range append([]string{l.Label}, l.All...) {
		if !old.Match(name) {
			old.All = append(old.All, name)
		}
	}
	t.byURL[key] = old
}

// ReadTruth reads a file of url TAB label TAB label|label…; the third column may
// be missing. .gz and .zst are decompressed; empty lines and lines that begin
// with # are passed over.
func ReadTruth(path string) (*Truth, error) {
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return nil, fmt.Errorf("truth %s: no such file; give a file with url TAB label a line", path)
	}
	t := &Truth{byURL: map[string]Labels{}}
	var first error
	eachLine(path, func(n int, line []byte, err error) bool {
		if err != nil {
			first = broken(path, n, err)
			return false
		}
		if skipLine(line) {
			return true
		}
		url, l, err := parseTruth(string(line))
		if err != nil {
			first = &RowError{path, n, err}
			return false
		}
		t.add(url, l)
		return true
	})
	if first != nil {
		return nil, fmt.Errorf("truth: %w", first)
	}
	if t.Len() == 0 {
		return nil, fmt.Errorf("truth %s: no rows; want url TAB label a line", path)
	}
	return t, nil
}

// Truth reads the labels of a set's own rows; rows without one are left out.
func (s *Set) Truth() (*Truth, error) {
	t := &Truth{byURL: map[string]Labels{}}
	for e, err := range s.Examples() {
		if err != nil {
			return nil, err
		}
		if e.Label != "" {
			t.add(e.URL, Labels{e.Label, e.Labels})
		}
	}
	if t.Len() == 0 {
		return nil, fmt.Errorf("set %s: no row has a label; give a truth file, or put labels.tsv beside the pages", s.name)
	}
	return t, nil
}

func parseTruth(line string) (url string, l Labels, err error) {
	cols := strings.Split(line, "\t")
	if len(cols) < 2 || len(cols) > 3 {
		return "", l, fmt.Errorf("%d columns; want url TAB label, or url TAB label TAB label|label", len(cols))
	}
	url, l.Label = strings.TrimSpace(cols[0]), strings.TrimSpace(cols[1])
	if url == "" {
		return "", l, errors.New("no URL before the first tab; want url TAB label")
	}
	if l.Label == "" {
		return "", l, fmt.Errorf("no label for %s; write one, say other", url)
	}
	if len(cols) == 3 {
		for name := range strings.SplitSeq(cols[2], "|") {
			if name = strings.TrimSpace(name); name != "" {
				l.All = append(l.All, name)
			}
		}
	}
	return url, l, nil
}

// skipLine reports whether a line of a TSV file holds nothing.
func skipLine(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) == 0 || line[0] == '#'
}
