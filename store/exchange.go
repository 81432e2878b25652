package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/dgraph-io/badger/v4"
	"github.com/klauspost/compress/zstd"
)

// Purpose is the reason for an exchange that belongs to a host.
type Purpose string

const (
	ForRobots  Purpose = "robots"
	ForTDMRep  Purpose = "tdmrep"
	ForSitemap Purpose = "sitemap"
	ForAddress Purpose = "address" // a failed look-up of the host's address: nothing was sent
	ForLost    Purpose = "lost"    // entered by repair for a missing record
)

// Exchange is an exchange with a host for no queued URL. Each host numbers its exchanges from 1 by
// time; Host.Exchanges is the last number.
type Exchange struct {
	For        Purpose `cbor:"1,keyasint"`
	URL        string  `cbor:"2,keyasint,omitempty"`
	Start      int64   `cbor:"3,keyasint"` // Unix milliseconds
	Millis     int64   `cbor:"4,keyasint"` // duration until the last byte
	State      string  `cbor:"5,keyasint"`
	Code       int     `cbor:"6,keyasint,omitempty"`
	Bytes      int64   `cbor:"7,keyasint,omitempty"` // of the body, as transferred
	Location   string  `cbor:"8,keyasint,omitempty"` // redirect target
	Error      string  `cbor:"9,keyasint,omitempty"`
	Note       string  `cbor:"10,keyasint,omitempty"`
	Owner      string  `cbor:"11,keyasint,omitempty"` // name:port of the host on whose behalf this one was asked, if another
	Rest       int64   `cbor:"12,keyasint,omitempty"` // politeness delay of the host afterwards, milliseconds
	RetryAfter int64   `cbor:"13,keyasint,omitempty"` // Retry-After of the answer, milliseconds
	Own        int64   `cbor:"14,keyasint,omitempty"` // part of Rest that applies to this host alone, not to others at its address
}

func (s *Sitemaps) Drop() { s.Pending = slices.Delete(s.Pending, 0, 1) }

type HostExchange struct {
	Host   string // name:port
	Number uint64
	Exchange
}

// The zero byte after the host's name keeps other hosts' keys out of its prefix.
func exchangeKey(host string, n uint64) []byte {
	return binary.BigEndian.AppendUint64(exchangePrefix(host), n)
}

func exchangePrefix(host string) []byte {
	return append(bytesKey(keyExchange, []byte(host)), 0)
}

func exchangeOf(k []byte) (host string, n uint64, err error) {
	end := bytes.IndexByte(k, 0)
	if end < 1 || len(k) != end+9 {
		return "", 0, fmt.Errorf("store key %q: %w: no exchange has this key", k, ErrDamaged)
	}
	return string(k[1:end]), binary.BigEndian.Uint64(k[end+1:]), nil
}

func (b *Batch) PutExchange(host string, n uint64, x Exchange) error {
	return b.put(exchangeKey(host, n), x)
}

func (s *Store) Exchange(host string, n uint64) (x Exchange, err error) {
	err = s.records.get(exchangeKey(host, n), &x)
	return x, err
}

// Exchanges yields the exchanges of a host by time, or of all hosts ("") by name.
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

// newEncoder returns the encoder of bodies. Its window of 64 KiB exceeds nearly all pages; a single
// segment makes the frame state its length.
func newEncoder() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(64<<10), zstd.WithLowerEncoderMem(true), zstd.WithSingleSegment(true))
}

type codec struct {
	enc     *zstd.Encoder // only for EncodeAll, which is safe for concurrent use
	dec     *zstd.Decoder // only for DecodeAll, likewise
	scratch sync.Pool     // of *[]byte
}

func newCodec() (c *codec, err error) {
	c = &codec{scratch: sync.Pool{New: func() any { return new([]byte) }}}
	if c.enc, err = newEncoder(); err == nil {
		c.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(256<<20))
	}
	return c, err
}

func (c *codec) close() { c.dec.Close() }

// Compress packs a body for PutPage, with length and checksum. It is safe for concurrent use.
func (s *Store) Compress(body []byte) []byte { return s.codec.pack(body) }

func (c *codec) pack(body []byte) []byte {
	scratch := c.scratch.Get().(*[]byte) // the copy kept until the batch is written has no spare capacity
	defer c.scratch.Put(scratch)
	*scratch = c.enc.EncodeAll(body, (*scratch)[:0])
	return bytes.Clone(*scratch)
}

func (c *codec) body(txn *badger.Txn, n uint64) (body []byte, err error) {
	err = value(txn, numKey(keyBody, n), func(k, v []byte) error {
		if body, err = c.unpack(v); err != nil {
			return fmt.Errorf("store key %q: %w: %w", k, ErrDamaged, err)
		}
		return nil
	})
	return body, err
}

func (c *codec) unpack(frame []byte) ([]byte, error) { return c.dec.DecodeAll(frame, nil) }
