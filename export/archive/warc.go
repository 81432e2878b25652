package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"strconv"
	"strings"

	"fossick/collection"
	"fossick/export"
	"fossick/warc"
)

// WARC writes WARC files of at most 1 GB.
type WARC struct {
	files   *warc.Files
	packer  *warc.Packer
	page    *collection.Page // the one being written
	members []byte
}

// NewWARC begins a folder of that name, "" where the export's folder is it.
func NewWARC(at export.Place, name string) *WARC {
	s := &WARC{packer: warc.NewPacker()}
	s.files = warc.NewFiles(warc.FilesOptions{
		Create: func(file string) (io.WriteCloser, error) { return at.Create(name + file) },
		Prefix: "pages", Info: s.info,
	})
	return s
}

// info begins a file. It is dated by its first page, so that it does not depend on the clock.
func (s *WARC) info(name string) ([]byte, error) {
	return s.packer.Append(nil, &warc.Draft{
		Type: warc.Info, ID: derived(s.page.ID, name), Date: s.page.Fetched, ContentType: fieldsType,
		Fields: []warc.Field{{Name: "WARC-Filename", Value: name}},
		Payload: []byte("software: fossick\r\nformat: WARC File Format 1.1\r\n" +
			"description: bodies as fetched, without encodings of transfer and content; HTTP headers made of the type and the length, as the store keeps no others\r\n"),
	})
}

const fieldsType = "application/warc-fields"

// Write implements export.Sink.
func (s *WARC) Write(_ context.Context, p *collection.Page) (err error) {
	if p.Damaged {
		return nil // it has no body; the export counts it
	}
	s.page = p
	head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", oneLine(p.ContentType), len(p.Body))
	s.members, err = s.packer.Append(s.members[:0], &warc.Draft{
		Type: warc.Response, ID: p.ID, Target: oneLine(p.URL), Date: p.Fetched,
		ContentType: "application/http; msgtype=response", Head: []byte(head), Payload: p.Body,
	})
	if err != nil {
		return err
	}
	s.members, err = s.packer.Append(s.members, &warc.Draft{
		Type: warc.Metadata, ID: derived(p.ID, "metadata"), Target: oneLine(p.URL), Date: p.Fetched, ContentType: fieldsType,
		Fields: []warc.Field{{Name: "WARC-Refers-To", Value: "<" + p.ID + ">"}}, Payload: known(p),
	})
	if err != nil {
		return err
	}
	_, _, err = s.files.Write(s.members)
	return err
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
	return b.Bytes()
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
func (s *WARC) Finish(context.Context) error { return s.files.Close() }

// Close implements export.Sink.
func (s *WARC) Close() error { return s.files.Close() }
