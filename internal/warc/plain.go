package warc

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// bufferBytes holds any block of a zstd frame, so that a place where one may begin can be
// tried.
const bufferBytes = 256 << 10

type input struct {
	file io.Reader
	seek io.Seeker // nil where reading cannot go back
	base int64     // of the seeker, where the file begins
	read int64     // bytes that buf was given
	buf  *bufio.Reader

	again  int64 // bytes that were read once more
	idle   int   // reads in a row that gave neither bytes nor an error
	failed error // the first error of the file itself, which every later read gives again
}

func newInput(r io.Reader) *input {
	in := &input{file: r}
	if s, ok := r.(io.Seeker); ok {
		if base, err := s.Seek(0, io.SeekCurrent); err == nil { // a pipe is a file, too
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

// mostAgain is how much of a file is read once more at most, beside four times what was read
// till then. Else each of many wrong lengths could cost a pass over all that follows.
const mostAgain = 64 << 20

// mostIdle is how many reads in a row may give nothing, as bufio has it.
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

// members are what a file is made of: gzip members or zstd frames. A plain file is one.
type members interface {
	// next begins the next member and returns its offset; io.EOF after the last.
	next() (int64, error)
	// Read reads of the member. io.EOF is its end, of which the checksum is right.
	Read(p []byte) (int, error)
	// find goes to the first member after the one at an offset that begins as a record
	// does, so that next finds it; io.EOF when there is none.
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

// find is never asked: what is not packed is not damaged as a member is.
func (p *plain) find(int64) error { return io.EOF }

// findMagic goes to the next place from where reading is on that begins with magic and
// passes the test, which gets what follows, as much as the buffer has. io.EOF when there is
// none.
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
