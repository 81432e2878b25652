package topics

import (
	"errors"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/internal/testkit"
	"fossick/models"
)

// TestFind finds topics by folder, by name and among the built-in ones, and models by file or topic.
func TestFind(t *testing.T) {
	t.Chdir(t.TempDir())
	banking := testkit.Call(models.BuiltinTopic("banking")).Must(t)
	for dir, topic := range map[string]*models.Topic{
		ownFolders("bees"): {Name: "bees", Keywords: []string{"bee"}},
		"wasps":            {Name: "wasps", Keywords: []string{"wasp"}, Model: banking.Model},
	} {
		testkit.Must(t, models.WriteTopic(dir, topic))
	}
	for name, want := range map[string]string{"bees": ownFolders("bees"), "wasps": "wasps", "banking": ""} {
		if topic, err := Find(name); err != nil || topic.Name != name || topicFolder(name) != want {
			t.Errorf("%s: %v, in %q, want %q", name, err, topicFolder(name), want)
		}
	}
	if names := Names(); !slices.Contains(names, "bees") || !slices.Contains(names, "sport") || slices.Contains(names, "wasps") {
		t.Errorf("names %v", names)
	}
	if _, err := Find("bee"); !errors.Is(err, models.ErrNoTopic) || !strings.Contains(err.Error(), "did you mean bees?") {
		t.Errorf("a topic spelt otherwise: %v", err)
	}
	if _, err := Model("bees"); err == nil || !strings.Contains(err.Error(), "has no model") {
		t.Errorf("a topic without a model: %v", err)
	}
	if _, err := Model("nothing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	for _, name := range []string{"wasps", "banking", "wasps/model.fossick"} {
		if m, err := Model(name); err != nil || m.Class("banking") < 0 {
			t.Errorf("model of %s: %v", name, err)
		}
	}
}

// TestLearn uses only rows with the topic's label, and rejects too few pages.
func TestLearn(t *testing.T) {
	learn := func(l Learning) (*learnt, error) {
		l.Open, l.Log, l.Seed = articles, slog.New(slog.DiscardHandler), 1
		l.Say, l.Step = func(string, ...any) {}, func(string) {}
		l.Rows = func(rows datasets.Stream) datasets.Stream { return rows }
		return l.learn(t.Context())
	}
	demo := []string{"demo"}
	for _, negatives := range [][]string{nil, demo} {
		got := testkit.Call(learn(Learning{Name: "sport", Examples: demo, Negatives: negatives})).Must(t)
		if got.Model.Class("sport") < 0 || (got.Pool == nil) != (negatives != nil) || got.Report.PerClass["sport"] == 0 {
			t.Errorf("negatives %v: classes %v, pool %v, pages %v", negatives, got.Model.Classes, got.Pool, got.Report.PerClass)
		}
	}
	if _, err := learn(Learning{Name: "sport", Examples: demo, Negatives: []string{"nowhere"}}); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a set that is not there: %v", err)
	}
}

// articles opens a set without pages that only list links.
func articles(path string, opt datasets.Options) (*datasets.Set, error) {
	where, err := datasets.ParseWhere("kind=article")
	opt.Where = append(opt.Where, where)
	if err != nil {
		return nil, err
	}
	return datasets.Open(path, opt)
}
