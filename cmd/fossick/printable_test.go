package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzPrintable: whatever is written, in whatever pieces, nothing drives a terminal,
// harmless text is left as it is, and JSON means what it meant.
func FuzzPrintable(f *testing.F) {
	for _, seed := range []string{"plain\ttext\n", "\x1b[31mred\x1b]0;title\x07", "\u009b31m \u202e \u2066", "ünïcode 日本", "\xff\xfe\x9b", "\r\x00\x7f"} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, text string, cut int) {
		cut = min(max(cut, 0), len(text))
		var out bytes.Buffer
		w := plainly(&out)
		for _, part := range []string{text[:cut], text[cut:]} {
			if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatalf("%d bytes of %d written, %v", n, len(part), err)
			}
		}
		if got := out.String(); strings.IndexFunc(got, drives) >= 0 || !utf8.ValidString(got) {
			t.Errorf("%q came out as %q", text, got)
		} else if utf8.ValidString(text) && strings.IndexFunc(text, drives) < 0 && got != text {
			t.Errorf("%q was changed to %q", text, got)
		}
		out.Reset()
		want := strings.ToValidUTF8(text, "\ufffd")
		if err := json.NewEncoder(inJSON(&out)).Encode(want); err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal(out.Bytes(), &back); err != nil || back != want || strings.IndexFunc(out.String(), drives) >= 0 {
			t.Errorf("%q as JSON is %q, which is %q, %v", want, out.String(), back, err)
		}
	})
}
