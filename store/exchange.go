package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/dgraph-io/badger/v4"
	"github.com/klauspost/compress/zstd"
)

// Purpose says what an exchange that belongs to a host was for.
type Purpose string

// The purposes of exchanges that belong to a host and to none of its pages.
const (
	ForRobots  Purpose = "robots"  // robots.txt, or a hop of its redirects
	ForTDMRep  Purpose = "tdmrep"  // tdmrep.json
	ForSitemap Purpose = "sitemap" // a sitemap, or a hop of its redirects
	ForAddress Purpose = "address" // a look-up of the host's address that failed: nothing was sent
	ForLost    Purpose = "lost"    // what repair enters where a record is missing
)

// Exchange is an exchange with a host that is for no URL of the queue. They are
// numbered from 1 for each host, in the order of time; Host.Exchanges has the
// last number.
type Exchange struct {
	For        Purpose `cbor:"1,keyasint"`
	URL        string  `cbor:"2,keyasint,omitempty"` // asked for
	Start      int64   `cbor:"3,keyasint"`           // Unix milliseconds
	Millis     int64   `cbor:"4,keyasint"`           // until the last byte
	State      string  `cbor:"5,keyasint"`
	Code       int     `cbor:"6,keyasint,omitempty"`
	Bytes      int64   `cbor:"7,keyasint,omitempty"` // of the body, as they came
	Location   string  `cbor:"8,keyasint,omitempty"` // where a redirect led
	Error      string  `cbor:"9,keyasint,omitempty"`
	Note       string  `cbor:"10,keyasint,omitempty"` // what came of it
	Owner      string  `cbor:"11,keyasint,omitempty"` // name:port of the host for which this one was asked, when another
	Rest       int64   `cbor:"12,keyasint,omitempty"` // that the host was due afterwards, milliseconds
	RetryAfter int64   `cbor:"13,keyasint,omitempty"` // that the answer asked for, milliseconds
	Own        int64   `cbor:"14,keyasint,omitempty"` // of Rest, what binds the host alone and no other at its address
}

// Drop takes the first pending sitemap off.
func (s *Sitemaps) Drop() { s.Pending = slices.Delete(s.Pending, 0, 1) }

// HostExchange is an exchange and whose it is.
type HostExchange struct {
	Host   string // name:port
	Number uint64
	Exchange
}

// The key of an exchange: the host's name ends with a zero byte, which no name
// has, so that no host's exchanges lie among another's.
func exchangeKey(host string, n uint64) []byte {
	return binary.BigEndian.AppendUint64(exchangePrefix(host), n)
}

func exchangePrefix(host string) []byte {
	return append(bytesKey(keyExchange, []byte(host)), 0)
}

// exchangeOf takes the key of an exchange apart.
func exchangeOf(k []byte) (host string, n uint64, err error) {
	end := bytes.IndexByte(k, 0)
	if end < 1 || len(k) != end+9 {
		return "", 0, fmt.Errorf("store key %q: %w: no exchange has this key", k, ErrDamaged)
	}
	return string(k[1:end]), binary.BigEndian.Uint64(k[end+1:]), nil
}

// PutExchange writes the n-th exchange of a host, from 1.
func (b *Batch) PutExchange(host string, n uint64, x Exchange) error {
	return b.put(exchangeKey(host, n), x)
}

// Exchange returns the n-th exchange of a host.
func (s *Store) Exchange(host string, n uint64) (x Exchange, err error) {
	err = s.records.get(exchangeKey(host, n), &x)
	return x, err
}

// Exchanges yields the exchanges of a host, in the order of time. Of "" it is those of
// all hosts, in the order of their names' bytes.
func (s *Store) Exchanges(host string) iter.Seq2[HostExchange, error] {
	prefix := key(keyExchange)
	if host != "" {
		prefix = exchangePrefix(host)
	}
	return each(s.records, prefix, func(k, v []byte) (x HostExchange, err error) {
		if x.Host, x.Number, err = exchangeOf(k); err != nil {
			return x, err
		}
		return x, decode(k, v, &x.Exchange)
	})
}

// errLost says of a body that an earlier build lost it: docs/repair.md#lost-bodies.
var errLost = errors.New("an earlier build stored an empty frame for it")

// newEncoder makes the encoder of bodies. Matches reach back 64 KiB, more than nearly
// all pages have. As many encoders work at once as there are processors. A single
// segment states its length, also where it is short.
func newEncoder() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(64<<10), zstd.WithLowerEncoderMem(true), zstd.WithSingleSegment(true))
}

// codec packs bodies and unpacks them; safe for concurrent use.
type codec struct {
	enc     *zstd.Encoder // only EncodeAll is used, which is safe for concurrent use
	dec     *zstd.Decoder // likewise DecodeAll
	scratch sync.Pool     // of *[]byte, for pack
}

func newCodec() (c *codec, err error) {
	c = &codec{scratch: sync.Pool{New: func() any { return new([]byte) }}}
	if c.enc, err = newEncoder(); err == nil {
		c.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(256<<20))
	}
	return c, err
}

func (c *codec) close() { c.dec.Close() }

// Compress packs a body for PutPage as one zstd frame, with its length and checksum;
// safe for concurrent use.
func (s *Store) Compress(body []byte) []byte { return s.codec.pack(body) }

func (c *codec) pack(body []byte) []byte {
	scratch := c.scratch.Get().(*[]byte) // what is kept until the batch is written is no larger than it need be
	defer c.scratch.Put(scratch)
	*scratch = c.enc.EncodeAll(body, (*scratch)[:0])
	return bytes.Clone(*scratch)
}

// body returns that of page n.
func (c *codec) body(txn *badger.Txn, n uint64) (body []byte, err error) {
	err = value(txn, numKey(keyBody, n), func(k, v []byte) error {
		if body, err = c.unpack(v); err != nil {
			return fmt.Errorf("store key %q: %w: %w", k, ErrDamaged, err)
		}
		return nil
	})
	return body, err
}

// unpack returns the body of a frame.
func (c *codec) unpack(frame []byte) ([]byte, error) {
	body, err := c.dec.DecodeAll(frame, nil)
	if err != nil && isLost(frame) {
		err = fmt.Errorf("%w: %w", errLost, err)
	}
	return body, err
}

// isLost says whether a frame states a length and begins with a raw block of none.
func isLost(frame []byte) bool {
	var h zstd.Header
	first := &h.FirstBlock
	return h.Decode(frame) == nil && h.FrameContentSize > 0 &&
		first.OK && !first.Compressed && first.DecompressedSize == 0
}
