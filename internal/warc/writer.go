package warc

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

// Draft is a record to be written. Its block is Head followed by Payload.
type Draft struct {
	Type        string
	ID          string // such as urn:uuid:…; from the caller, so that equal calls give equal bytes
	Target      string
	Date        time.Time
	ContentType string  // of the block
	Fields      []Field // further fields, in order
	Head        []byte  // status line and header of a response
	Payload     []byte
}

// Packer compresses records into gzip members. It is not safe for concurrent use, but several
// packers can work at once, since members are independent.
type Packer struct {
	z    *gzip.Writer
	head bytes.Buffer
	out  bytes.Buffer
}

// NewPacker returns a packer at gzip's fastest level: text archives get a seventh larger than by
// default, in a third of the time.
func NewPacker() *Packer {
	p := &Packer{}
	p.z, _ = gzip.NewWriterLevel(&p.out, gzip.BestSpeed) // the level is valid
	return p
}

// Append appends a record as one gzip member to dst, but refuses a value with a line end.
func (p *Packer) Append(dst []byte, d *Draft) ([]byte, error) {
	if err := p.header(d); err != nil {
		return dst, err
	}
	p.out.Reset()
	p.z.Reset(&p.out)
	for _, part := range [][]byte{p.head.Bytes(), d.Head, d.Payload, []byte("\r\n\r\n")} {
		if _, err := p.z.Write(part); err != nil {
			return dst, err
		}
	}
	if err := p.z.Close(); err != nil {
		return dst, err
	}
	return append(dst, p.out.Bytes()...), nil
}

func (p *Packer) header(d *Draft) error {
	p.head.Reset()
	p.head.WriteString("WARC/1.1\r\n")
	fields := []Field{
		{"WARC-Type", d.Type}, {"WARC-Record-ID", "<" + d.ID + ">"},
		{"WARC-Date", d.Date.UTC().Format(time.RFC3339)}, {"WARC-Target-URI", d.Target},
	}
	if d.Target == "" {
		fields = fields[:3]
	}
	fields = append(fields, d.Fields...)
	if d.Type == Response {
		fields = append(fields, Field{"WARC-Payload-Digest", Digest(d.Payload)})
	}
	fields = append(fields, Field{"WARC-Block-Digest", Digest(d.Head, d.Payload)})
	if d.ContentType != "" {
		fields = append(fields, Field{"Content-Type", d.ContentType})
	}
	fields = append(fields, Field{"Content-Length", strconv.Itoa(len(d.Head) + len(d.Payload))})
	for _, f := range fields {
		if f.Name == "" || strings.ContainsAny(f.Name, ": \t\r\n") || strings.ContainsAny(f.Value, "\r\n") {
			return fmt.Errorf("record %s: field %q: %.60q has characters that no header can have", d.ID, f.Name, f.Value)
		}
		p.head.WriteString(f.Name)
		p.head.WriteString(": ")
		p.head.WriteString(f.Value)
		p.head.WriteString("\r\n")
	}
	if p.head.WriteString("\r\n"); p.head.Len() > maxHeaderBytes {
		return fmt.Errorf("record %s: a header of %d bytes, at most %d are read", d.ID, p.head.Len(), maxHeaderBytes)
	}
	return nil
}

// FilesOptions tell how output is split into files.
type FilesOptions struct {
	// Create creates the file with a name.
	Create func(name string) (io.WriteCloser, error)
	Prefix string // names are PREFIX-00001.warc.gz
	Most   int64  // bytes after which the next file begins [1 GB]
	// Info returns the first member of a file, its warcinfo record. It may be nil.
	Info func(name string) ([]byte, error)
}

// Files writes members into files of bounded size. It is not safe for concurrent use.
type Files struct {
	opt  FilesOptions
	n    int
	name string
	file io.WriteCloser // nil between files
	at   int64
}

// NewFiles returns files; the first one is created on the first write.
func NewFiles(opt FilesOptions) *Files {
	if opt.Most <= 0 {
		opt.Most = 1e9
	}
	return &Files{opt: opt}
}

// Write writes members into one file, and returns its name and their offset.
func (f *Files) Write(members []byte) (name string, offset int64, err error) {
	if f.file != nil && f.at+int64(len(members)) > f.opt.Most {
		if err := f.Close(); err != nil {
			return "", 0, err
		}
	}
	if f.file == nil {
		if err := f.begin(); err != nil {
			return "", 0, err
		}
	}
	name, offset = f.name, f.at
	return name, offset, f.write(members)
}

func (f *Files) begin() (err error) {
	f.n++
	f.name, f.at = fmt.Sprintf("%s-%05d.warc.gz", f.opt.Prefix, f.n), 0
	if f.file, err = f.opt.Create(f.name); err != nil {
		f.file = nil
		return err
	}
	if f.opt.Info == nil {
		return nil
	}
	info, err := f.opt.Info(f.name)
	if err != nil {
		return err
	}
	return f.write(info)
}

func (f *Files) write(b []byte) error {
	n, err := f.file.Write(b)
	f.at += int64(n)
	return err
}

// Close closes the current file.
func (f *Files) Close() error {
	if f.file == nil {
		return nil
	}
	file := f.file
	f.file = nil
	return file.Close()
}
