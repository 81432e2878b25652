package corpusweb

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"

	"golang.org/x/text/encoding/htmlindex"

	"fossick/datasets"
)

// spool is a file of bodies, one after the other, as they go out. They are raw,
// because the system's page cache is the better cache. Decompressing 20 KB
// costs more than all the rest of a request.
type spool struct {
	file *os.File
	w    *bufio.Writer
	size int64
}

// entry is one page in the spool.
type entry struct {
	offset int64
	length int32
	text   bool   // text/plain
	bare   bool   // the header names no charset, as the markup does
	sum    uint64 // of the body as sent: the ETag
}

// newSpool makes the file in dir, "" for the system's folder of temporary files.
func newSpool(dir string) (*spool, error) {
	f, err := os.CreateTemp(dir, "fossick-serve-*.spool")
	if err != nil {
		return nil, fmt.Errorf("spool: %w; set TMPDIR to a folder with room for the corpus", err)
	}
	// Where an open file cannot be unlinked, close does it.
	_ = os.Remove(f.Name())
	return &spool{file: f, w: bufio.NewWriterSize(f, 1<<20)}, nil
}

func (s *spool) add(e *datasets.Example) (entry, error) {
	en := entry{offset: s.size, text: e.HTML == "", bare: e.Charset != ""}
	body := []byte(e.HTML)
	if en.text {
		body = []byte(e.Text)
	}
	if e.Charset != "" {
		enc, err := htmlindex.Get(e.Charset)
		if err != nil {
			return en, fmt.Errorf("page %s: charset %q: %w", e.URL, e.Charset, err)
		}
		if body, err = enc.NewEncoder().Bytes(body); err != nil {
			return en, fmt.Errorf("page %s in charset %s: %w", e.URL, e.Charset, err)
		}
	}
	sum := sha256.Sum256(body)
	en.sum, en.length = binary.BigEndian.Uint64(sum[:8]), int32(len(body)) // a row has at most 128 MiB
	n, err := s.w.Write(body)
	s.size += int64(n)
	if err != nil {
		return en, fmt.Errorf("spool: %w; set TMPDIR to a folder with room for the corpus", err)
	}
	return en, nil
}

// done ends the writing.
func (s *spool) done() error {
	if err := s.w.Flush(); err != nil {
		return fmt.Errorf("spool: %w; set TMPDIR to a folder with room for the corpus", err)
	}
	s.w = nil
	return nil
}

// read returns a page's body; what cannot be read is missing from it.
func (s *spool) read(en *entry) []byte {
	body := make([]byte, en.length)
	n, _ := s.file.ReadAt(body, en.offset)
	return body[:n]
}

func (s *spool) close() error {
	err := s.file.Close()
	_ = os.Remove(s.file.Name()) // gone already where newSpool could
	return err
}

func (en *entry) contentType() string {
	switch {
	case en.text:
		return "text/plain; charset=utf-8"
	case en.bare:
		return "text/html"
	}
	return "text/html; charset=utf-8"
}
