package datasets

import (
	"fmt"
	"iter"
	"slices"

	"fossick/datasets/demo"
)

// openDemo makes the built-in web. The same seed gives the same bytes.
func openDemo(opt Options) (*Set, error) {
	seed := opt.DemoSeed
	if seed == 0 {
		seed = 1
	}
	d, err := demo.New(seed)
	if err != nil {
		return nil, fmt.Errorf("set demo: %w", err)
	}
	w := &Web{Redirects: map[string]Redirect{}, Status: d.Status, Robots: d.Robots, Starts: d.Starts()}
	for from, r := range d.Redirects {
		w.Redirects[from] = Redirect(r)
	}
	for _, t := range d.Traps {
		w.Traps = append(w.Traps, Trap(t))
	}
	return &Set{
		name: "demo", layout: "demo", opt: opt, web: w,
		read: func(_ *Report, yield func(*Example, error) bool) {
			for _, p := range d.Pages {
				if !yield(demoExample(p), nil) {
					return
				}
			}
		},
		links: func() iter.Seq2[Link, error] {
			return func(yield func(Link, error) bool) {
				for from, to := range d.Links() {
					if !yield(Link{from, to}, nil) {
						return
					}
				}
			}
		},
	}, nil
}

// demoExample returns a page as a row. Rows share nothing: callers may change them.
func demoExample(p *demo.Page) *Example {
	return &Example{
		URL: p.URL(), Label: p.Labels[0], Labels: slices.Clone(p.Labels), Site: p.Site(), Split: p.Split,
		Title: p.Title(), HTML: p.HTML, Charset: p.Charset(), File: "demo", Fields: map[string]string{"kind": p.Kind},
	}
}
