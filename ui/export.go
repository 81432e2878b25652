package ui

import (
	"archive/zip"
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fossick/export"
	"fossick/internal/cli"
	"fossick/internal/fileio"
	"fossick/store"
)

// streamed are the formats that are written page by page; the others come when they are complete.
var streamed = []string{"csv", "jsonl", "parquet", "text", "urls"}

// media are the types of files by their endings.
var media = map[string]string{
	".csv": "text/csv; charset=utf-8", ".jsonl": "application/jsonl", ".parquet": "application/vnd.apache.parquet", ".txt": "text/plain; charset=utf-8",
	".zip": "application/zip", ".gexf": "application/xml", ".graphml": "application/xml", ".wacz": "application/wacz+zip", ".sqlite": "application/vnd.sqlite3",
}

// downloads are the formats of a download: a list of URLs, and those of the verb that make files of the
// pages alone.
func downloads() (all []export.Format) {
	all = append(all, export.Format{Name: "urls", File: "pages.txt"})
	for _, f := range export.Formats() {
		if f.File != "" && f.Name != "card" && f.Name != export.Tables {
			all = append(all, f)
		}
	}
	return all
}

// export answers GET /export: the pages of a filter as a file. Pages whose owners refuse the crawl's
// purpose are left out, as in the verb.
func (f *Interface) export(w http.ResponseWriter, r *http.Request) {
	began := false
	if err := f.download(r, func(name, media string) io.Writer {
		began = true
		w.Header().Set("Content-Type", media)
		w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
		return hasty{r.Context(), w}
	}); err != nil {
		if began {
			panic(http.ErrAbortHandler) // the client must not take the part for the whole
		}
		fail(w, statusOf(err), err.Error())
	}
}

// hasty writes an answer until ctx ends or the client stops reading: a crawl may wait for its end.
type hasty struct {
	ctx context.Context
	w   http.ResponseWriter
}

func (h hasty) Write(b []byte) (n int, err error) {
	control := http.NewResponseController(h.w)
	for len(b) > 0 && err == nil {
		part := b[:min(len(b), hastyBytes)]
		if n, err = h.write(control, part, n); err == nil {
			b = b[len(part):]
		}
	}
	return n, err
}

// hastyBytes is how much a client must read in stallsIn; Parquet is written by megabytes.
const hastyBytes = 16 << 10

// write writes a part, and returns how much was written with the n bytes before it.
func (h hasty) write(control *http.ResponseController, part []byte, n int) (int, error) {
	_ = control.SetWriteDeadline(time.Now().Add(stallsIn))
	defer context.AfterFunc(h.ctx, func() { _ = control.SetWriteDeadline(time.Now()) })()
	if err := h.ctx.Err(); err != nil {
		return n, err
	}
	wrote, err := h.w.Write(part)
	return n + wrote, err
}

func (f *Interface) download(r *http.Request, begin func(name, media string) io.Writer) error {
	name, formats := r.URL.Query().Get("format"), downloads()
	n := slices.IndexFunc(formats, func(f export.Format) bool { return f.Name == name })
	if n < 0 {
		var names []string
		for _, f := range formats {
			names = append(names, f.Name)
		}
		return cli.Usagef("format=%.50q: want one of %s", name, cli.SomeNames(name, names))
	}
	format := formats[n]
	sel, done, s, complete, err := f.selected(r.Context(), r.URL.Query())
	if err != nil {
		return err
	}
	defer done()
	if err := f.index.whole(complete); err != nil {
		return err
	}
	if sel.found > mostHits {
		return cli.Usagef("the search finds %d pages, and a download has the best %d at most; give more words", sel.found, mostHits)
	}
	numbers, others := map[uint64]bool{}, []store.ID{}
	for _, one := range sel.rows {
		if one.number != 0 {
			numbers[uint64(one.number)] = true
		} else if name == "urls" {
			others = append(others, store.ID(one.id))
		}
	}
	if len(numbers)+len(others) == 0 {
		return cli.Usagef("no page fits this filter; choose another one, or the format urls for URLs without a page")
	}
	stores, err := export.Open(r.Context(), []string{f.dir}, export.Options{
		Open: func(string) (*store.Store, func() error, error) { return s, func() error { return nil }, nil },
		Text: func(body []byte, p *export.Page, _ export.Want) (string, string) {
			return f.text(body, &store.Page{URL: p.URL, ContentType: p.ContentType})
		},
	})
	if err != nil {
		return err
	}
	defer stores.Close()
	pages, err := stores.Select(r.Context(), export.Choice{Numbers: numbers, Limit: len(numbers)}, format.Want)
	if err != nil {
		return err
	}
	open := func(ending string) io.Writer {
		return begin(nameOf(f.dir)+ending, cmp.Or(media[ending], "application/octet-stream"))
	}
	list := pages.Pages(r.Context())
	switch {
	case len(numbers) == 0:
		return writeOthers(s, others, open(".txt"))
	case name == "urls":
		to := open(".txt")
		for p, err := range list {
			if err == nil {
				_, err = io.WriteString(to, p.URL+"\n")
			}
			if err != nil {
				return err
			}
		}
		return writeOthers(s, others, to)
	case slices.Contains(streamed, name):
		return write(r.Context(), list, &format, export.Stream(open(path.Ext(format.File))))
	}
	return writeWhole(r.Context(), list, &format, open)
}

// writeOthers writes the addresses of URLs without a page.
func writeOthers(s *store.Store, ids []store.ID, to io.Writer) error {
	w := bufio.NewWriter(to) // keeps an error until Flush
	err := s.URLs().Walk(func(name func(id store.ID) (string, error)) error {
		for _, id := range ids {
			url, err := name(id)
			if err == nil {
				_, err = w.WriteString(url + "\n")
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, w.Flush())
}

func write(ctx context.Context, pages iter.Seq2[*export.Page, error], format *export.Format, at export.Output) error {
	sink, err := format.Open(at, format.File, nil)
	if err == nil {
		_, err = export.Run(ctx, pages, []export.Sink{sink})
	}
	if err != nil {
		return errors.Join(err, at.Discard())
	}
	return at.Commit()
}

// writeWhole makes the files of a format in a temporary folder and then sends them, several as a ZIP.
func writeWhole(ctx context.Context, pages iter.Seq2[*export.Page, error], format *export.Format, open func(ending string) io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "fossick-download-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	single := !strings.HasSuffix(format.File, "/")
	made := filepath.Join(dir, path.Base(format.File))
	at, err := export.OpenPlace(made, single)
	if err != nil {
		return err
	}
	if err := write(ctx, pages, format, at); err != nil {
		return err
	}
	if single {
		f, err := fileio.Open(made)
		if err != nil {
			return err
		}
		_, err = io.Copy(open(path.Ext(format.File)), f)
		return errors.Join(err, f.Close())
	}
	z := zip.NewWriter(open(".zip"))
	err = filepath.WalkDir(made, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := fileio.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		name, err := filepath.Rel(made, file)
		if err != nil {
			return err
		}
		to, err := z.Create(filepath.ToSlash(name))
		if err == nil {
			_, err = io.Copy(to, f)
		}
		return err
	})
	return errors.Join(err, z.Close())
}
