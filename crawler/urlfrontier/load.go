package urlfrontier

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"fossick/crawler/urlfrontier/queues"
)

// load reads what the folder has. URLs of queues that are gone are what a deletion left
// that did not come to its end, and are deleted.
func (f *Frontier) load() error {
	isNew, err := f.loadMeta()
	if err != nil || isNew {
		return err
	}
	byNumber := map[uint64]*queues.Queue{}
	var orphans [][]byte
	err = f.db.View(func(txn *badger.Txn) error {
		err := each(txn, []byte{queuePrefix}, func(key, value []byte) error {
			if len(key) != queueKeyBytes {
				return errRecord
			}
			crawl, name, settings, err := decodeQueue(value)
			if err == nil {
				number := binary.BigEndian.Uint64(key[1:])
				byNumber[number] = f.set.Restore(crawl, name, number, settings)
			}
			return err
		})
		if err != nil {
			return err
		}
		now := f.now()
		return each(txn, []byte{urlPrefix}, func(key, value []byte) error {
			number, id, err := parseURLKey(key)
			if err != nil {
				return err
			}
			if q := byNumber[number]; q != nil {
				return f.loadURL(q, id, value, now)
			}
			orphans = append(orphans, append([]byte(nil), key...))
			return nil
		})
	})
	if err != nil {
		return err
	}
	return f.records.remove(orphans)
}

func (f *Frontier) loadURL(q *queues.Queue, id queues.ID, value []byte, now int64) error {
	h, _, err := decode(value)
	if err != nil {
		return err
	}
	f.seq = max(f.seq, h.seq+1)
	if h.refetch == 0 {
		f.set.Complete(q, 1, now)
		return nil
	}
	f.set.Put(q, queues.URL{ID: id, Key: h.key, Seq: h.seq, Due: h.refetch, Score: h.score}, now)
	return nil
}

// loadMeta reads the format's version, or makes a new database one of a frontier.
func (f *Frontier) loadMeta() (isNew bool, err error) {
	txn := f.db.NewTransaction(true)
	defer txn.Discard()
	item, err := txn.Get([]byte(metaKey))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return true, f.makeNew(txn, f.set.Delay())
	}
	if err != nil {
		return false, err
	}
	return false, item.Value(func(b []byte) error {
		if len(b) != 1+8 {
			return ErrForeign
		}
		if b[0] != version {
			return fmt.Errorf("format %d (this build reads %d); open it with a newer fossick", b[0], version)
		}
		f.set.SetDelay(int64(binary.BigEndian.Uint64(b[1:])), f.now())
		return nil
	})
}

func (r records) makeNew(txn *badger.Txn, delay int64) error {
	it := txn.NewIterator(badger.IteratorOptions{})
	it.Rewind()
	others := it.Valid()
	it.Close()
	if others {
		return ErrForeign
	}
	if err := txn.Set([]byte(metaKey), meta(delay)); err != nil {
		return err
	}
	if err := r.db.Commit(txn); err != nil {
		return err
	}
	return r.db.SyncLogs()
}

// meta is the record m.
func meta(delay int64) []byte {
	return binary.BigEndian.AppendUint64([]byte{version}, uint64(delay))
}
