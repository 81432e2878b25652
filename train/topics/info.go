package topics

import (
	"path/filepath"

	"fossick/models"
)

// modelFile is a topic's model in its folder.
const modelFile = "model.fossick"

// Info says what there is of a topic.
type Info struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Keywords []string `json:"keywords"`
	Seeds    []string `json:"seeds"`
	Model    *string  `json:"model"` // as --model takes it; null without one
	BuiltIn  bool     `json:"built_in"`
	Folder   *string  `json:"folder"`            // null of a built-in one
	Problem  string   `json:"problem,omitempty"` // why there is no more of it: its folder cannot be read

	model *models.Model
}

// InfoOf describes the topic of a name, or of a folder.
func InfoOf(name string) (*Info, error) {
	t, err := Find(name)
	if err != nil {
		return nil, err
	}
	info := &Info{Name: t.Name, Title: t.Title, Keywords: t.Keywords, Seeds: t.Seeds, model: t.Model}
	dir := Folder(name)
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

// List describes all topics that have a name, those that cannot be read by their Problem.
func List() []*Info {
	all := []*Info{}
	for _, name := range Names() {
		info, err := InfoOf(name)
		if err != nil {
			dir := Folder(name)
			info = &Info{Name: name, Keywords: []string{}, Seeds: []string{}, Folder: &dir, Problem: err.Error()}
		}
		all = append(all, info)
	}
	return all
}
