package datasets

import (
	"bytes"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// newsSplit is one part of 20 Newsgroups by date: a folder and the split's name.
type newsSplit struct{ folder, split string }

// newsSplits finds 20news-bydate-train and -test, or plain train and test, among
// the folders; nil when they are not what the folder consists of.
func newsSplits(folders []string) []newsSplit {
	var splits []newsSplit
	for _, name := range folders {
		switch strings.TrimPrefix(name, "20news-bydate-") {
		case "train":
			splits = append(splits, newsSplit{name, "train"})
		case "test":
			splits = append(splits, newsSplit{name, "test"})
		default:
			return nil
		}
	}
	return splits
}

// readNews reads split/group/number. Posts are Latin-1, and what stands before
// the first empty line is the mail header, which names the group.
func readNews(dir string, splits []newsSplit, keepHeaders bool) reader {
	host := hostOf(dir)
	return func(rep *Report, yield func(*Example, error) bool) {
		for _, split := range splits {
			groups, err := folders(filepath.Join(dir, split.folder))
			if err != nil {
				yield(nil, err)
				return
			}
			skipLinks(rep, filepath.Join(dir, split.folder))
			for _, group := range groups {
				before := rep.Rows + rep.Errors
				ok := eachFile(rep, dir, filepath.Join(split.folder, group), func(path string, err error) bool {
					if err != nil {
						return yield(nil, &RowError{path, 0, err})
					}
					body, err := readFile(path)
					if err != nil {
						return yield(nil, &RowError{path, 0, err})
					}
					rel, _ := filepath.Rel(dir, path) // path is below dir
					e := newsPost(rep, path, body, keepHeaders)
					e.URL, e.File, e.Split = madeUpURL(host, rel), path, split.split
					e.Label, e.Labels = group, []string{group}
					e.Fields = map[string]string{"file": filepath.ToSlash(rel)}
					return yield(e, nil)
				})
				if !ok {
					return
				}
				if rep.Rows+rep.Errors == before {
					rep.EmptyClass = append(rep.EmptyClass, filepath.Join(split.folder, group))
				}
			}
		}
	}
}

// newsPost reads one post. Without keepHeaders its title stays empty too: the
// subject stands in the header, and scores without it are the comparable ones.
func newsPost(rep *Report, path string, body []byte, keepHeaders bool) *Example {
	body = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	if !utf8.Valid(body) {
		rep.NotUTF8++
		rep.met(notUTF8, &Example{File: path})
		body, _ = charmap.ISO8859_1.NewDecoder().Bytes(body) // every byte is a Latin-1 letter
	}
	if keepHeaders {
		return &Example{Text: string(body)}
	}
	_, text, ok := bytes.Cut(body, []byte("\n\n"))
	if !ok {
		text = body // no empty line: no header
	}
	return &Example{Text: string(text)}
}
