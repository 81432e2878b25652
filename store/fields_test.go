package store

import (
	"reflect"
	"strings"
	"testing"

	"fossick/store/change"
)

// TestFieldNumbers: no two fields of a record have one number. The encoder would leave out
// both, without a word.
func TestFieldNumbers(t *testing.T) {
	for _, record := range []any{Info{}, Counts{}, TopicCounts{}, Verdict{}, Birth{}, Queued{}, Visit{}, Fate{}, Page{}, Label{}, Host{}, Sitemaps{}, SitemapFile{}, Exchange{}, Mark{}, Ranking{}, Forget{}, Round{}, change.Visit{}} {
		typ, seen := reflect.TypeOf(record), map[string]string{}
		for i := range typ.NumField() {
			f := typ.Field(i)
			number, _, _ := strings.Cut(f.Tag.Get("cbor"), ",")
			if number == "" || number == "-" {
				continue
			}
			if other := seen[number]; other != "" {
				t.Errorf("%s: %s and %s are both number %s", typ, other, f.Name, number)
			}
			seen[number] = f.Name
		}
	}
}
