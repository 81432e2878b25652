package datasets

import (
	"fmt"
	"iter"
	"maps"
	"slices"
)

// The labels of the demo set: four themes with their categories, as paper A's
// data set has them, and what is none of them.
const otherLabel = "other"

// demoThemes returns the theme of each category.
func demoThemes() map[string]string {
	return map[string]string{
		"commercial-banks": "banking", "building-societies": "banking", "insurance-agencies": "banking",
		"java": "programming", "c-cpp": "programming", "visual-basic": "programming",
		"astronomy": "science", "biology": "science",
		"soccer": "sport", "motor-sport": "sport", "general-sport": "sport",
	}
}

// openDemo makes the built-in web. The same seed gives the same bytes.
func openDemo(opt Options) (*Set, error) {
	seed := opt.DemoSeed
	if seed == 0 {
		seed = 1
	}
	d, err := newDemo(seed)
	if err != nil {
		return nil, fmt.Errorf("set demo: %w", err)
	}
	return &Set{
		name: "demo", layout: "demo", opt: opt, web: d.web(),
		read: func(_ *Report, yield func(*Example, error) bool) {
			for _, p := range d.pages {
				if !yield(p.example(), nil) {
					return
				}
			}
		},
		links: func() iter.Seq2[Link, error] { return d.links },
	}, nil
}

// links streams the link pairs between pages of the web, each pair once.
func (d *demo) links(yield func(Link, error) bool) {
	exists := map[string]bool{}
	for _, p := range d.pages {
		exists[p.url()] = true
	}
	for _, p := range d.pages {
		seen := map[string]bool{p.url(): true}
		for _, to := range p.doc.hrefs(p.url()) {
			if exists[to] && !seen[to] {
				seen[to] = true
				if !yield(Link{p.url(), to}, nil) {
					return
				}
			}
		}
	}
}

// example returns a page as a row. Rows share nothing: callers may change them.
func (p *demoPage) example() *Example {
	e := &Example{
		URL: p.url(), Label: p.labels[0], Labels: slices.Clone(p.labels), Site: p.site.registrable(),
		Split: p.split, Title: p.doc.title, HTML: p.html, File: "demo",
		Fields: map[string]string{"kind": p.kind},
	}
	if p.site.style == styleOld {
		e.Charset = "iso-8859-1"
	}
	return e
}

func (d *demo) web() *Web {
	w := &Web{
		Redirects: maps.Clone(d.redirects), Status: maps.Clone(d.status),
		Robots: maps.Clone(d.robots), Traps: d.traps, Starts: map[string][]string{},
	}
	for _, p := range d.pages {
		if p.kind == "hub" && p.labels[0] != otherLabel {
			w.Starts[p.labels[0]] = append(w.Starts[p.labels[0]], p.url())
		}
	}
	return w
}
