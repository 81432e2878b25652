package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"fossick/internal/fileio"
	"fossick/store/change"
)

// ErrLost reports that records were lost, or may be, that nothing names. The rest is repaired.
var ErrLost = errors.New("some records are lost without a trace")

var ErrRemains = errors.New("errors remain")

// repairs bounds the passes of repair, each of which may uncover more; three were the most seen.
const repairs = 6

// repair mends what Verify finds, with the help of the other records, and returns it. It loses no
// readable page, queues a URL again if its history is unreadable, and removes records that belong
// to nothing. Afterwards Verify finds nothing, unless the error is ErrRemains or a read error;
// then nothing that may belong to the unread record is removed.
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

func RepairAll(ctx context.Context, dir string) (problems []Problem, err error) {
	if err := fileio.OnlyFiles(dir); err != nil {
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
	if s, broken := fulfilPending(s); s != nil { // fulfilPending has closed the store if it returns none
		err = errors.Join(err, s.Close())
	} else {
		err = errors.Join(err, broken)
	}
	if err == nil && slices.ContainsFunc(problems, func(p Problem) bool { return p.Lost }) {
		err = fmt.Errorf("%s: perhaps %w, namely the unreadable ones of the files above; %s", dir, ErrLost, goOn)
	}
	return problems, err
}

const goOn = "the store is sound again: go on with fossick focus --resume, which finds them again where pages link to them"

type lostRecords struct{ urls, pages uint64 }

func (l *lostRecords) add(more lostRecords) { l.urls += more.urls; l.pages += more.pages }

func (l lostRecords) err() error {
	if l == (lostRecords{}) {
		return nil
	}
	return fmt.Errorf("%w: %d URLs, and %d pages that were stored; %s", ErrLost, l.urls, l.pages, goOn)
}

// renumbering closes gaps: the last pages take the numbers of removed ones.
type renumbering struct {
	s     *Store
	holes []uint64
	moved map[uint64]uint64 // old page numbers → new ones; 0 if the page was removed
}

func (r *renumbering) free(n uint64) {
	r.holes = append(r.holes, n)
	r.moved[n] = 0
}

// maxHoles bounds the consecutive missing pages; a larger gap means a corrupt number.
const maxHoles = 1 << 32

// hole notes that page n is missing, after a look-up, since a scan may skip unreadable records.
func (in *inspection) hole(txn *badger.Txn, n uint64) error {
	if err := get(txn, numKey(keyPage, n), &Page{}); !errors.Is(err, ErrUnknown) {
		return cmp.Or(finding(err), fmt.Errorf("store %s: page %d exists but was not found among the others; %w", in.s.dir, n, ErrDamaged))
	}
	in.numbers.free(n)
	return in.found(numKey(keyPage, n), fmt.Sprintf("page %d is missing, but later pages exist", n), "the last page takes its number",
		func(*Batch) error { return nil })
}

// unreadable removes page n and queues its URL again, if p tells it.
func (in *inspection) unreadable(n uint64, p *Page, why error) error {
	in.numbers.free(n)
	return in.foundRequeued(p.ID, p.URL, numKey(keyPage, n), why.Error(), "removed, and its URL queued again", func(b *Batch) error {
		if err := errors.Join(b.delete(numKey(keyPage, n), numKey(keyBody, n), numKey(keyLabel, n)), b.dropRank(n), b.dropResources(n)); err != nil {
			return err
		}
		if p.ID == 0 {
			return nil // leftovers finds the URL by its outcome
		}
		if err := b.dropWires(p.ID); err != nil {
			return err
		}
		return in.requeue(b, p.ID)
	})
}

func (in *inspection) requeue(b *Batch, id ID) error {
	discovery, err := in.s.URLs().Discovery(id)
	if err != nil {
		return finding(err)
	}
	var q Queued
	if err := in.s.records.view(func(txn *badger.Txn) error { q = requeuedPlace(txn, id, discovery); return nil }); err != nil {
		return err
	}
	if err := b.delete(numKey(keyOutcome, uint64(id))); err != nil {
		return err
	}
	return b.PutQueued(id, q)
}

// requeuedPlace returns the queue entry of a URL that is queued again, with its last score and
// parent. Its past visits do not count as tries.
func requeuedPlace(txn *badger.Txn, id ID, discovery Discovery) Queued {
	visits := lastVisit(txn, id)
	q := Queued{Parent: discovery.From, Visits: visits, Excused: visits, Lost: true}
	var f Outcome
	if get(txn, numKey(keyOutcome, uint64(id)), &f) == nil {
		q.Priority, q.Score, q.Parent = f.Score, f.Score, cmp.Or(f.Parent, discovery.From)
	}
	if discovery.Via == ViaSeed {
		q.Priority, q.Score = 1, 1
	}
	return q
}

func lastVisit(txn *badger.Txn, id ID) (last int) {
	for _, kind := range []byte{keyVisit, keyHistory} {
		prefix := numKey(kind, uint64(id))
		for item := range items(txn, prefix) {
			k := item.KeyCopy(nil)
			if len(k) != len(prefix)+2 {
				continue
			}
			n := 1
			if kind == keyHistory { // of a damaged history, count the readable visits
				_ = item.Value(func(v []byte) error { n = max(1, change.History(v).Len()); return nil })
			}
			last = max(last, numberIn(k)+n-1)
		}
	}
	return last
}

func (r *renumbering) fill(last uint64) error {
	for _, hole := range r.holes {
		for last > hole {
			moved, err := r.move(last, hole)
			last--
			if err != nil {
				return err
			}
			if moved {
				break
			}
		}
	}
	return nil
}

func (r *renumbering) move(from, to uint64) (bool, error) {
	p, err := r.s.Page(from)
	if errors.Is(err, ErrUnknown) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if p.SameAs != "" {
		return true, r.moveDropped(p, to)
	}
	body, err := r.s.Body(from)
	if err != nil {
		return false, err
	}
	label, err := r.s.Label(from)
	if err != nil {
		return false, err
	}
	b := r.s.Batch()
	defer b.Cancel()
	if err := b.dropNear(from, p.Signature); err != nil {
		return false, err
	}
	p.Number = to
	if err := b.PutPage(p, r.s.Compress(body)); err != nil {
		return false, err
	}
	outcome, err := b.Outcome(p.ID)
	if err != nil || !outcome.HasPage() {
		outcome = Outcome{State: "ok", At: p.At}
	}
	r.moved[from] = to
	outcome.Page = to
	if err := b.PutOutcome(p.ID, outcome); err != nil {
		return false, err
	}
	if label != nil {
		if err := b.PutLabel(to, *label); err != nil {
			return false, err
		}
	}
	if err := errors.Join(b.moveRank(from, to), b.moveResources(from, to)); err != nil {
		return false, err
	}
	if err := b.delete(numKey(keyPage, from), numKey(keyBody, from), numKey(keyLabel, from)); err != nil {
		return false, err
	}
	return true, b.Commit()
}

func (r *renumbering) moveDropped(p *Page, to uint64) error {
	b := r.s.Batch()
	defer b.Cancel()
	from := p.Number
	r.moved[from], p.Number = to, to
	if err := b.PutPageRecord(p); err != nil {
		return err
	}
	if err := b.delete(numKey(keyPage, from)); err != nil {
		return err
	}
	return b.Commit()
}
