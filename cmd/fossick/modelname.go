package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fossick/internal/reading"
	"fossick/models"
)

// topicsFolder has one's own topics, a folder each.
const topicsFolder = "topics"

// readModel reads the model that a flag names: a file, or the name or folder of a
// topic, whose model it then is.
func readModel(name string) (*models.Model, error) {
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return readNamedModel(name)
	}
	t, err := findTopic(name)
	if errors.Is(err, models.ErrNoTopic) {
		known := topicNames()
		return nil, fmt.Errorf("model %s: %w, and no topic is called so%s; give a file that fossick train made, or a topic: %s",
			name, fs.ErrNotExist, didYouMean(name, known), strings.Join(known, ", "))
	}
	if err == nil && t.Model == nil {
		err = fmt.Errorf("topic %s has no model, only keywords; give it one with fossick topic new --examples, or name another model", name)
	}
	if err != nil {
		return nil, err
	}
	return t.Model, nil
}

// readNamedModel reads the model in what a person named, which may be a pipe.
func readNamedModel(path string) (*models.Model, error) {
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

// findTopic looks for a topic by its folder, by its name in the folder topics,
// and among the built-in ones.
func findTopic(name string) (*models.Topic, error) {
	if dir := topicFolder(name); dir != "" {
		return models.ReadTopic(dir)
	}
	t, err := models.BuiltinTopic(name)
	if errors.Is(err, models.ErrNoTopic) {
		err = fmt.Errorf("%w%s", err, didYouMean(name, topicNames()))
	}
	return t, err
}

// topicFolder is the folder of one's own topic, "" when there is none.
func topicFolder(name string) string {
	for _, dir := range []string{name, ownFolder(name)} {
		if exists(filepath.Join(dir, "topic.toml")) {
			return dir
		}
	}
	return ""
}

// ownFolder is where topic new puts a topic.
func ownFolder(name string) string { return filepath.Join(topicsFolder, name) }

// ownTopics returns the names of the topics in the folder topics.
func ownTopics() []string {
	entries, err := os.ReadDir(topicsFolder)
	if err != nil {
		return nil // there are none
	}
	var names []string
	for _, e := range entries {
		if exists(filepath.Join(ownFolder(e.Name()), "topic.toml")) {
			names = append(names, e.Name())
		}
	}
	return names
}

// topicNames returns those of all topics, one's own first.
func topicNames() []string {
	names := append(ownTopics(), models.BuiltinTopics()...)
	slices.Sort(names)
	return slices.Compact(names)
}
