package control

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"fossick/internal/usage"
)

// FuzzLabels: what ReadLabels reads, written again, it reads as the same.
func FuzzLabels(f *testing.F) {
	for _, s := range []string{"http://a.test/\tyes\n", "# x\n\nhttp://a.test/\tno\r\nhttp://b.test/ \t yes ", "http://a.test/ yes", "\tyes", "a\tmaybe", "a\tb\tyes"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		labels, err := ReadLabels(strings.NewReader(text), "x")
		if err != nil {
			var mistake usage.Error
			if !errors.As(err, &mistake) || len(err.Error()) > 1000 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		var b strings.Builder
		for _, l := range labels {
			if l.Label != "yes" && l.Label != "no" || l.URL == "" {
				t.Fatalf("%q: %+v", text, l)
			}
			fmt.Fprintf(&b, "%s\t%s\n", l.URL, l.Label)
		}
		again, err := ReadLabels(strings.NewReader(b.String()), "x")
		if err != nil || fmt.Sprint(again) != fmt.Sprint(labels) {
			t.Fatalf("%q: %v, %v; want %v", b.String(), again, err, labels)
		}
	})
}
