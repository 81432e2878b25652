package train

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/models"
	"fossick/models/features"
)

// rareAndWide makes n pages of two classes. Each class has words on most pages of its
// own and some of the other's, and words that stand on one page in thirty and never in the
// other class: these gain, and represent nothing.
func rareAndWide(n int) []*datasets.Example {
	rng := rand.New(rand.NewPCG(11, 1))
	var set []*datasets.Example
	for i := range n {
		label := []string{"bank", "code"}[i%2]
		var text strings.Builder
		for range 20 {
			fmt.Fprintf(&text, "plain%c ", 'a'+rune(rng.IntN(6)))
		}
		for word := range 12 {
			if rng.IntN(20) < 9 {
				fmt.Fprintf(&text, "%swide%c ", label, 'a'+rune(word))
			}
			if rng.IntN(20) < 6 {
				fmt.Fprintf(&text, "%swide%c ", []string{"code", "bank"}[i%2], 'a'+rune(word))
			}
		}
		if word := i / 2 % 30; word < 12 {
			fmt.Fprintf(&text, "%srare%c ", label, 'a'+rune(word))
		}
		set = append(set, &datasets.Example{URL: fmt.Sprintf("http://x.test/%d", i), Label: label, Text: text.String()})
	}
	return set
}

func isRare(word string) bool { return strings.Contains(word, "rare") }

// TestSelectDefaults: trees, rules, networks and K choose words in two steps unless told
// otherwise; what linear classifiers keep by themselves is what gains most.
func TestSelectDefaults(t *testing.T) {
	set := rareAndWide(240)
	bytesOf := func(name string, by features.Measure) []byte {
		m, _, err := Train(context.Background(), stream(set), Options{Classifier: name, Words: 20, Select: by, Seed: 2})
		if err != nil {
			t.Fatal(err)
		}
		if got, two := slices.ContainsFunc(m.Terms, isRare), by == features.ByGain; by != "" && got != two {
			t.Errorf("%s by %s: words %v", name, by, m.Terms)
		}
		for label, k := range m.Keywords {
			if by != features.ByGain && (len(k) == 0 || slices.ContainsFunc(k, isRare)) {
				t.Errorf("%s by %q: K of %s is %v", name, by, label, k)
			}
		}
		m.Keywords = nil
		var b bytes.Buffer
		if err := m.Write(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for name, same := range map[string]features.Measure{
		models.C45: features.ByTFDFGain, models.CN2: features.ByTFDFGain, models.NN: features.ByTFDFGain,
		models.LinearSVM: features.ByGain, models.NaiveBayes: features.ByGain,
	} {
		two, one, own := bytesOf(name, features.ByTFDFGain), bytesOf(name, features.ByGain), bytesOf(name, "")
		if bytes.Equal(two, one) || !bytes.Equal(own, map[features.Measure][]byte{features.ByTFDFGain: two, features.ByGain: one}[same]) {
			t.Errorf("%s: by itself it does not choose words by %s, or both ways are one", name, same)
		}
	}
}

// TestSelectInFewBytes: words chosen in two passes over rows in a file are those chosen from
// rows in memory.
func TestSelectInFewBytes(t *testing.T) {
	set := rareAndWide(800)
	var want []string
	for _, memory := range []int64{0, 160 << 10} {
		m, rep, err := Train(context.Background(), stream(set), Options{
			Classifier: models.C45, Words: 20, Memory: memory, Tmp: t.TempDir(), Seed: 2,
		})
		if err != nil {
			t.Fatal(err)
		}
		if memory == 0 {
			want = m.Terms
		} else if !slices.Equal(m.Terms, want) || rep.Spilled == 0 {
			t.Errorf("in %d bytes, %d of rows in a file: %v, want %v", memory, rep.Spilled, m.Terms, want)
		}
	}
}

// TestKeywordsSay: in English K is of nouns; of pages in another language, of all words but
// stop words, and it says so.
func TestKeywordsSay(t *testing.T) {
	page := func(n int, label, text string) *datasets.Example {
		return &datasets.Example{URL: fmt.Sprintf("http://x.test/%s/%d", label, n), Label: label, Text: text}
	}
	var english, german []*datasets.Example
	for n := range 12 {
		english = append(english, page(n, "bees", "The beekeeper quickly opens the hive, and the bees of the hive are in the garden with honey."),
			page(n, "rail", "The train slowly leaves the station, and the passengers of the train are in the carriage with a ticket."))
		german = append(german, page(n, "bees", "Der Imker öffnet schnell den Stock, und die Bienen des Stocks sind im Garten und haben viel Honig gesammelt."),
			page(n, "rail", "Der Zug verlässt langsam den Bahnhof, und die Reisenden des Zuges sind im Wagen und haben eine Karte gekauft."))
	}
	keywordsOf := func(set []*datasets.Example) ([]string, string) {
		k, by, err := Keywords(t.Context(), stream(set), Options{Target: Target{Topic: "bees"}, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		return k["bees"], by
	}
	k, by := keywordsOf(english)
	if !slices.Contains(k, "hive") || slices.Contains(k, "quickly") || slices.Contains(k, "opens") || !strings.Contains(by, "nouns") {
		t.Errorf("English: %v, by %s", k, by)
	}
	k, by = keywordsOf(german)
	if !slices.Contains(k, "schnell") || !slices.Contains(k, "imker") || !strings.Contains(by, "nouns of English only") {
		t.Errorf("German: %v, by %s", k, by)
	}
}
