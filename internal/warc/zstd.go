package warc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	zstdMagic = "\x28\xb5\x2f\xfd"
	dictMagic = "\x5d\x2a\x4d\x18" // a skippable frame that holds the dictionary of all others
)

const (
	maxWindowBytes = 128 << 20 // as zstd's own command line
	maxDictBytes   = 16 << 20
)

// zstandard is a file of zstd frames, one or more a record. The first may be the dictionary.
type zstandard struct {
	in    *input
	z     *zstd.Decoder
	frame frame
}

func newZstandard(in *input) (*zstandard, error) {
	opts := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindowBytes)}
	head, err := in.buf.Peek(len(dictMagic))
	if err == nil && string(head) == dictMagic {
		dict, err := readDict(in)
		if err != nil {
			return nil, &Error{Err: fmt.Errorf("the dictionary of the file: %w", err)}
		}
		opts = append(opts, zstd.WithDecoderDicts(dict))
	}
	z, err := zstd.NewReader(nil, opts...)
	if err != nil {
		return nil, &Error{Err: fmt.Errorf("%w: %w", ErrDamaged, err)}
	}
	return &zstandard{in: in, z: z, frame: frame{in: in}}, nil
}

func readDict(in *input) ([]byte, error) {
	var head [8]byte
	if _, err := io.ReadFull(in.buf, head[:]); err != nil {
		return nil, ErrCut
	}
	n := binary.LittleEndian.Uint32(head[4:])
	if n > maxDictBytes {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are read", ErrDamaged, n, maxDictBytes)
	}
	dict := make([]byte, n)
	if _, err := io.ReadFull(in.buf, dict); err != nil {
		return nil, ErrCut
	}
	if !bytes.HasPrefix(dict, []byte(zstdMagic)) {
		return dict, nil
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxDictBytes))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	if dict, err = z.DecodeAll(dict, nil); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return dict, nil
}

func (s *zstandard) next() (int64, error) {
	for first := s.in.offset(); ; {
		at := s.in.offset()
		head, err := s.in.buf.Peek(8)
		switch {
		case len(head) == 0 && errors.Is(err, io.EOF):
			return at, io.EOF
		case len(head) < 4, err != nil && !errors.Is(err, io.EOF):
			return first, fmt.Errorf("%w: the file ends in the middle of a zstd frame", ErrCut)
		}
		if isSkippable(head) {
			if err := s.skip(head); err != nil {
				return first, err
			}
			continue
		}
		if string(head[:4]) != zstdMagic {
			return first, fmt.Errorf("%w: no zstd frame begins here", ErrDamaged) // or what was skipped was shorter than it said
		}
		if err := s.frame.begin(); err != nil {
			return at, err
		}
		return at, s.error(s.z.Reset(&s.frame))
	}
}

func isSkippable(head []byte) bool {
	return len(head) == 8 && head[0]&0xf0 == 0x50 && string(head[1:4]) == dictMagic[1:]
}

func (s *zstandard) skip(head []byte) error {
	n := int64(binary.LittleEndian.Uint32(head[4:])) + 8
	if skipped, err := io.CopyN(io.Discard, s.in.buf, n); err != nil {
		return fmt.Errorf("%w: a skippable frame has %d of %d bytes", ErrCut, skipped, n)
	}
	return nil
}

func (s *zstandard) Read(p []byte) (int, error) {
	n, err := s.z.Read(p)
	if err == io.EOF {
		return n, err
	}
	return n, s.error(err)
}

func (s *zstandard) find(after int64) error {
	if err := s.in.behind(after); err != nil {
		return err
	}
	return findMagic(s.in, zstdMagic, func(head []byte) bool {
		var begin [len("WARC/")]byte
		if s.z.Reset(bytes.NewReader(head)) != nil {
			return false
		}
		_, err := io.ReadFull(s.z, begin[:])
		return err == nil && string(begin[:]) == "WARC/"
	})
}

func (s *zstandard) error(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrCut):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("%w: the file ends in the middle of a zstd frame", ErrCut)
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// frame reads the bytes of one frame and no more, so that its end is known. A decoder of
// its own would read on into the next.
type frame struct {
	in       *input
	left     int64 // bytes until the next header of a block
	last     bool  // no block follows
	checksum bool  // four bytes follow the last block
	done     bool
}

func (f *frame) begin() error {
	head, _ := f.in.buf.Peek(zstd.HeaderMaxSize)
	var h zstd.Header
	if err := h.Decode(head); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%w: the file ends in the header of a zstd frame", ErrCut)
		}
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	*f = frame{in: f.in, left: int64(h.HeaderSize), checksum: h.HasCheckSum}
	return nil
}

func (f *frame) Read(p []byte) (int, error) {
	if f.left == 0 && !f.done {
		if err := f.block(); err != nil {
			return 0, err
		}
	}
	if f.done && f.left == 0 {
		return 0, io.EOF
	}
	n, err := f.in.buf.Read(p[:min(int64(len(p)), f.left)])
	f.left -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (f *frame) block() error {
	if f.last {
		f.done = true
		if f.checksum {
			f.left = 4
		}
		return nil
	}
	head, err := f.in.buf.Peek(3)
	if err != nil {
		return io.ErrUnexpectedEOF
	}
	h := uint32(head[0]) | uint32(head[1])<<8 | uint32(head[2])<<16
	f.last = h&1 == 1
	f.left = 3 + int64(h>>3)
	if h>>1&3 == 1 { // one byte, repeated
		f.left = 4
	}
	return nil
}
