package export

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"fossick/internal/cli"
	"fossick/internal/fileio"
)

var errLinksDamaged = errors.New("the link file is damaged; make it again with fossick convert")

var errLinksVersion = errors.New("unknown version of the link file")

const (
	linkMagic       = "FSKLINKS"
	linkVersion     = 1
	linkHeaderBytes = 52
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type linkHeader struct {
	Pages   uint64 // number of page IDs, from 0
	Records uint64 // pages with links
	Links   uint64

	bodyBytes uint64
	bodySum   uint32 // CRC-32C
}

func (h *linkHeader) append(dst []byte) []byte {
	le, from := binary.LittleEndian, len(dst)
	dst = append(dst, linkMagic...)
	dst = le.AppendUint32(dst, linkVersion)
	dst = le.AppendUint32(dst, h.bodySum)
	for _, n := range []uint64{h.Pages, h.Records, h.Links, h.bodyBytes} {
		dst = le.AppendUint64(dst, n)
	}
	return le.AppendUint32(dst, crc32.Checksum(dst[from:], castagnoli))
}

func parseLinkHeader(b []byte) (h linkHeader, err error) {
	le := binary.LittleEndian
	if string(b[:len(linkMagic)]) != linkMagic {
		return h, fmt.Errorf("%w: it does not begin with %s", errLinksDamaged, linkMagic)
	}
	if v := le.Uint32(b[8:]); v != linkVersion {
		return h, fmt.Errorf("%w: %d, and this build reads %d; use that version of fossick", errLinksVersion, v, linkVersion)
	}
	if le.Uint32(b[48:]) != crc32.Checksum(b[:48], castagnoli) {
		return h, fmt.Errorf("%w: the checksum of its header is wrong", errLinksDamaged)
	}
	h = linkHeader{
		Pages: le.Uint64(b[16:]), Records: le.Uint64(b[24:]), Links: le.Uint64(b[32:]),
		bodySum: le.Uint32(b[12:]), bodyBytes: le.Uint64(b[40:]),
	}
	if h.Pages > maxPages || h.Records > h.Pages || h.Links < h.Records {
		return h, fmt.Errorf("%w: %d links of %d of %d pages", errLinksDamaged, h.Links, h.Records, h.Pages)
	}
	return h, nil
}

const maxPages = 1<<32 - 1

// linkWriter writes a link file. The header holds counts, so it is written last.
type linkWriter struct {
	to   io.WriteSeeker
	body *bufio.Writer
	h    linkHeader
	next uint64 // least source that may follow
	buf  []byte
}

// NewLinkWriter starts a file of links between pages 0 … pages−1; to must be empty.
func NewLinkWriter(to io.WriteSeeker, pages uint64) (*linkWriter, error) {
	if pages > maxPages {
		return nil, fmt.Errorf("%d pages; a link file holds at most %d", pages, uint64(maxPages))
	}
	w := &linkWriter{to: to, h: linkHeader{Pages: pages}, body: bufio.NewWriterSize(to, 64<<10)}
	_, err := w.body.Write(make([]byte, linkHeaderBytes))
	return w, err
}

// Add adds the links of a page. Sources must rise; destinations must rise and exclude the source.
func (w *linkWriter) Add(source uint32, destinations []uint32) error {
	if len(destinations) == 0 {
		return nil
	}
	if uint64(source) < w.next || uint64(source) >= w.h.Pages {
		return fmt.Errorf("links of page %d: want a page from %d to below %d", source, w.next, w.h.Pages)
	}
	b := binary.AppendUvarint(w.buf[:0], uint64(source)-w.next)
	b = binary.AppendUvarint(b, uint64(len(destinations)-1))
	for i, to := range destinations {
		switch {
		case uint64(to) >= w.h.Pages || to == source || i > 0 && to <= destinations[i-1]:
			return fmt.Errorf("links of page %d: %d, number %d of them, is out of order, the page itself or no page", source, to, i)
		case i == 0:
			b = binary.AppendVarint(b, int64(to)-int64(source))
		default:
			b = binary.AppendUvarint(b, uint64(to-destinations[i-1]-1))
		}
	}
	w.buf, w.next = b, uint64(source)+1
	w.h.Records++
	w.h.Links += uint64(len(destinations))
	w.h.bodyBytes += uint64(len(b))
	w.h.bodySum = crc32.Update(w.h.bodySum, castagnoli, b)
	_, err := w.body.Write(b)
	return err
}

// Close writes the header and returns the number of links. It does not close the file.
func (w *linkWriter) Close() (links uint64, err error) {
	if err := w.body.Flush(); err != nil {
		return 0, err
	}
	if _, err := w.to.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	_, err = w.to.Write(w.h.append(nil))
	return w.h.Links, err
}

// linkReader reads a link file record by record.
type linkReader struct {
	Pages uint64 // number of page IDs, from 0

	head linkHeader

	r      *bufio.Reader
	body   *countedReader
	record uint64 // records read
	links  uint64
	next   uint64 // least source that may follow
	list   []uint32
}

type countedReader struct {
	r   io.Reader
	n   uint64
	sum hash.Hash32
}

func (c *countedReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += uint64(n)
	c.sum.Write(b[:n])
	return n, err
}

func isLinkFile(path string) bool {
	f, err := fileio.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // opened for reading: no data can be lost
	head := make([]byte, len(linkMagic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == linkMagic
}

// OpenLinks opens a link file and reads its header; done closes it.
func OpenLinks(path string) (r *linkReader, done func() error, err error) {
	f, err := fileio.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if r, err = newLinkReader(f); err != nil {
		f.Close() // opened for reading: no data can be lost
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, f.Close, nil
}

func newLinkReader(from io.Reader) (*linkReader, error) {
	var head [linkHeaderBytes]byte
	if n, err := io.ReadFull(from, head[:]); err != nil {
		return nil, fmt.Errorf("%w: %d bytes of its header of %d: %w", errLinksDamaged, n, linkHeaderBytes, err)
	}
	h, err := parseLinkHeader(head[:])
	if err != nil {
		return nil, err
	}
	body := &countedReader{r: from, sum: crc32.New(castagnoli)}
	return &linkReader{Pages: h.Pages, head: h, body: body, r: bufio.NewReaderSize(body, 64<<10)}, nil
}

// Next returns the next page with links and its destinations, valid until the next call. It ends with io.EOF,
// after verifying the checksum.
func (r *linkReader) Next() (source uint32, destinations []uint32, err error) {
	if r.record == r.head.Records {
		return 0, nil, r.end()
	}
	gap, err := r.number()
	if err != nil {
		return 0, nil, err
	}
	if gap >= r.head.Pages-r.next { // no underflow: next is at most Pages
		return 0, nil, r.damaged("a source that is not a page")
	}
	from := r.next + gap
	more, err := r.number()
	if err != nil {
		return 0, nil, err
	}
	if more >= r.head.Links-r.links { // no underflow: links is at most head.Links
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

func (r *linkReader) destinations(from, n uint64) error {
	r.list = r.list[:0]
	zigzag, err := r.number()
	if err != nil {
		return err
	}
	offset := int64(zigzag>>1) ^ -int64(zigzag&1)
	if offset < -int64(from) || offset >= int64(r.head.Pages-from) || offset == 0 {
		return r.damaged("a destination that is not another page")
	}
	to := uint64(int64(from) + offset)
	r.list = append(r.list, uint32(to))
	for range n - 1 {
		gap, err := r.number()
		if err != nil {
			return err
		}
		if gap >= r.head.Pages-to-1 {
			return r.damaged("a destination that is not a page")
		}
		if to += gap + 1; to == from {
			return r.damaged("a link from a page to itself")
		}
		r.list = append(r.list, uint32(to))
	}
	return nil
}

// number reads a varint in its shortest form.
func (r *linkReader) number() (n uint64, err error) {
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

func (r *linkReader) end() error {
	_, err := r.r.ReadByte()
	switch {
	case err == nil:
		return r.damaged("bytes after the last record")
	case err != io.EOF:
		return err
	case r.links != r.head.Links || r.body.n != r.head.bodyBytes:
		return r.damaged(cli.Sprintf("the end, after %d links of %d", r.links, r.head.Links))
	case r.body.sum.Sum32() != r.head.bodySum:
		return fmt.Errorf("%w: the checksum of its body is wrong", errLinksDamaged)
	}
	return io.EOF
}

func (r *linkReader) damaged(what string) error {
	at := linkHeaderBytes + r.body.n - uint64(r.r.Buffered())
	return fmt.Errorf("%w: before byte %d there is %s", errLinksDamaged, at, what)
}
