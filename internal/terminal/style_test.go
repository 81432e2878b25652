package terminal

import (
	"bytes"
	"testing"

	"fossick/internal/cli"
)

// TestPaintedText: our text has its colour, and a stranger's text has no effect.
func TestPaintedText(t *testing.T) {
	var out bytes.Buffer
	w := cli.Text(&out)
	Fprint(w, "a\n", Red)
	Fprint(Coloured(w, &out), "b\x1b[2J\n", Red)
	if got, want := out.String(), "a \x1b[31mb [2J \x1b[0m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
