package plan

import (
	"errors"
	"fmt"
	"log/slog"

	"fossick/datasets"
	"fossick/internal/printable"
)

// watch tells what looks wrong in sets, of each once.
type watch struct {
	log   *slog.Logger
	told  map[*datasets.Set]bool
	notes []string

	labels map[string]bool // of all rows, wanted or not
	cut    map[string]bool // errors of cut files that were told
}

func newWatch(log *slog.Logger) *watch {
	return &watch{log: log, told: map[*datasets.Set]bool{}, labels: map[string]bool{}, cut: map[string]bool{}}
}

// read is to be called with each set that was read to its end.
func (w *watch) read(set *datasets.Set) {
	if w.told[set] {
		return
	}
	w.told[set] = true
	rep, err := set.Report()
	if err != nil {
		return // the pass has reported it
	}
	for label := range rep.PerLabel {
		w.labels[label] = true
	}
	for _, note := range rep.Notes() {
		if set.Name() != "demo" { // the user cannot mend the built-in set
			w.log.Warn("look at the set", "set", set.Name(), "what", note)
		}
		w.notes = append(w.notes, set.Name()+": "+note)
	}
}

// whole passes on rows up to where a file is cut. A model of half a set looks
// like one of all of it, so that this is an error. partial says that what can
// be read will do; then it is told once.
func (w *watch) whole(rows datasets.Stream, partial bool) datasets.Stream {
	return func(yield func(*datasets.Example, error) bool) {
		for e, err := range rows {
			switch {
			case !errors.Is(err, datasets.ErrCut):
			case !partial:
				err = fmt.Errorf("%w; or train on the rows before it with --partial", err)
			default:
				if !w.cut[err.Error()] {
					w.cut[err.Error()] = true
					w.log.Warn("the rows after it are lost", "err", err)
					w.notes = append(w.notes, err.Error())
				}
				continue
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// unknownLabels says which labels the sets have, when rows of a wanted one are not
// among them: it may be spelt otherwise. Nil when all are there.
func (w *watch) unknownLabels(wanted []string) error {
	for _, label := range wanted {
		if label == "" || w.labels[label] || len(w.labels) == 0 {
			continue
		}
		have := printable.SortedKeys(w.labels)
		for _, l := range have {
			if datasets.PlainLabel(l) == datasets.PlainLabel(label) {
				return fmt.Errorf("there is %q, with another spelling", l)
			}
		}
		return fmt.Errorf("the sets have %s", printable.SomeNames(label, have))
	}
	return nil
}
