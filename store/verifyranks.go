package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/dgraph-io/badger/v4"
)

// ranks checks that the ranking can be read and that its ranks are numbers, of
// pages that are there. Those of the other side are a ranking's that was cut off,
// and nobody reads them.
func (in *inspection) ranks(ctx context.Context) error {
	ranking, err := in.s.Ranking()
	if err == nil && ranking != nil && ranking.Side > 1 {
		err = fmt.Errorf("store key %q: %w: side %d", key(keyRanking), ErrDamaged, ranking.Side)
	}
	if errors.Is(err, ErrDamaged) {
		return in.found(key(keyRanking), err.Error(), "removed: rank the pages again", func(b *Batch) error { return b.delete(key(keyRanking)) })
	}
	if err != nil {
		return err
	}
	return in.scan(ctx, keyRank, func(txn *badger.Txn, k, v []byte) error {
		what := ""
		var rank Rank
		switch {
		case len(k) != 10 || k[1] > 1:
			what = "the key is not a page's"
		case ranking == nil || k[1] != ranking.Side:
			return nil
		case decode(k, v, &rank) != nil:
			what = "the rank cannot be read"
		case !isShare(rank.Score) || !isShare(rank.Hub):
			what = fmt.Sprintf("the rank is %g and %g, want shares", rank.Score, rank.Hub)
		default:
			if has, err := hasKey(txn, numKey(keyPage, binary.BigEndian.Uint64(k[2:]))); err != nil || has {
				return err
			}
			what = "it belongs to no page"
		}
		return in.found(k, what, "removed", func(b *Batch) error { return b.delete(k) })
	})
}

// isShare says whether x is in [0,1], but for rounding.
func isShare(x float64) bool { return x >= 0 && x <= 1+1e-9 && !math.IsNaN(x) }
