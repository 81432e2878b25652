package refresh

import (
	"net/http"
	"testing"
	"time"

	"fossick/crawler/fetch"
	"fossick/internal/page"
	"fossick/store"
	"fossick/store/change"
)

// TestModified: what need not be kept of Last-Modified is not.
func TestModified(t *testing.T) {
	const was, later = "Tue, 14 Nov 2023 22:13:20 GMT", "Tue, 14 Nov 2023 22:15:00 GMT"
	for name, c := range map[string]struct {
		told string
		kind change.Kind
		want int64
	}{
		"as it was":                     {was, change.None, 0},
		"changed, and denied":           {was, change.Text, 1.7e9},
		"changed":                       {later, change.Text, 1.7e9 + 100},
		"touched":                       {later, change.None, 1.7e9 + 100},
		"of a clock ahead of ours":      {"Tue, 14 Nov 2033 22:13:20 GMT", change.Content, 1.8e9},
		"nothing":                       {"", change.Text, 0},
		"no date":                       {"yesterday", change.Text, 0},
		"the time before all computers": {"Thu, 01 Jan 1970 00:00:00 GMT", change.Text, 0},
	} {
		r := &fetch.Response{Start: time.Unix(1.8e9, 5), Header: http.Header{"Last-Modified": {c.told}}}
		if got := Modified(&store.Page{Modified: was}, r, c.kind); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestJudge(t *testing.T) {
	old := &store.Page{Number: 7, Checksum: make([]byte, len(page.Checksum{})), Raw: make([]byte, len(page.Checksum{}))}
	same, other, asksNot := &page.Page{}, &page.Page{Checksum: page.Checksum{1}}, &page.Page{NoIndex: true}
	ok := &fetch.Response{State: fetch.StateOK}
	for name, c := range map[string]struct {
		answer Answer
		want   Verdict
		counts Counts
	}{
		"our network was down":      {Answer{Response: ok, Excused: true, Passing: true}, Again, Counts{Asked: 1}},
		"the host fails":            {Answer{Response: ok, Passing: true}, Failed, Counts{Asked: 1, Failed: 1}},
		"304":                       {Answer{Response: &fetch.Response{State: fetch.StateNotModified}}, Same, Counts{Asked: 1, NotModified: 1}},
		"the same content":          {Answer{Response: ok, Page: same, With: 7}, Same, Counts{Asked: 1, NotModified: 1}},
		"the same, not to be kept":  {Answer{Response: ok, Page: asksNot, With: 7}, Withdrawn, Counts{Asked: 1, Gone: 1}},
		"other content":             {Answer{Response: ok, Page: other}, Changed, Counts{Asked: 1, Changed: 1}},
		"another language":          {Answer{Response: ok, Page: other, Unwanted: true}, Unwanted, Counts{Asked: 1, Gone: 1}},
		"the content of another":    {Answer{Response: ok, Page: other, With: 9}, Repeats, Counts{Asked: 1, Gone: 1}},
		"moved":                     {Answer{Response: &fetch.Response{State: fetch.StateRedirect}}, Moved, Counts{Asked: 1, Gone: 1}},
		"not there":                 {Answer{Response: &fetch.Response{State: fetch.StateCode, Code: 404}}, Gone, Counts{Asked: 1, Gone: 1}},
		"no page but a film by now": {Answer{Response: &fetch.Response{State: fetch.StateWrongType}}, Gone, Counts{Asked: 1, Gone: 1}},
	} {
		var s Session
		if got := s.Judge(old, c.answer); got != c.want || s.Counts != c.counts {
			t.Errorf("%s: verdict %d, %+v; want %d, %+v", name, got, s.Counts, c.want, c.counts)
		}
	}
}

// TestChecked: an answer that brings no version leaves the old one.
func TestChecked(t *testing.T) {
	at := time.UnixMilli(5000)
	old := store.Page{ETag: "a", Modified: "then"}
	p := Checked(old, &fetch.Response{Start: at, Header: http.Header{"Etag": {"b"}}})
	if p.ETag != "b" || p.Modified != "then" || p.Checked != 5000 || old.ETag != "a" {
		t.Errorf("%+v", p)
	}
}
