package warc

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"fossick/internal/fileio"
)

// bufferBytes holds any block of a zstd frame, so that a possible start of a frame can be tested.
const bufferBytes = 256 << 10

type input struct {
	file io.Reader
	seek io.Seeker // nil if the file cannot seek
	base int64     // the seeker's position at the start of the file
	read int64     // bytes given to buf
	buf  *bufio.Reader

	again  int64 // bytes read again
	idle   int   // consecutive reads without bytes or an error
	failed error // first error of the file, returned by all later reads
}

func newInput(r io.Reader) *input {
	in := &input{file: r}
	if s, ok := r.(io.Seeker); ok {
		if base, err := s.Seek(0, io.SeekCurrent); err == nil { // a pipe is a Seeker too, but cannot seek
			in.seek, in.base = s, base
		}
	}
	in.buf = bufio.NewReaderSize(in, bufferBytes)
	return in
}

func (in *input) Read(p []byte) (int, error) {
	if in.failed != nil {
		return 0, in.failed
	}
	n, err := in.file.Read(p)
	in.read += int64(n)
	if in.idle++; n > 0 {
		in.idle = 0
	}
	if err == nil && in.idle == mostIdle {
		err = io.ErrNoProgress
	}
	if err != nil && err != io.EOF {
		in.failed = fmt.Errorf("the file cannot be read after byte %d: %w", in.read, err)
		err = in.failed
	}
	return n, err
}

func (in *input) spent() bool { return in.failed != nil && in.buf.Buffered() == 0 }

func (in *input) offset() int64 { return in.read - int64(in.buf.Buffered()) }

// mostAgain, plus four times the bytes read until then, bounds the bytes read again. Without it,
// each of many wrong lengths could cost a pass over the rest of the file.
const mostAgain = 64 << 20

// mostIdle bounds consecutive empty reads, as in bufio.
const mostIdle = 100

func (in *input) back(to int64) bool {
	again := in.again + in.offset() - to
	if in.seek == nil || in.failed != nil || again > mostAgain+4*to {
		return false
	}
	if _, err := in.seek.Seek(in.base+to, io.SeekStart); err != nil {
		in.seek = nil
		return false
	}
	in.again, in.read = again, to
	in.buf.Reset(in)
	return true
}

func (in *input) behind(offset int64) error {
	if in.back(offset+1) || in.offset() > offset {
		return nil
	}
	_, err := in.buf.Discard(int(offset + 1 - in.offset()))
	return err
}

// members are the gzip members or zstd frames of a file. A plain file is one member.
type members interface {
	// next begins the next member and returns its offset; io.EOF after the last.
	next() (int64, error)
	// Read reads from the member. io.EOF means that its checksum is right.
	Read(p []byte) (int, error)
	// find moves to the first member after an offset that begins like a record; io.EOF if none
	// does.
	find(after int64) error
}

type plain struct {
	in    *input
	begun bool
}

func (p *plain) next() (int64, error) {
	if p.begun {
		return 0, io.EOF
	}
	p.begun = true
	return p.in.offset(), nil
}

func (p *plain) Read(b []byte) (int, error) { return p.in.buf.Read(b) }

// find is never called, since only members can be damaged.
func (p *plain) find(int64) error { return io.EOF }

// findMagic moves to the next place that begins with magic and passes test, which gets the
// following bytes in the buffer. It returns io.EOF if there is none.
func findMagic(in *input, magic string, test func(head []byte) bool) error {
	for {
		head, err := in.buf.Peek(in.buf.Size())
		if len(head) < len(magic) {
			return err
		}
		at := bytes.Index(head, []byte(magic))
		switch {
		case at == 0 && test(head):
			return nil
		case at == 0:
			at = 1
		case at < 0:
			at = len(head) - len(magic) + 1
		}
		if _, err := in.buf.Discard(at); err != nil {
			return err
		}
	}
}

// stream is the decompressed file behind one buffer. The buffer holds bytes of two members only if
// a record spans them, so that each record's member is known.
type stream struct {
	in     *input
	m      members
	packed bool

	buf    []byte
	r, w   int   // unused part of buf
	open   bool  // a member has begun and not ended
	member int64 // offset of the member
	out    int64 // decompressed bytes of the member so far

	last int // length of the last line, with its end
}

func newStream(in *input, m members, packed bool) *stream {
	return &stream{in: in, m: m, packed: packed, buf: make([]byte, 64<<10)}
}

func (s *stream) inside() int64 { return s.out - int64(s.w-s.r) }

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
	if s.packed && fileio.Bomb(s.in.offset()-s.member, s.out) {
		s.open = false
		return fmt.Errorf("%w: %d MiB out of %d KiB", ErrBomb, s.out>>20, (s.in.offset()-s.member)>>10)
	}
	if err != nil {
		s.open = false
		if n > 0 && (err == io.EOF || s.in.failed != nil) {
			return nil // the next call returns the error
		}
	}
	return err
}

// begin begins the next member; io.EOF after the last.
func (s *stream) begin() error {
	at, err := s.m.next()
	s.member, s.out = at, int64(s.w-s.r) // the rest counts as part of the new member
	s.open = err == nil
	return err
}

// need makes n bytes available, from this member and the following ones. It returns io.EOF if there
// are none, io.ErrUnexpectedEOF if there are fewer. n is at most the buffer's size.
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

// line returns the next line without its end, at most limit bytes, valid until the next call.
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

// unreadLine puts the last line back while it is still in the buffer.
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

// seek drops bytes until a record begins, here or at the start of another member.
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

const gzipMagic = "\x1f\x8b\x08"

// gzipped is a file of gzip members, by the standard one per record.
type gzipped struct {
	in   *input
	z    gzip.Reader
	test gzip.Reader // tests possible starts of members
}

func (g *gzipped) next() (int64, error) {
	for {
		head, err := g.in.buf.Peek(1)
		if err != nil {
			return g.in.offset(), err // io.EOF: there is no further member
		}
		if head[0] != 0 { // some programs pad the end of a file
			break
		}
		if _, err := g.in.buf.Discard(1); err != nil {
			return 0, err
		}
	}
	at := g.in.offset()
	err := g.z.Reset(g.in.buf)
	g.z.Multistream(false)
	return at, gzipError(err)
}

func (g *gzipped) Read(p []byte) (int, error) {
	n, err := g.z.Read(p)
	if err == io.EOF {
		return n, err
	}
	return n, gzipError(err)
}

func (g *gzipped) find(after int64) error {
	if err := g.in.behind(after); err != nil {
		return err
	}
	return findMagic(g.in, gzipMagic, func(head []byte) bool {
		var begin [len("WARC/")]byte
		if g.test.Reset(bytes.NewReader(head)) != nil {
			return false
		}
		_, err := io.ReadFull(&g.test, begin[:])
		return err == nil && string(begin[:]) == "WARC/"
	})
}

func gzipError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: the file ends in the middle of a gzip member", ErrCut)
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

const (
	zstdMagic = "\x28\xb5\x2f\xfd"
	dictMagic = "\x5d\x2a\x4d\x18" // a skippable frame with the dictionary of all others
)

const (
	maxWindowBytes = 128 << 20 // as in zstd's command line
	maxDictBytes   = 16 << 20
)

// zstandard is a file of zstd frames, at least one per record. The first may be the dictionary.
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
			return first, fmt.Errorf("%w: no zstd frame begins here", ErrDamaged) // or a skipped frame was shorter than declared
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

// frame reads exactly one frame, so that its end is known. A decoder would read on into the next.
type frame struct {
	in       *input
	left     int64 // bytes until the next block header
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
	if h>>1&3 == 1 { // one repeated byte
		f.left = 4
	}
	return nil
}
