package warc

import (
	"errors"
	"fmt"
	"io"

	"fossick/internal/reading"
)

// Reader reads the records of a file. Not safe for concurrent use.
type Reader struct {
	s    *stream
	rec  *Record // the last that was handed out, nil after damage
	body *block  // its
	lost *damage // what Next has to find a way around first
	told *Error  // the damage that was told last
}

type damage struct {
	offset int64 // of the record or its member
	member bool  // the member itself is damaged
	back   int64 // plain files: where to look for the next record, -1 where reading is
}

// NewReader reads a WARC file, whose first bytes tell how it is packed. Where it can seek,
// more is found behind damage.
func NewReader(file io.Reader) (*Reader, error) {
	in := newInput(file)
	r, err := newReader(in)
	if err != nil && in.spent() {
		err = in.failed
	}
	return r, err
}

func newReader(in *input) (*Reader, error) {
	head, err := in.buf.Peek(4)
	if len(head) == 0 && err != nil {
		if errors.Is(err, io.EOF) {
			err = &Error{Err: fmt.Errorf("%w: the file is empty", ErrFormat)}
		}
		return nil, err
	}
	switch {
	case string(head) == "PK\x03\x04":
		return nil, &Error{Err: fmt.Errorf("%w but a zip file; a WACZ has .wacz in its name", ErrFormat)}
	case len(head) >= 3 && string(head[:3]) == gzipMagic:
		return &Reader{s: newStream(in, &gzipped{in: in}, true)}, nil
	case string(head) == zstdMagic, string(head) == dictMagic:
		z, err := newZstandard(in)
		if err != nil {
			return nil, err
		}
		return &Reader{s: newStream(in, z, true)}, nil
	}
	return &Reader{s: newStream(in, &plain{in: in}, false)}, nil
}

// Next returns the next record, io.EOF behind the last one. What was not read of the one
// before is passed over. An *Error is damage, told once a place; the next call looks for a
// record behind it. Any other error is of the file itself: it ends reading, and each later
// call gives it again.
func (r *Reader) Next() (*Record, error) {
	for range mostUntold {
		rec, err := r.next()
		var at *Error
		if err == io.EOF && r.s.in.failed != nil {
			return nil, r.s.in.failed
		}
		if !errors.As(err, &at) || r.tells(at) {
			return rec, err
		}
	}
	return nil, fmt.Errorf("no record can be found after the damage at offset %d", r.told.Offset)
}

// mostUntold is how often damage of one place may be met in a row. A record has at most
// two faults; more would be a loop.
const mostUntold = 8

func (r *Reader) tells(at *Error) bool {
	if r.told != nil && !at.behind(r.told) {
		return false
	}
	r.told = at
	return true
}

func (r *Reader) next() (*Record, error) {
	if r.lost != nil {
		if err := r.resync(); err != nil {
			return nil, r.failed(err, r.s.member, r.s.inside())
		}
	}
	if rec := r.rec; rec != nil {
		r.rec = nil
		if err := r.finish(rec); err != nil {
			return nil, err
		}
	}
	rec, err := r.header()
	if err != nil {
		return nil, err
	}
	r.rec = rec
	return rec, nil
}

func (r *Reader) finish(rec *Record) error {
	for {
		if _, err := r.body.skip(); err == io.EOF {
			break
		} else if err != nil {
			return err // which has the place
		}
	}
	if r.body.failed != nil {
		return nil // it was told as the body was read, and reading is set up to go on
	}
	for range 2 {
		err := r.s.need(1)
		for err == nil && r.s.buf[r.s.r] == '\r' {
			r.s.r++
			err = r.s.need(1)
		}
		switch {
		case err == io.EOF, err == nil && r.s.beginsRecord():
			return nil // the last line ends are missing, and nothing with them
		case err != nil:
			return r.failed(err, rec.Offset, rec.Inside)
		case r.s.buf[r.s.r] != '\n':
			r.lost = &damage{offset: rec.Offset, back: r.body.begin}
			return &Error{rec.Offset, rec.Inside, fmt.Errorf("%w: no empty lines after the %d bytes of its block", ErrLength, rec.Length)}
		}
		r.s.r++
	}
	return nil
}

func (r *Reader) header() (*Record, error) {
	s := r.s
	for { // some programs write more empty lines than they should
		if err := s.need(1); err != nil {
			return nil, r.failed(err, s.member, s.inside())
		}
		if c := s.buf[s.r]; c != '\r' && c != '\n' {
			break
		}
		s.r++
	}
	rec := &Record{Offset: s.member, Inside: s.inside()}
	if !s.packed {
		rec.Offset, rec.Inside = rec.Inside, 0
	}
	err := rec.read(s)
	if err != nil {
		return nil, r.failed(err, rec.Offset, rec.Inside)
	}
	r.body = newBlock(r, rec)
	rec.Body = r.body
	return rec, nil
}

// errUnfinished says that reading goes on at the next record.
var errUnfinished = fmt.Errorf("%w: another record begins in its header", ErrCut)

func (rec *Record) read(s *stream) error {
	line, err := s.line(maxHeaderBytes)
	if err != nil {
		return err
	}
	var ok bool
	if rec.Version, ok = parseVersion(line); !ok {
		if len(line) >= 9 && string(line[:9]) == "filedesc:" {
			return fmt.Errorf("%w but an ARC file, the format before WARC; convert it with a tool such as warcio recompress", ErrFormat)
		}
		return fmt.Errorf("%w begins here: want WARC/1.0 or WARC/1.1, got %.40q", ErrFormat, line)
	}
	left := maxHeaderBytes - len(line)
	for {
		if line, err = s.line(left); err != nil {
			return err
		}
		if len(line) == 0 {
			break
		}
		if left -= len(line) + 1; left <= 0 {
			return fmt.Errorf("%w: a header of more than %d KiB", ErrFormat, maxHeaderBytes>>10)
		}
		if err := rec.Header.add(line); err != nil {
			if _, another := parseVersion(line); another {
				s.unreadLine()
				return errUnfinished
			}
			return err
		}
	}
	rec.Length, err = rec.Header.length()
	return err
}

// failed notes damage at a place, so that the next call of Next looks behind it. io.EOF is
// none, and an error of the file itself is returned as it is.
func (r *Reader) failed(err error, offset, inside int64) error {
	if err == io.EOF {
		return err
	}
	if r.s.in.spent() {
		return r.s.in.failed
	}
	var known *Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, ErrFormat), errors.Is(err, errUnfinished):
		r.lost = &damage{offset: offset, back: -1}
	case errors.Is(err, ErrDamaged), errors.Is(err, ErrBomb), errors.Is(err, ErrCut):
		r.lost = &damage{offset: r.s.member, member: r.s.packed, back: -1}
	}
	return &Error{offset, inside, err}
}

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

// resync goes to the next record behind damage; io.EOF when there is none.
func (r *Reader) resync() error {
	lost, s := r.lost, r.s
	r.lost = nil
	if lost.member {
		s.r, s.w, s.open = 0, 0, false
		return s.m.find(lost.offset)
	}
	if lost.back >= 0 && !s.packed && s.in.back(lost.back) {
		s.r, s.w, s.out, s.open = 0, 0, lost.back, true
	}
	return s.seek()
}

// What can be wrong with a file, wrapped in an *Error.
var (
	ErrFormat  = errors.New("no WARC record")
	ErrCut     = errors.New("cut short")
	ErrDamaged = errors.New("damaged")
	ErrLength  = errors.New("longer than its Content-Length")
	ErrDigest  = errors.New("wrong digest")
	ErrBomb    = reading.ErrBomb
)

// Error is damage at a place of a file. Records behind it can be read on.
type Error struct {
	Offset int64 // of the record or, packed, of its member, in the file
	Inside int64 // of the record among the unpacked bytes of a member that has several
	Err    error
}

func (e *Error) Error() string {
	if e.Inside > 0 {
		return fmt.Sprintf("offset %d, unpacked byte %d: %v", e.Offset, e.Inside, e.Err)
	}
	return fmt.Sprintf("offset %d: %v", e.Offset, e.Err)
}

func (e *Error) behind(other *Error) bool {
	return e.Offset > other.Offset || e.Offset == other.Offset && e.Inside > other.Inside
}

func (e *Error) Unwrap() error { return e.Err }
