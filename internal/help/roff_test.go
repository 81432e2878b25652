package help

import (
	"strings"
	"testing"
)

func TestRoffEscape(t *testing.T) {
	for text, want := range map[string]string{
		".hidden": `\&.hidden`, "'quoted'": `\(aqquoted\(aq`, `a\b`: `a\eb`, "--max": `\-\-max`, "χ²": `\[u03C7]\[u00B2]`, "plain.": "plain.",
	} {
		if got := roffText(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzRoff: no text becomes a request.
func FuzzRoff(f *testing.F) {
	for _, s := range []string{".TH x", "a\n.so /etc/passwd", "  .x\n  y\n\nz", "'br", "\\", " \n."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := &roff{}
		p.text(text)
		for line := range strings.Lines(p.String()) {
			line = strings.TrimSuffix(line, "\n")
			known := line == ".PP" || line == ".nf" || line == ".fi" || line == ".RS 4" || line == ".RE"
			if (strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'")) && !known {
				t.Errorf("%q: request %q", text, line)
			}
		}
	})
}
