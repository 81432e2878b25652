package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// A module is linked into the binary, or a package of its page.
type module struct {
	path, version string
	licences      []licence
	script        bool // JavaScript in the page
}

// url returns the package URL.
func (m *module) url() string {
	kind := "golang"
	if m.script {
		kind = "npm"
	}
	return "pkg:" + kind + "/" + strings.Replace(m.path, "@", "%40", 1) + "@" + url.QueryEscape(m.version)
}

// A binary is a released program.
type binary struct {
	version string
	time    time.Time
	sha256  string
	modules []module // sorted; the first is Go's standard library
}

// stdlib is the name of Go's standard library in bills of materials.
const stdlib = "std"

// readBinary reads from a file which modules it is linked from, and finds their licences.
func readBinary(file string) (*binary, error) {
	bytes, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(bytes)
	b := &binary{sha256: hex.EncodeToString(sum[:])}
	root, dirs, err := packageDirs(info)
	if err != nil {
		return nil, err
	}
	std, err := findLicences(root, []string{root})
	if err != nil {
		return nil, fmt.Errorf("the standard library: %w", err)
	}
	b.modules = []module{{path: stdlib, version: strings.TrimPrefix(info.GoVersion, "go"), licences: std}}
	slices.SortFunc(info.Deps, func(a, b *debug.Module) int { return strings.Compare(a.Path, b.Path) })
	for _, dep := range info.Deps {
		m := module{path: dep.Path, version: dep.Version}
		found, ok := dirs[dep.Path+"@"+dep.Version]
		if !ok || dep.Replace != nil {
			return nil, fmt.Errorf("module %s@%s is in %s, but not in this tree: build both of one commit", dep.Path, dep.Version, file)
		}
		if m.licences, err = found.licences(dirs); err != nil {
			return nil, fmt.Errorf("module %s: %w", dep.Path, err)
		}
		b.modules = append(b.modules, m)
	}
	page, err := pagePackages(info.Main.Path, dirs)
	b.modules = append(b.modules, page...)
	return b, err
}

// pagePackages returns the JavaScript packages in the page of package ui, which its build lists in
// licences.json; none if the binary does not have the page.
func pagePackages(main string, dirs map[string]*folders) (all []module, err error) {
	own := dirs[main+"@"]
	if own == nil || !slices.Contains(own.packages, filepath.Join(own.root, "ui")) {
		return nil, nil
	}
	text, err := os.ReadFile(filepath.Join(own.root, "ui", "licences.json"))
	if err != nil {
		return nil, err
	}
	var listed []struct{ Name, Version, File, Text string }
	if err := json.Unmarshal(text, &listed); err != nil {
		return nil, fmt.Errorf("ui/licences.json: %w; npm run build in ui/ makes it", err)
	}
	for _, l := range listed {
		m := module{l.Name, l.Version, []licence{{l.File, strings.ReplaceAll(l.Text, "\r\n", "\n"), identify(l.Text)}}, true}
		if m.licences[0].id == "" {
			return nil, fmt.Errorf("%s has no licence that is known here: teach identify or drop the package", l.Name)
		}
		all = append(all, m)
	}
	return all, nil
}

// folders holds the folders of a module and of its linked packages.
type folders struct {
	path, root string
	packages   []string
}

// gonum has the licence that modules below github.com/gonum name but lack, since they moved there.
const gonum = "gonum.org/v1/gonum"

func (f *folders) licences(all map[string]*folders) ([]licence, error) {
	if strings.HasPrefix(f.path, "github.com/gonum/") {
		for _, g := range all {
			if g.path == gonum {
				return findLicences(g.root, nil)
			}
		}
	}
	return findLicences(f.root, f.packages)
}

// packageDirs asks Go which packages the binary consists of on its platform, and for GOROOT.
func packageDirs(info *debug.BuildInfo) (goroot string, dirs map[string]*folders, err error) {
	list := exec.Command("go", "list", "-deps", "-json=Dir,Module", info.Path)
	list.Env = os.Environ()
	for _, s := range info.Settings {
		if slices.Contains([]string{"GOOS", "GOARCH", "CGO_ENABLED"}, s.Key) {
			list.Env = append(list.Env, s.Key+"="+s.Value)
		}
	}
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return "", nil, fmt.Errorf("go list: %w", err)
	}
	dirs = map[string]*folders{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir    string
			Module *struct{ Path, Version, Dir string }
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return "", nil, fmt.Errorf("go list: %w", err)
		}
		if p.Module == nil {
			continue
		}
		key := p.Module.Path + "@" + p.Module.Version
		if dirs[key] == nil {
			dirs[key] = &folders{path: p.Module.Path, root: p.Module.Dir}
		}
		dirs[key].packages = append(dirs[key].packages, p.Dir)
	}
	env, err := exec.Command("go", "env", "GOROOT").Output()
	return filepath.Clean(strings.TrimSpace(string(env))), dirs, err
}
