package crawler

import (
	"strings"
	"testing"

	"fossick/internal/page"
)

func TestWantsLang(t *testing.T) {
	for _, c := range []struct {
		langs, code string
		want        bool
	}{
		{"", "fr", true}, {"en", "", true}, {"en", "en", true}, {"en", "fr", false}, {"no", "nb", true}, {"nn", "no", true},
		{"no", "da", false}, {"he", "iw", true}, {"in", "id", true}, {"en,ji", "yi", true},
	} {
		s := Scope{Langs: strings.FieldsFunc(c.langs, func(r rune) bool { return r == ',' })}
		if got := s.wantsLang(c.code); got != c.want {
			t.Errorf("--lang %s: a page in %q is wanted: %v", c.langs, c.code, got)
		}
		if why := s.foreign(&page.Page{Lang: c.code}); (why == "") != c.want {
			t.Errorf("--lang %s: a page in %q: %q", c.langs, c.code, why)
		}
	}
}
