package warc

import (
	"errors"
	"fmt"
	"io"

	"fossick/internal/fileio"
)

// Reader reads the records of a file. It is not safe for concurrent use.
type Reader struct {
	s    *stream
	rec  *Record // last record returned, nil after damage
	body *block  // body of rec
	lost *damage // damage that Next must skip first
	told *Error  // last damage returned
}

type damage struct {
	offset int64 // of the record or its member
	member bool  // the member itself is damaged
	back   int64 // in a plain file: where to search for the next record; -1 at the current position
}

// NewReader reads a WARC file and detects its compression. If file can seek, Reader finds more
// records after damage.
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

// Next returns the next record, or io.EOF after the last, skipping what is unread of the previous
// one. An *Error reports damage, once per place; the next call searches for a record after it. Any
// other error comes from the file, ends reading, and is returned again by later calls.
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

// mostUntold bounds repeated damage at one place: a record has at most two faults.
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
			return err // has the place already
		}
	}
	if r.body.failed != nil {
		return nil // reported when the body was read; reading is ready to continue
	}
	for range 2 {
		err := r.s.need(1)
		for err == nil && r.s.buf[r.s.r] == '\r' {
			r.s.r++
			err = r.s.need(1)
		}
		switch {
		case err == io.EOF, err == nil && r.s.beginsRecord():
			return nil // only the final line ends are missing
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
	for { // some programs write too many empty lines
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

// errUnfinished means that another record begins inside a header.
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

// failed notes damage at a place, so that the next call of Next searches after it. io.EOF is no
// damage, and an error of the file is returned unchanged.
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
	begin  int64 // of the block, in a plain file
	left   int64
	sum    *checksum // nil if there is no digest to compare
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

// skip discards some bytes; io.EOF after the last.
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
	case err == nil && crossing && b.r.s.beginsRecord(): // where reading continues
		return &Error{b.rec.Offset, b.rec.Inside, fmt.Errorf("%w: its block has %d of %d bytes", ErrCut, has, b.rec.Length)}
	case err == io.EOF:
		b.r.lost = &damage{offset: b.rec.Offset, back: b.begin}
		return &Error{b.rec.Offset, b.rec.Inside, fmt.Errorf("%w: the file ends after %d of the %d bytes of its block", ErrCut, has, b.rec.Length)}
	case err != nil:
		return b.r.failed(err, b.rec.Offset, b.rec.Inside)
	}
	return nil
}

// end returns io.EOF, or an error if the digest is wrong.
func (b *block) end() error {
	if b.failed != nil || b.sum == nil {
		return io.EOF
	}
	sum := b.sum
	b.sum = nil // check only once
	if err := sum.check(); err != nil {
		return &Error{b.rec.Offset, b.rec.Inside, err}
	}
	return io.EOF
}

// resync moves to the next record after damage; io.EOF if there is none.
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

// Kinds of damage, wrapped in an *Error.
var (
	ErrFormat  = errors.New("no WARC record")
	ErrCut     = errors.New("cut short")
	ErrDamaged = errors.New("damaged")
	ErrLength  = errors.New("longer than its Content-Length")
	ErrDigest  = errors.New("wrong digest")
	ErrBomb    = fileio.ErrBomb
)

// Error is damage at a place in a file. Reading can continue after it.
type Error struct {
	Offset int64 // of the record in the file or, if compressed, of its member
	Inside int64 // offset of the record in its decompressed member
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
