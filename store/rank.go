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

// Ranks are the ranks of a store's pages.
type Ranks struct{ s *Store }

// Ranks returns the ranks of the pages.
func (s *Store) Ranks() Ranks { return Ranks{s} }

// Last returns how the pages were ranked last, nil when they never were.
func (r Ranks) Last() (last *Ranking, err error) {
	err = r.s.records.view(func(txn *badger.Txn) error { return optional(txn, key(keyRanking), &last) })
	return last, err
}

// All yields the ranks of the last ranking, by page number; none when there was none.
// Pages stored since have none.
func (r Ranks) All() iter.Seq2[NumberedRank, error] {
	return func(yield func(NumberedRank, error) bool) {
		last, err := r.Last()
		if err != nil {
			yield(NumberedRank{}, err)
		}
		if err != nil || last == nil {
			return
		}
		each(r.s.records, []byte{keyRank, last.Side}, func(k, v []byte) (NumberedRank, error) {
			if len(k) != 10 {
				return NumberedRank{}, fmt.Errorf("store key %q: %w: %d bytes, want 10", k, ErrDamaged, len(k))
			}
			n := NumberedRank{Page: binary.BigEndian.Uint64(k[2:])}
			return n, decode(k, v, &n.Rank)
		})(yield)
	}
}

// Of returns a page's rank in the last ranking and how that was made. It is nil, nil
// when there was none, or the page was stored since.
func (r Ranks) Of(page uint64) (rank *Rank, last *Ranking, err error) {
	err = r.s.records.view(func(txn *badger.Txn) error {
		if err := optional(txn, key(keyRanking), &last); err != nil || last == nil {
			return err
		}
		return optional(txn, rankKey(last.Side, page), &rank)
	})
	return rank, last, err
}

// Put writes a ranking and the ranks of pages instead of those before. It takes
// many batches, but a kill at any instant leaves the old ranking whole or the
// new one. Ranks are written aside, and the batch with the Ranking makes them
// the ones that count. What it does not get to clear away, the next one does.
func (r Ranks) Put(ctx context.Context, ranking Ranking, ranks iter.Seq[NumberedRank]) error {
	old, err := r.Last()
	if err != nil && !errors.Is(err, ErrDamaged) {
		return err
	}
	if ranking.Side = 0; err == nil && old != nil {
		ranking.Side = 1 - old.Side&1
	}
	if err := r.clear(ctx, ranking.Side); err != nil {
		return err
	}
	made := batches{s: r.s}
	defer made.cancel()
	ranking.Pages = 0
	for rank := range ranks {
		if err := ctx.Err(); err != nil {
			return err
		}
		ranking.Pages++
		if err := made.add(func(b *Batch) error { return b.put(rankKey(ranking.Side, rank.Page), rank.Rank) }); err != nil {
			return err
		}
	}
	if err := made.add(func(b *Batch) error { return b.put(key(keyRanking), ranking) }); err != nil {
		return err
	}
	if err := made.flush(); err != nil {
		return err
	}
	return r.clear(ctx, 1-ranking.Side)
}

// clear deletes the ranks of one side.
func (r Ranks) clear(ctx context.Context, side byte) error {
	gone := batches{s: r.s}
	defer gone.cancel()
	err := r.s.records.view(func(txn *badger.Txn) error {
		for item := range items(txn, []byte{keyRank, side}) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := gone.add(func(b *Batch) error { return b.delete(item.KeyCopy(nil)) }); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return gone.flush()
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
