package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A licence is one file of terms.
type licence struct {
	file string // below the module's folder
	text string
	id   string // SPDX identifier, "" for a file that only names authors or notices
}

// licenceFile matches file names of terms and notices.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|copyright|unlicense)([-._].*)?$`)

// findLicences reads the terms in the folders of packages and above, up to the module's.
func findLicences(root string, packages []string) ([]licence, error) {
	var found []licence
	known := false
	for _, dir := range foldersUp(root, packages) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.IsDir() || !licenceFile.MatchString(e.Name()) || filepath.Ext(e.Name()) == ".go" {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			below, err := filepath.Rel(root, filepath.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			l := licence{filepath.ToSlash(below), strings.ReplaceAll(string(text), "\r\n", "\n"), identify(string(text))}
			known = known || l.id != ""
			found = append(found, l)
		}
	}
	if !known {
		return nil, errors.New("no licence that is known here: look at its folder, and teach identify or drop the module")
	}
	return found, nil
}

// foldersUp returns the folders and all above them up to root, sorted.
func foldersUp(root string, dirs []string) []string {
	up := []string{root}
	for _, dir := range dirs {
		for ; len(dir) > len(root); dir = filepath.Dir(dir) {
			up = append(up, dir)
		}
	}
	slices.Sort(up)
	return slices.Compact(up)
}

// spdx maps phrases unique to a licence's text to its SPDX identifier. The first match counts.
var spdx = []struct{ phrases, id string }{
	{"apache license|version 2.0", "Apache-2.0"},
	{"mozilla public license|version 2.0", "MPL-2.0"},
	{"redistribution and use in source and binary forms|neither the name", "BSD-3-Clause"},
	{"redistribution and use in source and binary forms|names of its contributors may not", "BSD-3-Clause"},
	{"redistribution and use in source and binary forms", "BSD-2-Clause"},
	{"permission is hereby granted, free of charge", "MIT"},
	{"permission to use, copy, modify, and/or distribute this software for any purpose", "ISC"},
	{"permission to use, copy, modify, and distribute this software for any purpose", "ISC"},
	{"this is free and unencumbered software released into the public domain", "Unlicense"},
}

func identify(text string) string {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, s := range spdx {
		if !slices.ContainsFunc(strings.Split(s.phrases, "|"), func(p string) bool { return !strings.Contains(text, p) }) {
			return s.id
		}
	}
	return ""
}
