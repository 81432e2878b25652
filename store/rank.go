package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"github.com/dgraph-io/badger/v4"
)

// Ranking is how the pages were ranked last.
type Ranking struct {
	Method     string  `cbor:"1,keyasint"`
	Damping    float64 `cbor:"2,keyasint,omitempty"`
	Personal   string  `cbor:"3,keyasint,omitempty"` // where surfers start anew; "" everywhere
	Nodes      int     `cbor:"4,keyasint"`           // of the graph, URLs without a page among them
	Edges      int64   `cbor:"5,keyasint"`
	Iterations int     `cbor:"6,keyasint"`
	Residual   float64 `cbor:"7,keyasint"`
	Pages      uint64  `cbor:"8,keyasint"` // that have a rank
	At         int64   `cbor:"9,keyasint"` // Unix milliseconds
	Side       byte    `cbor:"10,keyasint,omitempty"`
}

// Rank is a page's place in the graph of links.
type Rank struct {
	Score float64 `cbor:"1,keyasint"`           // share of all nodes' PageRank, or authority
	Hub   float64 `cbor:"2,keyasint,omitempty"` // of HITS
}

// NumberedRank is a rank and the number of its page.
type NumberedRank struct {
	Page uint64
	Rank
}

func rankKey(side byte, page uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{keyRank, side}, page)
}

// Ranking returns how the pages were ranked last, nil when they never were.
func (s *Store) Ranking() (*Ranking, error) {
	r := &Ranking{}
	err := s.records.view(func(txn *badger.Txn) error { return get(txn, key(keyRanking), r) })
	if errors.Is(err, ErrUnknown) {
		return nil, nil
	}
	return r, err
}

// Ranks yields the ranks of the last ranking, by page number; none when there was
// none. Pages stored since have none.
func (s *Store) Ranks() iter.Seq2[NumberedRank, error] {
	return func(yield func(NumberedRank, error) bool) {
		r, err := s.Ranking()
		if err != nil {
			yield(NumberedRank{}, err)
		}
		if err != nil || r == nil {
			return
		}
		each(s.records, []byte{keyRank, r.Side}, func(k, v []byte) (NumberedRank, error) {
			if len(k) != 10 {
				return NumberedRank{}, fmt.Errorf("store key %q: %w: %d bytes, want 10", k, ErrDamaged, len(k))
			}
			n := NumberedRank{Page: binary.BigEndian.Uint64(k[2:])}
			return n, decode(k, v, &n.Rank)
		})(yield)
	}
}

// RankOf returns a page's rank in the last ranking and how that was made; nil, nil when
// there was none, or the page was stored since.
func (s *Store) RankOf(page uint64) (rank *Rank, ranking *Ranking, err error) {
	err = s.records.view(func(txn *badger.Txn) error {
		if err := optional(txn, key(keyRanking), &ranking); err != nil || ranking == nil {
			return err
		}
		return optional(txn, rankKey(ranking.Side, page), &rank)
	})
	return rank, ranking, err
}

// PutRanks writes a ranking and the ranks of pages instead of those before. It takes many
// batches, but a kill at any instant leaves the old ranking whole or the new one:
// ranks are written aside, and the batch with the Ranking makes them the ones that
// count. What it does not get to clear away, the next one does.
func (s *Store) PutRanks(ctx context.Context, r Ranking, ranks iter.Seq[NumberedRank]) error {
	old, err := s.Ranking()
	if err != nil && !errors.Is(err, ErrDamaged) {
		return err
	}
	if r.Side = 0; err == nil && old != nil {
		r.Side = 1 - old.Side&1
	}
	if err := s.clearRanks(ctx, r.Side); err != nil {
		return err
	}
	b := s.Batch()
	defer func() { b.Cancel() }() // after Commit it does nothing
	r.Pages = 0
	for rank := range ranks {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := b.put(rankKey(r.Side, rank.Page), rank.Rank); err != nil {
			return err
		}
		if r.Pages++; b.Size() > MaxBatchBytes {
			if err := b.Commit(); err != nil {
				return err
			}
			b = s.Batch()
		}
	}
	if err := b.put(key(keyRanking), r); err != nil {
		return err
	}
	if err := b.Commit(); err != nil {
		return err
	}
	return s.clearRanks(ctx, 1-r.Side)
}

// clearRanks deletes the ranks of one side.
func (s *Store) clearRanks(ctx context.Context, side byte) error {
	for {
		b, n := s.Batch(), 0
		err := s.records.view(func(txn *badger.Txn) error {
			opt := badger.DefaultIteratorOptions
			opt.Prefix, opt.PrefetchValues = []byte{keyRank, side}, false
			it := txn.NewIterator(opt)
			defer it.Close()
			for it.Rewind(); it.Valid() && b.Size() < MaxBatchBytes; it.Next() {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := b.delete(it.Item().KeyCopy(nil)); err != nil {
					return err
				}
				n++
			}
			return nil
		})
		if err != nil || n == 0 {
			b.Cancel()
			return err
		}
		if err := b.Commit(); err != nil {
			return err
		}
	}
}

// dropRank deletes the ranks of a page, on both sides.
func (b *Batch) dropRank(page uint64) error {
	return errors.Join(b.delete(rankKey(0, page)), b.delete(rankKey(1, page)))
}

// moveRank gives a page's rank to its new number.
func (b *Batch) moveRank(from, to uint64) error {
	var ranking Ranking
	err := get(b.txn, key(keyRanking), &ranking)
	var rank Rank
	if err == nil {
		err = get(b.txn, rankKey(ranking.Side, from), &rank)
	}
	switch {
	case err == nil:
		err = b.put(rankKey(ranking.Side, to), rank)
	case errors.Is(err, ErrUnknown) || errors.Is(err, ErrDamaged):
		err = b.dropRank(to) // that of the page which had the number
	}
	if err != nil {
		return err
	}
	return b.dropRank(from)
}
