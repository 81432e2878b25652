package urlfrontier

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"google.golang.org/protobuf/proto"

	"fossick/crawler/urlfrontier/api"
	"fossick/store/badgerfiles"
)

// Keys of the database; numbers are big-endian:
//
//	m                           version of the format (1 byte), delay of queues (8)
//	q number (8)                a queue, see encodeQueue
//	u number (8) · hash (16)    a URL of the queue with this number
//
// A URL's hash is the first half of its SHA-256. Its record is
//
//	created (8) · refetch (8) · seq (8) · key (8) · score (4, IEEE 754) · URLInfo
//
// created and refetch are Unix seconds, and refetch 0 means never; seq is the order of discovery,
// key the scorer's key. What was handed out is not stored.
const (
	metaKey     = "m"
	queuePrefix = 'q'
	urlPrefix   = 'u'
	version     = 1

	queueKeyBytes = 1 + 8
	urlKeyBytes   = queueKeyBytes + len(urlID{})
	headerBytes   = 4*8 + 4
)

var errRecord = errors.New("damaged record; another program changed the frontier's folder")

func idOf(url string) (id urlID) {
	sum := sha256.Sum256([]byte(url))
	copy(id[:], sum[:])
	return id
}

func queueKey(prefix byte, number uint64) []byte {
	return binary.BigEndian.AppendUint64(append(make([]byte, 0, urlKeyBytes), prefix), number)
}

func urlKey(number uint64, id urlID) []byte {
	return append(queueKey(urlPrefix, number), id[:]...)
}

func parseURLKey(key []byte) (number uint64, id urlID, err error) {
	if len(key) != urlKeyBytes || key[0] != urlPrefix {
		return 0, id, errRecord
	}
	copy(id[:], key[queueKeyBytes:])
	return binary.BigEndian.Uint64(key[1:]), id, nil
}

type header struct {
	created, refetch int64
	seq, key         uint64
	score            float32
}

func (h header) encode(info []byte) []byte {
	b := make([]byte, 0, headerBytes+len(info))
	b = binary.BigEndian.AppendUint64(b, uint64(h.created))
	b = binary.BigEndian.AppendUint64(b, uint64(h.refetch))
	b = binary.BigEndian.AppendUint64(b, h.seq)
	b = binary.BigEndian.AppendUint64(b, h.key)
	b = binary.BigEndian.AppendUint32(b, math.Float32bits(h.score))
	return append(b, info...)
}

// decode splits a record; info aliases b.
func decode(b []byte) (h header, info []byte, err error) {
	if len(b) < headerBytes {
		return h, nil, errRecord
	}
	h.created = int64(binary.BigEndian.Uint64(b))
	h.refetch = int64(binary.BigEndian.Uint64(b[8:]))
	h.seq = binary.BigEndian.Uint64(b[16:])
	h.key = binary.BigEndian.Uint64(b[24:])
	h.score = math.Float32frombits(binary.BigEndian.Uint32(b[32:]))
	if h.created < 0 || h.refetch < 0 || math.IsNaN(float64(h.score)) {
		return h, nil, errRecord
	}
	return h, b[headerBytes:], nil
}

// A queue's record is blocked (8) · delay (8, -1: the default) · limit (8) · length of the
// crawl's ID (uvarint) · the crawl's ID · the queue's key.
const settingsBytes = 3 * 8

func encodeQueue(crawl, name string, s queueSettings) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(s.Blocked))
	b = binary.BigEndian.AppendUint64(b, uint64(s.Delay))
	b = binary.BigEndian.AppendUint64(b, uint64(s.Limit))
	b = binary.AppendUvarint(b, uint64(len(crawl)))
	b = append(b, crawl...)
	return append(b, name...)
}

func decodeQueue(b []byte) (crawl, name string, s queueSettings, err error) {
	if len(b) < settingsBytes {
		return "", "", s, errRecord
	}
	s.Blocked = int64(binary.BigEndian.Uint64(b))
	s.Delay = int64(binary.BigEndian.Uint64(b[8:]))
	s.Limit = int(int64(binary.BigEndian.Uint64(b[16:])))
	rest := b[settingsBytes:]
	n, used := binary.Uvarint(rest)
	if used <= 0 || n > uint64(len(rest)-used) || s.Blocked < 0 || s.Delay < delayOfAll || s.Limit < 0 {
		return "", "", s, errRecord
	}
	rest = rest[used:]
	return string(rest[:n]), string(rest[n:]), s, nil
}

type records struct{ db *badgerfiles.Database }

// each calls do for each record with the prefix, in order. The slices are valid until do returns.
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

// infos reads the records of URLs; nil for deleted ones.
func (r records) infos(taken []takenURL) ([]*api.URLInfo, error) {
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

func (r records) keysOf(q *queue) (keys [][]byte, err error) {
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

// remove deletes records in parts, and syncs.
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

func (r records) keep(key, value []byte) error {
	err := r.db.Update(func(txn *badger.Txn) error { return txn.Set(key, value) })
	if err == nil {
		err = r.db.SyncLogs()
	}
	return err
}

// defaultCrawl is the ID of a crawl without one.
const defaultCrawl = "DEFAULT"

func crawlOf(id string) string {
	if strings.TrimSpace(id) == "" {
		return defaultCrawl
	}
	return id
}

// keyOf returns a URL's default queue: its host in lower case without port and user, or "".
func keyOf(url string) string {
	host := url
	if _, rest, ok := strings.Cut(url, "://"); ok {
		host = rest
	}
	if end := strings.IndexAny(host, "/?#&\\"); end >= 0 {
		host = host[:end]
	}
	host = strings.TrimSpace(host[strings.LastIndexByte(host, '@')+1:])
	if strings.HasPrefix(host, "[") { // an IPv6 address keeps its colons
		if end := strings.IndexByte(host, ']'); end > 0 {
			return strings.ToLower(host[:end+1])
		}
		return ""
	}
	host, _, _ = strings.Cut(host, ":")
	return strings.ToLower(strings.TrimSpace(host))
}
