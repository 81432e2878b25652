package archive

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"fossick/export/collection"
	"fossick/export/exporttest"
	"fossick/internal/warc"
)

// ccColumns are those of Common Crawl's table: what queries it names them so.
const ccColumns = "url_surtkey url url_host_name url_host_tld url_host_2nd_last_part url_host_3rd_last_part url_host_4th_last_part url_host_5th_last_part " +
	"url_host_registry_suffix url_host_registered_domain url_host_private_suffix url_host_private_domain url_host_name_reversed " +
	"url_protocol url_port url_path url_query fetch_time fetch_status fetch_redirect content_digest content_mime_type content_mime_detected " +
	"content_charset content_languages content_truncated warc_record_id warc_filename warc_record_offset warc_record_length warc_segment crawl subset"

// identified are pages with ids as crawls have them.
func identified() []*collection.Page {
	pages := some()
	for n, p := range pages {
		p.ID, p.Language = fmt.Sprintf("urn:uuid:00000000-0000-8000-8000-%012d", n), "en"
	}
	return pages
}

func columnar(t *testing.T) []byte {
	t.Helper()
	files := exporttest.Shelf{}
	s, err := NewColumnar(files, "ccindex.parquet", "warc/")
	exporttest.Write(t, s, err, identified())
	return files["ccindex.parquet"].Bytes()
}

// TestColumnar reads each record back by its row: all pages once, in the order of keys,
// under Common Crawl's names, the same bytes each time.
func TestColumnar(t *testing.T) {
	text := columnar(t)
	if !bytes.Equal(text, columnar(t)) {
		t.Error("other bytes the second time")
	}
	f, err := parquet.OpenFile(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, field := range f.Schema().Fields() {
		names = append(names, field.Name())
	}
	if got := strings.Join(names, " "); got != ccColumns {
		t.Errorf("columns %s", got)
	}
	rows, err := parquet.Read[row](bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(rows, func(a, b row) int { return strings.Compare(a.SurtKey, b.SurtKey) }) {
		t.Error("the rows are in no order")
	}
	want := map[string]*collection.Page{}
	for _, p := range identified() {
		if !p.Damaged {
			want[p.URL] = p
		}
	}
	files := write(t, identified()...)
	for _, got := range rows {
		p := want[got.URL]
		if p == nil {
			t.Fatalf("a page that is not there, or twice: %+v", got)
		}
		delete(want, got.URL)
		r, err := warc.NewReader(bytes.NewReader(files[got.File].Bytes()[got.Offset : got.Offset+got.Length]))
		if err != nil {
			t.Fatal(err)
		}
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		block, err := io.ReadAll(rec.Body)
		if err != nil || rec.Type() != warc.Response || rec.Target() != p.URL || !bytes.HasSuffix(block, p.Body) {
			t.Errorf("%+v points at the %s of %s: %v", got, rec.Type(), rec.Target(), err)
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("%+v is more than a record: %v", got, err)
		}
		if rec.Header.Get("WARC-Payload-Digest") != "sha1:"+got.Digest || strings.ReplaceAll(rec.ID(), "-", "") != "urn:uuid:"+hex.EncodeToString(got.RecordID) ||
			!time.UnixMilli(got.Time).Equal(p.Fetched) || got.SurtKey != surt(p.URL) ||
			got.MIME != "text/html" || got.Charset != "UTF-8" || got.Languages != "eng" || got.Status != 200 || got.Crawl != "crawl" || got.Subset != "warc" {
			t.Errorf("%+v, of %+v", got, rec.Header)
		}
	}
	if len(want) > 0 {
		t.Errorf("%d pages have no row", len(want))
	}
}

// TestHostColumns takes hosts apart as the comments of Common Crawl's schema do.
func TestHostColumns(t *testing.T) {
	for url, want := range map[string]string{
		"https://www.example.com/path/index.html":        "www.example.com|com|example|www||com|example.com|com|example.com|com.example.www|https|0|/path/index.html|",
		"http://bbc.co.uk/":                              "bbc.co.uk|uk|co|bbc||co.uk|bbc.co.uk|co.uk|bbc.co.uk|uk.co.bbc|http|0|/|",
		"http://myblog.blogspot.com:8443/?q=abc&lang=en": "myblog.blogspot.com|com|blogspot|myblog||com|blogspot.com|blogspot.com|myblog.blogspot.com|com.blogspot.myblog|http|8443|/|q=abc&lang=en",
		"https://bucket.s3.amazonaws.com/a%20b":          "bucket.s3.amazonaws.com|com|amazonaws|s3|bucket|com|amazonaws.com|s3.amazonaws.com|bucket.s3.amazonaws.com|com.amazonaws.s3.bucket|https|0|/a%20b|",
		"http://h.test/":                                 "h.test|test|h||||||" + "|test.h|http|0|/|",
		"http://127.0.0.1:80/x":                          "127.0.0.1|||||||||" + "|http|80|/x|",
		"http://[::1]/":                                  "::1|||||||||" + "|http|0|/|",
		"http://com/":                                    "com|com||||com||com||com|http|0|/|",
	} {
		r := rowOf(located{URL: url})
		got := fmt.Sprintf("%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%d|%s|%s", r.Host, r.TLD, r.Part2, r.Part3, r.Part4,
			r.RegistrySuffix, r.RegisteredDomain, r.PrivateSuffix, r.PrivateDomain, r.Reversed, r.Protocol, r.Port, r.Path, r.Query)
		if got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", url, got, want)
		}
	}
}
