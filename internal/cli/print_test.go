package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"fossick/internal/testkit"
)

// hostile maps foreign words to what Line makes of them.
var hostile = map[string]string{
	"\x1b[31mred\x1b]0;title\x07": " [31mred ]0;title ",
	"a\nforged":                   "a forged",
	"a\r\nb\tc\vd\fe":             "a  b c d e",
	"nel\u0085 csi\u009b31m":      "nel  csi 31m",
	"line\u2028par\u2029.":        "line par .",
	"\u202egpj.exe\u202c":         " gpj.exe ",
	"\u2066a\u2067b\u2068c\u2069": " a b c ",
	"\u200e\u200f\u061c\u206a":    "    ",
	"hid\u200bden\u2060\ufeff":    "hid den  ",
	"\U000e0041tag\U000e007f":     " tag ",
	"\ufff9anno\ufffatate\ufffb":  " anno tate ",
	"del\x7f nul\x00":             "del  nul ",
	"\xff\xfe\x9b":                "\ufffd\ufffd\ufffd",
	"ünïcode 日本 עברית العربية":    "ünïcode 日本 עברית العربية",
	"می\u200cخواهم 👩\u200d🚀":      "می\u200cخواهم 👩\u200d🚀", // joiners of running text
	"Sil\u00adbe \u0600123":       "Sil\u00adbe \u0600123",
	"":                            "",
}

func TestLine(t *testing.T) {
	for word, want := range hostile {
		if got := Line(word); got != want {
			t.Errorf("Line(%q) = %q, want %q", word, got, want)
		}
	}
	for s, want := range map[string]string{"12345": "12345", "123456": "1234…", "a\nb\nc\nd": "a b …", "日本日本日本": "日本日本…", "\xff\xff\xff\xff\xff\xff": "\ufffd\ufffd\ufffd\ufffd…", "": ""} {
		if got := Cut(s, 5); got != want {
			t.Errorf("Cut(%q, 5) = %q, want %q", s, got, want)
		}
	}
}

type stringer string

func (s stringer) String() string { return string(s) }

// TestFprintf: no argument, of any type, starts a line or column.
func TestFprintf(t *testing.T) {
	bad := "x\n\tforged\x1b"
	var list any = []string{bad, bad}
	var out bytes.Buffer
	Fprintf(&out, "%s|%v|%v|%s|%v|%6.2f|%-10s|%10s|%q|%d|%x\n", bad, errors.New(bad), stringer(bad), []byte(bad), list, 1.5, "a\n", &bad2{bad}, "q\n", uint8(3), "h\n")
	const word = "x  forged "
	want := fmt.Sprintf("%s|%s|%s|%s|[%s %s]|  1.50|a         |{x  forged }|\"q\\n\"|3|680a\n", word, word, word, word, word, word)
	if got := strings.Replace(out.String(), "&{", "{", 1); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	out.Reset()
	Fprintln(&out, bad, 1, errors.Join(errors.New("a"), errors.New("b")))
	if got, want := out.String(), word+" 1 a b\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

type bad2 struct{ s string }

// FuzzPrintable: whatever is written, in any pieces, only harmless characters, tabs and line ends
// come out. Harmless text is unchanged, and JSON keeps its meaning.
func FuzzPrintable(f *testing.F) {
	for word := range hostile {
		f.Add(word, 3)
	}
	bad := func(r rune) bool { return !Harmless(r) && r != '\n' && r != '\t' }
	f.Fuzz(func(t *testing.T, text string, cut int) {
		cut = min(max(cut, 0), len(text))
		var out bytes.Buffer
		w := Text(&out)
		for _, part := range []string{text[:cut], text[cut:]} {
			if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatalf("%d bytes of %d written, %v", n, len(part), err)
			}
		}
		if got := out.String(); strings.IndexFunc(got, bad) >= 0 || !utf8.ValidString(got) {
			t.Errorf("%q came out as %q", text, got)
		} else if utf8.ValidString(text) && strings.IndexFunc(text, bad) < 0 && got != text {
			t.Errorf("%q was changed to %q", text, got)
		}
		if line := Line(text); strings.ContainsFunc(line, func(r rune) bool { return !Harmless(r) }) || utf8.RuneCountInString(line) != utf8.RuneCountInString(text) {
			t.Errorf("%q in a line is %q", text, line)
		}
		if cut > 0 && utf8.RuneCountInString(Cut(text, cut)) > cut {
			t.Errorf("%q cut to %d is %q", text, cut, Cut(text, cut))
		}
		out.Reset()
		want := strings.ToValidUTF8(text, "\ufffd")
		testkit.Must(t, json.NewEncoder(JSON(&out)).Encode(want))
		var back string
		if err := json.Unmarshal(out.Bytes(), &back); err != nil || back != want || strings.IndexFunc(out.String(), bad) >= 0 {
			t.Errorf("%q as JSON is %q, which is %q, %v", want, out.String(), back, err)
		}
	})
}

func TestCounts(t *testing.T) {
	for _, c := range []struct {
		format string
		args   []any
		want   string
	}{
		{"%d pages of %d hosts", []any{1, uint64(2)}, "1 page of 2 hosts"},
		{"%s: %d hosts, %d bytes", []any{"a", 1, int64(11618097)}, "a: 1 host, 11,618,097 bytes"},
		{"%d parties, %d classes, %d communities", []any{1, 1, 1}, "1 party, 1 class, 1 community"},
		{"%d labelled pages, %3d pages", []any{1, 1}, "1 labelled page,   1 pages"},
		{"100 %% of %d: %d as they were, %d pagesets", []any{1, 1, 1000}, "100 % of 1: 1 as they were, 1000 pagesets"},
		{"%d pages", []any{"many"}, "%!d(string=many) pages"},
		{"%d pages", nil, "%!d(MISSING) pages"},
	} {
		if got := Sprintf(c.format, c.args...); got != c.want {
			t.Errorf("%q: %q, want %q", c.format, got, c.want)
		}
	}
}
