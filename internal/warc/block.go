package warc

import (
	"errors"
	"fmt"
	"io"
)

type block struct {
	r      *Reader
	rec    *Record
	begin  int64 // of the block in a plain file
	left   int64
	sum    *checksum // nil where there is none to compare
	failed error     // why reading ended before the block did
}

func newBlock(r *Reader, rec *Record) *block {
	return &block{r: r, rec: rec, begin: r.s.inside(), left: rec.Length, sum: newChecksum(rec)}
}

func (b *block) Read(p []byte) (int, error) {
	n, err := b.read(p)
	var at *Error
	if errors.As(err, &at) {
		b.r.tells(at)
	}
	return n, err
}

func (b *block) read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, b.end()
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := b.more()
	if err != nil {
		return 0, err
	}
	n = copy(p, b.r.s.buf[b.r.s.r:b.r.s.r+n])
	b.take(n)
	return n, nil
}

// skip passes over some bytes, unread; io.EOF behind the last.
func (b *block) skip() (int, error) {
	if b.left == 0 || b.failed != nil {
		return 0, io.EOF
	}
	b.sum = nil
	n, err := b.more()
	b.take(n)
	return n, err
}

func (b *block) take(n int) {
	s := b.r.s
	if b.sum != nil {
		b.sum.Write(s.buf[s.r : s.r+n])
	}
	s.r += n
	b.left -= int64(n)
}

func (b *block) more() (int, error) {
	s := b.r.s
	switch {
	case b.failed != nil:
		return 0, b.failed
	case b.r.body != b:
		return 0, fmt.Errorf("record at offset %d: it was read after a call for the next record", b.rec.Offset)
	}
	if s.w == s.r {
		crossing := !s.open
		err := s.fill()
		if err == io.EOF {
			crossing = true
			err = s.begin()
		}
		for err == nil && s.w == s.r {
			if err = s.fill(); err == io.EOF {
				err = s.begin()
			}
		}
		if b.failed = b.damage(err, crossing); b.failed != nil {
			return 0, b.failed
		}
	}
	return int(min(int64(s.w-s.r), b.left)), nil
}

func (b *block) damage(err error, crossing bool) error {
	has := b.rec.Length - b.left
	switch {
	case err == nil && crossing && b.r.s.beginsRecord(): // with which reading goes on
		return &Error{b.rec.Offset, b.rec.Inside, fmt.Errorf("%w: its block has %d of %d bytes", ErrCut, has, b.rec.Length)}
	case err == io.EOF:
		b.r.lost = &damage{offset: b.rec.Offset, back: b.begin}
		return &Error{b.rec.Offset, b.rec.Inside, fmt.Errorf("%w: the file ends after %d of the %d bytes of its block", ErrCut, has, b.rec.Length)}
	case err != nil:
		return b.r.failed(err, b.rec.Offset, b.rec.Inside)
	}
	return nil
}

// end is io.EOF, or says that the digest is wrong.
func (b *block) end() error {
	if b.failed != nil || b.sum == nil {
		return io.EOF
	}
	sum := b.sum
	b.sum = nil // once is enough
	if err := sum.check(); err != nil {
		return &Error{b.rec.Offset, b.rec.Inside, err}
	}
	return io.EOF
}
