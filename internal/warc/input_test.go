package warc

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"syscall"
	"testing"

	"fossick/internal/testkit"
)

// failing is a file whose reads fail with err after byte at, or return nothing if err is nil.
type failing struct {
	*bytes.Reader
	at  int64
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	here := f.Size() - int64(f.Len())
	if here >= f.at {
		return 0, f.err
	}
	return f.Reader.Read(p[:min(int64(len(p)), f.at-here)])
}

// noSeek hides that a file can seek.
type noSeek struct{ io.Reader }

// stuck is a file that can be read on but cannot seek back.
type stuck struct{ *failing }

func (s stuck) Seek(by int64, whence int) (int64, error) {
	if by != 0 {
		return 0, syscall.EIO
	}
	return s.failing.Seek(by, whence)
}

// TestFailingInput: an error of the file, wherever it occurs and however the file is packed, ends
// reading and is no damage. Earlier records are read.
func TestFailingInput(t *testing.T) {
	class := testkit.Tries(t, "archives that cannot be read on")
	records := someRecords(rand.New(rand.NewPCG(9, 9)), 8)
	for name, pack := range packings {
		file, at := pack(t, records)
		for what, fault := range map[string]error{
			"a bad disk": syscall.EIO, "a zip cut short": io.ErrUnexpectedEOF, "a zip's checksum": zip.ErrChecksum,
			"a closed file": io.ErrClosedPipe, "no bytes": nil,
		} {
			for cut := int64(0); cut < int64(len(file)); cut += 1 + int64(len(file)/testkit.Rounds(30, 500)) {
				whole := 0
				for whole+1 < len(at) && at[whole+1] <= cut {
					whole++
				}
				if name == "gzip of one member" {
					whole = 0
				}
				for how, in := range map[string]func(*failing) io.Reader{
					"a file": func(f *failing) io.Reader { return f }, "a pipe": func(f *failing) io.Reader { return noSeek{f} },
					"a tape": func(f *failing) io.Reader { return stuck{f} },
				} {
					want := fault
					if want == nil {
						want = io.ErrNoProgress
					}
					err := endOf(in(&failing{bytes.NewReader(file), cut, fault}), whole, cut%2 == 0)
					var place *Error
					class.Try(errors.Is(err, want) && !errors.As(err, &place), "%s of %s, %s behind byte %d: %v", how, name, what, cut, err)
				}
			}
		}
	}
}

// endOf reads a file to its final error, which must repeat when asked again.
func endOf(in io.Reader, whole int, bodies bool) error {
	r, err := NewReader(in)
	if err != nil {
		return err
	}
	read := 0
	for range 100 {
		rec, err := r.Next()
		if err == nil {
			if read++; bodies {
				_, err = io.Copy(io.Discard, rec.Body)
			}
		}
		var place *Error
		if err == nil || errors.As(err, &place) {
			continue
		}
		if _, again := r.Next(); again != err {
			return fmt.Errorf("%v, then %v", err, again)
		}
		if read < whole {
			return fmt.Errorf("%d of %d records, then %v", read, whole, err)
		}
		return err
	}
	return errors.New("no end")
}

// TestPlaceOfDamage: damage is reported once per place, in rising order.
func TestPlaceOfDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 10))
	records := someRecords(rng, 12)
	for name, pack := range packings {
		file, _ := pack(t, records)
		for range testkit.Rounds(100, 1000) {
			bad := bytes.Clone(file)
			for range 1 + rng.IntN(4) {
				bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
			}
			var in io.Reader = bytes.NewReader(bad[:len(bad)-rng.IntN(20)])
			if rng.IntN(2) == 0 {
				in = noSeek{in}
			}
			// A flipped bit of a compressed member may repeat a record's start thousands of times.
			if _, errs := readAll(t, in); len(errs) > 10_000 {
				t.Fatalf("%s: %d errors", name, len(errs))
			}
		}
	}
}
