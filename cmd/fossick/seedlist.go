package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"fossick/internal/printable"
	"fossick/internal/wholefile"
	"fossick/page"
)

// A crawl keeps its start pages, for the file of --seeds may be gone when it is
// resumed: a few among its settings, many in a file of their own, since settings
// are one record and a record has to fit into one batch.

// seedsInSettings is how many start pages are kept among a crawl's settings.
const seedsInSettings = 1000

// storedSeeds is where a store keeps the start pages of its crawl when they are many.
func storedSeeds(dir string) string { return filepath.Join(dir, "seeds.txt") }

// seedList collects start pages in normal form, each once, in the order given.
type seedList struct {
	urls  *page.Normalizer
	known map[string]bool
	seeds []string

	assumed int    // addresses without a scheme
	taken   string // the first of them, and what it is taken as
}

func newSeedList(urls *page.Normalizer) *seedList {
	return &seedList{urls: urls, known: map[string]bool{}}
}

// add takes a start page; where says which line of which file named it, or is "".
func (l *seedList) add(raw, where string) error {
	full, assumed := withScheme(raw)
	u, err := l.urls.Normalize(full)
	if err != nil {
		if raw = printable.Cut(raw, 100); where != "" {
			where += ": "
		}
		return usageError{fmt.Errorf("%sstart page %q: %w; give http or https URLs", where, raw, withoutURL(err))}
	}
	if assumed {
		if l.assumed++; l.taken == "" {
			l.taken = fmt.Sprintf("%s is taken as %s", printable.Cut(raw, 100), printable.Cut(u, 100))
		}
	}
	if !l.known[u] {
		l.known[u] = true
		l.seeds = append(l.seeds, u)
	}
	return nil
}

// tellAssumed says what addresses without a scheme are taken as.
func (l *seedList) tellAssumed(a *app) {
	switch {
	case l.assumed == 1:
		a.say("start page %s; write http:// before it if it has no https", l.taken)
	case l.assumed > 1:
		a.say("start page %s, and so %d more; write http:// before those that have no https", l.taken, l.assumed-1)
	}
}

// withoutURL is the kind of an error of page's, whose text quotes the whole URL.
func withoutURL(err error) error {
	for _, kind := range []error{page.ErrURL, page.ErrScheme, page.ErrTooLong} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return err
}

// addFile takes the start pages of a file, one a line.
func (l *seedList) addFile(path string) error {
	for line, err := range listLines(path) {
		if errors.Is(err, fs.ErrNotExist) {
			return usageError{fmt.Errorf("start pages: %w; give a file with a URL a line", err)}
		}
		if err != nil {
			return fmt.Errorf("start pages: %w", err)
		}
		if err := l.add(line.text, fmt.Sprintf("%s:%d", path, line.n)); err != nil {
			return err
		}
	}
	return nil
}

// keepSeeds returns what the settings are to have of the start pages; the store's
// folder gets the others, before the settings are written.
func keepSeeds(dir string, seeds []string) ([]string, error) {
	if len(seeds) <= seedsInSettings {
		return seeds, nil
	}
	return seeds[:1], writeSeeds(storedSeeds(dir), seeds)
}

// writeSeeds writes start pages, one a line, to a file that is replaced only once
// the new one is whole.
func writeSeeds(path string, seeds []string) error {
	err := wholefile.Write(path, 0o644, func(f *os.File) error {
		w := bufio.NewWriter(f)
		for _, u := range seeds {
			io.WriteString(w, u+"\n") // Flush has the error
		}
		return w.Flush()
	})
	if err != nil {
		return fmt.Errorf("start pages of the crawl: %w; make room, or name another folder with --store", err)
	}
	return nil
}
