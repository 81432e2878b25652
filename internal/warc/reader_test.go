package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"fossick/internal/testkit"
)

// someRecords makes records of random types and lengths, some empty, large or nested.
func someRecords(rng *rand.Rand, n int) (records []string) {
	types := []string{Info, Response, Request, Metadata, Revisit, Resource, Conversion, Continuation, "unheard-of"}
	for i := range n {
		var block []byte
		switch rng.IntN(6) {
		case 0: // empty
		case 1:
			block = bytes.Repeat([]byte("page after page "), rng.IntN(20000))
		case 2:
			block = []byte("\r\n\r\nWARC/1.1 is no record here")
		default:
			block = make([]byte, rng.IntN(3000))
			for i := range block {
				block[i] = byte(rng.IntN(256))
			}
		}
		digest := ""
		if rng.IntN(2) == 0 {
			digest = "warc-block-digest: " + Digest(block) + "\r\n"
		}
		records = append(records, fmt.Sprintf("WARC/1.%d\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:test:%d>\r\nX-Folded: a\r\n b\r\n%sContent-Length: %d\r\n\r\n%s\r\n\r\n",
			rng.IntN(2), types[rng.IntN(len(types))], i, digest, len(block), block))
	}
	return records
}

// naive formats one well-formed record.
func naive(record string) string {
	header, block, _ := strings.Cut(strings.TrimSuffix(record, "\r\n\r\n"), "\r\n\r\n")
	lines := strings.Split(strings.ReplaceAll(header, "\r\n ", " "), "\r\n")
	return lines[0][len("WARC/"):] + "\n" + strings.Join(lines[1:], "\n") + "\n\n" + block
}

// shown formats a Record in the same way.
func shown(rec *Record) (string, error) {
	var b strings.Builder
	b.WriteString(rec.Version + "\n")
	for _, f := range rec.Header {
		b.WriteString(f.Name + ": " + f.Value + "\n")
	}
	b.WriteString("\n")
	_, err := io.Copy(&b, rec.Body)
	return b.String(), err
}

// packings make a file of records, and return the offsets of the records or their members.
var packings = map[string]func(t testing.TB, records []string) ([]byte, []int64){
	"plain": func(_ testing.TB, records []string) (file []byte, at []int64) {
		for _, r := range records {
			at = append(at, int64(len(file)))
			file = append(file, r...)
		}
		return file, at
	},
	"gzip": func(t testing.TB, records []string) (file []byte, at []int64) {
		for _, r := range records {
			at = append(at, int64(len(file)))
			file = append(file, gzipOf(t, r)...)
		}
		return file, at
	},
	"gzip of one member": func(t testing.TB, records []string) (file []byte, at []int64) {
		return gzipOf(t, strings.Join(records, "")), make([]int64, len(records))
	},
	"zstd": func(t testing.TB, records []string) (file []byte, at []int64) {
		return zstdOf(t, records, nil)
	},
	"zstd with a dictionary": func(t testing.TB, records []string) (file []byte, at []int64) {
		return zstdOf(t, records, dictionary(t))
	},
}

func gzipOf(t testing.TB, s string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, s); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// dictionary returns a dictionary trained on headers.
func dictionary(t testing.TB) []byte {
	var contents [][]byte
	for i := range 50 {
		contents = append(contents, fmt.Appendf(nil, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:test:%d>\r\nContent-Length: %d\r\n\r\n", i, i*i))
	}
	dict, err := zstd.BuildDict(zstd.BuildDictOptions{ID: 40000, Contents: contents, History: bytes.Join(contents, nil), Offsets: [3]int{1, 4, 8}})
	if err != nil {
		t.Fatal(err)
	}
	return dict
}

func zstdOf(t testing.TB, records []string, dict []byte) (file []byte, at []int64) {
	opts := []zstd.EOption{zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true)}
	skippable := func(magic string, b []byte) {
		file = append(file, magic...)
		file = append(file, byte(len(b)), byte(len(b)>>8), byte(len(b)>>16), byte(len(b)>>24))
		file = append(file, b...)
	}
	if dict != nil {
		opts = append(opts, zstd.WithEncoderDict(dict))
		packed, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		skippable(dictMagic, packed.EncodeAll(dict, nil))
	}
	z, err := zstd.NewWriter(nil, opts...)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range records {
		if i%5 == 4 {
			skippable("\x51\x2a\x4d\x18", []byte("an extension"))
		}
		at = append(at, int64(len(file)))
		if half := len(r) / 2; i%3 == 0 { // a record may have two frames
			file = z.EncodeAll([]byte(r[:half]), file)
			r = r[half:]
		}
		file = z.EncodeAll([]byte(r), file)
	}
	return file, at
}

// TestReader compares with naive on the same records, for all packings and read sizes.
func TestReader(t *testing.T) {
	for name, pack := range packings {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(6) {
				rng := rand.New(rand.NewPCG(seed, 1))
				records := someRecords(rng, 1+rng.IntN(30))
				file, at := pack(t, records)
				var in io.Reader = bytes.NewReader(file)
				if seed%2 == 1 {
					in = iotest.HalfReader(struct{ io.Reader }{in})
				}
				r, err := NewReader(in)
				if err != nil {
					t.Fatal(err)
				}
				for i, want := range records {
					rec, err := r.Next()
					if err != nil {
						t.Fatalf("seed %d, record %d: %v", seed, i, err)
					}
					if rec.Offset != at[i] {
						t.Errorf("seed %d, record %d stands at %d, want %d", seed, i, rec.Offset, at[i])
					}
					if rng.IntN(4) == 0 {
						continue // leave it unread
					}
					if got, err := shown(rec); got != naive(want) || err != nil {
						t.Fatalf("seed %d, record %d: %v\ngot  %.300q\nwant %.300q", seed, i, err, got, naive(want))
					}
				}
				for range 2 {
					if _, err := r.Next(); err != io.EOF {
						t.Fatalf("seed %d: behind the last record: %v", seed, err)
					}
				}
			}
		})
	}
}

// TestCutAnywhere: a truncated file gives its complete records, then an error with its place.
func TestCutAnywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	records := someRecords(rng, 8)
	for name, pack := range packings {
		file, at := pack(t, records)
		for cut := 1; cut < len(file); cut += 1 + len(file)/testkit.Rounds(40, 2000) {
			whole := 0
			for whole < len(at) && at[whole] < int64(cut) {
				whole++
			}
			got, errs := readAll(t, bytes.NewReader(file[:cut]))
			if name != "gzip of one member" && len(got) < whole-1 {
				t.Errorf("%s, cut at %d: %d records, want %d", name, cut, len(got), whole-1)
			}
			if len(errs) == 0 && len(got) < whole {
				t.Errorf("%s, cut at %d: %d of %d records and no error", name, cut, len(got), whole)
			}
			for i, r := range got {
				if r != naive(records[i]) {
					t.Fatalf("%s, cut at %d: record %d is not the one that was written", name, cut, i)
				}
			}
		}
	}
}

// TestDamageAnywhere: a damaged record with its own member costs only itself.
func TestDamageAnywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	records := someRecords(rng, 12)
	want := map[string]bool{}
	for _, r := range records {
		want[naive(r)] = true
	}
	for _, name := range []string{"gzip", "zstd"} {
		file, _ := packings[name](t, records)
		for range testkit.Rounds(60, 800) {
			bad := slices.Clone(file)
			bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
			got, errs := readAll(t, bytes.NewReader(bad))
			right := 0
			for _, r := range got {
				if want[r] {
					right++
				}
			}
			// A record of two frames may be found by its first alone.
			if right < len(records)-1 || name == "gzip" && len(got) > right {
				t.Errorf("%s: %d of %d records are right, %d in all, %v", name, right, len(records), len(got), errs)
			}
		}
	}
}

// readAll returns the complete records of a file, and the damage.
func readAll(t testing.TB, in io.Reader) (got []string, errs []error) {
	r, err := NewReader(in)
	if err != nil {
		return nil, []error{err}
	}
	var places [][2]int64
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return got, errs
		}
		var s string
		if err == nil {
			s, err = shown(rec)
		}
		var damage *Error
		if err != nil && !errors.As(err, &damage) {
			t.Fatalf("%v has no place", err)
		}
		if err != nil {
			if told := [2]int64{damage.Offset, damage.Inside}; slices.Contains(places, told) {
				t.Fatalf("%v: told of this place before", err)
			} else {
				places = append(places, told)
			}
			errs = append(errs, err)
			continue
		}
		got = append(got, s)
	}
}

const small = "WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 5\r\n\r\nwhole\r\n\r\n"

// TestDamage: each kind of damage is reported with its place, and the next record is read.
func TestDamage(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for name, c := range map[string]struct {
		file   string
		offset int64
		err    error
		read   int // complete records
	}{
		"a length too large":       {small + strings.Replace(small, "5", "9999", 1) + small, int64(len(small)), ErrCut, 2},
		"a length too small":       {small + strings.Replace(small, "whole", "whole and more", 1) + small, int64(len(small)), ErrLength, 3},
		"no length":                {small + strings.Replace(small, "Content-Length: 5\r\n", "", 1) + small, int64(len(small)), ErrFormat, 2},
		"a length below zero":      {strings.Replace(small, "5", "-5", 1) + small, 0, ErrFormat, 1},
		"a length of many digits":  {strings.Replace(small, "5", "99999999999999999999", 1) + small, 0, ErrFormat, 1},
		"no field":                 {strings.Replace(small, "WARC-Type:", "WARC-Type", 1) + small, 0, ErrFormat, 1},
		"a header cut short":       {"WARC/1.0\r\nWARC-Type: resource\r\n" + small, 0, ErrCut, 1},
		"something else":           {"<html>" + long + "\r\n" + small, 0, ErrFormat, 1},
		"something between":        {small + "<html>" + long + "\r\n" + small, int64(len(small)), ErrFormat, 2},
		"a header without end":     {"WARC/1.0\r\n" + strings.Repeat("X: y\r\n", 20000) + small, 0, ErrFormat, 1},
		"a line without end":       {"WARC/1.0\r\nX: " + strings.Repeat("y", 200000) + "\r\n\r\n" + small, 0, ErrFormat, 1},
		"a wrong digest":           {strings.Replace(small, "Content", "WARC-Block-Digest: sha1:AAAA\r\nContent", 1) + small, 0, ErrDigest, 1},
		"two faults of one record": {small + strings.NewReplacer("Content", "WARC-Block-Digest: sha1:AAAA\r\nContent", "whole", "whole and more").Replace(small) + small, int64(len(small)), ErrDigest, 2},
		"an ARC file":              {"filedesc://x.arc 0.0.0.0 20050101000000 text/plain 77\n", 0, ErrFormat, 0},
		"a file of zip":            {"PK\x03\x04", 0, ErrFormat, 0},
		"an empty file":            {"", 0, ErrFormat, 0},
		"an empty gzip file":       {string(gzipOf(t, "")), 0, nil, 0},
		"no trailing lines":        {strings.TrimSpace(small) + small, 0, nil, 2},
		"bare line feeds":          {strings.ReplaceAll(small+small, "\r", ""), 0, nil, 2},
		"many empty lines":         {"\r\n\r\n" + small + "\r\n\r\n\n\n" + small + "\r\n", 0, nil, 2},
		"packed, too large":        {string(gzipOf(t, strings.Replace(small, "5", "9999", 1))) + string(gzipOf(t, small)), 0, ErrCut, 1},
		"packed, padded":           {string(gzipOf(t, small)) + strings.Repeat("\x00", 1000), 0, nil, 1},
		"packed, then bytes":       {string(gzipOf(t, small)) + "xyz" + string(gzipOf(t, small)), int64(len(gzipOf(t, small))), ErrDamaged, 2},
	} {
		got, errs := readAll(t, strings.NewReader(c.file))
		if len(got) != c.read {
			t.Errorf("%s: %d records, want %d: %v", name, len(got), c.read, errs)
		}
		var e *Error
		switch {
		case c.err == nil && len(errs) > 0:
			t.Errorf("%s: %v", name, errs)
		case c.err != nil && (len(errs) == 0 || !errors.Is(errs[0], c.err) || !errors.As(errs[0], &e) || e.Offset != c.offset):
			t.Errorf("%s: %v, want %v at %d", name, errs, c.err, c.offset)
		}
	}
}

// TestBomb: a decompression bomb costs little, and the record after it is read.
func TestBomb(t *testing.T) {
	header := fmt.Sprintf("WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: %d\r\n\r\n", int64(1)<<40)
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	io.WriteString(z, header)
	zeros := make([]byte, 1<<20)
	for range 128 {
		z.Write(zeros)
	}
	z.Close()
	file := slices.Concat(bomb.Bytes(), gzipOf(t, small))
	got, errs := readHeaders(bytes.NewReader(file))
	if got != 2 || len(errs) != 1 || !errors.Is(errs[0], ErrBomb) {
		t.Errorf("%d records, %v; want 2 and %v", got, errs, ErrBomb)
	}
}

// readHeaders reads a file without its blocks.
func readHeaders(in io.Reader) (n int, errs []error) {
	r, err := NewReader(in)
	if err != nil {
		return 0, []error{err}
	}
	for {
		switch _, err := r.Next(); {
		case err == io.EOF:
			return n, errs
		case err != nil:
			errs = append(errs, err)
		default:
			n++
		}
	}
}

// TestManyWrongLengths: wrong lengths do not each cost a pass over the file.
func TestManyWrongLengths(t *testing.T) {
	one := strings.Replace(small, "5", "999999", 1)
	file := &counted{Reader: strings.NewReader(strings.Repeat(one, 20000))}
	readHeaders(file)
	if limit := int64(mostAgain + 6*20000*len(one)); file.n > limit {
		t.Errorf("%d bytes read of a file of %d", file.n, 20000*len(one))
	}
}

type counted struct {
	*strings.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// FuzzReader: no input causes a panic or an endless loop, and all places lie within the file.
func FuzzReader(f *testing.F) {
	records := someRecords(rand.New(rand.NewPCG(1, 1)), 3)
	for _, pack := range packings {
		file, _ := pack(f, records)
		f.Add(file[:min(len(file), 20000)])
	}
	f.Add([]byte(small + "WARC/1.0\r\n\r\n" + small))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := NewReader(bytes.NewReader(file))
		if err != nil {
			return
		}
		for calls := 0; ; calls++ {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if calls > len(file)*2+10 {
				t.Fatalf("%d calls of Next for %d bytes", calls, len(file))
			}
			var damage *Error
			switch {
			case err == nil:
				if rec.Offset < 0 || rec.Offset > int64(len(file)) {
					t.Errorf("a record at %d of %d", rec.Offset, len(file))
				}
				rec.Type()
				rec.Target()
				rec.date()
				if _, err = ReadHTTP(rec.Body, 1<<16); err == nil {
					io.Copy(io.Discard, rec.Body)
				}
			case !errors.As(err, &damage):
				t.Errorf("%v has no place", err)
			}
		}
	})
}
