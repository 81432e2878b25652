package ui

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"time"

	"fossick/export"
	"fossick/internal/cli"
	"fossick/store"
)

// downloads are the formats of a download, with the name's ending and the media type.
var downloads = map[string][2]string{
	"csv": {".csv", "text/csv; charset=utf-8"}, "jsonl": {".jsonl", "application/jsonl"}, "parquet": {".parquet", "application/vnd.apache.parquet"},
	"markdown": {".zip", "application/zip"}, "urls": {".txt", "text/plain; charset=utf-8"},
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
	name := r.URL.Query().Get("format")
	kind, ok := downloads[name]
	if !ok {
		return cli.Usagef("format=%.50q: want csv, jsonl, parquet, markdown or urls", name)
	}
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
	formats := export.Formats()
	format := formats[max(0, slices.IndexFunc(formats, func(f export.Format) bool { return f.Name == name }))]
	if name == "urls" {
		format.Want = export.Want{}
	}
	pages, err := stores.Select(r.Context(), export.Choice{}, format.Want)
	if err != nil {
		return err
	}
	to := begin(nameOf(f.dir)+kind[0], kind[1])
	if err := write(r.Context(), chosen(pages.Pages(r.Context()), numbers), &format, name, to); err != nil {
		return err
	}
	return writeOthers(s, others, to)
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

// chosen yields the pages with these numbers.
func chosen(pages iter.Seq2[*export.Page, error], numbers map[uint64]bool) iter.Seq2[*export.Page, error] {
	return func(yield func(*export.Page, error) bool) {
		left := len(numbers)
		if left == 0 {
			return
		}
		for p, err := range pages {
			if err == nil && !numbers[p.Number] {
				continue
			}
			if !yield(p, err) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

func write(ctx context.Context, pages iter.Seq2[*export.Page, error], format *export.Format, name string, to io.Writer) error {
	switch name {
	case "urls":
		for p, err := range pages {
			if err != nil {
				return err
			}
			if _, err := io.WriteString(to, p.URL+"\n"); err != nil {
				return err
			}
		}
		return nil
	case "markdown":
		return writeZip(pages, to)
	}
	at := export.Stream(to)
	sink, err := format.Open(at, format.File, nil)
	if err != nil {
		return errors.Join(err, at.Discard())
	}
	if _, err := export.Run(ctx, pages, []export.Sink{sink}); err != nil {
		return errors.Join(err, at.Discard())
	}
	return at.Commit()
}

// writeZip writes a file of Markdown a page.
func writeZip(pages iter.Seq2[*export.Page, error], to io.Writer) error {
	z := zip.NewWriter(to)
	for p, err := range pages {
		if err != nil {
			return err
		}
		file, err := z.Create(fmt.Sprintf("%08d.md", p.Number))
		if err == nil {
			_, err = fmt.Fprintf(file, "---\nurl: %q\ntitle: %q\nscore: %g\n---\n\n%s\n", p.URL, p.Title, p.Score, p.Markdown)
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}
