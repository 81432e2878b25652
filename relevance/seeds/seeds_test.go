package seeds

import (
	"os"
	"strings"
	"testing"

	"fossick/datasets/lists"
	"fossick/internal/page"
)

// FuzzList: any file is taken, or refused with its name, and what is taken is
// in normal form, each once.
func FuzzList(f *testing.F) {
	for _, seed := range []string{
		"http://a.test/\n", "\xef\xbb\xbfhttp://a.test/\r\n\r\n# x\r\n", "\xff\xfeh\x00t\x00t\x00p\x00:\x00/\x00/\x00a\x00\n\x00", "\xfe\xff\x00h",
		"http://a.test/\x00\n", "nonsense", "http://a.test/\nHTTP://A.TEST\n", strings.Repeat("x", lists.MaxLineBytes+1), "\xff\xfe\x00", "\xef\xbb",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		t.Chdir(t.TempDir())
		if err := os.WriteFile("seeds", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		urls := page.NewNormalizer(nil)
		l := New(urls)
		if err := l.addFile("seeds"); err != nil && !strings.Contains(err.Error(), "seeds:") {
			t.Errorf("%q: %v names no line", text, err)
		}
		for i, u := range l.URLs {
			if again, err := urls.Normalize(u); err != nil || again != u {
				t.Errorf("%q: start page %q is not in normal form: %q, %v", text, u, again, err)
			}
			if i > 0 && u == l.URLs[0] {
				t.Errorf("%q: %s stands there twice", text, u)
			}
		}
	})
}
