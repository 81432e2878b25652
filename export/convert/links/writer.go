package links

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

// Writer writes a link file. The header, which counts, is written last, at the beginning.
type Writer struct {
	to   io.WriteSeeker
	body *bufio.Writer
	h    Header
	next uint64 // the least source that may come
	buf  []byte
}

// NewWriter begins a file of links between so many pages, which are numbered from 0. to must
// be empty.
func NewWriter(to io.WriteSeeker, pages uint64) (*Writer, error) {
	if pages > maxPages {
		return nil, fmt.Errorf("%d pages; a link file holds at most %d", pages, uint64(maxPages))
	}
	w := &Writer{to: to, h: Header{Pages: pages}, body: bufio.NewWriterSize(to, 64<<10)}
	_, err := w.body.Write(make([]byte, headerBytes))
	return w, err
}

// Add adds the links of a page: destinations rise, and none is the source. Sources rise too.
func (w *Writer) Add(source uint32, destinations []uint32) error {
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

// Close writes the header. What the file goes to stays open.
func (w *Writer) Close() (Header, error) {
	if err := w.body.Flush(); err != nil {
		return w.h, err
	}
	if _, err := w.to.Seek(0, io.SeekStart); err != nil {
		return w.h, err
	}
	_, err := w.to.Write(w.h.append(nil))
	return w.h, err
}
