package main

import (
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"fossick/internal/printable"
	"fossick/models"
	"fossick/topics"
)

type topicListCmd struct{}

func (topicListCmd) Help() string {
	return `Lists the topics that --topic and --model know by name: the built-in ones and those in the folder topics.

Example:
  fossick topic list`
}

// topicsResult is what topic list and topic show print (cli.md).
type topicsResult struct {
	Topics []topicInfo `json:"topics"`
}

type topicInfo struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Keywords []string `json:"keywords"`
	Seeds    []string `json:"seeds"`
	Model    *string  `json:"model"` // as --model takes it; null without one
	BuiltIn  bool     `json:"built_in"`
	Folder   *string  `json:"folder"` // null of a built-in one

	topic *models.Topic
}

func (topicListCmd) Run(a *app) error {
	r := topicsResult{Topics: []topicInfo{}}
	for _, name := range topics.Names() {
		info, err := topicInfoOf(name)
		if err != nil {
			return err
		}
		r.Topics = append(r.Topics, *info)
	}
	return a.emit(r, r.print)
}

// topicInfoOf describes a topic.
func topicInfoOf(name string) (*topicInfo, error) {
	t, err := topics.Find(name)
	if err != nil {
		return nil, err
	}
	info := &topicInfo{Name: t.Name, Title: t.Title, Keywords: t.Keywords, Seeds: t.Seeds, topic: t}
	dir := topics.Folder(name)
	if info.BuiltIn = dir == ""; !info.BuiltIn {
		info.Folder = &dir
	}
	if t.Model != nil {
		model := name
		if dir != "" {
			model = filepath.Join(dir, "model.fossick")
		}
		info.Model = &model
	}
	return info, nil
}

func (r topicsResult) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	io.WriteString(t, "topic\tmodel\tkeywords\tstart pages\twhat\n")
	for _, info := range r.Topics {
		model, what := "-", info.Title
		if info.topic.Model != nil {
			model = string(info.topic.Model.Classifier)
		}
		if info.Folder != nil {
			what = "in " + *info.Folder
		}
		printable.Fprintf(t, "%s\t%s\t%d\t%d\t%s\n", info.Name, model, len(info.Keywords), len(info.Seeds), what)
	}
	_ = t.Flush() // into memory, as all of emit's text
	io.WriteString(w, "\nmore of one: fossick topic show NAME; of your own: fossick topic new --help\n")
}

// about is the topic's title, where it says more than its name.
func (t *topicInfo) about() string {
	if strings.EqualFold(t.Title, t.Name) {
		return ""
	}
	return ": " + t.Title
}
