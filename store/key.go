package store

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// The first byte of a key says what the record is. Numbers are big-endian, so
// that keys sort as the numbers do.
const (
	keyInfo     = 'i' // → Info
	keyCount    = 'n' // → Counts
	keySeen     = 'k' // + URL hash (16) → ID (8) and a byte: live or skipped
	keyBirth    = 'u' // + ID → Birth
	keyQueued   = 'q' // + ID → Queued; there while the URL waits
	keyVisit    = 'v' // + ID + number of the visit (2) → Visit
	keyWire     = 'w' // + ID + number of the visit (2) → headers of the exchange, packed
	keyHistory  = 't' // + ID + number of its first visit (2) → change.History: visits since the page was stored
	keyVersion  = 'V' // + ID + number, falling (2) → Version: an earlier body of the URL's page
	keyRounds   = 'g' // → []Round
	keyChances  = 'e' // → bytes: what was learned of whether visits succeed
	keyFate     = 's' // + ID → Fate; there when it waits no more
	keyPage     = 'p' // + page number → Page
	keyBody     = 'b' // + page number → zstd of the body
	keyContent  = 'c' // + checksum (16) → page number
	keyLabel    = 'l' // + page number → Label
	keyNear     = 'm' // + band (1) + its bytes of a signature (6) → page numbers, rising
	keyHost     = 'h' // + name:port → Host
	keyMark     = 'y' // + ID → Mark, of a crawl of one topic
	keyMarkFor  = 'z' // + ID + topic (1) → Mark, of one that several topics share
	keyRanking  = 'o' // → Ranking
	keyForget   = 'f' // + hash of the pattern (16) → Forget
	keyParcel   = 'a' // + part of the web (2) + number (8) → a message to the agent that has it
	keyCursor   = 'd' // + part of the web (2) + sender → number of its last parcel taken in (8)
	keyHoldings = 'j' // → Holdings
	keyHolder   = 'C' // + part of the web (2) + checksum (16) → URL of the page that stands for the content
	keyAddress  = 'A' // + part of the web (2) + address → parts with sites there (2 each), and perhaps ffff and the site that has it
	keyRank     = 'r' // + 0 or 1, as Ranking says which holds + page number → Rank

	keyExchange = 'x' // + name:port + a zero byte + its number (8) → Exchange
)

func key(kind byte) []byte { return []byte{kind} }

func numKey(kind byte, n uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{kind}, n)
}

func visitKey(id ID, visit int) []byte {
	return binary.BigEndian.AppendUint16(numKey(keyVisit, uint64(id)), uint16(visit))
}

// markKey is that of what a person says of a URL; topic is as in Mark.
func markKey(id ID, topic int) []byte {
	if topic == 0 {
		return numKey(keyMark, uint64(id))
	}
	return append(numKey(keyMarkFor, uint64(id)), byte(topic))
}

// markOf returns the URL and the topic of such a key.
func markOf(k []byte) (id ID, topic int, err error) {
	if k[0] == keyMark {
		id, err = idOf(k)
		return id, 0, err
	}
	if len(k) != 10 || k[9] == 0 {
		return 0, 0, fmt.Errorf("store key %q: %w: want a URL and a topic", k, ErrDamaged)
	}
	id, err = idOf(k[:9])
	return id, int(k[9]), err
}

func bytesKey(kind byte, b []byte) []byte {
	return append([]byte{kind}, b...)
}

// numOf returns the number of a key made by numKey.
func numOf(k []byte) (uint64, error) {
	if len(k) != 9 {
		return 0, fmt.Errorf("store key %q: %w: %d bytes, want 9", k, ErrDamaged, len(k))
	}
	return binary.BigEndian.Uint64(k[1:]), nil
}

// idOf returns the URL that such a key is of.
func idOf(k []byte) (ID, error) {
	n, err := numOf(k)
	return ID(n), err
}

// Hash names a URL in the seen-set: the first half of its SHA-256. A hostile
// site cannot make two URLs collide, and 16 bytes never do by chance.
type Hash [16]byte

// HashURL returns the hash of a URL in normal form.
func HashURL(url string) Hash {
	var room [256]byte // so that a link costs no allocation
	sum := sha256.Sum256(append(room[:0], url...))
	return Hash(sum[:16])
}

// A seen record: the ID and whether the URL was only skipped so far.
func seenValue(id ID, skipped bool) []byte {
	v := binary.BigEndian.AppendUint64(make([]byte, 0, 9), uint64(id))
	if skipped {
		return append(v, 1)
	}
	return append(v, 0)
}
