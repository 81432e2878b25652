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
			if !eachClass(rep, dir, split.folder, groups, yield, func(path, rel string) (*Example, error) {
				body, err := readFile(path)
				if err != nil {
					return nil, err
				}
				e := newsPost(rep, path, body, keepHeaders)
				e.URL, e.File, e.Split = madeUpURL(host, rel), path, split.split
				in, _ := filepath.Rel(split.folder, rel) // rel is below it
				e.Label, _, _ = strings.Cut(filepath.ToSlash(in), "/")
				e.Labels, e.Fields = []string{e.Label}, map[string]string{"file": filepath.ToSlash(rel)}
				return e, nil
			}) {
				return
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
