package maintext

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRead(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"blocks", "<p>a <b>b</b>c</p>d<div>e<br>f</div>", "a bc|d|e|f"},
		{"ends left out", "<ul><li>a<li>b<p>c<li>d</ul><p>e<p>f", "a|b|c|d|e|f"},
		{"what nobody reads", "a<script>b</script><style>c</style><noscript>d</noscript><svg><text>e</text></svg>f", "af"},
		{"entities", "a&amp;b &lt;c&gt;&nbsp;d", "a&b <c> d"},
		{"white space", "<p> a\n\t b <i> c</i></p><pre>d\n  e\n</pre>", "a b c|d\n  e"},
		{"a title is none", "<title>t</title>a", "a"},
		{"invisible", "a\u200bb\u00adc", "abc"},
		{"last bytes that alone were white space", "voilà<p>Ġ</p><pre>à\u00a0\n</pre>", "voilà|Ġ|à"},
		{"no words", "<p>*<p>—<p>a", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := readBlocks([]byte(c.page))
			var got []string
			for i := range d.Blocks {
				got = append(got, string(d.textOf(i)))
			}
			if s := strings.Join(got, "|"); s != c.want {
				t.Errorf("got %q, want %q", s, c.want)
			}
		})
	}
}

func TestCounts(t *testing.T) {
	d := readBlocks([]byte(`<p class="entry-content">Moles dig, and <a href="/x">dig on</a>. 4 a day!</p><nav><p>漢字</nav>`))
	b := d.Blocks[0]
	if b.Words != 8 || b.linkWords != 2 || b.links != 1 || b.sentences != 3 || b.capitals != 1 || b.digits != 1 {
		t.Errorf("counts %+v", b)
	}
	if n := d.Nodes[b.Node]; n.all != saysBody|saysContent {
		t.Errorf("traits %b", n.all)
	}
	if b := d.Blocks[1]; b.Words != 2 || d.Nodes[b.Node].all&inNav == 0 {
		t.Errorf("counts %+v in %+v", b, d.Nodes[b.Node])
	}
}

// TestSayings compares with a search for each name.
func TestSayings(t *testing.T) {
	for _, names := range []string{"", "x", "Main-Menu", "article__body", "uploads", "POST", "über-foot", "a b c-nav", strings.Repeat("x", 400) + "nav"} {
		want := traits(0)
		for t, parts := range sayings {
			for part := range strings.FieldsSeq(parts) {
				if strings.Contains(strings.ToLower(names[:min(len(names), maxNames)]), part) {
					want |= t
				}
			}
		}
		if got := namesSay(names); got != want {
			t.Errorf("%q says %b, want %b", names, got, want)
		}
	}
}

// TestDescribe compares sums over the tree with a search.
func TestDescribe(t *testing.T) {
	page := `<div><p>a b c d e f<div><p>g h<ul><li>i j<li><a href=x>k l m</a></ul></div></div><p>n`
	v := describe(readBlocks([]byte(page)))
	for n := range v.Nodes {
		words, linkWords := int32(0), int32(0)
		for _, b := range v.Blocks {
			if within(v, b.Node, int32(n)) {
				words, linkWords = words+b.Words, linkWords+b.linkWords
			}
		}
		if s := v.below[n]; s.words != words || s.linkWords != linkWords {
			t.Errorf("node %d has %d words, %d of them links; want %d, %d", n, s.words, s.linkWords, words, linkWords)
		}
	}
	for i, row := range v.rows {
		if len(row) != allFeatures {
			t.Errorf("block %d has %d features, want %d", i, len(row), allFeatures)
		}
	}
}

func within(v *view, n, of int32) bool {
	for n > of {
		n = v.Nodes[n].Parent
	}
	return n == of
}

// FuzzRead: blocks are in order, disjoint, within the text, and have words.
func FuzzRead(f *testing.F) {
	f.Add([]byte("<table><tr><td>a<p>b</table><ul><li><pre> c\n</ul><a href=#>d</a>"))
	f.Add([]byte("<h1>a<a href=#x>¶</a></h1><b>c</b"))
	f.Fuzz(func(t *testing.T, page []byte) {
		page = []byte(strings.ToValidUTF8(string(page), "?"))
		d := readBlocks(page)
		end := int32(0)
		for i, b := range d.Blocks {
			if b.From < end || b.To < b.From || int(b.To) > len(d.Text) || b.linkWords > b.Words {
				t.Fatalf("block %d: %+v", i, b)
			}
			if !utf8.Valid(d.textOf(i)) {
				t.Fatalf("block %d: %q", i, d.textOf(i))
			}
			end = b.To
		}
		if !slices.IsSortedFunc(d.Marks, func(a, b mark) int { return int(a.At - b.At) }) {
			t.Fatal("marks are not in the order of the text")
		}
		p := make([]float32, len(d.Blocks))
		describe(d).opinions(p)
	})
}

// Example_blocks splits a page at block-level elements.
func Example_blocks() {
	d := readBlocks([]byte("<h1>Moles</h1><p>They <em>dig</em>.<ul><li>day<li>night</ul>"))
	for i := range d.Blocks {
		fmt.Printf("%s\n", d.textOf(i))
	}
	// Output:
	// Moles
	// They dig.
	// day
	// night
}
