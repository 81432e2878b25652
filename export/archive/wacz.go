package archive

import (
	"archive/zip"
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"slices"
	"time"

	"fossick/export"
)

// WACZ writes one zip file with archives, their index, a list of pages and digests of them
// all: WACZ, which browsers replay without a server of archives.
type WACZ struct {
	*WARC
	index *index
	pages *os.File // their list, until the archives in front of it are written
	list  *bufio.Writer

	to        io.WriteCloser // nil when it is closed
	zip       *zip.Writer
	resources []resource
	home      *home     // the first page
	names     []string  // of collections
	newest    time.Time // of a page; nothing in the file depends on the clock
}

// resource is a file of the package.
type resource struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`
}

// home is the page that a reader shows first.
type home struct {
	URL string `json:"url"`
	TS  string `json:"ts"`
}

// NewWACZ begins a file of that name.
func NewWACZ(at export.Place, name string) (*WACZ, error) {
	pages, err := os.CreateTemp("", "fossick-pages-")
	if err != nil {
		return nil, fmt.Errorf("temporary file of pages: %w; set TMPDIR to a folder that can be written to", err)
	}
	to, err := at.Create(name)
	if err != nil {
		return nil, errors.Join(err, pages.Close(), os.Remove(pages.Name()))
	}
	s := &WACZ{index: newIndex(), pages: pages, list: bufio.NewWriter(pages), to: to, zip: zip.NewWriter(to)}
	s.WARC = newWARC("data", func(file string) (io.WriteCloser, error) {
		return s.begin("archive/"+file, zip.Store, s.first.page.Fetched) // readers look up records in it
	}, s.add)
	_, err = s.list.WriteString(`{"format":"json-pages-1.0","id":"pages","title":"Pages"}` + "\n")
	return s, err
}

// add lists a page that was written.
func (s *WACZ) add(c capture) error {
	if c.at.After(s.newest) {
		s.newest = c.at
	}
	if !c.own {
		return s.index.add(c)
	}
	p := c.page
	at := home{oneLine(p.URL), p.Fetched.UTC().Format(time.RFC3339)}
	if s.home == nil {
		s.home = &at
	}
	if !slices.Contains(s.names, p.Source.Name) {
		s.names = append(s.names, p.Source.Name)
	}
	line, err := jsonLine(struct {
		ID string `json:"id"`
		home
		Title string `json:"title,omitempty"`
		Size  int    `json:"size"`
	}{p.ID, at, p.Title, len(p.Body)})
	if err != nil {
		return err
	}
	if _, err := s.list.WriteString(line); err != nil {
		return err
	}
	return s.index.add(c)
}

// entry is a file in the package. The one before it has to be closed.
type entry struct {
	of   *WACZ
	name string
	to   io.Writer
	sum  hash.Hash
	n    int64
}

func (s *WACZ) begin(name string, method uint16, date time.Time) (*entry, error) {
	to, err := s.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: date.UTC()})
	return &entry{of: s, name: name, to: to, sum: sha256.New()}, err
}

func (e *entry) Write(b []byte) (int, error) {
	n, err := e.to.Write(b)
	e.sum.Write(b[:n])
	e.n += int64(n)
	return n, err
}

// Close enters the file into the list of resources.
func (e *entry) Close() error {
	e.of.resources = append(e.of.resources, resource{path.Base(e.name), e.name, fmt.Sprintf("sha256:%x", e.sum.Sum(nil)), e.n})
	return nil
}

// file writes a whole file.
func (s *WACZ) file(name string, write func(io.Writer) error) error {
	e, err := s.begin(name, zip.Deflate, s.newest)
	if err != nil {
		return err
	}
	if err := write(e); err != nil {
		return err
	}
	return e.Close()
}

// Finish implements export.Sink.
func (s *WACZ) Finish(ctx context.Context) error {
	if err := s.WARC.Finish(ctx); err != nil {
		return err
	}
	if err := s.file("indexes/index.cdx", func(w io.Writer) error { return s.index.write(ctx, w) }); err != nil {
		return err
	}
	if err := s.file("pages/pages.jsonl", s.writePages); err != nil {
		return err
	}
	if err := s.describe(); err != nil {
		return err
	}
	return errors.Join(s.zip.Close(), s.close())
}

func (s *WACZ) writePages(w io.Writer) error {
	if err := s.list.Flush(); err != nil {
		return err
	}
	if _, err := s.pages.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(w, s.pages)
	return err
}

// describe writes what the package has, and the digest of that.
func (s *WACZ) describe() error {
	date := s.newest.UTC().Format(time.RFC3339)
	title := "no pages"
	if len(s.names) > 0 {
		title = fmt.Sprint("Pages of ", s.names[0])
	}
	for _, name := range s.names[min(1, len(s.names)):] {
		title += ", " + name
	}
	what, err := json.MarshalIndent(struct {
		Profile string `json:"profile"`
		// Version and profile are those of 1.1.1. ReplayWeb.page 2.5.3 refuses the profile of the
		// draft of 1.2, which is "wacz". All else is as that draft has it.
		Version   string     `json:"wacz_version"`
		Title     string     `json:"title"`
		Created   string     `json:"created"`
		Modified  string     `json:"modified"`
		Software  string     `json:"software"`
		Home      *home      `json:"home,omitempty"`
		Resources []resource `json:"resources"`
	}{"data-package", "1.1.1", title, date, date, "fossick", s.home, slices.Clone(s.resources)}, "", "  ")
	if err != nil {
		return err
	}
	digest := fmt.Sprintf("{\n  \"path\": \"datapackage.json\",\n  \"hash\": \"sha256:%x\"\n}\n", sha256.Sum256(what))
	for _, f := range []struct{ name, content string }{{"datapackage.json", string(what)}, {"datapackage-digest.json", digest}} {
		if err := s.file(f.name, func(w io.Writer) error {
			_, err := io.WriteString(w, f.content)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

func (s *WACZ) close() error {
	if s.to == nil {
		return nil
	}
	to := s.to
	s.to = nil
	return to.Close()
}

// Close implements export.Sink.
func (s *WACZ) Close() error {
	return errors.Join(s.WARC.Close(), s.index.close(), s.close(), s.pages.Close(), os.Remove(s.pages.Name()))
}
