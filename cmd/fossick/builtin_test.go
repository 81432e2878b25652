package main

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/classify"
	"fossick/datasets"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/models"
	"fossick/relevance"
	"fossick/train"
)

// TestBuiltinTopics checks the built-in topics against their cards.
func TestBuiltinTopics(t *testing.T) {
	names := models.BuiltinTopics()
	if want := []string{"banking", "programming", "science", "sport"}; !slices.Equal(names, want) {
		t.Errorf("topics %v, want %v", names, want)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			topic := testkit.Call(models.BuiltinTopic(name)).Must(t)
			if topic.Name != name || topic.Title == "" || topic.Verified != "" {
				t.Errorf("name %q, title %q, verified %q; want %s, a title, and not verified", topic.Name, topic.Title, topic.Verified, name)
			}
			checkKeywords(t, topic.Keywords)
			checkSeeds(t, topic.Seeds)
			m := topic.Model
			if m == nil {
				t.Fatal("no model")
			}
			if k := m.Keywords[name]; len(k) != 20 || !slices.Equal(topic.Keywords, k) {
				t.Errorf("K is %v; want the model's 20 words, %v", topic.Keywords, k)
			}
			if len(m.Terms) > 2000 || !slices.Contains(m.Classes, name) || len(m.Classes) != 2 {
				t.Errorf("%d words, classes %v; want at most 2000, and %s against other", len(m.Terms), m.Classes, name)
			}
			if th := m.Threshold(name); th < 0.1 || th > 0.7 {
				t.Errorf("threshold %.3f; want one between 0.1 and 0.7, for another is luck", th)
			}
			for _, data := range m.Card.Data {
				if strings.HasPrefix(data, ".") || filepath.IsAbs(data) {
					t.Errorf("the card names %s; want the set, not where it was", data)
				}
			}
			if _, err := os.Stat(filepath.Join("../../models/topics", name, "CARD.md")); err != nil {
				t.Errorf("model card: %v", err)
			}
		})
	}
}

// TestBuiltinModels retrains the built-in models by their recipe and compares the bytes.
func TestBuiltinModels(t *testing.T) {
	testkit.Only(t, "it trains four models in a minute")
	t.Parallel()
	for _, set := range []string{"20news", "wikispeedia/train.jsonl.zst"} {
		testkit.Corpus(t, set)
	}
	data := testkit.Corpus(t, "debdocs") + "/.." // folder in which the recipe works
	recipe := testkit.Call(filepath.Abs("../../models/topics/recipe.sh")).Must(t)
	for _, name := range models.BuiltinTopics() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := filepath.Join(t.TempDir(), "model")
			train := exec.CommandContext(t.Context(), "sh", "-euc", `. "$1"; learn "$2" "$3" $sets --all`, "sh", recipe, name, made)
			train.Dir, train.Env = data, append(os.Environ(), beMain+"=1", "fossick="+os.Args[0])
			if out, err := train.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			got := testkit.Call(os.ReadFile(made)).Must(t)
			want := testkit.Call(os.ReadFile(filepath.Join(filepath.Dir(recipe), name, "model.fossick"))).Must(t)
			if !bytes.Equal(got, want) {
				t.Errorf("training gives other bytes than models/topics/%s/model.fossick; if the change of the trainer is meant, run models/topics/build.sh", name)
			}
		})
	}
}

// checkKeywords wants distinct stems: two words of one stem would count twice.
func checkKeywords(t *testing.T, words []string) {
	k := testkit.Call(relevance.NewKeywords(words)).Must(t)
	if k.Len() != len(words) {
		t.Errorf("%d keywords of %d; want none twice", k.Len(), len(words))
	}
	for _, w := range k.Words() {
		found := k.FoundIn("en", w)
		if !slices.Contains(found, w) {
			t.Errorf("keyword %q does not match itself", w)
		}
		if found := slices.DeleteFunc(found, func(f string) bool { return strings.Contains(w, " ") && f != w }); len(found) > 1 {
			t.Errorf("keywords %v have one stem", found)
		}
	}
}

// checkSeeds wants twelve or more distinct start pages in normal form, from eight or more sites.
func checkSeeds(t *testing.T, seeds []string) {
	sites := map[string]bool{}
	for i, s := range seeds {
		if n, err := page.Normalize(s); err != nil || n != s {
			t.Errorf("seed %s: normal form %s, %v", s, n, err)
		}
		if slices.Contains(seeds[:i], s) {
			t.Errorf("seed %s is there twice", s)
		}
		sites[page.Site(s)] = true
	}
	if len(seeds) < 12 || len(sites) < 8 {
		t.Errorf("%d start pages of %d sites, want 12 of 8 at least", len(seeds), len(sites))
	}
}

// TestBuiltinOnNews compares the topics' figures on BBC news, which none was trained on, with their cards.
func TestBuiltinOnNews(t *testing.T) {
	set := testkit.Call(datasets.Open(testkit.Corpus(t, "bbc"), datasets.Options{})).Must(t)
	tests := []struct {
		topic, label      string
		precision, recall float64 // at the model's threshold, as on the card
	}{
		{"sport", "sport", 0.899, 0.886},
		{"banking", "business", 1, 0.035}, // related, not the same
	}
	for _, tt := range tests {
		t.Run(tt.topic, func(t *testing.T) {
			precision, recall := judgeTopic(t, tt.topic, tt.label, set)
			if math.Abs(precision-tt.precision) > 0.005 || math.Abs(recall-tt.recall) > 0.005 {
				t.Errorf("precision %.3f, recall %.3f; the card says %.3f and %.3f", precision, recall, tt.precision, tt.recall)
			}
		})
	}
}

func judgeTopic(t *testing.T, name, label string, set *datasets.Set) (precision, recall float64) {
	topic := testkit.Call(models.BuiltinTopic(name)).Must(t)
	c := testkit.Call(classify.New(topic.Model)).Must(t)
	var hits, kept, of float64
	for e := range testkit.All(t, set.Examples()) {
		d := testkit.Call(train.Doc(e)).Must(t)
		is, says := e.Label == label, c.Score(d, name) >= topic.Model.Threshold(name)
		if is {
			of++
		}
		if says {
			kept++
		}
		if is && says {
			hits++
		}
	}
	return hits / kept, hits / of
}
