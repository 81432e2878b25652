package document

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"golang.org/x/net/html/charset"
)

// archive is an office document or a book: a zip file of parts. It never opens an archive within.
type archive struct {
	parts map[string]*zip.File
	left  int64 // bytes that may still be unpacked
}

func openArchive(body []byte) (*archive, error) {
	r, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	if len(r.File) > maxParts {
		return nil, fmt.Errorf("%w: an archive of %d files", ErrTooBig, len(r.File))
	}
	a := &archive{parts: map[string]*zip.File{}, left: maxUnpacked}
	for _, f := range r.File {
		a.parts[partName(f.Name)] = f
	}
	return a, nil
}

// partName makes names comparable: a part is named with and without a slash in front, and by
// some programs with backslashes.
func partName(name string) string {
	return strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/")
}

func (a *archive) has(name string) bool { return a.parts[partName(name)] != nil }

// open returns a part, which ends with ErrTooBig when the whole archive is beyond its limit.
func (a *archive) open(name string) (io.ReadCloser, error) {
	f := a.parts[partName(name)]
	if f == nil {
		return nil, fmt.Errorf("%w: part %.80q is missing", ErrDamaged, name)
	}
	if f.Flags&1 != 0 {
		return nil, ErrLocked
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%w: part %.80q: %v", ErrDamaged, name, err)
	}
	return &part{r, a}, nil
}

type part struct {
	io.ReadCloser
	of *archive
}

func (p *part) Read(b []byte) (n int, err error) {
	if p.of.left <= 0 {
		return 0, fmt.Errorf("%w: over %d MiB unpacked", ErrTooBig, maxUnpacked>>20)
	}
	n, err = p.ReadCloser.Read(b[:min(int64(len(b)), p.of.left)])
	p.of.left -= int64(n)
	return n, err
}

// element is what a handler of XML sees: a start with its attributes, an end, or text.
type element struct {
	name  string // without its namespace
	attrs []xml.Attr
	end   bool
	text  string // "" for a start or an end
}

// attr returns an attribute by its name without namespace.
func (e *element) attr(name string) string {
	for _, a := range e.attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

var errSkip = errors.New("leave out this element")

// walk passes the elements of a part to do. An element for whose start do returns errSkip is
// left out with all in it. External entities are never read.
func (a *archive) walk(ctx context.Context, name string, do func(e *element) error) error {
	r, err := a.open(name)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read from
	return walkXML(ctx, r, do)
}

func walkXML(ctx context.Context, r io.Reader, do func(e *element) error) error {
	tag := &tagReader{from: r}
	d := xml.NewDecoder(tag)
	d.Strict, d.CharsetReader, d.Entity = false, charset.NewReaderLabel, xml.HTMLEntity
	skipped := 0 // open elements of what is left out
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		tag.left = maxToken
		t, err := d.RawToken()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, ErrTooBig):
			return err
		case err != nil:
			return fmt.Errorf("%w: %v", ErrDamaged, err)
		}
		var e element
		switch t := t.(type) {
		case xml.StartElement:
			if e = (element{name: t.Name.Local, attrs: t.Attr}); skipped > 0 {
				skipped++
			}
		case xml.EndElement:
			if e = (element{name: t.Name.Local, end: true}); skipped > 0 {
				skipped--
				continue
			}
		case xml.CharData:
			e = element{text: string(t)}
		default:
			continue
		}
		if skipped > 0 {
			continue
		}
		if err := do(&e); errors.Is(err, errSkip) {
			skipped = 1
		} else if err != nil {
			return err
		}
	}
}

// maxToken bounds the bytes of a tag or a text in XML, give or take what is read ahead.
const maxToken = 8 << 20

// tagReader ends with ErrTooBig when a token is beyond maxToken.
type tagReader struct {
	from io.Reader
	left int
}

func (r *tagReader) Read(b []byte) (n int, err error) {
	if r.left <= 0 {
		return 0, fmt.Errorf("%w: a tag or a text of over %d MiB", ErrTooBig, maxToken>>20)
	}
	n, err = r.from.Read(b)
	r.left -= n
	return n, err
}

// entryHeader is the size of a file's header in an archive, before its name.
const entryHeader = 30

// sniffArchive tells documents in zip archives apart by the headers of their files, because a
// crawler decides by the first bytes. OpenDocument and EPUB begin with a file that names the type.
func sniffArchive(head []byte) string {
	for at := 0; ; at++ {
		next := bytes.Index(head[at:], []byte("PK\x03\x04"))
		if at += next; next < 0 || len(head)-at < entryHeader {
			return ""
		}
		h := head[at:]
		name, rest := cut(h[entryHeader:], int(binary.LittleEndian.Uint16(h[26:])))
		if string(name) == "mimetype" {
			_, rest = cut(rest, int(binary.LittleEndian.Uint16(h[28:])))
			media, _, _ := bytes.Cut(rest, []byte("PK")) // the next header; the size may stand behind the bytes
			if binary.LittleEndian.Uint16(h[8:]) == zip.Deflate {
				media, _ = io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(rest)), 100)) // an error leaves what was read
			}
			if f, ok := formatOf(string(media)); ok {
				return f.media
			}
		}
		for _, main := range []struct{ folder, kind string }{{"word/", "wordprocessingml.document"}, {"ppt/", "presentationml.presentation"}, {"xl/", "spreadsheetml.sheet"}} {
			if strings.HasPrefix(partName(string(name)), main.folder) {
				return openXML + main.kind
			}
		}
	}
}

func cut(b []byte, n int) (before, after []byte) {
	n = min(n, len(b))
	return b[:n], b[n:]
}
