package demo

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// prose holds the texts: pages/CATEGORY/SLUG.txt for the topics, and
// pages/other/AREA/SLUG.txt. A text is a title, then paragraphs, with empty
// lines between.
//
//go:embed pages
var prose embed.FS

// article is one text.
type article struct {
	slug, title string
	paras       []string
	section     string // category, or area of what is off topic
	theme       string
}

// readProse returns the articles in the order of their paths.
func readProse() ([]*article, error) {
	themes := themesOf()
	var all []*article
	err := fs.WalkDir(prose, "pages", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := prose.ReadFile(name)
		if err != nil {
			return err
		}
		a, err := parseArticle(string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		a.slug = strings.TrimSuffix(path.Base(name), ".txt")
		a.section = path.Base(path.Dir(name))
		a.theme = otherLabel
		if path.Dir(path.Dir(name)) == "pages" {
			theme, ok := themes[a.section]
			if !ok {
				return fmt.Errorf("%s: folder %s is no category", name, a.section)
			}
			a.theme = theme
		}
		all = append(all, a)
		return nil
	})
	return all, err
}

func parseArticle(text string) (*article, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	title, body, _ := strings.Cut(strings.TrimSpace(text), "\n")
	a := &article{title: strings.TrimSpace(title)}
	for para := range strings.SplitSeq(body, "\n\n") {
		if para = strings.Join(strings.Fields(para), " "); para != "" {
			a.paras = append(a.paras, para)
		}
	}
	if a.title == "" || len(a.paras) == 0 {
		return nil, errors.New("want a title, an empty line and paragraphs")
	}
	return a, nil
}

// lead returns the first sentence, as a list of links quotes it.
func (a *article) lead() string {
	p := a.paras[0]
	for i := 0; i+1 < len(p); i++ {
		if (p[i] == '.' || p[i] == '?') && p[i+1] == ' ' && i > 40 {
			return p[:i+1]
		}
	}
	return p
}

// labels returns theme and category; an area of what is off topic is no label.
func (a *article) labels() []string {
	if a.theme == otherLabel {
		return []string{otherLabel}
	}
	return []string{a.theme, a.section}
}
