package main

import (
	"errors"
	"io"
	"strings"

	"fossick/crawler"
	"fossick/internal/cli"
	"fossick/store"
)

type verifyCmd struct {
	Store string `arg:"" placeholder:"STORE" help:"Folder of a crawl's store." predictor:"dirs"`
}

func (verifyCmd) Help() string {
	return `Reads a whole store and checks that its records agree: each URL seen waits or has an outcome, pages are numbered without gaps and can be read, and the totals are right. It changes nothing. If a crawl is writing the store, it reads a consistent snapshot. The exit code is 1 if it finds errors.

Example:
  fossick verify fossick-banking`
}

type repairCmd struct {
	Store   string `arg:"" placeholder:"STORE" help:"Folder of a crawl's store." predictor:"dirs"`
	Compact bool   `help:"Then free the disk space of pages that a refresh replaced or withdrew, and of overwritten records. This needs free space of 128 MiB and once more the size of the index (*.sst), and may take minutes for a large store; an interruption loses nothing."`
}

func (repairCmd) Help() string {
	return `Repairs the errors that verify finds, by means of the other records. It loses no page that can be read. A URL whose outcome is unknown is queued again, and fossick focus --resume fetches it. The exit code is 1 if errors remain or records are lost without a trace; verify then lists what is left.

Examples:
  fossick repair fossick-banking
  fossick repair fossick-banking --compact`
}

type verifyResult struct {
	Store    string          `json:"store"`
	Errors   []store.Problem `json:"errors"`
	Repaired bool            `json:"repaired"`

	Compacted *store.Compaction `json:"compacted,omitzero"` // with --compact
	Lost      uint64            `json:"lost,omitzero"`      // pages of this agent's sites that were lost with another agent
}

// errFound ends a verify that has printed errors.
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
	if n, err := s.Counts(); err == nil { // an error is among the problems
		r.Lost = n.States[crawler.StateLost]
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
		defer a.step("freeing disk space of " + c.Store)()
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

// shownAlike is how many consecutive problems are printed that differ only in numbers.
const shownAlike = 3

// alike says whether two problems differ only in numbers. Problems with a URL never do.
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
			cli.Fprintf(w, "%s: %s", p.Key, cli.Cut(p.What, 300))
			if r.Repaired {
				cli.Fprintf(w, " → %s", p.Repair)
			}
			io.WriteString(w, "\n")
		}
		if more := n - len(shown); more > 0 {
			cli.Fprintf(w, "… and %d more like these; --json has them all\n", more)
		}
		left = left[n:]
	}
	switch n := len(r.Errors); {
	case n == 0:
		cli.Fprintf(w, "%s is sound\n", r.Store)
	case r.Repaired:
		cli.Fprintf(w, "%d errors mended\n", n)
	default:
		cli.Fprintf(w, "%d errors\n", n)
	}
	if r.Lost > 0 {
		cli.Fprintf(w, "%d pages were lost with another agent of the crawl; fossick agent --refetch-lost fetches them again\n", r.Lost)
	}
	if c := r.Compacted; c != nil {
		cli.Fprintf(w, "%d MiB on disk, %d before\n", c.After>>20, c.Before>>20)
	}
}
