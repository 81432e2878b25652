package search

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"bees", "bees"},
		{`  bees  "of  honey" `, `bees "of  honey"`},
		{`-wasps bees`, `-wasps bees`},
		{`title:bees -site:a.test label:"two words"`, `title:bees -site:a.test label:"two words"`},
		{`TITLE:x 12:30 http://a.test/`, `title:x 12:30 http://a.test/`},
		{`title: bees`, `title: bees`},
		{`bees "open end`, `bees "open end"`},
		{`- bees`, `- bees`},
		{`a"b c"d`, `a "b c" d`},
		{``, ``}, {`-bees`, ``}, {`""`, ``},
		{strings.Repeat("x ", maxTerms+1), ``},
	} {
		q, err := Parse(c.text)
		if got := spelled(q); got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%q: %q, %v; want %q", c.text, got, err, c.want)
		}
	}
}

// spelled returns a query as it was parsed.
func spelled(q Query) string {
	var b strings.Builder
	for i, t := range q.terms {
		if i > 0 {
			b.WriteByte(' ')
		}
		if t.not {
			b.WriteByte('-')
		}
		if t.field != anywhere {
			b.WriteString(string(t.field) + ":")
		}
		if t.phrase {
			b.WriteString(`"` + t.text + `"`)
		} else {
			b.WriteString(t.text)
		}
	}
	return b.String()
}

// FuzzParse: a query round-trips when spelled, and the index accepts it.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`bees "of honey" -wasps`, `title:bees host:a.test:80 -lang:de`, `"`, `-"`, `title:"`, `-title:"x`, `NEAR(a b) * ^ + {x}:y`, "\x00 a\x00", `url:""`, "é银行'"} {
		f.Add(seed)
	}
	x, _ := fresh(f, made(f, doc{url: "http://a.test/", body: "bees", lang: "en"}))
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(spelled(q))
		if err != nil || spelled(again) != spelled(q) {
			t.Fatalf("%q: %q, then %q, %v", text, spelled(q), spelled(again), err)
		}
		if _, _, err := x.Find(t.Context(), q, Filter{}, 10); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		NewMarker(q).Snippet(text, "en")
	})
}

func TestSnippet(t *testing.T) {
	long := strings.Repeat("before it ", 60) + "the bank lends at interest. " + strings.Repeat("behind it ", 60)
	for _, c := range []struct{ query, text, lang, want string }{
		{"lending", "A bank lends.", "en", "A bank **lends**."},
		{"the bank", "the bank lends", "en", "the **bank** lends"},
		{`"the bank"`, "the bank lends", "en", "**the** **bank** lends"},
		{"存款", "银行的存款利率", "zh", "银行的**存款**利率"},
		{"wasp", "nothing of it", "en", "nothing of it"},
		{"-bank lends title:of", "of a bank it lends", "en", "of a bank it **lends**"},
	} {
		q, err := Parse(c.query)
		if err != nil {
			t.Fatal(err)
		}
		if got := NewMarker(q).Snippet(c.text, c.lang).Marked("**"); got != c.want {
			t.Errorf("%s in %q: %q, want %q", c.query, c.text, got, c.want)
		}
	}
	q, _ := Parse("bank interest")
	got := NewMarker(q).Snippet(long, "en").Marked("**")
	if !strings.HasPrefix(got, "… ") || !strings.HasSuffix(got, " …") || !strings.Contains(got, "the **bank** lends at **interest**.") || len(got) > 300 {
		t.Errorf("%q", got)
	}
}
