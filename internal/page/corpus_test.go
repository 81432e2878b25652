package page

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"fossick/internal/testkit"
)

// corpusFile opens a file of a corpus, or skips the test without one.
func corpusFile(t testing.TB, name string) io.Reader {
	t.Helper()
	f := testkit.Call(os.Open(testkit.Corpus(t, name))).Must(t)
	z := testkit.Call(zstd.NewReader(f, zstd.WithDecoderConcurrency(1))).Must(t)
	t.Cleanup(func() { z.Close(); f.Close() })
	return z
}

type corpusPage struct {
	URL, HTML, Text, Title, Label string
}

// parse parses a page as UTF-8, as the corpus stores it, whatever its markup declares.
func (c corpusPage) parse(t testing.TB) *Page {
	t.Helper()
	opt := ParseOptions{URL: c.URL, ContentType: "text/html; charset=utf-8"}
	body := c.HTML
	if body == "" {
		opt.ContentType, body = "text/plain; charset=utf-8", c.Text
	}
	p, err := Parse([]byte(body), opt)
	if err != nil {
		t.Fatalf("%s: %v", c.URL, err)
	}
	return p
}

func corpusPages(t testing.TB, corpus string, yield func(corpusPage) bool) {
	t.Helper()
	s := bufio.NewScanner(corpusFile(t, corpus+"/pages.jsonl.zst"))
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		var c corpusPage
		testkit.Must(t, json.Unmarshal(s.Bytes(), &c))
		if !yield(c) {
			return
		}
	}
	testkit.Must(t, s.Err())
}

func corpusLinks(t testing.TB, corpus string) map[string]map[string]bool {
	t.Helper()
	links := map[string]map[string]bool{}
	s := bufio.NewScanner(corpusFile(t, corpus+"/links.tsv.zst"))
	for s.Scan() {
		src, dst, _ := strings.Cut(s.Text(), "\t")
		if links[src] == nil {
			links[src] = map[string]bool{}
		}
		links[src][dst] = true
	}
	testkit.Must(t, s.Err())
	return links
}

// recall returns how many of the listed links of a page are found, and the missing ones.
func recall(p *Page, want map[string]bool) (found int, missing []string) {
	got := map[string]bool{}
	for _, l := range p.Links {
		got[l.URL] = true
	}
	for u := range want {
		if n, err := Normalize(u); err == nil && got[n] {
			found++
		} else {
			missing = append(missing, u)
		}
	}
	return found, missing
}

func TestWikispeediaLinks(t *testing.T) {
	want := corpusLinks(t, "wikispeedia")
	pages, found, all := 0, 0, 0
	corpusPages(t, "wikispeedia", func(c corpusPage) bool {
		p := c.parse(t)
		if p.Title != strings.Join(strings.Fields(c.Title), " ") || p.Lang != "en" || len(p.Text) < len(c.HTML)/3 {
			t.Errorf("%s: title %q, language %q, %d bytes of text of %d", c.URL, p.Title, p.Lang, len(p.Text), len(c.HTML))
		}
		n, missing := recall(p, want[c.URL])
		if len(missing) > 0 {
			t.Logf("%s: missing %q", c.URL, missing)
		}
		found, all = found+n, all+len(want[c.URL])
		pages++
		return pages < testkit.Rounds(100, 1500)
	})
	if float64(found) < 0.99*float64(all) || all == 0 {
		t.Errorf("found %d of %d links, want 99 %%", found, all)
	}
}
