package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/rogpeppe/go-internal/testscript"

	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/internal/fulltest"
	"fossick/models"
	"fossick/models/features"
	"fossick/train"
)

// languages are those of testdata/languages.
var languages = []string{"ar", "de", "ja", "ko", "ru", "zh"}

// What a set of a language has: pages a class, and of these every third is a test
// page.
const (
	languagePages     = 60
	languageSentences = 4 // of the class, on a page
)

// speaker makes pages of a language's sentences.
type speaker struct {
	rng       *rand.Rand
	classes   []string
	sentences map[string][]string // by class, and common
	fresh     bool                // test pages have sentences that no training page has
}

func newSpeaker(lang string, fresh bool) (*speaker, error) {
	text, err := os.ReadFile(filepath.Join("testdata", "languages", lang+".txt"))
	if err != nil {
		return nil, err
	}
	s := &speaker{fresh: fresh, rng: rand.New(rand.NewPCG(1, uint64(len(text)))), sentences: map[string][]string{}}
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok {
			section = strings.TrimSuffix(name, "]")
			if section != "common" {
				s.classes = append(s.classes, section)
			}
			continue
		}
		s.sentences[section] = append(s.sentences[section], line)
	}
	return s, nil
}

// say picks a sentence: with fresh set, of test pages every third of a class, and of
// others the rest.
func (s *speaker) say(section string, test bool) string {
	may := s.sentences[section]
	if s.fresh && section != "common" {
		may = nil
		for i, line := range s.sentences[section] {
			if (i%3 == 2) == test {
				may = append(may, line)
			}
		}
	}
	line := may[s.rng.IntN(len(may))]
	before, rest, ok := strings.Cut(line, "{")
	if !ok {
		return line
	}
	choices, after, _ := strings.Cut(rest, "}")
	parts := strings.Split(choices, "|")
	return before + parts[s.rng.IntN(len(parts))] + after
}

// page writes page n of a class as HTML that names no language. It has two
// common sentences, four of the class, on every other page one of another
// class. It links to three pages of the class and one of another.
func (s *speaker) page(class, n int, test bool) string {
	lines := []string{s.say("common", test), s.say("common", test)}
	for range languageSentences {
		lines = append(lines, s.say(s.classes[class], test))
	}
	if n%2 == 0 {
		lines = append(lines, s.say(s.classes[(class+1+n/2%3)%4], test))
	}
	s.rng.Shuffle(len(lines), func(a, b int) { lines[a], lines[b] = lines[b], lines[a] })
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html><html><head><meta charset=utf-8><title>%d</title></head><body>", n)
	for _, l := range lines {
		fmt.Fprintf(&b, "<p>%s</p>", html.EscapeString(l))
	}
	for i, to := range []int{class, class, class, (class + 1) % 4} {
		fmt.Fprintf(&b, `<a href="%s">%d</a> `, languageURL(to, (n*3+i+1)%languagePages), i)
	}
	return b.String() + "</body></html>"
}

func languageURL(class, n int) string {
	return fmt.Sprintf("http://h%d.test/%d", (class*7+n)%16, class*1000+n)
}

// speak writes a language's set: pages as JSONL and their labels.
func speak(lang, dir string, fresh bool) error {
	s, err := newSpeaker(lang, fresh)
	if err != nil {
		return err
	}
	var pages, truth bytes.Buffer
	enc := json.NewEncoder(&pages)
	for n := range languagePages {
		for class, label := range s.classes {
			test := n%3 == 2
			row := map[string]string{"url": languageURL(class, n), "html": s.page(class, n, test), "label": label, "split": "train"}
			if test {
				row["split"] = "test"
			}
			if err := enc.Encode(row); err != nil {
				return err
			}
			fmt.Fprintf(&truth, "%s\t%s\n", row["url"], label)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "labels.tsv"), truth.Bytes(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "pages.jsonl"), pages.Bytes(), 0o644)
}

// speakAndServe is the command "speak LANG DIR" of scripts: it writes a language's
// set into DIR, serves it until the script ends, and sets $PROXY to it.
func speakAndServe(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: speak LANG DIR")
	}
	dir := ts.MkAbs(args[1])
	ts.Check(speak(args[0], dir, false))
	addr, stop, err := serve(context.Background(), dir, web.Options{})
	ts.Check(err)
	ts.Defer(stop)
	ts.Setenv("PROXY", "http://"+addr)
}

// TestLanguages: no classifier is English only. Pages are of sentences that
// training pages have too, or, harder, of others on the same subjects. Then
// words must be known again in other forms, and trees, which ask for few, miss
// many.
func TestLanguages(t *testing.T) {
	least := map[bool]map[string]float64{
		false: {models.LinearSVM: 0.95, models.C45: 0.75, models.CN2: 0.75},
		true:  {models.LinearSVM: 0.8, models.C45: 0.45, models.CN2: 0.45},
	}
	for _, lang := range languages {
		for _, fresh := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/fresh=%v", lang, fresh), func(t *testing.T) {
				dir := t.TempDir()
				if err := speak(lang, dir, fresh); err != nil {
					t.Fatal(err)
				}
				all := []string{models.LinearSVM, models.C45, models.CN2}
				for _, classifier := range all[:fulltest.Rounds(1, len(all))] {
					r, m := trainOn(t, dir, classifier)
					t.Logf("%s: %.3f of %d pages", classifier, *r.Accuracy, *r.TestPages)
					if *r.Accuracy < least[fresh][classifier] {
						t.Errorf("%s: %.3f right, want %.2f at least", classifier, *r.Accuracy, least[fresh][classifier])
					}
					checkWords(t, lang, m)
				}
			})
		}
	}
}

// trainOn trains with 120 words, as a user does.
func trainOn(t *testing.T, set, classifier string) (r train.Result, m *models.Model) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "m.model")
	var out, errOut bytes.Buffer
	code := run(context.Background(), []string{"train", set, "--classifier", classifier, "--words", "120", "-o", file, "--json"}, &out, &errOut)
	if err := json.Unmarshal(out.Bytes(), &r); code != 0 || err != nil {
		t.Fatalf("%s: exit %d: %s", classifier, code, errOut.String())
	}
	m, err := models.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return r, m
}

// subjects are words that must be among those that training chooses: stems, or whole
// words without particles or articles.
var subjects = map[string][]string{
	"ar": {"بنك", "خلية", "فريق", "حساء"},
	"de": {"bank", "zell", "train", "topf"},
	"ja": {"銀行", "細胞", "選手", "鍋", "チーム", "スープ"},
	"ko": {"은행", "세포", "선수", "냄비"},
	"ru": {"банк", "клетк", "игрок", "суп"},
	"zh": {"银行", "细胞", "球员", "锅里"},
}

// scripts are those that a language's words are written in.
var scripts = map[string]*unicode.RangeTable{"ar": unicode.Arabic, "de": unicode.Latin, "ko": unicode.Hangul, "ru": unicode.Cyrillic, "zh": unicode.Han}

// checkWords holds a model's words to be readable: letters of the language, not
// parts of characters, nor grammar that Japanese writes in hiragana. K of the
// class banking must have the word for bank.
func checkWords(t *testing.T, lang string, m *models.Model) {
	t.Helper()
	for _, term := range m.Terms {
		if strings.HasPrefix(term, "url:") {
			continue
		}
		for _, r := range term {
			ok := unicode.IsDigit(r)
			if lang == "ja" {
				ok = ok || unicode.In(r, unicode.Han, unicode.Katakana, unicode.Latin) || r == 'ー'
			} else {
				ok = ok || unicode.Is(scripts[lang], r)
			}
			if !ok {
				t.Errorf("word %q has %q", term, r)
			}
		}
	}
	for _, word := range subjects[lang] {
		if !slices.Contains(m.Terms, word) {
			t.Errorf("the words lack %q: %s", word, strings.Join(m.Terms, " "))
		}
	}
	if bank := subjects[lang][0]; !slices.ContainsFunc(m.Keywords["banking"], func(k string) bool { return features.Stem(k, lang) == bank }) {
		t.Errorf("K of banking lacks %q: %v", bank, m.Keywords["banking"])
	}
}

// TestLanguageIsTold: pages that name no language are told theirs from the text,
// as HTML and as plain text.
func TestLanguageIsTold(t *testing.T) {
	for _, lang := range languages {
		dir := t.TempDir()
		if err := speak(lang, dir, false); err != nil {
			t.Fatal(err)
		}
		set, err := datasets.Open(dir, datasets.Options{})
		if err != nil {
			t.Fatal(err)
		}
		pages, wrong := 0, map[string]int{}
		for e, err := range set.Examples() {
			if err != nil {
				t.Fatal(err)
			}
			p, err := e.Page()
			if err != nil {
				t.Fatal(err)
			}
			plain := datasets.Example{URL: e.URL, Text: p.Text}
			q, err := plain.Page()
			if err != nil {
				t.Fatal(err)
			}
			for _, got := range []string{p.Lang, q.Lang} {
				if pages++; got != lang {
					wrong[got]++
				}
			}
		}
		n := 0
		for _, times := range wrong {
			n += times
		}
		if 50*n > pages { // a page of four short sentences may have no word that tells
			t.Errorf("%s: of %d pages %v", lang, pages, wrong)
		}
	}
}
