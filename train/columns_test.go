package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/internal/fulltest"
	"fossick/models"
	"fossick/models/features"
)

// wide makes n pages of three classes and twelve sites out of many words: a few that tell the class,
// common ones, and rare ones.
func wide(n, words int) iter.Seq2[*datasets.Example, error] {
	return func(yield func(*datasets.Example, error) bool) {
		rng := rand.New(rand.NewPCG(11, 11))
		for i := range n {
			label := []string{"gull", "crow", "wren"}[i%3]
			var text strings.Builder
			for range 40 {
				switch rng.IntN(8) {
				case 0:
					fmt.Fprintf(&text, "%sish%c ", label, 'a'+rune(rng.IntN(20)))
				case 1:
					fmt.Fprintf(&text, "rare%sq ", letters(rng.IntN(words)))
				default:
					fmt.Fprintf(&text, "plain%c%c ", 'a'+rune(rng.IntN(10)), 'a'+rune(rng.IntN(10)))
				}
			}
			e := &datasets.Example{URL: fmt.Sprintf("http://s%d.test/%d", i%12, i), Label: label,
				Site: fmt.Sprint("s", i%12), Text: text.String()}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// letters writes a number in letters, for numbers in words are terms of their own kind.
func letters(n int) string {
	s := ""
	for ; n > 0 || s == ""; n /= 26 {
		s += string(rune('a' + n%26))
	}
	return s
}

func bytesOf(t *testing.T, m *models.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// little is a memory in which the sets of these tests find no room for all their columns, but for the
// whole vocabulary.
const little = 300 << 10

// TestSameModelFromFile: where the words asked for fit, a set that went through a file gives the model
// of one that stayed in memory, to the byte.
func TestSameModelFromFile(t *testing.T) {
	fulltest.Only(t, "seconds of processor time")
	for _, opt := range []Options{
		{Classifier: "c45", Words: 25}, {Classifier: "cn2", Words: 8}, {Classifier: "linear", Words: 40},
		{Classifier: "nb", Mu: 0.02}, {Classifier: "nb", Words: 30, Select: features.ByGain},
		{Classifier: "nb", Words: 30, MinSites: 5, BySite: true}, {Classifier: "linear", Words: 20, Target: Target{Topic: "crow"}},
	} {
		name := fmt.Sprintf("%s words %d mu %v %s", opt.Classifier, opt.Words, opt.Mu, opt.Topic)
		want, rep, err := Train(context.Background(), wide(600, 500), opt)
		if err != nil {
			t.Fatal(err)
		}
		if rep.Spilled != 0 || rep.LostBelow != 0 {
			t.Fatalf("%s: %d bytes in a file, terms of %d pages lost: the first was to be in memory", name, rep.Spilled, rep.LostBelow)
		}
		opt.Memory, opt.Tmp = little, t.TempDir()
		got, rep, err := Train(context.Background(), wide(600, 500), opt)
		if err != nil {
			t.Fatal(err)
		}
		if rep.Spilled == 0 || rep.LostBelow != 0 {
			t.Fatalf("%s: %d bytes in a file, terms of %d pages lost: the second was to be in a file", name, rep.Spilled, rep.LostBelow)
		}
		if !bytes.Equal(bytesOf(t, want), bytesOf(t, got)) {
			t.Errorf("%s: not the same model from a file: %v and %v", name, want.Terms, got.Terms)
		}
	}
}

// TestAllWordsInLittleMemory: learners of all words get as many as there is room for, and the model's
// card says so.
func TestAllWordsInLittleMemory(t *testing.T) {
	all, _, err := Train(context.Background(), wide(600, 500), Options{Classifier: "linear"})
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Classifier: "linear", Memory: little, Tmp: t.TempDir()}
	m, rep, err := Train(context.Background(), wide(600, 500), opt)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Terms) >= len(all.Terms) || len(m.Terms) < 60 || m.Card.Settings["words_at_most"] != fmt.Sprint(len(m.Terms)) {
		t.Errorf("%d of %d words, %q in the card", len(m.Terms), len(all.Terms), m.Card.Settings["words_at_most"])
	}
	if !slices.Contains(m.Terms, "gullisha") {
		t.Errorf("a telling word is missing: %v", m.Terms)
	}
	if rep.CV.Accuracy < 0.95 {
		t.Errorf("accuracy %v of the words that fit", rep.CV.Accuracy)
	}
}

// TestVocabularyInLittleMemory: with more words than the lexicon may have, rare ones go, telling ones
// stay, and the loss is told.
func TestVocabularyInLittleMemory(t *testing.T) {
	opt := Options{Classifier: "nb", Words: 60, Memory: 2 * little, Tmp: t.TempDir()}
	m, rep, err := Train(context.Background(), wide(2000, 100_000), opt)
	if err != nil {
		t.Fatal(err)
	}
	if rep.LostBelow < 1 || rep.LostBelow > 50 || m.Card.Settings["terms_lost_below"] != fmt.Sprint(rep.LostBelow) {
		t.Errorf("terms of %d pages lost, %q in the card", rep.LostBelow, m.Card.Settings["terms_lost_below"])
	}
	for _, w := range []string{"gullisha", "crowishb", "wrenishc"} {
		if !slices.Contains(m.Terms, w) {
			t.Errorf("the telling word %s is missing", w)
		}
	}
	if rep.CV.Accuracy < 0.95 {
		t.Errorf("accuracy %v", rep.CV.Accuracy)
	}
	again, _, err := Train(context.Background(), wide(2000, 100_000), opt)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytesOf(t, m), bytesOf(t, again)) {
		t.Error("the same set gives another model the second time")
	}
}

// TestNothingLeftBehind: the file is gone after a run, a broken stream and an interruption.
func TestNothingLeftBehind(t *testing.T) {
	errBroken := errors.New("the line broke")
	ctx, cancel := context.WithCancel(context.Background())
	for _, c := range []struct {
		name string
		ctx  context.Context
		end  func(yield func(*datasets.Example, error) bool)
		want error
	}{
		{"a whole run", context.Background(), func(func(*datasets.Example, error) bool) {}, nil},
		{"a broken stream", context.Background(), func(yield func(*datasets.Example, error) bool) { yield(nil, errBroken) }, errBroken},
		{"an interruption", ctx, func(func(*datasets.Example, error) bool) { cancel() }, context.Canceled},
	} {
		dir, filed := t.TempDir(), false
		examples := func(yield func(*datasets.Example, error) bool) {
			for e, err := range wide(600, 500) {
				if !yield(e, err) {
					return
				}
			}
			c.end(yield)
		}
		_, rep, err := Train(c.ctx, examples, Options{Classifier: "nb", Words: 30, Memory: little, Tmp: dir})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		filed = err != nil || rep.Spilled > 0
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 || !filed {
			t.Errorf("%s: %v left behind, %v", c.name, left, err)
		}
	}
}

// TestFormsAreBounded: the forms of words stay below their limit, and frequent stems keep the form in
// which they are written most.
func TestFormsAreBounded(t *testing.T) {
	n := newNouns(100)
	for i := range 500 {
		n.add("any", features.Doc{Text: fmt.Sprintf("banks banks bank rare%sq rare%su", letters(i), letters(i)), Lang: "en"})
		if len(n.forms) > n.limit {
			t.Fatalf("page %d: %d forms, want %d at most", i, len(n.forms), n.limit)
		}
	}
	n.settle()
	if got := n.form("bank"); got != "banks" {
		t.Errorf("the form of bank is %q, want banks", got)
	}
}

// TestNoRoomForFoldsOnly: in a memory with room for all columns but not for two folds beside each
// other, the model is that of a large memory.
func TestNoRoomForFoldsOnly(t *testing.T) {
	for _, opt := range []Options{{Classifier: "nb"}, {Classifier: "nb", Mu: 0.001}} {
		want, _, err := Train(context.Background(), wide(600, 300), opt)
		if err != nil {
			t.Fatal(err)
		}
		distinct := func(words []string) int { return len(slices.Compact(slices.Sorted(slices.Values(words)))) }
		cells := 0
		for e := range wide(600, 300) {
			words := strings.Fields(e.Text)
			cells += distinct(words) + distinct(words[:min(opt.lead(false), len(words))])
		}
		opt.Memory = int64(cells) * 20 * 4 / 3 // between 24 bytes and 16 for each, of three quarters
		if !(int64(cells) < opt.cells(1) && int64(cells) > opt.cells(2)) {
			t.Fatalf("%d terms of pages: not between %d and %d", cells, opt.cells(2), opt.cells(1))
		}
		got, rep, err := Train(context.Background(), wide(600, 300), opt)
		if err != nil {
			t.Fatal(err)
		}
		if rep.LostBelow != 0 {
			t.Fatalf("μ %v: terms of %d pages lost; all were to fit", opt.Mu, rep.LostBelow)
		}
		if !bytes.Equal(bytesOf(t, want), bytesOf(t, got)) {
			t.Errorf("μ %v: not the same model in little memory", opt.Mu)
		}
	}
}
