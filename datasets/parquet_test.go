package datasets

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"fossick/internal/fileio"
	"fossick/internal/testkit"
)

// tableRow has the kinds of columns found in published tables.
type tableRow struct {
	URL   string            `parquet:"url"`
	Text  *string           `parquet:"text,optional,zstd"`
	HTML  *string           `parquet:"html,optional"`
	Label string            `parquet:"label,dict"`
	Date  string            `parquet:"date"`
	N     int64             `parquet:"n"`
	Tags  []string          `parquet:"tags,list"`
	More  map[string]string `parquet:"more"`
}

func tableOf[Row any](t testing.TB, rows []Row, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[Row](&b, options...)
	testkit.Call(w.Write(rows)).Must(t)
	testkit.Must(t, w.Close())
	return b.Bytes()
}

func someRows() []tableRow {
	text, html := "words\xff", "<p>more"
	return []tableRow{
		{URL: "http://a.test/", Text: &text, Label: "bees", Date: "2020-01-02T03:04:05Z", N: 1, Tags: []string{"x", "y"}, More: map[string]string{"k": "v"}},
		{URL: "", Text: &text},
		{URL: "http://a.test/2", HTML: &html, Label: "ants"},
	}
}

func TestParquet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.parquet")
	testkit.Must(t, os.WriteFile(path, tableOf(t, someRows()), 0o644))
	s := testkit.Call(Open(path, Options{})).Must(t)
	var got []*Example
	bad := 0
	for e, err := range s.Examples() {
		if err != nil {
			if bad++; !IsRow(err) || err.Error() != path+`:2: no "url"; each row needs one, as the page's name` {
				t.Error(err)
			}
			continue
		}
		got = append(got, e)
	}
	if len(got) != 2 || bad != 1 || got[0].Text != "words\uFFFD" || got[0].Label != "bees" || got[0].Fields["date"] != "2020-01-02T03:04:05Z" || got[0].Fields["tags"] != "" ||
		got[1].HTML != "<p>more" || got[1].Line != 3 {
		t.Errorf("%d rows, %d bad: %+v", len(got), bad, got)
	}
}

// FuzzParquet checks that any file ends in an error or in rows with URLs.
func FuzzParquet(f *testing.F) {
	f.Add(tableOf(f, someRows()))
	f.Add([]byte("PAR1PAR1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "t.parquet")
		testkit.Must(t, os.WriteFile(path, data, 0o644))
		readParquet(path)(&passReport{}, func(e *Example, err error) bool {
			if err == nil && e.URL == "" {
				t.Error("a row without a URL")
			}
			return true
		})
	})
}

// packedRow has one text column per supported compression.
type packedRow struct {
	URL    string  `parquet:"url,snappy"`
	Text   *string `parquet:"text,optional,zstd"`
	HTML   *string `parquet:"html,optional,dict,gzip"`
	Label  string  `parquet:"label,dict,brotli"`
	Date   string  `parquet:"date,zstd"`
	Title  *string `parquet:"title,optional,snappy"`
	Path   string  `parquet:"path,optional,delta,lz4"`
	Host   string  `parquet:"host,plain,lz4"`
	Number []int64 `parquet:"number,list"`
}

func packedTable(t testing.TB, rows, version int, text string) []byte {
	all := make([]packedRow, rows)
	for i := range all {
		r := packedRow{URL: fmt.Sprintf("http://a.test/%d", i), Label: fmt.Sprint("label", i%7), Date: fmt.Sprint("2020-", i), Number: make([]int64, i%5), Host: strings.Repeat(fmt.Sprint(i%9), i%300)}
		if i%3 > 0 {
			r.Text = &text
		}
		if i%4 > 0 {
			path := strings.Repeat("/a/b", i%50) + fmt.Sprint(i)
			r.HTML, r.Title, r.Path = &text, &r.URL, path
		}
		all[i] = r
	}
	return tableOf(t, all, parquet.DataPageVersion(version), parquet.MaxRowsPerRowGroup(700), parquet.PageBufferSize(1000))
}

func TestPackedTables(t *testing.T) {
	for _, version := range []int{1, 2} {
		path := filepath.Join(t.TempDir(), "t.parquet")
		testkit.Must(t, os.WriteFile(path, packedTable(t, 2000, version, "words"), 0o600))
		n := 0
		err := eachParquet(path, func(row int, e *Example) bool {
			i := row - 1
			n++
			if e.URL != fmt.Sprintf("http://a.test/%d", i) || e.Label != fmt.Sprint("label", i%7) || e.Fields["date"] != fmt.Sprint("2020-", i) || (e.Text == "words") != (i%3 > 0) || (e.HTML == "words") != (i%4 > 0) || (e.Title == e.URL) != (i%4 > 0) ||
				e.Fields["host"] != strings.Repeat(fmt.Sprint(i%9), i%300) || (e.Fields["path"] == strings.Repeat("/a/b", i%50)+fmt.Sprint(i)) != (i%4 > 0) {
				t.Errorf("version %d, row %d: %+v", version, row, e)
			}
			return n < 1999
		})
		if err != nil || n != 1999 {
			t.Errorf("version %d: %d rows, %v", version, n, err)
		}
	}
}

// TestTableBombs checks that false sizes in metadata cost no memory or time.
func TestTableBombs(t *testing.T) {
	class := testkit.Tries(t, "bombs")
	footer := func(description ...byte) []byte {
		file := append([]byte("PAR1"), description...)
		return append(binary.LittleEndian.AppendUint32(file, uint32(len(description))), "PAR1"...)
	}
	many := binary.AppendUvarint(nil, 1<<31-1)
	for name, file := range map[string][]byte{
		"a billion columns":    footer(append([]byte{0x15, 2, 0x19, 0xfc}, many...)...),
		"a list of lists":      footer(append([]byte{0x19, 0xf9}, many...)...),
		"a long name":          footer(append([]byte{0x18}, many...)...),
		"many columns":         footer(append(append([]byte{0x15, 2, 0x19, 0xfc}, binary.AppendUvarint(nil, 1<<20)...), make([]byte, 1<<20)...)...),
		"nested without end":   footer(bytes.Repeat([]byte{0x1c}, 1000)...),
		"a description beyond": append([]byte("PAR1"), 0xff, 0xff, 0xff, 0x7f, 'P', 'A', 'R', '1'),
	} {
		_, err := costOf(t, class, name, file)
		class.Try(errors.Is(err, errNotParquet), "%s: %v", name, err)
	}
	for name, b := range map[string][]byte{"a run": append(binary.AppendUvarint(nil, 1<<31), 0), "packed": binary.AppendUvarint(nil, 1<<31+1), "many runs": bytes.Repeat(append(binary.AppendUvarint(nil, 2000), 0), 100)} {
		class.Try(errors.Is(runs(b, 1, 1000), errTable), "%s of levels", name)
	}
	filled := append([]byte{32<<1 | 1}, make([]byte, 32)...) // 256 numbers of one bit
	class.Try(runs(filled, 1, 100) == nil, "a last run that is filled up")
	head := facts{pageValues: 10, pageEncoding: int64(format.DeltaLengthByteArray)}
	class.Try(errors.Is(new(column).decodeTexts(&head, append([]byte{128, 1, 4}, many...)), errTable), "lengths without end")
	type url struct {
		URL string `parquet:"url,delta,zstd"`
	}
	urls := slices.Repeat([]url{{strings.Repeat("http://a.test/", 1200)}}, 20_000)
	rows, err := costOf(t, class, "each text as the one before", tableOf(t, urls, parquet.PageBufferSize(1<<30)))
	class.Try(errors.Is(err, fileio.ErrBomb) && rows == 0, "each text as the one before: %d rows, %v", rows, err)
	z, _ := zstd.NewWriter(nil)
	bomb := z.EncodeAll(make([]byte, 512<<20), nil)
	_, err = unpacked(bomb, format.Zstd, 1000)
	class.Try(errors.Is(err, fileio.ErrSize), "a page larger than it says: %v", err)
	type row struct {
		URL  string `parquet:"url,dict,zstd"`
		HTML string `parquet:"html,dict,zstd"`
	}
	again := tableOf(t, slices.Repeat([]row{{"http://a.test/", strings.Repeat("text ", 3200)}}, 20_000))
	rows, err = costOf(t, class, "one text again and again", again)
	class.Try(errors.Is(err, fileio.ErrBomb) && rows > 50, "one text again and again, in %d bytes: %d rows, %v", len(again), rows, err)
	rng := rand.New(rand.NewPCG(11, 11))
	for _, version := range []int{1, 2} {
		whole := packedTable(t, 300, version, strings.Repeat("text ", 100))
		for range testkit.Rounds(200, 2_000) {
			bad := bytes.Clone(whole)
			for range 1 + rng.IntN(4) {
				bad[rng.IntN(len(bad))] = byte(rng.IntN(256))
			}
			costOf(t, class, "random bytes", bad)
		}
	}
}

// costOf reads a table and fails at 20 seconds or 300 MiB of allocations.
func costOf(t *testing.T, class *testkit.Tally, name string, file []byte) (rows int, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.parquet")
	testkit.Must(t, os.WriteFile(path, file, 0o600))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	err = eachParquet(path, func(int, *Example) bool { rows++; return true })
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	mib := (after.TotalAlloc - before.TotalAlloc) >> 20
	class.Try(mib < 300 && took < 20*time.Second, "%s: %d bytes cost %d MiB and %v", name, len(file), mib, took)
	return rows, err
}

// TestLengths compares with the library's own encoder.
func TestLengths(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 12))
	for n := range 700 {
		lengths, want := make([]int32, n), int64(0)
		for i := range lengths {
			lengths[i] = rng.Int32N(1 << rng.IntN(28))
			want += int64(lengths[i])
		}
		b := testkit.Call(parquet.DeltaBinaryPacked.EncodeInt32(nil, lengths)).Must(t)
		in := thrift{in: append(b, "text"...)}
		if sum, err := in.lengths(int64(n)); sum != want || err != nil || in.at != len(b) {
			t.Fatalf("%d lengths: sum %d, want %d; %d bytes, want %d; %v", n, sum, want, in.at, len(b), err)
		}
		in.at = 0
		if _, err := in.lengths(int64(n - 1)); n > 0 && !errors.Is(err, errTable) {
			t.Fatalf("one of %d lengths too many: %v", n, err)
		}
	}
}

func TestHadoopLZ4(t *testing.T) {
	var packed, want []byte
	for i := range 3 {
		text := []byte(strings.Repeat(fmt.Sprint("block ", i), 100))
		block := make([]byte, lz4.CompressBlockBound(len(text)))
		n := testkit.Call(lz4.CompressBlock(text, block, nil)).Must(t)
		packed = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(packed, uint32(len(text))), uint32(n))
		packed, want = append(packed, block[:n]...), append(want, text...)
	}
	if got, err := unpacked(packed, format.Lz4, int64(len(want))); !bytes.Equal(got, want) || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, n := range []int{len(want) - 1, len(want) + 1} {
		if _, err := unpacked(packed, format.Lz4, int64(n)); err == nil {
			t.Errorf("%d bytes unpack to %d", len(want), n)
		}
	}
	if _, err := unpacked(packed[:len(packed)-1], format.Lz4, int64(len(want))); !errors.Is(err, errTable) {
		t.Errorf("a block that ends early: %v", err)
	}
}

// TestCheckSum checks that a page with a flipped bit is rejected.
func TestCheckSum(t *testing.T) {
	file := bytes.ReplaceAll(tableOf(t, someRows()), []byte("<p>more"), []byte("<p>mare"))
	path := filepath.Join(t.TempDir(), "t.parquet")
	testkit.Must(t, os.WriteFile(path, file, 0o600))
	if err := eachParquet(path, func(int, *Example) bool { return true }); !errors.Is(err, errNotParquet) || !strings.Contains(err.Error(), "column html: a page is damaged") {
		t.Error(err)
	}
}
