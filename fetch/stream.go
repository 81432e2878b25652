package fetch

import (
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// deliver reads a wanted body into memory, or hands it to who asked for it in
// pieces.
func (b *bodyReader) deliver() ([]byte, error) {
	if b.ex.req.Stream == nil {
		return b.readAll()
	}
	s := &bodyStream{b: b, head: b.data}
	b.ex.req.Stream(s)
	if b.err == io.EOF {
		return nil, nil
	}
	return nil, b.err // nil where the reader had enough
}

// bodyStream is a body under its limits that is not gathered.
type bodyStream struct {
	b    *bodyReader
	head []byte // read already, to judge the type
	out  int64  // bytes handed out
}

// Read is an io.Reader's; an error is the one that the exchange ends with.
func (s *bodyStream) Read(p []byte) (int, error) {
	if len(s.head) > 0 {
		n := copy(p, s.head)
		s.head = s.head[n:]
		s.out += int64(n)
		return n, nil
	}
	b := s.b
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.read(p)
	if errors.Is(err, gzip.ErrHeader) && s.out > 0 {
		err = io.EOF // junk after a whole gzip member, as in read
	}
	b.err = err
	s.out += int64(n)
	limit := b.ex.req.MaxBodyBytes
	switch {
	case s.out > limit && b.ex.req.Truncate:
		n -= int(s.out - limit)
		s.out, b.truncated, b.err = limit, true, io.EOF
	case s.out > limit:
		b.err = &stateError{StateTooLarge, fmt.Errorf("body over the limit of %d bytes", limit)}
	default:
		if bomb := b.bomb(s.out); bomb != nil {
			b.err = bomb
		}
	}
	return n, b.err
}
