package crawler

import (
	"reflect"
	"strings"
	"testing"

	"fossick/internal/page"
)

// TestLabel: a label comes out as it went in, with so much of its page as goes along.
func TestLabel(t *testing.T) {
	long := strings.Repeat("amber ", labelBytes)
	for name, p := range map[string]*page.Page{
		"waiting": nil,
		"fetched": {URL: "http://a.test/", Title: "A", Description: "B", Headings: "C", Text: "D", Lang: "en"},
		"long":    {URL: "http://a.test/", Title: long, Description: long, Headings: long, Text: long},
		"empty":   {URL: "http://a.test/"},
	} {
		want := labelOf("http://a.test/", true, 2, 7, p)
		data := want.pack()
		got, err := unpackLabel(data)
		if err != nil || !reflect.DeepEqual(got, want) || len(data) > 4*labelBytes+200 {
			t.Errorf("%s: %v, %d bytes", name, err, len(data))
			continue
		}
		switch q := got.page(); {
		case (q == nil) != (p == nil):
			t.Errorf("%s: page %+v", name, q)
		case p != nil && (q.URL != p.URL || !strings.HasPrefix(p.Text, q.Text) || q.Lang != p.Lang):
			t.Errorf("%s: page %+v", name, q)
		}
	}
}

// FuzzUnpackLabel: whatever another machine sends is a label or an error.
func FuzzUnpackLabel(f *testing.F) {
	data := labelOf("http://a.test/", false, 0, 1, &page.Page{Text: "words"}).pack()
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := unpackLabel(data)
		if err != nil {
			return
		}
		again := l.pack()
		if same, err := unpackLabel(again); err != nil || !reflect.DeepEqual(same, l) {
			t.Fatalf("%+v becomes %+v, %v", l, same, err)
		}
	})
}
