package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"fossick/internal/reading"
)

// stream is the unpacked bytes of a file behind one buffer. The buffer never has bytes of
// two members but where a record goes on from one to the next, so it is known at which
// member a record begins.
type stream struct {
	in     *input
	m      members
	packed bool

	buf    []byte
	r, w   int   // what of buf is not used yet
	open   bool  // a member is begun and its end was not met
	member int64 // its offset
	out    int64 // bytes that it gave so far

	last int // bytes of the line that was read last, with its end
}

func newStream(in *input, m members, packed bool) *stream {
	return &stream{in: in, m: m, packed: packed, buf: make([]byte, 64<<10)}
}

func (s *stream) inside() int64 { return s.out - int64(s.w-s.r) }

// fill reads more of the member; io.EOF at its end.
func (s *stream) fill() error {
	if !s.open {
		return io.EOF
	}
	if s.r > 0 {
		s.w = copy(s.buf, s.buf[s.r:s.w])
		s.r = 0
	}
	if s.w == len(s.buf) {
		return nil
	}
	n, err := s.m.Read(s.buf[s.w:])
	s.w += n
	s.out += int64(n)
	if s.packed && reading.Bomb(s.in.offset()-s.member, s.out) {
		s.open = false
		return fmt.Errorf("%w: %d MiB out of %d KiB", ErrBomb, s.out>>20, (s.in.offset()-s.member)>>10)
	}
	if err != nil {
		s.open = false
		if n > 0 && (err == io.EOF || s.in.failed != nil) {
			return nil // the next call tells it
		}
	}
	return err
}

// begin begins the next member; io.EOF behind the last.
func (s *stream) begin() error {
	at, err := s.m.next()
	s.member, s.out = at, int64(s.w-s.r) // what is left over counts as the new one's
	s.open = err == nil
	return err
}

// need makes n bytes available, of this member and those that follow it; io.EOF where the
// file has none, io.ErrUnexpectedEOF where it has fewer. n is at most the buffer's size.
func (s *stream) need(n int) error {
	for s.w-s.r < n {
		err := s.fill()
		if err == nil {
			continue
		}
		if err == io.EOF {
			if err = s.begin(); err == nil {
				continue
			}
		}
		if err == io.EOF && s.w > s.r {
			return io.ErrUnexpectedEOF
		}
		return err
	}
	return nil
}

// line returns the next line without its end, valid until the next call. It has at most
// limit bytes.
func (s *stream) line(limit int) ([]byte, error) {
	limit = min(limit, len(s.buf))
	for seen := 0; ; {
		if i := bytes.IndexByte(s.buf[s.r+seen:s.w], '\n'); i >= 0 {
			line := s.buf[s.r : s.r+seen+i]
			s.last = seen + i + 1
			s.r += s.last
			return bytes.TrimRight(line, "\r"), nil
		}
		seen = s.w - s.r
		if seen >= limit {
			return nil, fmt.Errorf("%w: a header of more than %d KiB", ErrFormat, maxHeaderBytes>>10)
		}
		switch err := s.need(seen + 1); {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil, fmt.Errorf("%w: the file ends in the header of a record", ErrCut)
		case err != nil:
			return nil, err
		}
	}
}

// unreadLine gives the line back that was read last, while it is still there.
func (s *stream) unreadLine() { s.r -= s.last }

func (s *stream) beginsRecord() bool {
	const longest = len("WARC/1.10\r\n")
	for s.w-s.r < longest {
		if s.fill() != nil {
			break
		}
	}
	line, _, ok := bytes.Cut(s.buf[s.r:s.w], []byte("\n"))
	_, version := parseVersion(bytes.TrimRight(line, "\r"))
	return ok && version
}

// seek drops bytes until a record begins, in this member or at the begin of another; io.EOF
// when none does.
func (s *stream) seek() error {
	for {
		err := s.need(len("WARC/1.1\n"))
		if err == io.ErrUnexpectedEOF {
			return io.EOF
		}
		if err != nil {
			return err
		}
		if s.beginsRecord() {
			return nil
		}
		at := bytes.Index(s.buf[s.r+1:s.w], []byte("WARC/"))
		if at < 0 {
			at = s.w - s.r - len("WARC/")
		}
		s.r += at + 1
	}
}
