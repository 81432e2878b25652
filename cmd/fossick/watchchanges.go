package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"fossick/internal/cli"
	"fossick/internal/printable"
	"fossick/internal/report"
	"fossick/store"
	"fossick/store/change"
)

// watchChanges are the pages that are new, have changed or are gone since a time. A page that
// came and went since then is gone.
type watchChanges struct {
	Since   string       `json:"since"` // UTC
	New     []changeLine `json:"new"`
	Changed []changeLine `json:"changed"`
	Gone    []changeLine `json:"gone"`

	s    *store.Store
	from int64 // Since, Unix milliseconds
	diff bool
}

// changeLine is a page of the list.
type changeLine struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	At    string `json:"at"`             // of the visit that told it last, UTC
	What  string `json:"what,omitempty"` // changed: content, text or unsure; gone: the answer's state
	Diff  string `json:"diff,omitempty"` // of the main text; "" where no former text is kept
}

// changesOf lists the changes since a time; nil for none asked.
func (c *watchCmd) changesOf(s *store.Store) (*watchChanges, error) {
	if c.Since == "" {
		return nil, nil
	}
	since, err := cli.Moment(c.Since, time.Now())
	if err != nil {
		return nil, usagef("--since %v", err)
	}
	w := &watchChanges{
		Since: since.UTC().Format(time.RFC3339), New: []changeLine{}, Changed: []changeLine{}, Gone: []changeLine{},
		s: s, from: since.UnixMilli(), diff: c.Diff,
	}
	forgotten, err := store.ForgetsOf(s)
	if err != nil {
		return nil, err
	}
	for k, err := range s.URLs().Watched() {
		if err == nil && !forgotten.Has(k.URL) {
			err = w.add(k)
		}
		if err != nil {
			return nil, err
		}
	}
	return w, nil
}

// add puts a page into the list that it belongs to, if any.
func (w *watchChanges) add(k *store.Known) error {
	visits := visitsSince(nil, k.Visits)
	if len(visits) == 0 || visits[len(visits)-1].At < w.from {
		return nil
	}
	list, at, what := w.judge(k.Fate.State, visits)
	if list == nil {
		return nil
	}
	p, err := w.s.Page(k.Fate.Page)
	if err != nil {
		return err
	}
	line := changeLine{URL: k.URL, Title: p.Title, At: time.UnixMilli(at).UTC().Format(time.RFC3339), What: what}
	if list == &w.Changed && w.diff && what != changeNames[change.Content] {
		if line.Diff, err = w.difference(p); err != nil {
			return err
		}
	}
	*list = append(*list, line)
	return nil
}

// judge says which list a page belongs to, nil for none, since when and why. state is what
// its URL is now.
func (w *watchChanges) judge(state string, visits []change.Visit) (list *[]changeLine, at int64, what string) {
	if state != "ok" {
		lost := len(visits)
		for lost > 0 && visits[lost-1].State != "ok" && visits[lost-1].State != "not_modified" {
			lost--
		}
		if lost < len(visits) && visits[lost].At >= w.from {
			return &w.Gone, visits[lost].At, state
		}
		return nil, 0, ""
	}
	if visits[0].At >= w.from {
		return &w.New, visits[0].At, ""
	}
	kind := change.None
	for _, v := range visits[1:] {
		if v.At >= w.from && v.Change.Changed() {
			at = v.At
			if kind == change.None || v.Change != change.Content {
				kind = v.Change
			}
		}
	}
	if kind == change.None {
		return nil, 0, ""
	}
	return &w.Changed, at, changeNames[kind]
}

// difference is that of the main text from the version of the time to the current one, ""
// where that version is not kept.
func (w *watchChanges) difference(p *store.Page) (string, error) {
	v, former, err := w.s.Former(p, w.from)
	if v == nil || err != nil {
		return "", err
	}
	body, err := w.s.Body(p.Number)
	if err != nil {
		return "", err
	}
	lines := func(text string) []byte { return []byte(strings.TrimRight(text, "\n") + "\n") }
	d := diff.Diff("before", lines(mainTextOf(former, v.ContentType, p.URL)), "after", lines(mainTextOf(body, p.ContentType, p.URL)))
	if at := bytes.Index(d, []byte("@@")); at >= 0 {
		d = d[at:] // the names of the two say nothing
	}
	return string(d), nil
}

func (w *watchChanges) print(out io.Writer) {
	printable.Fprintf(out, "since %s: %s new, %d changed, %d gone\n", w.Since, report.Count(len(w.New), "page"), len(w.Changed), len(w.Gone))
	for _, list := range []struct {
		name  string
		lines []changeLine
	}{{"new", w.New}, {"changed", w.Changed}, {"gone", w.Gone}} {
		if len(list.lines) > 0 {
			printable.Fprintf(out, "\n%s\n", list.name)
		}
		for _, l := range list.lines {
			printable.Fprintf(out, "  %s  %s\n      %s\n", l.At, l.URL, strings.Trim(fmt.Sprintf("%s, %s", l.What, l.Title), ", "))
			for d := range strings.Lines(l.Diff) {
				printable.Fprintf(out, "      %s\n", strings.TrimRight(d, "\n"))
			}
			if w.diff && l.Diff == "" && list.name == "changed" && l.What != changeNames[change.Content] {
				printable.Fprintln(out, "      the former text was not kept: watch with --keep-versions")
			}
		}
	}
}
