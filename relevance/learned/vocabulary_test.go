package learned

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"fossick/internal/page"
	"fossick/models/features"
)

func TestVocabularyWorth(t *testing.T) {
	v := newVocabulary()
	v.learnPage([]token{1, 2}, 1, 1)
	v.learnPage([]token{1, 3}, 1, 1)
	v.learnPage([]token{3}, 0, 1)
	v.learnLink([]token{2}, 1)
	const mean = 0.25
	b := base{mean: mean, odds: logit(mean)}
	lift := func(onTopic, pages float64) float64 {
		return logit((onTopic+2*mean)/(pages+2)) - logit(mean)
	}
	for _, test := range []struct {
		name             string
		words            []token
		mean, most, link float64
	}{
		{"none", nil, 0, 0, 0},
		{"a new word", []token{9}, 0, 0, 0},
		{"a good word", []token{1}, lift(2, 2), lift(2, 2), 0},
		{"a good word and a new one", []token{9, 1}, lift(2, 2) / 2, lift(2, 2), 0},
		{"seen once, and half the time", []token{2, 3}, (lift(1, 1) + lift(1, 2)) / 2, lift(1, 1), lift(1, 1) / 2},
	} {
		w := v.worth(test.words, &b)
		mean, most, link := w.mean, w.most, w.inLinks
		if math.Abs(mean-test.mean) > 1e-9 || math.Abs(most-test.most) > 1e-9 || math.Abs(link-test.link) > 1e-9 {
			t.Errorf("%s: worth %v, %v, in links %v; want %v, %v, %v", test.name, mean, most, link, test.mean, test.most, test.link)
		}
	}
}

// TestSameWords: forms of a word, its place in a URL, and words of scripts without
// spaces are found again.
func TestSameWords(t *testing.T) {
	for _, test := range []struct{ lang, text, anchor, url string }{
		{"en", "Two mosques stood here.", "Mosque", "http://h.test/"},
		{"en", "It was a river.", "", "http://h.test/wiki/Long_rivers.html?x=1"},
		{"en", "It was a river.", "", "http://h.test/wiki/the-river/"},
		{"en", "made in café style", "", "http://h.test/caf%C3%A9"},
		{"en", "of space", "", "http://space.test/"},
		{"ja", "東京都は日本の首都である。", "日本", "http://h.test/"},
		{"ko", "서울은 한국의 수도이다.", "한국", "http://h.test/"},
		{"fr", "les rivières de la ville", "Rivière", "http://h.test/"},
	} {
		r := newWordReader()
		known := slices.Clone(r.page(&page.Page{Lang: test.lang, Text: test.text}))
		var words [maxLinkWords]token
		r.anchor(test.anchor, test.lang)
		n := r.link(words[:], test.lang, &page.Link{URL: test.url})
		if !slices.ContainsFunc(words[:n], func(w token) bool { return slices.Contains(known, w) }) {
			t.Errorf("%q: no word of the link %q to %s is found on the page", test.text, test.anchor, test.url)
		}
	}
}

func TestWordReaderIsBounded(t *testing.T) {
	r := newWordReader()
	long := strings.Repeat("ab ", maxPageText) + "last"
	if words := r.page(&page.Page{Text: long}); slices.Contains(words, tokenOf("last")) {
		t.Error("the end of a long page was read")
	}
	var words [maxLinkWords]token
	anchor := "one two three four five six seven eight nine ten eleven"
	r.anchor(anchor, "en")
	if n := r.link(words[:], "en", &page.Link{URL: "http://h.test/"}); n > maxLinkWords {
		t.Errorf("%d words of a link, want %d at most", n, maxLinkWords)
	}
}

func FuzzLastPart(f *testing.F) {
	for _, s := range []string{"", "/", "http://h.test", "http://h.test/a/b_c?d=/e", "%", "http://h.test/%zz%C3%A9", "日本/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, address string) {
		part := lastPart(address)
		if strings.ContainsAny(part, "_-.+") {
			t.Errorf("lastPart(%q) = %q keeps marks between words", address, part)
		}
		if len(part) > 256 {
			t.Errorf("lastPart(%q) has %d bytes", address, len(part))
		}
		if got := folder(address); !strings.HasPrefix(address, got) {
			t.Errorf("folder(%q) = %q is no beginning of it", address, got)
		}
		if utf8.ValidString(address) && !utf8.ValidString(features.Head(address, 7)) {
			t.Errorf("Head(%q, 7) = %q is cut within a character", address, features.Head(address, 7))
		}
	})
}
