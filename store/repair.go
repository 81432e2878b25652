package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"fossick/internal/reading"
)

// ErrLost reports records that are gone, or may be with a part of a file, and that nothing
// names. What could be mended is.
var ErrLost = errors.New("some records are lost without a trace")

// ErrRemains reports errors that Repair found and could not mend.
var ErrRemains = errors.New("errors remain")

// repairs bounds how often Repair begins anew. What one run mends may show the next one
// something; three were the most that were seen.
const repairs = 6

// repair mends what Verify finds, from what the other records tell, and returns
// it. No page that can be read is lost; a URL whose story cannot be told is
// queued again; what belongs to nothing is removed. Verify finds nothing afterwards, or
// the error is ErrRemains, or that of a record that cannot be read: nothing that may
// belong to it is removed. After ErrLost, too, Verify finds nothing.
func (s *Store) repair(ctx context.Context) (problems []Problem, err error) {
	var lost lostRecords
	for range repairs {
		in := newInspection(s, true)
		err := in.run(ctx)
		problems = append(problems, in.problems...)
		lost.add(in.gone)
		if err != nil {
			return problems, err
		}
		if len(in.problems) == 0 {
			return problems, lost.err()
		}
	}
	left, err := s.Verify(ctx)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("%s: %w: %d, first %s: %s; try fossick repair again, or report this to its authors", s.dir, ErrRemains, len(left), left[0].Key, left[0].What)
	}
	return problems, errors.Join(err, lost.err())
}

// RepairAll repairs the closed store in dir: its files, then its records.
func RepairAll(ctx context.Context, dir string) (problems []Problem, err error) {
	if err := reading.OnlyFiles(dir); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	problems, err = mendTables(dir)
	if err != nil {
		return problems, err
	}
	s, err := openAsIs(dir, open)
	if err != nil {
		return problems, err
	}
	records, err := s.repair(ctx)
	problems = append(problems, records...)
	if len(problems) > 0 {
		err = errors.Join(err, outdate(s))
	}
	if s, broken := fulfilPending(s); s != nil { // an error alone keeps it from being closed
		err = errors.Join(err, s.Close())
	} else {
		err = errors.Join(err, broken)
	}
	if err == nil && slices.ContainsFunc(problems, func(p Problem) bool { return p.Lost }) {
		err = fmt.Errorf("%s: perhaps %w, namely the unreadable ones of the files above; %s", dir, ErrLost, goOn)
	}
	return problems, err
}

// goOn is what to do after a loss.
const goOn = "the store is sound again: go on with fossick focus --resume, which finds them again where pages link to them"

// lostRecords are those that nobody can name.
type lostRecords struct{ urls, pages uint64 }

func (l *lostRecords) add(more lostRecords) { l.urls += more.urls; l.pages += more.pages }

func (l lostRecords) err() error {
	if l == (lostRecords{}) {
		return nil
	}
	return fmt.Errorf("%w: %d URLs, and %d pages that were stored; %s", ErrLost, l.urls, l.pages, goOn)
}
