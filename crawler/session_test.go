package crawler

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
		if got := modified(&store.Page{Modified: was}, r, c.kind); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestJudge(t *testing.T) {
	old := &store.Page{Number: 7, Checksum: make([]byte, len(page.Checksum{})), Raw: make([]byte, len(page.Checksum{}))}
	same, other, asksNot := &page.Page{}, &page.Page{Checksum: page.Checksum{1}}, &page.Page{NoIndex: true}
	ok := &fetch.Response{State: fetch.StateOK}
	for name, c := range map[string]struct {
		answer answer
		want   refreshVerdict
		counts RefreshCounts
	}{
		"our network was down":      {answer{Response: ok, Excused: true, Passing: true}, again, RefreshCounts{Asked: 1}},
		"the host fails":            {answer{Response: ok, Passing: true}, failed, RefreshCounts{Asked: 1, Failed: 1}},
		"304":                       {answer{Response: &fetch.Response{State: fetch.StateNotModified}}, refreshSame, RefreshCounts{Asked: 1, NotModified: 1}},
		"the same content":          {answer{Response: ok, Page: same, With: 7}, refreshSame, RefreshCounts{Asked: 1, NotModified: 1}},
		"the same, not to be kept":  {answer{Response: ok, Page: asksNot, With: 7}, withdrawn, RefreshCounts{Asked: 1, Gone: 1}},
		"other content":             {answer{Response: ok, Page: other}, changed, RefreshCounts{Asked: 1, Changed: 1}},
		"another language":          {answer{Response: ok, Page: other, Unwanted: true}, refreshUnwanted, RefreshCounts{Asked: 1, Gone: 1}},
		"the content of another":    {answer{Response: ok, Page: other, With: 9}, repeats, RefreshCounts{Asked: 1, Gone: 1}},
		"moved":                     {answer{Response: &fetch.Response{State: fetch.StateRedirect}}, moved, RefreshCounts{Asked: 1, Gone: 1}},
		"not there":                 {answer{Response: &fetch.Response{State: fetch.StateCode, Code: 404}}, gone, RefreshCounts{Asked: 1, Gone: 1}},
		"no page but a film by now": {answer{Response: &fetch.Response{State: fetch.StateWrongType}}, gone, RefreshCounts{Asked: 1, Gone: 1}},
	} {
		var s session
		if got := s.judge(old, c.answer); got != c.want || s.RefreshCounts != c.counts {
			t.Errorf("%s: verdict %d, %+v; want %d, %+v", name, got, s.RefreshCounts, c.want, c.counts)
		}
	}
}

// TestChecked: an answer that brings no version leaves the old one.
func TestChecked(t *testing.T) {
	at := time.UnixMilli(5000)
	old := store.Page{ETag: "a", Modified: "then"}
	p := checked(old, &fetch.Response{Start: at, Header: http.Header{"Etag": {"b"}}})
	if p.ETag != "b" || p.Modified != "then" || p.Checked != 5000 || old.ETag != "a" {
		t.Errorf("%+v", p)
	}
}
