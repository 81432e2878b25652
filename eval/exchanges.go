package eval

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// exchange is what the politeness report needs of one exchange, in the order in
// which it is sorted: party by party, in the order of time.
type exchange struct {
	Party, Start int64  // Start in Unix milliseconds
	Host         uint64 // see hashOf
	Rest         int64  // milliseconds that were due afterwards: up to a year
	Own          int64  // of these, what bound the host and not its party
	RetryAfter   int64  // milliseconds
	Took         uint32 // milliseconds
	Code         uint16
	Kind         kindOfExchange
	Before       uint8 // 1 when the host was not yet where the party is
}

type kindOfExchange uint8

const (
	kindPage kindOfExchange = iota
	kindRobots
	kindSitemap
	kindLookup // that failed: nothing was sent
)

// exchangeBytes is the size of an exchange on disk.
const exchangeBytes = 6*8 + 4 + 2 + 1 + 1

// byTime orders by party and time. The journal knows milliseconds. Of two exchanges in the
// same one that took as long, the first is that after which less rest was due: the other
// could not have been followed so soon.
func byTime(a, b exchange) int {
	return cmp.Or(cmp.Compare(a.Party, b.Party), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Took, b.Took),
		cmp.Compare(a.Rest, b.Rest), cmp.Compare(a.Own, b.Own), cmp.Compare(a.Host, b.Host))
}

// sorter sorts any number of exchanges: what memory has no room for goes to a
// temporary file as sorted runs, which are merged at the end.
type sorter struct {
	limit  int // exchanges in memory
	memory []exchange
	file   *os.File // nil as long as memory has room
	size   int64
	runs   []*io.SectionReader
}

// exchangesInMemory is how many exchanges are sorted in memory: 10 MiB.
const exchangesInMemory = 1 << 18

func (s *sorter) add(x exchange) error {
	if s.memory = append(s.memory, x); len(s.memory) < s.limit {
		return nil
	}
	return s.spill()
}

func (s *sorter) spill() (err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp("", "fossick-politeness-*"); err != nil {
			return fmt.Errorf("sorting the exchanges: %w; set TMPDIR to a folder with room", err)
		}
	}
	slices.SortFunc(s.memory, byTime)
	w := bufio.NewWriterSize(s.file, 1<<16)
	if err = binary.Write(w, binary.BigEndian, s.memory); err == nil {
		err = w.Flush()
	}
	if err != nil {
		return fmt.Errorf("sorting the exchanges: %w; set TMPDIR to a folder with room", err)
	}
	n := int64(len(s.memory)) * exchangeBytes
	s.runs = append(s.runs, io.NewSectionReader(s.file, s.size, n))
	s.size += n
	s.memory = s.memory[:0]
	return nil
}

// each calls f for every exchange in order; the sorter is empty afterwards.
func (s *sorter) each(f func(exchange)) error {
	if s.file == nil {
		slices.SortFunc(s.memory, byTime)
		for _, x := range s.memory {
			f(x)
		}
		return nil
	}
	if err := s.spill(); err != nil {
		return err
	}
	var m merge
	for _, r := range s.runs {
		run := &run{in: bufio.NewReaderSize(r, 1<<15)}
		if err := run.next(); err == nil {
			m = append(m, run)
		} else if !errors.Is(err, io.EOF) {
			return err
		}
	}
	heap.Init(&m)
	for len(m) > 0 {
		f(m[0].top)
		switch err := m[0].next(); {
		case errors.Is(err, io.EOF):
			heap.Pop(&m)
		case err != nil:
			return err
		default:
			heap.Fix(&m, 0)
		}
	}
	return nil
}

// close removes the file.
func (s *sorter) close() {
	if s.file != nil {
		_ = s.file.Close() // it is read, and goes
		_ = os.Remove(s.file.Name())
	}
}

// run is a sorted run that is being read.
type run struct {
	in  *bufio.Reader
	buf [exchangeBytes]byte
	top exchange
}

func (r *run) next() error {
	if _, err := io.ReadFull(r.in, r.buf[:]); err != nil {
		return err
	}
	return binary.Read(bytes.NewReader(r.buf[:]), binary.BigEndian, &r.top)
}

// merge is a heap of runs, by their tops.
type merge []*run

func (m merge) Len() int           { return len(m) }
func (m merge) Less(i, j int) bool { return byTime(m[i].top, m[j].top) < 0 }
func (m merge) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *merge) Push(x any)        { *m = append(*m, x.(*run)) }
func (m *merge) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}
