package table

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fossick/export"
	"fossick/export/collection"
)

// Markdown writes a file a page: its row between lines of ---, then its text. A folder has
// a thousand pages.
type Markdown struct {
	at      export.Place
	folder  string // inside the export, with a slash; "" for the export's own
	columns []Column
	pages   int
	text    []byte
}

// NewMarkdown begins a tree of files in a folder of the export.
func NewMarkdown(at export.Place, folder string) *Markdown {
	return &Markdown{at: at, folder: folder, columns: Columns()[1:]} // the text is the first
}

// Write implements export.Sink.
func (s *Markdown) Write(_ context.Context, p *collection.Page) (err error) {
	text := append(s.text[:0], "---\n"...)
	for _, c := range s.columns {
		v := c.Of(p)
		if v.Null {
			continue
		}
		text = append(append(text, c.Name...), ": "...)
		if text, err = appendJSON(text, c.Kind, v); err != nil { // which YAML reads too
			return err
		}
		text = append(text, '\n')
	}
	text = append(text, "---\n\n"...)
	s.text = append(text, valid(p.Markdown)...)
	to, err := s.at.Create(s.nameOf(p))
	if err != nil {
		return err
	}
	_, err = to.Write(s.text)
	s.pages++
	return errors.Join(err, to.Close())
}

// nameOf names a page's file by its place in the export, and its title for people.
func (s *Markdown) nameOf(p *collection.Page) string {
	name := fmt.Sprintf("%s%04d/%07d", s.folder, s.pages/1000, s.pages)
	if slug := slugOf(p.Title); slug != "" {
		name += "-" + slug
	}
	return name + ".md"
}

// maxSlug is how long a title may be in a name.
const maxSlug = 60

// slugOf keeps of a title what every file system takes.
func slugOf(title string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(title) {
		if !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') {
			gap = b.Len() > 0
			continue
		}
		if b.Len() >= maxSlug {
			break
		}
		if gap {
			b.WriteByte('-')
			gap = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Finish implements export.Sink.
func (s *Markdown) Finish(context.Context) error { return nil }

// Close implements export.Sink.
func (s *Markdown) Close() error { return nil }
