package main

import (
	"math"
	"testing"
)

func (s statsTables) sum(t *testing.T, table, column string) (sum float64) {
	t.Helper()
	for _, row := range s.rows(t, table) {
		n, _ := row[column].(float64)
		sum += n
	}
	return sum
}

// statsShares are the columns of shares, with the column of their parts and that of the whole: its sum,
// or the value in the same row if the name ends with a stop.
var statsShares = []struct{ table, column, part, whole string }{
	{"outcomes", "share", "urls", "urls"}, {"outcomes", "exchanges_share", "exchanges", "exchanges"}, {"seed_outcomes", "share", "seeds", "seeds"},
	{"unasked", "share", "urls", "urls"}, {"codes", "share", "answers", "answers"}, {"seed_lengths", "share", "number", "number"},
	{"path_lengths", "share", "number", "number"}, {"host_labels", "share", "hosts", "hosts"}, {"host_labels", "seeds_share", "seeds", "seeds"}, {"path_lengths", "downloaded_share", "downloaded", "downloaded"}, {"response_times", "share", "answers", "answers"},
	{"sizes", "share", "pages", "pages"}, {"sizes_fine", "share", "pages", "pages"}, {"duplicates", "share", "urls", "urls"},
	{"schemes", "share", "requested", "requested"}, {"http_versions", "share", "answers", "answers"}, {"page_kinds", "share", "pages", "pages"},
	{"link_kinds", "share", "links", "links"}, {"media_types", "share", "pages", "pages"}, {"charsets", "share", "pages", "pages"},
	{"languages", "share", "pages", "pages"}, {"labels", "share", "pages", "pages"}, {"servers", "share", "answers", "answers"},
	{"tlds", "downloaded_share", "downloaded", "requested."}, {"second_levels", "downloaded_share", "downloaded", "requested."},
	{"sites", "downloaded_share", "downloaded", "requested."}, {"compression", "ratio", "packed", "bytes."}, {"depths", "new_links_per_page", "new_links", "downloaded."},
}

// compareShares recomputes the shares.
func (s statsTables) compareShares(t *testing.T) {
	t.Helper()
	for _, of := range statsShares {
		inRow := of.whole[len(of.whole)-1] == '.'
		whole := 0.0
		if !inRow {
			whole = s.sum(t, of.table, of.whole)
		}
		for _, row := range s.rows(t, of.table) {
			if inRow {
				whole, _ = row[of.whole[:len(of.whole)-1]].(float64)
			}
			part, _ := row[of.part].(float64)
			got, known := row[of.column].(float64)
			if known != (whole > 0) || known && math.Abs(got-part/whole) > 1e-9 {
				t.Errorf("%s, %v: %s is %v, want %v of %v", of.table, row[statsKeys[of.table]], of.column, row[of.column], part, whole)
			}
		}
	}
	for _, table := range []string{"sizes_fine", "response_times"} {
		rows := s.rows(t, table)
		for _, row := range rows[max(0, len(rows)-1):] {
			if row["up_to"] != 1. {
				t.Errorf("%s ends with %v, want 1", table, row["up_to"])
			}
		}
	}
}

// compareTotals checks that tables that count the same things have the same sums.
func (s statsTables) compareTotals(t *testing.T) {
	t.Helper()
	for _, same := range [][][2]string{
		{{"depths", "known"}, {"schemes", "urls"}, {"tlds", "urls"}, {"second_levels", "urls"}, {"sites", "urls"}},
		{{"depths", "requested"}, {"schemes", "requested"}, {"tlds", "requested"}, {"second_levels", "requested"}, {"sites", "requested"}, {"path_lengths", "number"}},
		{{"depths", "downloaded"}, {"schemes", "downloaded"}, {"tlds", "downloaded"}, {"second_levels", "downloaded"}, {"sites", "downloaded"}},
		{
			{"depths", "stored"}, {"schemes", "stored"}, {"sizes", "pages"}, {"sizes_fine", "pages"}, {"page_kinds", "pages"}, {"degrees", "in"}, {"degrees", "out"},
			{"media_types", "pages"}, {"charsets", "pages"}, {"languages", "pages"}, {"labels", "pages"}, {"tlds", "pages"}, {"second_levels", "pages"}, {"sites", "pages"},
		},
		{{"codes", "answers"}, {"response_times", "answers"}},
		{{"http_versions", "answers"}, {"servers", "answers"}},
	} {
		want := s.sum(t, same[0][0], same[0][1])
		for _, other := range same[1:] {
			if got := s.sum(t, other[0], other[1]); got != want {
				t.Errorf("%v are %v, %v are %v", other, got, same[0], want)
			}
		}
	}
	if known, asked := s.sum(t, "depths", "known"), s.sum(t, "unasked", "urls"); known-asked != s.sum(t, "depths", "requested") {
		t.Errorf("%v URLs of which %v were not requested, and %v were", known, asked, s.sum(t, "depths", "requested"))
	}
	pages := s.sum(t, "depths", "stored")
	if packed := s.row(t, "compression", "all"); packed["pages"] != pages || s.sum(t, "compression", "pages") != 2*pages {
		t.Errorf("%v pages, but %v are packed, and %v with those of each size", pages, packed["pages"], s.sum(t, "compression", "pages"))
	}
}
