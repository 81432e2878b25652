package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

const gzipMagic = "\x1f\x8b\x08"

// gzipped is a file of gzip members, a record each where it was made by the rules.
type gzipped struct {
	in   *input
	z    gzip.Reader
	test gzip.Reader // tries places at which a member may begin
}

func (g *gzipped) next() (int64, error) {
	for {
		head, err := g.in.buf.Peek(1)
		if err != nil {
			return g.in.offset(), err // io.EOF: no member is begun
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
