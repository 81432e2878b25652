package warc

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

type kept struct {
	bytes.Buffer
	closed bool
}

func (k *kept) Close() error { k.closed = true; return nil }

// TestFiles: a reader reads back what was written, at the returned offsets.
func TestFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	names, files := []string{}, map[string]*kept{}
	packer := NewPacker()
	out := NewFiles(FilesOptions{Prefix: "crawl", Most: 20000, Create: func(name string) (io.WriteCloser, error) {
		names = append(names, name)
		files[name] = &kept{}
		return files[name], nil
	}, Info: func(name string) ([]byte, error) {
		return packer.Append(nil, &Draft{Type: Info, ID: "urn:test:" + name, Fields: []Field{{"WARC-Filename", name}}, Payload: []byte("software: test\r\n"), ContentType: "application/warc-fields"})
	}})
	at := time.Date(2026, 11, 24, 1, 2, 3, 999, time.FixedZone("CET", 3600))
	type place struct {
		name   string
		offset int64
	}
	drafts, places := map[place]*Draft{}, []place{}
	for i := range 60 {
		body := make([]byte, rng.IntN(4000))
		for i := range body {
			body[i] = byte(rng.IntN(256))
		}
		d := &Draft{Type: Response, ID: fmt.Sprint("urn:test:", i), Target: fmt.Sprintf("http://example.org/%d", i), Date: at,
			ContentType: "application/http; msgtype=response", Head: []byte("HTTP/1.1 200 OK\r\nX: y\r\n\r\n"), Payload: body}
		members, err := packer.Append(nil, d)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := NewPacker().Append([]byte("before"), d); string(again) != "before"+string(members) {
			t.Fatal("a record's bytes depend on what was written before")
		}
		name, offset, err := out.Write(members)
		if err != nil {
			t.Fatal(err)
		}
		drafts[place{name, offset}] = d
		places = append(places, place{name, offset})
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if len(names) < 5 || names[0] != "crawl-00001.warc.gz" {
		t.Errorf("files %v", names)
	}
	var read []place
	for _, name := range names {
		if file := files[name]; !file.closed || file.Len() > 20000 {
			t.Errorf("%s has %d bytes, closed %v", name, file.Len(), file.closed)
		}
		r, err := NewReader(&files[name].Buffer)
		if err != nil {
			t.Fatal(err)
		}
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if rec.Type() == Info {
				if rec.Header.Get("warc-filename") != name {
					t.Errorf("%s says %q", name, rec.Header.Get("WARC-Filename"))
				}
				continue
			}
			p := place{name, rec.Offset}
			d := drafts[p]
			if d == nil {
				t.Fatalf("a record at %v", p)
			}
			block, err := io.ReadAll(rec.Body)
			if err != nil || !bytes.Equal(block, slices.Concat(d.Head, d.Payload)) || rec.ID() != d.ID || rec.Target() != d.Target || !rec.Date().Equal(at.Truncate(time.Second)) {
				t.Errorf("%v: %+v, %v", p, rec.Header, err)
			}
			read = append(read, p)
		}
	}
	if !slices.Equal(read, places) {
		t.Errorf("read %v, want %v", read, places)
	}
}

// TestPackerRefuses: a value cannot break out of its field.
func TestPackerRefuses(t *testing.T) {
	for _, d := range []*Draft{
		{Target: "http://example.org/\r\nX: y"}, {ID: "a\nb"}, {Fields: []Field{{"A B", "c"}}}, {Fields: []Field{{"", "c"}}},
		{Fields: []Field{{"A", strings.Repeat("x", maxHeaderBytes)}}},
	} {
		if b, err := NewPacker().Append(nil, d); err == nil || len(b) > 0 {
			t.Errorf("%+v was written", d)
		}
	}
}

// TestRecord reads oddly written fields.
func TestRecord(t *testing.T) {
	for date, want := range map[string]string{
		"2026-11-24T01:02:03Z": "2026-11-24T01:02:03Z", "2026-11-24T01:02:03.123456Z": "2026-11-24T01:02:03.123456Z", "2026-11-24T01:02Z": "2026-11-24T01:02:00Z",
		"2026-11-24T01:02:03+01:00": "2026-11-24T00:02:03Z", "2026-11": "2026-11-01T00:00:00Z", "2026": "2026-01-01T00:00:00Z", "yesterday": "0001-01-01T00:00:00Z",
	} {
		rec := &Record{Header: Header{{"warc-date", date}}}
		if got := rec.Date().Format(time.RFC3339Nano); got != want {
			t.Errorf("%s is %s, want %s", date, got, want)
		}
	}
	rec := &Record{Header: Header{{"WARC-Target-URI", "<http://example.org/a b>"}, {"WARC-Type", "Response"}, {"WARC-Segment-Number", "1"}, {"WARC-Refers-To", "<urn:x>"}}}
	if rec.Target() != "http://example.org/a%20b" || rec.Type() != Response || !rec.Segmented() || rec.RefersTo() != "urn:x" {
		t.Errorf("%q, %q, %v, %q", rec.Target(), rec.Type(), rec.Segmented(), rec.RefersTo())
	}
}
