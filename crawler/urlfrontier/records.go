package urlfrontier

import (
	"errors"

	"github.com/dgraph-io/badger/v4"
	"google.golang.org/protobuf/proto"

	"fossick/crawler/urlfrontier/api"
	"fossick/crawler/urlfrontier/queues"
	"fossick/store/badgerfiles"
)

// records are those of a database. One goroutine writes them, any may read.
type records struct{ db *badgerfiles.Database }

// each calls do for each record whose key begins with prefix, in the order of keys. What
// it is given is valid until it returns.
func each(txn *badger.Txn, prefix []byte, do func(key, value []byte) error) error {
	o := badger.DefaultIteratorOptions
	o.Prefix = prefix
	it := txn.NewIterator(o)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		if err := it.Item().Value(func(v []byte) error { return do(it.Item().Key(), v) }); err != nil {
			return err
		}
	}
	return nil
}

// infos reads the records of URLs; nil for those that are gone.
func (r records) infos(taken []queues.Taken) ([]*api.URLInfo, error) {
	infos := make([]*api.URLInfo, len(taken))
	err := r.db.View(func(txn *badger.Txn) error {
		for i, t := range taken {
			item, err := txn.Get(urlKey(t.Queue.Number, t.ID))
			if errors.Is(err, badger.ErrKeyNotFound) {
				continue
			}
			if err == nil {
				err = item.Value(func(v []byte) (err error) {
					_, infos[i], err = parse(v)
					return err
				})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return infos, err
}

// parse reads a whole record.
func parse(value []byte) (header, *api.URLInfo, error) {
	h, b, err := decode(value)
	if err != nil {
		return h, nil, err
	}
	info := new(api.URLInfo)
	if err := proto.Unmarshal(b, info); err != nil {
		return h, nil, errors.Join(errRecord, err)
	}
	return h, info, nil
}

// keysOf returns the keys of a queue's URLs.
func (r records) keysOf(q *queues.Queue) (keys [][]byte, err error) {
	err = r.db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: queueKey(urlPrefix, q.Number)})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			keys = append(keys, it.Item().KeyCopy(nil))
		}
		return nil
	})
	return keys, err
}

// remove deletes records, part by part, and syncs.
func (r records) remove(keys [][]byte) error {
	if len(keys) == 0 {
		return nil
	}
	for len(keys) > 0 {
		part := keys[:min(deletePart, len(keys))]
		keys = keys[len(part):]
		txn := r.db.NewTransaction(true)
		for _, key := range part {
			if err := txn.Delete(key); err != nil {
				txn.Discard()
				return err
			}
		}
		if err := r.db.Commit(txn); err != nil {
			return err
		}
	}
	return r.db.SyncLogs()
}

// keep writes one record, and syncs.
func (r records) keep(key, value []byte) error {
	err := r.db.Update(func(txn *badger.Txn) error { return txn.Set(key, value) })
	if err == nil {
		err = r.db.SyncLogs()
	}
	return err
}
