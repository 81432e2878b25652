package topics

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/internal/cli"
	"fossick/internal/testkit"
	"fossick/train"
)

func learning(said *[]string) Learning {
	return Learning{Say: func(format string, args ...any) { *said = append(*said, fmt.Sprintf(format, args...)) }}
}

// TestMake: a topic of keywords and start pages becomes a folder and is found by name.
func TestMake(t *testing.T) {
	t.Chdir(t.TempDir())
	var said []string
	w := Wanted{Name: "wasps", Keywords: []string{"Wasp", "hornet"}, Seed: []string{"example.org/wasps"}}
	made, err := w.Make(t.Context(), learning(&said))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	made.Print(&text)
	for _, want := range []string{"Topic wasps in topics/wasps: 2 keywords, 1 start page\n", "focus --topic wasps --contact"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("want %q in\n%s", want, text.String())
		}
	}
	info, err := InfoOf("wasps")
	if err != nil || info.BuiltIn || *info.Folder != filepath.Join("topics", "wasps") || info.Model != nil || len(info.Seeds) != 1 || info.Seeds[0] != "https://example.org/wasps" {
		t.Errorf("%+v, %v", info, err)
	}
	if len(said) != 1 || !strings.Contains(said[0], "is taken as https://") {
		t.Errorf("said %q", said)
	}
	if _, err := w.Make(t.Context(), learning(&said)); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("made twice: %v", err)
	}
	other := Wanted{Name: "wasps", Keywords: []string{"wasp"}, Out: "elsewhere"}
	if made, err = other.Make(t.Context(), learning(&said)); err != nil {
		t.Fatal(err)
	}
	text.Reset()
	made.Print(&text)
	if !strings.Contains(text.String(), "propose SOURCE --topic elsewhere") {
		t.Errorf("a topic elsewhere goes by its folder:\n%s", text.String())
	}
}

func TestMakeMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	some := []string{"x"}
	for want, w := range map[string]Wanted{
		"becomes a folder's":           {Name: "a b", Keywords: some},
		"pages off the topic":          {Name: train.Other, Keywords: some},
		"nothing describes it":         {Name: "a"},
		"--negatives help":             {Name: "a", Keywords: some, Negatives: some},
		"--unlabelled helps":           {Name: "a", Keywords: some, Unlabelled: some},
		"--unlabelled pages, not both": {Name: "a", Examples: some, Negatives: some, Unlabelled: some},
		"give http or https URLs":      {Name: "a", Keywords: some, Seed: []string{"ftp://a/"}},
		"give a file with a URL a li":  {Name: "a", Keywords: some, Seeds: "missing"},
	} {
		var mistake cli.UsageError
		if _, err := w.Make(t.Context(), learning(new([]string))); err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &mistake) {
			t.Errorf("%v; want a mistake with %q", err, want)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestMakeOfExamples(t *testing.T) {
	t.Chdir(t.TempDir())
	l := learning(new([]string))
	l.Seed, l.Open = 1, datasets.Open
	l.Rows = func(rows datasets.Stream) datasets.Stream { return rows }
	l.Step = func(string) {}
	w := Wanted{Name: "banking", Examples: []string{"demo"}, Negatives: []string{"demo"}}
	made, err := w.Make(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	if len(made.Keywords) == 0 || made.Accuracy == nil || *made.Accuracy < 0.9 || *made.Examples < 50 || *made.Negatives < 50 || made.OnTopic == nil {
		t.Errorf("%+v", made)
	}
	var text strings.Builder
	made.Print(&text)
	info, err := InfoOf("banking")
	if err != nil || info.Model == nil || *info.Model != *made.Model || !strings.Contains(text.String(), "pages on topic and") {
		t.Errorf("%+v, %v\n%s", info, err, text.String())
	}
	text.Reset()
	info.Print(&text)
	if !strings.Contains(text.String(), "classify --model banking") || !strings.Contains(text.String(), "a page is on topic from a probability of") {
		t.Errorf("%s", text.String())
	}
	testkit.Must(t, errors.Join(os.MkdirAll("topics/bad", 0o755), os.WriteFile("topics/bad/topic.toml", []byte("title = [[["), 0o600)))
	all := List()
	if len(all) != len(Names()) {
		t.Errorf("%d topics", len(all))
	}
	text.Reset()
	PrintList(&text, all)
	if !strings.Contains(text.String(), "in topics/banking") || !strings.Contains(text.String(), "cannot be read") {
		t.Errorf("%s", text.String())
	}
}
