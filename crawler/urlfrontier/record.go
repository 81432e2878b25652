package urlfrontier

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"

	"fossick/crawler/urlfrontier/queues"
)

// A database has these keys; numbers are big-endian:
//
//	m                           version of the format (1 byte), delay of queues (8)
//	q number (8)                a queue, see queuerecord.go
//	u number (8) · hash (16)    a URL of the queue with this number
//
// A URL's hash is the first half of its SHA-256. Its record is
//
//	created (8) · refetch (8) · seq (8) · key (8) · score (4, IEEE 754) · URLInfo
//
// created and refetch are in seconds of Unix time, and refetch is 0 for never; seq is the
// order of discovery, key the scorer's number of it. What was handed out is not written.
const (
	metaKey     = "m"
	queuePrefix = 'q'
	urlPrefix   = 'u'
	version     = 1

	queueKeyBytes = 1 + 8
	urlKeyBytes   = queueKeyBytes + len(queues.ID{})
	headerBytes   = 4*8 + 4
)

var errRecord = errors.New("damaged record; another program changed the frontier's folder")

func idOf(url string) (id queues.ID) {
	sum := sha256.Sum256([]byte(url))
	copy(id[:], sum[:])
	return id
}

func queueKey(prefix byte, number uint64) []byte {
	return binary.BigEndian.AppendUint64(append(make([]byte, 0, urlKeyBytes), prefix), number)
}

func urlKey(number uint64, id queues.ID) []byte {
	return append(queueKey(urlPrefix, number), id[:]...)
}

// parseURLKey is the inverse of urlKey.
func parseURLKey(key []byte) (number uint64, id queues.ID, err error) {
	if len(key) != urlKeyBytes || key[0] != urlPrefix {
		return 0, id, errRecord
	}
	copy(id[:], key[queueKeyBytes:])
	return binary.BigEndian.Uint64(key[1:]), id, nil
}

// header is what is known of a URL besides its URLInfo.
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

// decode reads a record; info is a part of it.
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
