package urlfrontier

import (
	"encoding/binary"

	"fossick/crawler/urlfrontier/queues"
)

// A queue's record is blocked (8) · delay (8) · limit (8) · length of the crawl's id
// (uvarint) · the crawl's id · the queue's key. A delay of -1 is that of all queues.
const settingsBytes = 3 * 8

func encodeQueue(crawl, name string, s queues.Settings) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(s.Blocked))
	b = binary.BigEndian.AppendUint64(b, uint64(s.Delay))
	b = binary.BigEndian.AppendUint64(b, uint64(s.Limit))
	b = binary.AppendUvarint(b, uint64(len(crawl)))
	b = append(b, crawl...)
	return append(b, name...)
}

func decodeQueue(b []byte) (crawl, name string, s queues.Settings, err error) {
	if len(b) < settingsBytes {
		return "", "", s, errRecord
	}
	s.Blocked = int64(binary.BigEndian.Uint64(b))
	s.Delay = int64(binary.BigEndian.Uint64(b[8:]))
	s.Limit = int(int64(binary.BigEndian.Uint64(b[16:])))
	rest := b[settingsBytes:]
	n, used := binary.Uvarint(rest)
	if used <= 0 || n > uint64(len(rest)-used) || s.Blocked < 0 || s.Delay < queues.Default || s.Limit < 0 {
		return "", "", s, errRecord
	}
	rest = rest[used:]
	return string(rest[:n]), string(rest[n:]), s, nil
}
