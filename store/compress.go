package store

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/dgraph-io/badger/v4"
	"github.com/klauspost/compress/zstd"
)

// errLost says of a body that an earlier build lost it: docs/store.md#lost-bodies.
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
