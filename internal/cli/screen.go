package cli

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// ScreenOptions describe the output of a Screen. The zero value is no terminal.
type ScreenOptions struct {
	Terminal bool       // a line can be overwritten
	Colour   bool       // colours can be shown
	Quiet    bool       // no progress is shown
	Columns  func() int // present width; nil or 0 means 80
}

// Screen is a terminal with a live last line. It is safe for concurrent use.
type Screen struct {
	w   io.Writer
	opt ScreenOptions

	mu    sync.Mutex // guards the fields below
	live  string     // text of the last line; "" if none
	plain time.Time  // of the last plain line
	tasks []*Task    // running tasks, the innermost last
	stop  chan struct{}
	done  chan struct{}
}

func NewScreen(w io.Writer, opt ScreenOptions) *Screen {
	return &Screen{w: w, opt: opt}
}

const (
	// defaultColumns is the assumed width of a terminal that does not report one.
	defaultColumns = 80
	clearLine      = "\r\x1b[K"
)

func (s *Screen) Terminal() bool { return s.opt.Terminal }

func (s *Screen) colour() bool { return s.opt.Colour }

// Write writes text above the live line.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.live
	s.clear()
	n, err := s.w.Write(p)
	if was != "" && len(p) > 0 && p[len(p)-1] == '\n' {
		s.draw(was)
	}
	return n, err
}

// Show shows a line: on a terminal in place of the previous one, else as plain text if the last one
// is at least as old as every.
func (s *Screen) Show(every time.Duration, parts ...Part) {
	if s.opt.Quiet {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.show(every, parts)
}

func (s *Screen) show(every time.Duration, parts []Part) {
	if s.opt.Terminal {
		s.draw(join(fit(parts, s.columns()-1), s.opt.Colour)) // text in the last column would wrap
		return
	}
	if now := time.Now(); now.Sub(s.plain) >= every {
		s.plain = now
		fmt.Fprintln(s.w, join(fit(parts, math.MaxInt), false)) // an error could not be reported anyway
	}
}

// Keep leaves the live line on the screen; further text goes below it.
func (s *Screen) Keep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live != "" {
		fmt.Fprintln(s.w)
		s.live = ""
	}
}

// Clear removes the live line, before something else writes to the terminal.
func (s *Screen) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
}

func (s *Screen) clear() {
	if s.live != "" {
		fmt.Fprint(s.w, clearLine)
		s.live = ""
	}
}

func (s *Screen) draw(line string) {
	if line != s.live {
		fmt.Fprint(s.w, clearLine+line)
		s.live = line
	}
}

func (s *Screen) columns() int {
	if s.opt.Columns != nil {
		if n := s.opt.Columns(); n > 0 {
			return n
		}
	}
	return defaultColumns
}

type Part struct {
	Text  string
	Rank  int // 0 is most important; the highest rank is dropped first
	Style Style
}

const between = " · "

// fit returns the parts that fit into a line of so many columns, in order. Among equal ranks it
// drops the last first. It always keeps one part, truncated if necessary.
func fit(parts []Part, columns int) []Part {
	parts = slices.DeleteFunc(slices.Clone(parts), func(p Part) bool { return p.Text == "" })
	for len(parts) > 1 && lineWidth(parts) > columns {
		worst := 0
		for i, p := range parts {
			if p.Rank >= parts[worst].Rank {
				worst = i
			}
		}
		parts = slices.Delete(parts, worst, worst+1)
	}
	if len(parts) == 1 {
		parts[0].Text = Cut(parts[0].Text, columns)
	}
	return parts
}

func lineWidth(parts []Part) int {
	n := 0
	for i, p := range parts {
		if n += utf8.RuneCountInString(p.Text); i > 0 {
			n += utf8.RuneCountInString(between)
		}
	}
	return n
}

func join(parts []Part, colour bool) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteString(paint(between, Faint, colour))
		}
		b.WriteString(paint(p.Text, p.Style, colour))
	}
	return b.String()
}

type Style string

// Styles: parameters of the terminal's SGR sequence.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Faint  Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
)

// paint returns a line of filtered text, in a style if colour.
func paint(text string, style Style, colour bool) string {
	text = Line(text)
	if !colour || style == Plain || text == "" {
		return text
	}
	return begin(style) + text + reset
}

// begin starts a style; reset ends it.
func begin(style Style) string { return "\x1b[" + string(style) + "m" }

const reset = "\x1b[0m"

type coloured struct {
	*Writer
	to io.Writer // bypasses the filter, for the colour sequences
}

// Coloured returns a writer for Fprint's colours; text filters what is written to the terminal.
func Coloured(text *Writer, to io.Writer) io.Writer { return &coloured{text, to} }

// Fprint writes words, in a style if w is from Coloured.
func Fprint(w io.Writer, words string, style Style) {
	words = Line(words)
	o, ok := w.(*coloured)
	if !ok || style == Plain {
		io.WriteString(w, words) // the next write returns its error
		return
	}
	io.WriteString(o.to, begin(style))
	io.WriteString(o, words)
	io.WriteString(o.to, reset)
}
