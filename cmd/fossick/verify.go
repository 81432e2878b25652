package main

import (
	"errors"
	"io"
	"strings"

	"fossick/crawler/across"
	"fossick/internal/printable"
	"fossick/store"
)

type verifyCmd struct {
	Store string `arg:"" placeholder:"STORE" help:"Folder of a crawl's store." complete:"dirs"`
}

func (verifyCmd) Help() string {
	return `Reads a whole store and checks every record against those it belongs with: each URL seen waits or has a fate, pages are numbered without a gap and can be read, the totals are right. It changes nothing; of a store that a crawl is writing it reads a copy of the moment. The exit code is 1 when something is wrong.

Example:
  fossick verify fossick-banking`
}

type repairCmd struct {
	Store   string `arg:"" placeholder:"STORE" help:"Folder of a crawl's store." complete:"dirs"`
	Compact bool   `help:"Then give back the disk space of what a refresh replaced or withdrew, and of records written over. It needs 128 MiB of room and that of the index (*.sst) once more, and may take minutes for a large store; a kill in the middle loses nothing."`
}

func (repairCmd) Help() string {
	return `Mends what verify finds, from what the other records tell. No page that can be read is lost; a URL whose story cannot be told is queued again, so that fossick focus --resume fetches it. The exit code is 1 where something remains, or records are gone that nothing can name; in both cases verify says what is left.

Examples:
  fossick repair fossick-banking
  fossick repair fossick-banking --compact`
}

type verifyResult struct {
	Store    string          `json:"store"`
	Errors   []store.Problem `json:"errors"`
	Repaired bool            `json:"repaired"`

	Compacted *store.Compaction `json:"compacted,omitzero"` // with --compact
	Lost      uint64            `json:"lost,omitzero"`      // pages of this agent's sites that are gone with another agent
}

// errFound ends a verify that found something, after it has printed it.
var errFound = errors.New("the store has errors; mend them with fossick repair")

func (c verifyCmd) Run(a *app) (err error) {
	s, done, err := a.openToRead(c.Store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	defer a.step("checking " + c.Store)()
	problems, err := s.Verify(a.ctx)
	if err != nil {
		return err
	}
	r := verifyResult{Store: c.Store, Errors: append([]store.Problem{}, problems...)}
	if n, err := s.Counts(); err == nil { // else it is among the problems
		r.Lost = n.States[across.StateLost]
	}
	if err := a.emit(r, r.print); err != nil {
		return err
	}
	if len(problems) > 0 {
		return errFound
	}
	return nil
}

func (c repairCmd) Run(a *app) error {
	a.signals.InOrder()
	problems, left := c.mend(a)
	if left != nil && !errors.Is(left, store.ErrLost) && !errors.Is(left, store.ErrRemains) {
		return left
	}
	r := verifyResult{Store: c.Store, Errors: append([]store.Problem{}, problems...), Repaired: true}
	if c.Compact && !errors.Is(left, store.ErrRemains) {
		defer a.step("giving back room of " + c.Store)()
		done, err := store.Compact(a.ctx, c.Store)
		if err != nil {
			return err
		}
		r.Compacted = &done
	}
	return errors.Join(a.emit(r, r.print), left)
}

func (c repairCmd) mend(a *app) ([]store.Problem, error) {
	defer a.step("mending " + c.Store)()
	return store.RepairAll(a.ctx, c.Store)
}

// shownAlike is how many problems in a row are told that differ in numbers alone.
const shownAlike = 3

// alike says whether two problems differ in numbers alone. Those that name a URL do not.
func alike(a, b store.Problem) bool {
	worded := func(p store.Problem) string {
		return strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, p.What+"\n"+p.Repair)
	}
	return !strings.Contains(a.What, "://") && worded(a) == worded(b)
}

func (r verifyResult) print(w io.Writer) {
	for left := r.Errors; len(left) > 0; {
		n := 1
		for n < len(left) && alike(left[n-1], left[n]) {
			n++
		}
		shown := left[:n]
		if n > shownAlike+1 {
			shown = left[:shownAlike]
		}
		for _, p := range shown {
			printable.Fprintf(w, "%s: %s", p.Key, printable.Cut(p.What, 300))
			if r.Repaired {
				printable.Fprintf(w, " → %s", p.Repair)
			}
			io.WriteString(w, "\n")
		}
		if more := n - len(shown); more > 0 {
			printable.Fprintf(w, "… and %d more like these; --json has them all\n", more)
		}
		left = left[n:]
	}
	switch n := len(r.Errors); {
	case n == 0:
		printable.Fprintf(w, "%s is sound\n", r.Store)
	case r.Repaired:
		printable.Fprintf(w, "%d errors mended\n", n)
	default:
		printable.Fprintf(w, "%d errors\n", n)
	}
	if r.Lost > 0 {
		printable.Fprintf(w, "%d pages are lost with another agent of the crawl; fossick agent --refetch-lost asks for them again\n", r.Lost)
	}
	if c := r.Compacted; c != nil {
		printable.Fprintf(w, "%d MiB on disk, %d before\n", c.After>>20, c.Before>>20)
	}
}
