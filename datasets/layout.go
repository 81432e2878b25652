package datasets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"fossick/internal/reading"
)

// ErrLayout reports a path that holds no set that fossick can read.
var ErrLayout = errors.New("not a set that can be read")

const readable = `want "demo"; a .jsonl file (.gz, .zst) of objects with url and html or text; ` +
	`a table, .parquet; a sitemap, .xml, with its pages beside it; a web archive, .warc (.gz, .zst) or .wacz, or a folder of the former; a folder with pages.jsonl; a folder of one folder a label; a folder of .html, .mhtml or .txt pages without labels; ` +
	`or the layout of WebKB or 20 Newsgroups`

// Open recognises what a path holds. Nothing but names is read until the set is
// ranged over. The errors are fs.ErrNotExist and ErrLayout, wrapped.
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
	if err := s.openFolder(path, opt); err != nil {
		return nil, fmt.Errorf("folder %s: %w", path, err)
	}
	return s, nil
}

// IsFile says whether a file of this name is a set, of pages that are many.
func IsFile(path string) bool {
	return strings.HasSuffix(path, ".parquet") || strings.HasSuffix(path, ".wacz") || warcName.MatchString(path) || isJSONL(path) || isSitemap(path)
}

func (s *Set) openFolder(dir string, opt Options) error {
	pages, err := one(dir, "pages.jsonl")
	if err != nil {
		return err
	}
	if pages != "" {
		return s.openCorpus(dir, pages)
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
		s.layout, s.read = "20news", readNews(dir, splits, opt.KeepHeaders)
		return nil
	}
	switch looksLike(dir, classes) {
	case "webkb":
		s.layout, s.read = "webkb", readWebKB(dir, classes)
	case "20news":
		s.layout, s.read = "20news", readNews(dir, []newsSplit{{"", ""}}, opt.KeepHeaders)
	default:
		s.layout, s.read = "folders", readFolders(dir, classes)
	}
	return nil
}

// one returns the one file NAME, NAME.gz or NAME.zst of a folder, "" if none.
func one(dir, name string) (string, error) {
	var found string
	for _, ext := range []string{"", ".gz", ".zst"} {
		path := filepath.Join(dir, name+ext)
		if _, err := os.Stat(path); err != nil {
			continue // absent, or not to be read; then it does not count
		}
		if !reading.Regular(path) {
			return "", fmt.Errorf("%w: %s is not a file; %w", ErrLayout, filepath.Base(path), reading.ErrKind)
		}
		if found != "" {
			return "", fmt.Errorf("%w: both %s and %s are there; keep one", ErrLayout, filepath.Base(found), filepath.Base(path))
		}
		found = path
	}
	return found, nil
}

// folders lists the subfolders of dir by name, hidden ones left out and what belongs to a
// saved page.
func folders(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir) // sorted by name
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

// holdsPages reports whether a file in dir, by its name, is a page.
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

// looksLike tells the layouts that are all folders by the first files in them. WebKB
// writes URLs as names, with ^ for /; a newsgroup's posts are numbers.
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
			break // the pass over the set will say it
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
