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

// TestPacker: a reader reads back what was written, at its offset; the bytes do not depend on earlier records.
func TestPacker(t *testing.T) {
	rng, packer := rand.New(rand.NewPCG(3, 3)), NewPacker()
	at := time.Date(2026, 11, 24, 1, 2, 3, 999, time.FixedZone("CET", 3600))
	var file []byte
	var drafts []*Draft
	var offsets []int64
	for i := range 60 {
		body := make([]byte, rng.IntN(4000))
		for i := range body {
			body[i] = byte(rng.IntN(256))
		}
		d := &Draft{Type: Response, ID: fmt.Sprint("urn:test:", i), Target: fmt.Sprintf("http://example.org/%d", i), Date: at,
			ContentType: "application/http; msgtype=response", Head: []byte("HTTP/1.1 200 OK\r\nX: y\r\n\r\n"), Payload: body}
		drafts, offsets = append(drafts, d), append(offsets, int64(len(file)))
		var err error
		if file, err = packer.Append(file, d); err != nil {
			t.Fatal(err)
		}
		if again, _ := NewPacker().Append(nil, d); string(again) != string(file[offsets[i]:]) {
			t.Fatal("a record's bytes depend on what was written before")
		}
	}
	r, err := NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range drafts {
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		block, err := io.ReadAll(rec.Body)
		if err != nil || !bytes.Equal(block, slices.Concat(d.Head, d.Payload)) || rec.ID() != d.ID || rec.Target() != d.Target || !rec.date().Equal(at.Truncate(time.Second)) || rec.Offset != offsets[i] {
			t.Errorf("%d: %+v, %v", i, rec, err)
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("behind the last: %v", err)
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
		if got := rec.date().Format(time.RFC3339Nano); got != want {
			t.Errorf("%s is %s, want %s", date, got, want)
		}
	}
	rec := &Record{Header: Header{{"WARC-Target-URI", "<http://example.org/a b>"}, {"WARC-Type", "Response"}, {"WARC-Segment-Number", "1"}, {"WARC-Refers-To", "<urn:x>"}}}
	if rec.Target() != "http://example.org/a%20b" || rec.Type() != Response || !rec.Segmented() || rec.RefersTo() != "urn:x" {
		t.Errorf("%q, %q, %v, %q", rec.Target(), rec.Type(), rec.Segmented(), rec.RefersTo())
	}
}
