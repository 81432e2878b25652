package propose

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"fossick/datasets"
	"fossick/internal/cli"
	"fossick/internal/fileio"
	"fossick/internal/page"
)

// inSettings is how many start pages the settings of a crawl hold.
const inSettings = 1000

// StoredSeeds returns the file in which a store keeps its start pages if there are more than 1000.
func StoredSeeds(dir string) string { return filepath.Join(dir, "seeds.txt") }

// startPages collects distinct start pages in the order given.
type startPages struct {
	urls  *page.Normalizer
	known map[string]bool
	URLs  []string // in normal form

	assumed int    // number of addresses without a scheme
	taken   string // the first of them and its assumed URL
}

// NewStartPages returns an empty list that normalises with urls.
func NewStartPages(urls *page.Normalizer) *startPages {
	return &startPages{urls: urls, known: map[string]bool{}}
}

// ReadStartPages collects the named start pages and those in file, if not "". If there are none, the error
// advises how to find some for topic.
func ReadStartPages(urls *page.Normalizer, named []string, file, topic string) (*startPages, error) {
	l := NewStartPages(urls)
	for _, raw := range named {
		if info, err := os.Stat(raw); err == nil && info.Mode().IsRegular() {
			return nil, cli.Usagef("start page %q is a file; to read the start pages in it, give --seeds %s", raw, raw)
		}
		if err := l.Add(raw, ""); err != nil {
			return nil, err
		}
	}
	if file != "" {
		if err := l.addFile(file); err != nil {
			return nil, err
		}
	}
	if len(l.URLs) == 0 {
		return nil, cli.Usagef("no start pages: give some with --seed URL or --seeds FILE; fossick topic propose SOURCE --topic %s -o seeds.txt finds some in a corpus, an old crawl, a sitemap or a list of URLs", cmp.Or(topic, "NAME"))
	}
	return l, nil
}

// Add adds a start page; where is its file and line, or "".
func (l *startPages) Add(raw, where string) error {
	full, assumed := page.WithScheme(raw)
	u, err := l.urls.Normalize(full)
	if err != nil {
		if raw = cli.Cut(raw, 100); where != "" {
			where += ": "
		}
		return cli.Usagef("%sstart page %q: %w; give http or https URLs", where, raw, withoutURL(err))
	}
	if assumed {
		if l.assumed++; l.taken == "" {
			l.taken = fmt.Sprintf("%s is taken as %s", cli.Cut(raw, 100), cli.Cut(u, 100))
		}
	}
	if !l.known[u] {
		l.known[u] = true
		l.URLs = append(l.URLs, u)
	}
	return nil
}

// Assumed describes how addresses without a scheme were read; "" if there were none.
func (l *startPages) Assumed() string {
	switch {
	case l.assumed == 1:
		return fmt.Sprintf("start page %s; write http:// before it if it has no https", l.taken)
	case l.assumed > 1:
		return fmt.Sprintf("start page %s, and so %d more; write http:// before those that have no https", l.taken, l.assumed-1)
	}
	return ""
}

// withoutURL replaces an error of package page by its kind, because its text quotes the whole URL.
func withoutURL(err error) error {
	for _, kind := range []error{page.ErrURL, page.ErrScheme, page.ErrTooLong} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return err
}

func (l *startPages) addFile(path string) error {
	for line, err := range datasets.ReadList(path) {
		if errors.Is(err, fs.ErrNotExist) {
			return cli.Usagef("start pages: %w; give a file with a URL a line", err)
		}
		if err != nil {
			return fmt.Errorf("start pages: %w", err)
		}
		if err := l.Add(line.Text, fmt.Sprintf("%s:%d", path, line.N)); err != nil {
			return err
		}
	}
	return nil
}

// Keep returns the start pages to put in the settings. Of more than 1000 that is only the first, and all are
// written to the store's folder. Call it before writing the settings.
func Keep(dir string, seeds []string) ([]string, error) {
	if len(seeds) <= inSettings {
		return seeds, nil
	}
	return seeds[:1], write(StoredSeeds(dir), seeds)
}

// write replaces a file of start pages atomically.
func write(path string, seeds []string) error {
	err := fileio.Write(path, 0o644, func(f *os.File) error {
		w := bufio.NewWriter(f)
		for _, u := range seeds {
			io.WriteString(w, u+"\n") // Flush returns the error
		}
		return w.Flush()
	})
	if err != nil {
		return fmt.Errorf("start pages of the crawl: %w; make room, or give another folder with --store", err)
	}
	return nil
}
