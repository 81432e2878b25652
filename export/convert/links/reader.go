package links

import (
	"bufio"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"fossick/internal/printable"
	"fossick/internal/reading"
)

// Reader reads a link file, record by record.
type Reader struct {
	Header Header

	r      *bufio.Reader
	body   *counted
	record uint64 // read so far
	links  uint64
	next   uint64 // the least source that may come
	list   []uint32
}

// counted counts and sums up what is read through it.
type counted struct {
	r   io.Reader
	n   uint64
	sum hash.Hash32
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += uint64(n)
	c.sum.Write(b[:n])
	return n, err
}

// IsFile says whether a file begins as link files do. Folders and what cannot be read do not.
func IsFile(path string) bool {
	f, err := reading.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // opened for reading: nothing can be lost
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == magic
}

// Open opens a link file and reads its header; done ends its use.
func Open(path string) (r *Reader, done func() error, err error) {
	f, err := reading.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if r, err = NewReader(f); err != nil {
		f.Close() // opened for reading: nothing can be lost
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, f.Close, nil
}

// NewReader reads the header of a link file.
func NewReader(from io.Reader) (*Reader, error) {
	var head [headerBytes]byte
	if n, err := io.ReadFull(from, head[:]); err != nil {
		return nil, fmt.Errorf("%w: %d bytes of its header of %d: %w", ErrDamaged, n, headerBytes, err)
	}
	h, err := parseHeader(head[:])
	if err != nil {
		return nil, err
	}
	body := &counted{r: from, sum: crc32.New(castagnoli)}
	return &Reader{Header: h, body: body, r: bufio.NewReaderSize(body, 64<<10)}, nil
}

// Next returns the next page that has links, and its destinations, which are good until the
// next call. After the last one it is io.EOF, when the checksum is right.
func (r *Reader) Next() (source uint32, destinations []uint32, err error) {
	if r.record == r.Header.Records {
		return 0, nil, r.end()
	}
	gap, err := r.number()
	if err != nil {
		return 0, nil, err
	}
	if gap >= r.Header.Pages-r.next { // next is at most Pages
		return 0, nil, r.damaged("a source that is not a page")
	}
	from := r.next + gap
	more, err := r.number()
	if err != nil {
		return 0, nil, err
	}
	if more >= r.Header.Links-r.links { // each link read was counted
		return 0, nil, r.damaged("more links than its header states")
	}
	if err := r.destinations(from, more+1); err != nil {
		return 0, nil, err
	}
	r.record++
	r.links += more + 1
	r.next = from + 1
	return uint32(from), r.list, nil
}

// destinations reads n destinations of a source to list.
func (r *Reader) destinations(from, n uint64) error {
	r.list = r.list[:0]
	zigzag, err := r.number()
	if err != nil {
		return err
	}
	offset := int64(zigzag>>1) ^ -int64(zigzag&1)
	if offset < -int64(from) || offset >= int64(r.Header.Pages-from) || offset == 0 {
		return r.damaged("a destination that is not another page")
	}
	to := uint64(int64(from) + offset)
	r.list = append(r.list, uint32(to))
	for range n - 1 {
		gap, err := r.number()
		if err != nil {
			return err
		}
		if gap >= r.Header.Pages-to-1 {
			return r.damaged("a destination that is not a page")
		}
		if to += gap + 1; to == from {
			return r.damaged("a link from a page to itself")
		}
		r.list = append(r.list, uint32(to))
	}
	return nil
}

// number reads a varint, which must be the shortest of its number.
func (r *Reader) number() (n uint64, err error) {
	for shift := 0; shift < 64; shift += 7 {
		b, err := r.r.ReadByte()
		if err == io.EOF {
			return 0, r.damaged("its end")
		}
		if err != nil {
			return 0, err
		}
		if shift == 63 && b > 1 || shift > 0 && b == 0 {
			return 0, r.damaged("no number")
		}
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n, nil
		}
	}
	return 0, r.damaged("no number")
}

// end checks that all was read, and that it was what was written.
func (r *Reader) end() error {
	_, err := r.r.ReadByte()
	switch {
	case err == nil:
		return r.damaged("bytes after the last record")
	case err != io.EOF:
		return err
	case r.links != r.Header.Links || r.body.n != r.Header.bodyBytes:
		return r.damaged(printable.Sprintf("the end, after %d links of %d", r.links, r.Header.Links))
	case r.body.sum.Sum32() != r.Header.bodySum:
		return fmt.Errorf("%w: the checksum of its body is wrong", ErrDamaged)
	}
	return io.EOF
}

func (r *Reader) damaged(what string) error {
	at := headerBytes + r.body.n - uint64(r.r.Buffered())
	return fmt.Errorf("%w: before byte %d there is %s", ErrDamaged, at, what)
}
