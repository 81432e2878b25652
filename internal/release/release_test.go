package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"fossick/internal/testkit"
)

func TestIdentify(t *testing.T) {
	for text, want := range map[string]string{
		"Apache License\n   Version 2.0, January 2004":                                     "Apache-2.0",
		"Permission is hereby granted,\n free of charge, to any person":                    "MIT",
		"Redistribution and use in source and binary forms … Neither the name of":          "BSD-3-Clause",
		"Redistribution and use in source and binary\nforms, with or without modification": "BSD-2-Clause",
		"Mozilla Public License, version 2.0":                                              "MPL-2.0",
		"This product includes software developed by many":                                 "",
	} {
		if got := identify(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestFindLicences: terms above a linked package count, those beside it do not.
func TestFindLicences(t *testing.T) {
	root := t.TempDir()
	for file, text := range map[string]string{
		"LICENSE":            "Apache License Version 2.0",
		"NOTICE":             "by many",
		"licence.go":         "package x",
		"in/COPYING.txt":     "permission is hereby granted, free of charge\r\n",
		"in/deep/x.go":       "package deep",
		"unused/LICENSE.txt": "permission is hereby granted, free of charge",
	} {
		path := filepath.Join(root, file)
		testkit.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		testkit.Must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	got, err := findLicences(root, []string{filepath.Join(root, "in", "deep"), root})
	want := []licence{
		{"LICENSE", "Apache License Version 2.0", "Apache-2.0"}, {"NOTICE", "by many", ""},
		{"in/COPYING.txt", "permission is hereby granted, free of charge\n", "MIT"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if _, err := findLicences(filepath.Join(root, "in", "deep"), nil); err == nil {
		t.Error("a module without terms passes")
	}
}

// TestLinked: the terms of every linked module are known.
func TestLinked(t *testing.T) {
	_, dirs, err := packageDirs(&debug.BuildInfo{Path: "fossick/cmd/fossick"})
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range dirs {
		if _, err := f.licences(dirs); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(dirs) < 20 {
		t.Errorf("only %d modules", len(dirs))
	}
}

// TestPagePackages: a binary with the page brings the terms of the page's packages, another does not.
func TestPagePackages(t *testing.T) {
	root := testkit.Module()
	with := map[string]*folders{"fossick@": {path: "fossick", root: root, packages: []string{filepath.Join(root, "ui")}}}
	page := testkit.Call(pagePackages("fossick", with)).Must(t)
	var urls []string
	for _, m := range page {
		urls = append(urls, m.url()[:strings.LastIndex(m.url(), "@")])
		if m.licences[0].id != "MIT" || !strings.Contains(m.licences[0].text, "Copyright") {
			t.Errorf("%s: %q", m.path, m.licences)
		}
	}
	if want := []string{"pkg:npm/%40preact/signals", "pkg:npm/%40preact/signals-core", "pkg:npm/preact", "pkg:npm/uplot"}; !slices.Equal(urls, want) {
		t.Errorf("packages %q, want %q", urls, want)
	}
	with["fossick@"].packages = []string{filepath.Join(root, "eval")}
	if page, err := pagePackages("fossick", with); len(page) != 0 || err != nil {
		t.Errorf("without the page: %v, %v", page, err)
	}
}

// TestRelease: notices and bill name exactly the modules linked into the binary.
func TestRelease(t *testing.T) {
	testkit.Only(t, "links the whole binary")
	file := filepath.Join(t.TempDir(), "fossick")
	if out, err := exec.Command("go", "build", "-o", file, "fossick/cmd/fossick").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b := testkit.Call(readBinary(file)).Must(t)
	facts := testkit.Call(exec.Command("go", "version", "-m", file).Output()).Must(t)
	var want []string
	for line := range strings.Lines(string(facts)) {
		if f := strings.Fields(line); len(f) > 2 && f[0] == "dep" {
			want = append(want, f[1]+" "+f[2])
		}
	}
	slices.Sort(want)
	for _, m := range b.modules {
		if m.script {
			want = append(want, m.path+" "+m.version)
		}
	}
	notices := testkit.Call(b.notices()).Must(t)
	var named []string
	for _, part := range strings.Split(string(notices), "\n"+strings.Repeat("=", 78)+"\n")[2:] {
		name, _, _ := strings.Cut(part, "\n")
		named = append(named, name)
	}
	if !slices.Equal(named, want) {
		t.Errorf("notices name %q, the binary %q", named, want)
	}
	text := testkit.Call(b.sbom()).Must(t)
	var doc bom
	testkit.Must(t, json.Unmarshal(text, &doc))
	var listed []string
	for _, c := range doc.Components[1:] {
		listed = append(listed, c.Name+" "+c.Version)
	}
	if !slices.Equal(listed, want) {
		t.Errorf("the bill lists %q, the binary %q", listed, want)
	}
}
