package topics

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fossick/classify"
	"fossick/datasets"
	"fossick/internal/cli"
	"fossick/internal/fileio"
	"fossick/models"
	"fossick/train"
)

// folder holds the user's topics, a folder each.
const folder = "topics"

// Model reads the model that a flag names: a model's file, or a topic by name or folder.
func Model(name string) (*models.Model, error) {
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return readFile(name)
	}
	t, err := Find(name)
	if errors.Is(err, models.ErrNoTopic) {
		known := Names()
		return nil, fmt.Errorf("model %s: %w, and no topic has this name%s; give a file that fossick train made, or a topic: %s",
			name, fs.ErrNotExist, cli.DidYouMean(name, known), strings.Join(known, ", "))
	}
	if err == nil && t.Model == nil {
		err = fmt.Errorf("topic %s has no model, only keywords; give it one with fossick topic new --examples, or give another model", name)
	}
	if err != nil {
		return nil, err
	}
	return t.Model, nil
}

// Classifier reads a model as Model does, and makes a classifier of it.
func Classifier(name string) (*classify.Classifier, error) {
	m, err := Model(name)
	if err != nil {
		return nil, err
	}
	c, err := classify.New(m)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", name, err)
	}
	return c, nil
}

// readFile reads a model from a file or a pipe.
func readFile(path string) (*models.Model, error) {
	if fileio.Regular(path) {
		return models.ReadFile(path)
	}
	f, err := fileio.OpenNamed(path)
	if err != nil {
		return nil, fmt.Errorf("model %w; make one with fossick train", err)
	}
	defer f.Close() // opened for reading: nothing can be lost
	m, err := models.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Find looks for a topic by folder, by name in the folder topics, and among the built-in ones.
func Find(name string) (*models.Topic, error) {
	if dir := topicFolder(name); dir != "" {
		return models.ReadTopic(dir)
	}
	t, err := models.BuiltinTopic(name)
	if errors.Is(err, models.ErrNoTopic) {
		err = fmt.Errorf("%w%s", err, cli.DidYouMean(name, Names()))
	}
	return t, err
}

// topicFolder returns the folder of a user's topic, "" if there is none.
func topicFolder(name string) string {
	for _, dir := range []string{name, ownFolders(name)} {
		if isTopic(dir) {
			return dir
		}
	}
	return ""
}

// Hides warns if a folder's topic, perhaps a stranger's, hides the built-in one of that name; else "".
func Hides(name string) string {
	if dir := topicFolder(name); dir != "" && slices.Contains(models.BuiltinTopics(), name) {
		return fmt.Sprintf("topic %s is the one in the folder %s, not the built-in one", name, dir)
	}
	return ""
}

// ownFolders returns the folder in which a new topic is made.
func ownFolders(name string) string { return filepath.Join(folder, name) }

// FileName turns a topic's name into a file name.
func FileName(topic string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>| `, r) {
			return '-'
		}
		return r
	}, filepath.Base(topic)), "-.")
}

func own() []string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil // there are none
	}
	var names []string
	for _, e := range entries {
		if isTopic(ownFolders(e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names
}

// Names returns the names of all topics, sorted.
func Names() []string {
	names := append(own(), models.BuiltinTopics()...)
	slices.Sort(names)
	return slices.Compact(names)
}

func isTopic(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "topic.toml"))
	return err == nil
}

const modelFile = "model.fossick"

// Info describes a topic.
type Info struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Keywords []string `json:"keywords"`
	Seeds    []string `json:"seeds"`
	Model    *string  `json:"model"` // as --model takes it; null without one
	BuiltIn  bool     `json:"built_in"`
	Folder   *string  `json:"folder"`            // null for a built-in topic
	Problem  string   `json:"problem,omitempty"` // why its folder cannot be read

	model *models.Model
}

// InfoOf describes a topic, given by name or folder.
func InfoOf(name string) (*Info, error) {
	t, err := Find(name)
	if err != nil {
		return nil, err
	}
	info := &Info{Name: t.Name, Title: t.Title, Keywords: t.Keywords, Seeds: t.Seeds, model: t.Model}
	dir := topicFolder(name)
	if info.BuiltIn = dir == ""; !info.BuiltIn {
		info.Folder = &dir
	}
	if t.Model != nil {
		model := name
		if dir != "" {
			model = filepath.Join(dir, modelFile)
		}
		info.Model = &model
	}
	return info, nil
}

// List describes all topics; a topic that cannot be read has a Problem.
func List() []*Info {
	all := []*Info{}
	for _, name := range Names() {
		info, err := InfoOf(name)
		if err != nil {
			dir := topicFolder(name)
			info = &Info{Name: name, Keywords: []string{}, Seeds: []string{}, Folder: &dir, Problem: err.Error()}
		}
		all = append(all, info)
	}
	return all
}

// Labels that sets give to pages on any topic, and to pages off it.
var (
	yesWords = []string{"yes", "y", "pos", "positive", "positives", "relevant", "true", "1", "+1", "on", "on-topic", "ontopic", "good"}
	noWords  = []string{"no", "n", "neg", "negative", "negatives", "irrelevant", "not-relevant", "nonrelevant", "non-relevant", "false", "0", "-1", "off", "off-topic", "offtopic", "bad", train.Other}
)

// sides says what the labels of a set of examples tell of the topic.
type sides struct {
	named  bool           // some row has the topic's own label
	yes    bool           // some row has a label of yesWords
	no     bool           // some row has a label of noWords
	mixed  bool           // some row has labels of neither kind, or of both
	labels map[string]int // rows of each first label
}

// says reports whether one of a row's labels is among words.
func says(e *datasets.Example, words []string) bool {
	return slices.ContainsFunc(append([]string{e.Label}, e.Labels...), func(label string) bool {
		plain := strings.NewReplacer(" ", "-", "_", "-").Replace(strings.ToLower(strings.TrimSpace(label)))
		return slices.Contains(words, plain)
	})
}

func sidesOf(set datasets.Stream, name string) sides {
	s := sides{labels: map[string]int{}}
	for e, err := range set {
		if err != nil {
			continue // training reports it
		}
		if e.Matches(name) {
			s.named = true
			return s
		}
		if e.Label != "" {
			s.labels[e.Label]++
		}
		yes, no := says(e, yesWords), says(e, noWords)
		s.yes, s.no, s.mixed = s.yes || yes, s.no || no, s.mixed || yes == no
	}
	return s
}

// Examples opens sets of examples, as pages on topic and pages that labels call off topic. If a set has the
// topic's label, only the rows with that label are on topic.
func Examples(open datasets.Opener, name string, paths []string) (on, off datasets.Stream, err error) {
	var yes, no []datasets.Stream
	for _, path := range paths {
		set, err := open.Stream([]string{path}, nil, 0, nil)
		if err != nil {
			return nil, nil, err
		}
		s := sidesOf(set, name)
		known := cli.SortedKeys(s.labels)
		switch {
		case s.named:
			set = datasets.Only(set, func(e *datasets.Example) bool { return e.Matches(name) })
		case s.no && !s.mixed && s.yes:
			no = append(no, datasets.Only(set, func(e *datasets.Example) bool { return says(e, noWords) }))
			set = datasets.Only(set, func(e *datasets.Example) bool { return says(e, yesWords) })
		case s.no && !s.mixed:
			return nil, nil, cli.Usagef("%s: all pages have a label that says off topic (%s); give these pages with --negatives, and pages on topic with --examples",
				path, cli.SomeNames(name, known))
		case len(known) > 1:
			return nil, nil, cli.Usagef("%s: its pages have %d labels, and none is %q: %s; name the topic after one of them, or give only the pages on topic with --examples and others with --negatives (yes and no are understood as labels)",
				path, len(known), name, cli.SomeNames(name, known))
		}
		yes = append(yes, set)
	}
	if len(no) > 0 {
		off = datasets.Chain(no...)
	}
	return datasets.Chain(yes...), off, nil
}
