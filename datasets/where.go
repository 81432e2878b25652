package datasets

import (
	"fmt"
	"strings"

	"fossick/internal/printable"
)

// Where keeps the rows whose field has a value.
type Where struct {
	Field string // url, label, labels, site, split, title, file, or a field of the row's own
	Value string // compared as it stands; with labels, one of them
}

// ParseWhere reads "field=value". The value may be empty and may hold "=".
func ParseWhere(s string) (Where, error) {
	field, value, ok := strings.Cut(s, "=")
	if !ok || field == "" {
		return Where{}, fmt.Errorf("filter %q: want field=value, as in site=cornell", s)
	}
	return Where{field, value}, nil
}

// match reports whether e passes, and whether it has the field at all.
func (w Where) match(e *Example) (pass, has bool) {
	if w.Field == "labels" {
		return e.Matches(w.Value), len(e.Labels) > 0
	}
	v, ok := e.field(w.Field)
	return ok && v == w.Value, ok
}

// field returns a string field of the row by its name in JSONL.
func (e *Example) field(name string) (string, bool) {
	switch name {
	case "url":
		return e.URL, true
	case "label":
		return e.Label, true
	case "site":
		return e.Site, true
	case "split":
		return e.Split, true
	case "title":
		return e.Title, true
	case "file":
		if v, ok := e.Fields["file"]; ok {
			return v, true
		}
		return e.File, true
	}
	v, ok := e.Fields[name]
	return v, ok
}

// filter applies options to the rows of one pass, and remembers whether the
// fields it was asked about exist. A filter on a misspelt field keeps nothing,
// and that must not look like an empty set.
type filter struct {
	opt    Options
	labels map[string]bool // asked for; true once a row had it
	others map[string]bool // labels that rows had and nobody asked for
	missed []bool          // by condition: no row has had the field yet
	fields map[string]bool // own fields that rows had
}

func newFilter(opt Options) *filter {
	f := &filter{opt: opt, missed: make([]bool, len(opt.Where)), fields: map[string]bool{}}
	for i := range f.missed {
		f.missed[i] = true
	}
	if len(opt.Labels) > 0 {
		f.labels, f.others = map[string]bool{}, map[string]bool{}
		for _, l := range opt.Labels {
			f.labels[l] = false
		}
	}
	return f
}

func (f *filter) keep(e *Example) bool {
	pass := true
	if f.labels != nil {
		if _, pass = f.labels[e.Label]; pass {
			f.labels[e.Label] = true
		} else if e.Label != "" {
			f.others[e.Label] = true
		}
	}
	for i, w := range f.opt.Where {
		ok, has := w.match(e)
		pass = pass && ok
		if has {
			f.missed[i] = false
		} else if f.missed[i] {
			for name := range e.Fields {
				f.fields[name] = true
			}
		}
	}
	return pass
}

// err names a label or field that was asked for and that none of the rows had.
func (f *filter) err(name string, rows int) error {
	for _, l := range f.opt.Labels {
		if rows > 0 && !f.labels[l] {
			return fmt.Errorf("set %s: no row has the label %q; the other labels are %s", name, l, printable.SomeNames(l, printable.SortedKeys(f.others)))
		}
	}
	for i, w := range f.opt.Where {
		if rows > 0 && f.missed[i] {
			known := append([]string{"url", "label", "labels", "site", "split", "title", "file"},
				printable.SortedKeys(f.fields)...)
			return fmt.Errorf("set %s: no row has a field %q; filter by one of %s", name, w.Field, printable.SomeNames(w.Field, known))
		}
	}
	return nil
}
