package sources

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"fossick/datasets"
)

// FuzzNamed reads any text as a file of --personal or --block: what comes out is what
// its lines say, and written anew it is read alike.
func FuzzNamed(f *testing.F) {
	f.Add("http://a.test/\t2\n# c\n\n http://b.test/ \r\nc\t1e-3\td")
	f.Add("a\tinf\nb\t-1\nc\tNaN\nd\t0x1p-2")
	f.Add("\t1\n \t \n")
	f.Fuzz(func(t *testing.T, text string) {
		type row struct{ name, value string }
		read := func(text string) (rows []row, lines []int) {
			found, err := eachNamed(strings.NewReader(text), "file", func(name, value string, line int) error {
				rows, lines = append(rows, row{name, value}), append(lines, line)
				return nil
			})
			if err != nil {
				if !strings.Contains(err.Error(), "over 1024 KiB") {
					t.Fatal(err)
				}
				t.Skip("a long line")
			}
			if found != (len(rows) > 0) {
				t.Fatalf("found: %v, in %d rows", found, len(rows))
			}
			return rows, lines
		}
		rows, at := read(text)
		all := strings.Split(text, "\n")
		for i, r := range rows {
			line := strings.TrimSpace(all[at[i]-1])
			if r.name == "" || line[0] == '#' || !strings.HasPrefix(line, r.name) || !strings.HasSuffix(line, r.value) {
				t.Errorf("line %d, %q, is read as %q", at[i], line, r)
			}
		}
		var again strings.Builder
		for _, r := range rows {
			fmt.Fprintf(&again, "%s\t%s\n", r.name, r.value)
		}
		if twice, _ := read(again.String()); !slices.Equal(twice, rows) {
			t.Errorf("%q is read as %q, then as %q", text, rows, twice)
		}
	})
}

// FuzzWeight reads any text as a weight: an error, or a number that can be one.
func FuzzWeight(f *testing.F) {
	for _, s := range []string{"", "1", "0", "-0", "1e400", "inf", "NaN", "0x1p-2", "1_000", " 1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		x, err := weightOf(text)
		if err != nil {
			return
		}
		if !(x >= 0 && x <= math.MaxFloat64) {
			t.Errorf("%q gives %g", text, x)
		}
		if again, err := weightOf(strconv.FormatFloat(x, 'g', -1, 64)); err != nil || again != x {
			t.Errorf("%q gives %g, then %g, %v", text, x, again, err)
		}
	})
}

// TestNamedErrors names the line of what cannot be read.
func TestNamedErrors(t *testing.T) {
	none := func(string, string, int) error { return nil }
	for want, r := range map[string]io.Reader{
		"file:3: over 1024 KiB":         strings.NewReader("a\nb\n" + strings.Repeat("c", datasets.MaxLineBytes+1)),
		"file:2: the file is truncated": io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(io.ErrUnexpectedEOF)),
	} {
		if _, err := eachNamed(r, "file", none); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
