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
	"fossick/internal/printable"
	"fossick/internal/reading"
	"fossick/models"
)

// folder has one's own topics, a folder each.
const folder = "topics"

// Model reads the model that a flag names: a file, or the name or folder of a
// topic, whose model it then is.
func Model(name string) (*models.Model, error) {
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return readFile(name)
	}
	t, err := Find(name)
	if errors.Is(err, models.ErrNoTopic) {
		known := Names()
		return nil, fmt.Errorf("model %s: %w, and no topic has this name%s; give a file that fossick train made, or a topic: %s",
			name, fs.ErrNotExist, printable.DidYouMean(name, known), strings.Join(known, ", "))
	}
	if err == nil && t.Model == nil {
		err = fmt.Errorf("topic %s has no model, only keywords; give it one with fossick topic new --examples, or give another model", name)
	}
	if err != nil {
		return nil, err
	}
	return t.Model, nil
}

// Classifier reads a model as Model does, and sets it to work.
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

// readFile reads the model in what a person named, which may be a pipe.
func readFile(path string) (*models.Model, error) {
	if reading.Regular(path) {
		return models.ReadFile(path)
	}
	f, err := reading.OpenNamed(path)
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

// Find looks for a topic by its folder, by its name in the folder topics,
// and among the built-in ones.
func Find(name string) (*models.Topic, error) {
	if dir := Folder(name); dir != "" {
		return models.ReadTopic(dir)
	}
	t, err := models.BuiltinTopic(name)
	if errors.Is(err, models.ErrNoTopic) {
		err = fmt.Errorf("%w%s", err, printable.DidYouMean(name, Names()))
	}
	return t, err
}

// Folder is the folder of one's own topic, "" when there is none.
func Folder(name string) string {
	for _, dir := range []string{name, Own(name)} {
		if isTopic(dir) {
			return dir
		}
	}
	return ""
}

// Hides says that a folder's topic stands in for the built-in one of that name, "" where none
// does: the working folder may be a stranger's.
func Hides(name string) string {
	if dir := Folder(name); dir != "" && slices.Contains(models.BuiltinTopics(), name) {
		return fmt.Sprintf("topic %s is the one in the folder %s, not the built-in one", name, dir)
	}
	return ""
}

// Own is where topic new puts a topic.
func Own(name string) string { return filepath.Join(folder, name) }

// FileName makes a file name of a topic's name.
func FileName(topic string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>| `, r) {
			return '-'
		}
		return r
	}, filepath.Base(topic)), "-.")
}

// own returns the names of the topics in the folder topics.
func own() []string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil // there are none
	}
	var names []string
	for _, e := range entries {
		if isTopic(Own(e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names
}

// Names returns those of all topics, one's own first.
func Names() []string {
	names := append(own(), models.BuiltinTopics()...)
	slices.Sort(names)
	return slices.Compact(names)
}

// isTopic says whether a folder is a topic's.
func isTopic(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "topic.toml"))
	return err == nil
}
