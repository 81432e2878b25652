package learned

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"fossick/internal/page"
)

// naiveEndings are endings by their definition.
func naiveEndings(text string, most int) (all []string) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		letters := []rune(word)
		for i := range letters {
			letters[i] = unicode.ToLower(letters[i])
		}
		for _, n := range []int{3, 4} {
			if len(letters) < shortestEnded || len(all) == most {
				continue
			}
			if e := string(letters[len(letters)-n:]); !slices.Contains(all, e) {
				all = append(all, e)
			}
		}
	}
	return all
}

// TestEndings holds endings to their definition: two texts have the same tokens where they have the
// same endings.
func TestEndings(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"ism", "Hindu", "Buddh", " ", "-", "ology", "Zo", "É", "été", "\xff", "東京銀行", "123", "S", "(", "a"}
	known := map[string]token{}
	used := map[token]string{}
	for range 2000 {
		var b strings.Builder
		for range rng.IntN(12) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		var room [maxEndings]token
		got, want := endings(room[:0], b.String()), naiveEndings(b.String(), maxEndings)
		if len(got) != len(want) {
			t.Fatalf("%q: %d endings, want %q", b.String(), len(got), want)
		}
		for i, w := range want {
			if k, met := known[w]; met && k != got[i] {
				t.Fatalf("%q: %q is %d, and was %d", b.String(), w, got[i], k)
			}
			if other, met := used[got[i]]; met && other != w {
				t.Fatalf("%q and %q have one token", w, other)
			}
			known[w], used[got[i]] = got[i], w
		}
	}
}

func FuzzEndings(f *testing.F) {
	f.Add("Hinduism and Buddhism")
	f.Add("\xff\xfe東京")
	f.Fuzz(func(t *testing.T, text string) {
		var room [maxEndings]token
		got := endings(room[:0], text)
		if len(text) <= maxAnchor && len(got) != len(naiveEndings(text, maxEndings)) {
			t.Errorf("%q: %d endings, want %q", text, len(got), naiveEndings(text, maxEndings))
		}
	})
}

// TestLearnedEnding: a link whose word nobody has met is told by links whose words end alike.
func TestLearnedEnding(t *testing.T) {
	l := New(goldJudge, Options{Cut: 0.5})
	p := &page.Page{URL: "http://list.test/"}
	for i, name := range []string{"Hinduism", "Jainism", "Taoism", "Volleyball", "Handball", "Baseball", "Shintoism", "Softball"} {
		p.Links = append(p.Links, page.Link{URL: fmt.Sprintf("http://t.test/%d", i), Anchor: name})
		for range 2 * nearBy { // so that none stands beside another
			p.Links = append(p.Links, page.Link{URL: "http://list.test/", Anchor: "itself"})
		}
	}
	l.ScorePage(p, 0.5)
	l.ScoreLinks(nil, p, 0.5)
	for i := range 6 {
		l.ScorePage(&page.Page{URL: fmt.Sprintf("http://t.test/%d", i)}, truth(i < 3))
	}
	score := func(i int) float64 { s, _ := l.Rescore(page.Key(fmt.Sprintf("http://t.test/%d", i))); return s }
	if ism, ball := score(6), score(7); ism < 1.2*ball {
		t.Errorf("%v for another -ism, %v for another -ball; three of the first were on topic, of the second none", ism, ball)
	}
}
