package archive

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"fossick/export"
	"fossick/internal/extsort"
)

// CDXJ writes the index of the files that WARC writes of the same pages: a line a response,
// with its key, its time and where it is. Their bytes depend on the pages alone, so they are
// packed here too, and thrown away; the files themselves may be written now or another day.
type CDXJ struct {
	*WARC
	index *index
	to    io.WriteCloser // nil when it is closed
}

// NewCDXJ begins an index of that name.
func NewCDXJ(at export.Place, name string) (*CDXJ, error) {
	to, err := at.Create(name)
	if err != nil {
		return nil, err
	}
	s := &CDXJ{index: newIndex(), to: to}
	s.WARC = newWARC(warcPrefix, func(string) (io.WriteCloser, error) { return nowhere{io.Discard}, nil }, s.index.add)
	return s, nil
}

type nowhere struct{ io.Writer }

func (nowhere) Close() error { return nil }

// Finish implements export.Sink.
func (s *CDXJ) Finish(ctx context.Context) error {
	if err := s.WARC.Finish(ctx); err != nil {
		return err
	}
	return errors.Join(s.index.write(ctx, s.to), s.close())
}

func (s *CDXJ) close() error {
	if s.to == nil {
		return nil
	}
	to := s.to
	s.to = nil
	return to.Close()
}

// Close implements export.Sink.
func (s *CDXJ) Close() error { return errors.Join(s.WARC.Close(), s.index.close(), s.close()) }

// index sorts the lines of a CDXJ.
type index struct{ lines *extsort.Sorter[string] }

func newIndex() *index {
	return &index{extsort.New(extsort.Options[string]{
		Limit:   1 << 16, // some 30 MB
		Compare: strings.Compare,
		Append:  func(dst []byte, _, line string) []byte { return append(dst, line...) },
		Read:    func(r *bufio.Reader, _ string) (string, error) { return r.ReadString('\n') },
	})}
}

// add enters a record. Numbers are strings, as most programs write them and all read them.
func (x *index) add(c capture) error {
	mime, _, _ := strings.Cut(c.mime, ";")
	if mime = strings.ToLower(strings.TrimSpace(mime)); mime == "" {
		mime = "unk" // what indexes have for a type that is not known
	}
	object, err := jsonLine(struct {
		URL      string `json:"url"`
		Mime     string `json:"mime"`
		Status   string `json:"status"`
		Digest   string `json:"digest,omitempty"`
		Length   string `json:"length"`
		Offset   string `json:"offset"`
		Filename string `json:"filename"`
	}{c.url, oneLine(mime), c.status, c.digest, strconv.Itoa(c.length), strconv.FormatInt(c.begin, 10), c.file})
	if err != nil {
		return err
	}
	return x.lines.Add(surt(c.url) + " " + c.at.UTC().Format("20060102150405") + " " + object)
}

// write writes all lines in order.
func (x *index) write(ctx context.Context, w io.Writer) error {
	return x.lines.Each(ctx, func(line string) error {
		_, err := io.WriteString(w, line)
		return err
	})
}

func (x *index) close() error { return x.lines.Close() }

// jsonLine is a value and a line end, with < and & as they are.
func jsonLine(value any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return b.String(), err
}
