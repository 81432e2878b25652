package models

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"fossick/internal/cli"
	"fossick/internal/fileio"
)

// Topic is what a crawl needs to know of a topic. On disk it is a folder of topic.toml with these fields,
// model.fossick and, for a built-in topic, CARD.md, which says how the model was made.
type Topic struct {
	Name     string   `toml:"name"`     // also the model's label for pages on topic
	Title    string   `toml:"title"`    // for people
	Keywords []string `toml:"keywords"` // K; the model's if the file names none
	Seeds    []string `toml:"seeds"`    // start pages
	Verified string   `toml:"verified"` // when somebody last looked at the seeds; "": never

	Model *Model `toml:"-"` // nil if the topic has only keywords
}

// Names of the files in a topic's folder.
const (
	topicFile = "topic.toml"
	modelFile = "model.fossick"
)

// ErrNoTopic reports a folder or name without a topic.
var ErrNoTopic = errors.New("no such topic")

// ReadTopic reads the topic in a folder.
func ReadTopic(dir string) (*Topic, error) { return readTopic(fileio.Folder(dir), dir) }

//go:embed topics
var builtin embed.FS

// BuiltinTopic returns a topic that is part of fossick.
func BuiltinTopic(name string) (*Topic, error) {
	if !slices.Contains(BuiltinTopics(), name) {
		return nil, fmt.Errorf("%q: %w; the built-in ones are %s", name, ErrNoTopic, cli.SomeNames(name, BuiltinTopics()))
	}
	dir, err := fs.Sub(builtin, "topics/"+name)
	if err != nil {
		return nil, fmt.Errorf("topic %s: %w", name, err)
	}
	return readTopic(dir, name)
}

// BuiltinTopics returns the names of the topics that are part of fossick.
func BuiltinTopics() []string {
	entries, err := builtin.ReadDir("topics")
	if err != nil {
		return nil // none were built in
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

func readTopic(dir fs.FS, name string) (*Topic, error) {
	text, err := readText(dir, topicFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w: there is no %s; make one with fossick topic new", name, ErrNoTopic, topicFile)
	}
	if err != nil {
		return nil, fmt.Errorf("topic %s: %w", name, err)
	}
	if err := fileio.CheckTOML(text); err != nil {
		return nil, fmt.Errorf("topic %s: %s: %w", name, topicFile, err)
	}
	t := &Topic{}
	meta, err := toml.Decode(text, t)
	if err != nil {
		return nil, fmt.Errorf("topic %s: %s: %w", name, topicFile, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, fmt.Errorf("topic %s: %s: unknown key %s; it holds name, title, keywords, seeds and verified", name, topicFile, unknown[0])
	}
	if t.Name == "" {
		return nil, fmt.Errorf("topic %s: %s has no name", name, topicFile)
	}
	file, err := dir.Open(modelFile)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return nil, fmt.Errorf("topic %s: %w", name, err)
	}
	defer file.Close()
	if t.Model, err = Read(file); err != nil {
		return nil, fmt.Errorf("topic %s: %s: %w", name, modelFile, err)
	}
	if len(t.Keywords) == 0 {
		t.Keywords = t.Model.Keywords[t.Name]
	}
	return t, nil
}

// readText reads a hand-written file of a topic's folder.
func readText(dir fs.FS, name string) (string, error) {
	file, err := dir.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close() // opened for reading: nothing can be lost
	text, err := fileio.Rest(file, name, fileio.MaxTOMLBytes)
	return string(text), err
}

// WriteTopic writes a topic to a folder, which must not have one yet; it makes the folder if necessary.
func WriteTopic(dir string, t *Topic) error {
	path := filepath.Join(dir, topicFile)
	if _, err := os.Stat(path); err == nil {
		return fmt.Errorf("%s already exists; remove it, or give the topic another name", path)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("topic %s: %w", t.Name, err)
	}
	if t.Model != nil {
		if err := t.Model.WriteFile(filepath.Join(dir, modelFile)); err != nil {
			return err
		}
	}
	var text strings.Builder
	if err := toml.NewEncoder(&text).Encode(t); err != nil {
		return fmt.Errorf("topic %s: %w", t.Name, err)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		return fmt.Errorf("topic %s: %w", t.Name, err)
	}
	return nil
}
