package propose

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

func listOf(text string) Source {
	return list(func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil })
}

func told(t testing.TB, s Source) (all []string) {
	t.Helper()
	for e, err := range s {
		if err != nil {
			t.Fatal(err)
		}
		line := e.URL + "|" + e.Words
		for _, l := range e.Links {
			line += fmt.Sprintf("|%s %s", l.URL, l.Words)
		}
		all = append(all, line)
	}
	return all
}

func TestList(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"URLs", "http://a.test/bees\r\n\n# comment\n  http://B.test/#top \n", []string{"http://a.test/bees|", "http://b.test/|"}},
		{"words", "http://a.test/1\tAll about bees\thoney\n", []string{"http://a.test/1|All about bees honey"}},
		{"links", "http://a.test/\thttp://a.test/1\tbees\nhttp://a.test/\thttp://a.test/2\nhttp://b.test/\thttp://a.test/\n",
			[]string{"http://a.test/||http://a.test/1 bees|http://a.test/2 ", "http://b.test/||http://a.test/ ", "http://a.test/1|bees", "http://a.test/2|", "http://a.test/|"}},
		{"no http URL", "ftp://a.test/\nmailto:x\nnonsense\nhttp://a.test/\n", []string{"http://a.test/|"}},
		{"nothing", "", nil},
	} {
		if got := told(t, listOf(c.text)); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestListErrors(t *testing.T) {
	for name, text := range map[string]string{"long line": "http://a.test/\n" + strings.Repeat("x", maxLine+1)} {
		var last error
		for _, err := range listOf(text) {
			last = err
		}
		if last == nil || !strings.Contains(last.Error(), "line 2") {
			t.Errorf("%s: got %v, want an error that names line 2", name, last)
		}
	}
}

// FuzzList: whatever a list holds, its candidates are in normal form, and each stays
// what it is when it is written as a list again.
func FuzzList(f *testing.F) {
	f.Add("http://a.test/\thttp://a.test/1\tbees\nhttp://b.test/\tword\n#\n\t\n")
	f.Fuzz(func(t *testing.T, text string) {
		var lines []string
		for e, err := range listOf(text) {
			if err != nil {
				return
			}
			if e.URL != e.Doc.URL {
				t.Errorf("URL %q, but of its text %q", e.URL, e.Doc.URL)
			}
			for _, l := range e.Links {
				lines = append(lines, e.URL+"\t"+l.URL)
			}
			if len(e.Links) == 0 {
				lines = append(lines, e.URL)
			}
		}
		for _, line := range lines {
			e, _ := parseLine(line)
			if e == nil {
				t.Fatalf("line %q names no page when it is read again", line)
			}
			again := e.URL
			for _, l := range e.Links {
				again += "\t" + l.URL
			}
			if again != line {
				t.Errorf("line %q is %q when it is read again", line, again)
			}
		}
	})
}
