package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"

	"fossick/export"
	"fossick/export/collection"
	"fossick/internal/warc"
)

// WARC writes WARC files of at most 1 GB. Records are packed by as many goroutines as there
// are processors, and written in order.
type WARC struct {
	files   *warc.Files
	packers chan *warc.Packer   // those that are idle
	pending []*task             // packed or being packed, in order
	first   *task               // the one being written
	filed   func(capture) error // learns where each page is; may be nil
}

// capture is a record in a file.
type capture struct {
	page *collection.Page
	own  bool // it is the page's response
	record
	file  string
	begin int64 // of its member, in the file
}

// task is a page on its way into a file.
type task struct {
	page    *collection.Page
	members []byte
	listed  []record
	err     error
	done    chan struct{} // closed when it is packed
}

// NewWARC begins a folder of that name, "" where the export's folder is it.
func NewWARC(at export.Place, name string) *WARC {
	return newWARC(warcPrefix, func(file string) (io.WriteCloser, error) { return at.Create(name + file) }, nil)
}

// warcPrefix begins the names of the files of an export; an index of them needs the same.
const warcPrefix = "pages"

func newWARC(prefix string, create func(file string) (io.WriteCloser, error), filed func(capture) error) *WARC {
	s := &WARC{packers: make(chan *warc.Packer, runtime.GOMAXPROCS(0)), filed: filed}
	for range cap(s.packers) {
		s.packers <- warc.NewPacker()
	}
	s.files = warc.NewFiles(warc.FilesOptions{Create: create, Prefix: prefix, Info: s.info})
	return s
}

// info begins a file. It is dated by its first page, so that it does not depend on the clock.
func (s *WARC) info(name string) ([]byte, error) {
	p := s.first.page
	return warc.NewPacker().Append(nil, &warc.Draft{
		Type: warc.Info, ID: derived(p.ID, name), Date: p.Fetched, ContentType: fieldsType,
		Fields: []warc.Field{{Name: "WARC-Filename", Value: name}},
		Payload: []byte("software: fossick\r\nformat: WARC File Format 1.1\r\n" +
			"description: bodies as fetched, without encodings of transfer and content: header lines that tell of these are called " + origPrefix + "*; " +
			"the field fossick-header of a page's metadata says whether its HTTP header is as received; cookies and credentials that were sent are left out of requests\r\n"),
	})
}

const fieldsType = "application/warc-fields"

// Write implements export.Sink.
func (s *WARC) Write(_ context.Context, p *collection.Page) error {
	if p.Damaged {
		return nil // it has no body; the export counts it
	}
	t := &task{page: p, done: make(chan struct{})}
	s.pending = append(s.pending, t)
	go func() {
		packer := <-s.packers
		t.members, t.listed, t.err = pack(packer, p, s.filed != nil)
		s.packers <- packer
		close(t.done)
	}()
	return s.flush(2 * cap(s.packers))
}

// flush writes the first pages, until no more than so many wait.
func (s *WARC) flush(most int) error {
	for len(s.pending) > most {
		t := s.pending[0]
		s.pending = s.pending[1:]
		if <-t.done; t.err != nil {
			return t.err
		}
		s.first = t
		file, offset, err := s.files.Write(t.members)
		if err != nil {
			return err
		}
		if s.filed == nil {
			continue
		}
		for i, r := range t.listed {
			if err := s.filed(capture{t.page, i == 0, r, file, offset + int64(r.offset)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// known is what the crawl knows of a page, a field a line. What is not known has none.
func known(p *collection.Page) []byte {
	var b bytes.Buffer
	field := func(name, value string) {
		if value = oneLine(value); value != "" {
			b.WriteString(name + ": " + value + "\r\n")
		}
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	field("via", p.FoundBy)
	field("hopsFromSeed", strconv.Itoa(p.Depth))
	field("fossick-collection", p.Source.Name)
	field("fossick-crawl-order", strconv.FormatUint(p.Number, 10))
	field(warc.LabelField, p.Label)
	if p.Probability != nil {
		field("fossick-probability", number(*p.Probability))
	}
	if p.Kept != nil {
		field("fossick-kept", strconv.FormatBool(*p.Kept))
	}
	field("fossick-score", number(p.Score))
	field("fossick-why", p.Why)
	field("fossick-language", p.Language)
	field("fossick-checksum", p.Checksum)
	field("fossick-header", headerIs(p.Exchange))
	return b.Bytes()
}

// headerIs says how a page's HTTP header came about.
func headerIs(x *collection.Exchange) string {
	switch {
	case x == nil:
		return "made from the type and the length, because the store keeps no more"
	case x.Rebuilt:
		return "names and values as received; their order is unknown"
	case x.Cut:
		return "as received, but truncated"
	}
	return "as received"
}

// oneLine makes a value what a field can have.
func oneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s))
}

// derived is the id of a record that belongs to a page: a UUID of version 8.
func derived(id, of string) string {
	sum := sha256.Sum256([]byte(id + "\n" + of))
	u := sum[:16]
	u[6] = u[6]&0x0f | 0x80
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// Finish implements export.Sink.
func (s *WARC) Finish(context.Context) error {
	if err := s.flush(0); err != nil {
		return err
	}
	return s.files.Close()
}

// Close implements export.Sink. It waits for those who pack.
func (s *WARC) Close() error {
	for _, t := range s.pending {
		<-t.done
	}
	s.pending = nil
	return s.files.Close()
}
