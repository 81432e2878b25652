package terminal

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"
)

func TestSpokenLog(t *testing.T) {
	for _, tc := range []struct {
		name string
		tell func(*slog.Logger)
		want string
	}{
		{"what is wrong", func(l *slog.Logger) { l.Warn("look at the set", "set", "demo", "what", "13 rows repeat") }, "warning: look at the set: 13 rows repeat (set demo)\n"},
		{"an error", func(l *slog.Logger) { l.Error("closing", "err", errors.New("disk full")) }, "error: closing: disk full\n"},
		{"more", func(l *slog.Logger) { l.Info("tried", "words", 12) }, "note: tried (words 12)\n"},
		{"too little to tell", func(l *slog.Logger) { l.Debug("detail") }, ""},
		{"groups", func(l *slog.Logger) { l.With("a", 1).WithGroup("g").With("b", 2).Warn("x", "c", 3) }, "warning: x (a 1, g.b 2, g.c 3)\n"},
		{"what drives a terminal", func(l *slog.Logger) { l.Warn("page", "url", "a\x1b[2J\nb") }, "warning: page (url a [2J b)\n"},
	} {
		var out bytes.Buffer
		tc.tell(slog.New(Log(New(&out, Options{Terminal: true}), slog.LevelInfo)))
		if out.String() != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, out.String(), tc.want)
		}
	}
	var out bytes.Buffer
	slog.New(Log(New(&out, Options{Terminal: true, Colour: true}), slog.LevelInfo)).Warn("x")
	if want := "\x1b[33mwarning:\x1b[0m x\n"; out.String() != want {
		t.Errorf("in colour: %q, want %q", out.String(), want)
	}
}
