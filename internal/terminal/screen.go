package terminal

import (
	"fmt"
	"io"
	"math"
	"sync"
	"time"
)

// Options describe the output of a Screen. The zero value is no terminal.
type Options struct {
	Terminal bool       // a line can be overwritten
	Colour   bool       // colours can be shown
	Quiet    bool       // no progress is shown
	Columns  func() int // present width; nil or 0 means 80
}

// Screen is a terminal with a live last line. It is safe for concurrent use.
type Screen struct {
	w   io.Writer
	opt Options

	mu    sync.Mutex // guards the fields below
	live  string     // text of the last line; "" if none
	plain time.Time  // of the last plain line
	tasks []*Task    // running tasks, the innermost last
	stop  chan struct{}
	done  chan struct{}
}

func New(w io.Writer, opt Options) *Screen {
	return &Screen{w: w, opt: opt}
}

const (
	// defaultColumns is the assumed width of a terminal that does not report one.
	defaultColumns = 80
	clearLine      = "\r\x1b[K"
)

func (s *Screen) Terminal() bool { return s.opt.Terminal }

func (s *Screen) Colour() bool { return s.opt.Colour }

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
