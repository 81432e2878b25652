package cli

import (
	"bytes"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

// TestFit: no line is too long, order is kept, and dropped parts never rank lower than kept ones.
func TestFit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var parts []Part
		for range 1 + rng.IntN(8) {
			parts = append(parts, Part{Text: strings.Repeat("x", rng.IntN(30)), Rank: rng.IntN(5)})
		}
		columns := rng.IntN(100)
		got := fit(parts, columns)
		if lineWidth(got) > columns {
			t.Fatalf("%v in %d columns: %v is %d wide", parts, columns, got, lineWidth(got))
		}
		if len(got) < 2 {
			continue
		}
		at, worst := 0, 0
		for _, p := range got {
			worst = max(worst, p.Rank)
		}
		for _, p := range parts {
			if at < len(got) && p == got[at] {
				at++
			} else if p.Text != "" && p.Rank < worst {
				t.Fatalf("%v in %d columns: %v was dropped, %v stayed", parts, columns, p, got)
			}
		}
		if at != len(got) {
			t.Fatalf("%v in %d columns: %v is in another order", parts, columns, got)
		}
	}
}

// TestLeftIsSteady: for pages in bursts, the remaining time does not jump and is about right.
func TestLeftIsSteady(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const total, pace = 6000.0, 10.0
	var l Left
	var was time.Duration
	done, tick := 0.0, 500*time.Millisecond
	for at := time.Duration(0); done < total-600; at += tick {
		left, known := l.After(at, done, total)
		if at < leastTime && known {
			t.Fatalf("%v after %v", left, at)
		}
		if known && was > 0 && at > 10*time.Second {
			if jump := (left - (was - tick)).Abs(); jump > was/20 {
				t.Errorf("after %v, %v left, but %v was said before", at, left, was)
			}
			if want := (total - done) / pace; left.Seconds() < want/2 || left.Seconds() > 2*want {
				t.Errorf("after %v, %v left, want about %.0f s", at, left, want)
			}
		}
		was = left
		done += float64(rng.IntN(11)) // 5 on average
	}
}

// TestLeftOfAStandstill: while the work stands still, or once it has grown, some time is left.
func TestLeftOfAStandstill(t *testing.T) {
	var l Left
	for at := range 60 {
		left, known := l.After(time.Duration(at)*time.Second, float64(min(10*at, 300)), 380)
		if at > 30 && (!known || left < 4*time.Second) {
			t.Errorf("%v left after %d s, of which %d s without work; want 4 s at least", left, at, at-30)
		}
	}
	if left, _ := l.After(60*time.Second, 300, 3800); left < time.Minute {
		t.Errorf("%v left of ten times the work, want more than a minute", left)
	}
}

func TestLeftOfNothing(t *testing.T) {
	var l Left
	for at := range 100 {
		if left, known := l.After(time.Duration(at)*time.Second, 3, 10); known {
			t.Fatalf("%v left of what does not go on", left)
		}
	}
}

func TestTimeLeft(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 1: "1 s", 2500 * time.Millisecond: "3 s", 20 * time.Second: "20 s", 21 * time.Second: "25 s",
		56 * time.Second: "1 min", 61 * time.Second: "2 min", 59 * time.Minute: "59 min",
		60 * time.Minute: "1 h 0 min", 129 * time.Minute: "2 h 10 min", 24 * time.Hour: "24 h 0 min", 49*time.Hour + 1: "2 d 2 h",
	} {
		if got := TimeLeft(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

// screenOf returns the lines that a terminal shows after this output.
func screenOf(out string) []string {
	lines := []string{""}
	for out != "" {
		last := &lines[len(lines)-1]
		switch {
		case strings.HasPrefix(out, clearLine):
			*last, out = "", out[len(clearLine):]
		case out[0] == '\n':
			lines, out = append(lines, ""), out[1:]
		default:
			_, n := utf8.DecodeRuneInString(out)
			*last, out = *last+out[:n], out[n:]
		}
	}
	return lines
}

// TestPlainLine: an empty part leaves no gap.
func TestPlainLine(t *testing.T) {
	var out bytes.Buffer
	NewScreen(&out, ScreenOptions{}).Show(0, Part{Text: "4 pages"}, Part{}, Part{Text: "1 host"})
	if got, want := out.String(), "4 pages · 1 host\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTextAboveTheLine: text written during work appears above the live line, which stays last.
func TestTextAboveTheLine(t *testing.T) {
	var out bytes.Buffer
	s := NewScreen(&out, ScreenOptions{Terminal: true})
	s.Show(0, Part{Text: "1 page"})
	s.Write([]byte("a warning\n"))
	s.Show(0, Part{Text: "2 pages"})
	if got := strings.Join(screenOf(out.String()), "|"); got != "a warning|2 pages" {
		t.Errorf("on the screen: %s", got)
	}
	s.Keep()
	s.Write([]byte("done\n"))
	if got := strings.Join(screenOf(out.String()), "|"); got != "a warning|2 pages|done|" {
		t.Errorf("at the end: %s", got)
	}
}

// TestTask runs a task of some seconds in a synctest bubble.
func TestTask(t *testing.T) {
	for _, tc := range []struct {
		name string
		opt  ScreenOptions
		took time.Duration
		of   int // pages, one per second
		want string
	}{
		{"quick work is not shown", ScreenOptions{Terminal: true}, 900 * time.Millisecond, 0, ""},
		{"a spinner", ScreenOptions{Terminal: true}, 4*time.Second + 50*time.Millisecond, 0, "⠙ reading · 4 pages · 4 s"},
		{"a bar", ScreenOptions{Terminal: true}, 10*time.Second + 50*time.Millisecond, 20, "reading · ━━━━━━━━━━╌╌╌╌╌╌╌╌╌╌ · 50 % · 10/20 pages · 11 s left"},
		{"a bar in a narrow window", ScreenOptions{Terminal: true, Columns: func() int { return 40 }}, 10*time.Second + 50*time.Millisecond, 20,
			"reading · 50 % · 11 s left"},
		{"no terminal, quick work", ScreenOptions{}, 29 * time.Second, 100, ""},
		{"no terminal", ScreenOptions{}, 70 * time.Second, 100, "reading · 30 % · 30/100 pages · 2 min left\nreading · 60 % · 60/100 pages · 45 s left\n"},
		{"quiet", ScreenOptions{Terminal: true, Quiet: true}, 70 * time.Second, 100, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				s := NewScreen(&out, tc.opt)
				task := s.Begin("reading", "pages")
				task.Of(tc.of)
				for at := time.Duration(0); at+time.Second <= tc.took; at += time.Second {
					time.Sleep(time.Second - time.Millisecond)
					task.Add(1)
					time.Sleep(time.Millisecond)
				}
				time.Sleep(tc.took % time.Second)
				shown := out.String()
				task.End()
				task.End()
				after := screenOf(out.String())
				if i := strings.LastIndex(shown, clearLine); i >= 0 {
					shown = shown[i+len(clearLine):]
				}
				if shown != tc.want {
					t.Errorf("shows\n %q, want\n %q", shown, tc.want)
				}
				if tc.opt.Terminal && strings.Join(after, "|") != "" {
					t.Errorf("after its end the screen has %q", after)
				}
			})
		})
	}
}

// TestTasksWithin: of nested tasks the innermost shows, and the outer line returns when it ends.
func TestTasksWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := NewScreen(&out, ScreenOptions{Terminal: true})
		outer := s.Begin("outer", "")
		inner := s.Begin("inner", "")
		time.Sleep(2 * time.Second)
		if got := screenOf(out.String()); !strings.Contains(got[0], "inner") {
			t.Errorf("shows %q", got)
		}
		inner.End()
		time.Sleep(time.Second)
		if got := screenOf(out.String()); !strings.Contains(got[0], "outer") {
			t.Errorf("shows %q after the inner one's end", got)
		}
		outer.End()
	})
}

func TestPaint(t *testing.T) {
	for _, tc := range []struct {
		text, want string
		colour     bool
	}{
		{"kept", "kept", false},
		{"kept", "\x1b[32mkept\x1b[0m", true},
		{"\x1b[2Jkept", " [2Jkept", false},
		{"", "", true},
	} {
		if got := paint(tc.text, Green, tc.colour); got != tc.want {
			t.Errorf("%q, colour %v: %q, want %q", tc.text, tc.colour, got, tc.want)
		}
	}
}

// TestPaintedText: our text has its colour, and a stranger's text has no effect.
func TestPaintedText(t *testing.T) {
	var out bytes.Buffer
	w := Text(&out)
	Fprint(w, "a\n", Red)
	Fprint(Coloured(w, &out), "b\x1b[2J\n", Red)
	if got, want := out.String(), "a \x1b[31mb [2J \x1b[0m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

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
		tc.tell(slog.New(Log(NewScreen(&out, ScreenOptions{Terminal: true}), slog.LevelInfo)))
		if out.String() != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, out.String(), tc.want)
		}
	}
	var out bytes.Buffer
	slog.New(Log(NewScreen(&out, ScreenOptions{Terminal: true, Colour: true}), slog.LevelInfo)).Warn("x")
	if want := "\x1b[33mwarning:\x1b[0m x\n"; out.String() != want {
		t.Errorf("in colour: %q, want %q", out.String(), want)
	}
}
