package terminal

import (
	"fmt"
	"io"
	"math"
	"sync"
	"time"
)

// Options say what a Screen writes to. The zero value is no terminal.
type Options struct {
	Terminal bool       // a line can be written over
	Colour   bool       // and have colours
	Quiet    bool       // nothing is shown of the work
	Columns  func() int // how wide the terminal is now; nil, or 0, is 80
}

// Screen is a terminal with a live last line, or what stands for one. It is safe for
// concurrent use.
type Screen struct {
	w   io.Writer
	opt Options

	mu    sync.Mutex // guards what follows
	live  string     // stands on the last line now; "" is nothing
	plain time.Time  // of the last plain line
	tasks []*Task    // going on, the innermost last
	stop  chan struct{}
	done  chan struct{}
}

// New returns a Screen on w.
func New(w io.Writer, opt Options) *Screen {
	return &Screen{w: w, opt: opt}
}

const (
	// defaultColumns is the width of a terminal that does not tell.
	defaultColumns = 80
	clearLine      = "\r\x1b[K"
)

// Terminal says whether there is a line to be written over.
func (s *Screen) Terminal() bool { return s.opt.Terminal }

// Colour says whether text may have colours.
func (s *Screen) Colour() bool { return s.opt.Colour }

// Write writes text above the live line. It implements io.Writer.
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

// Show shows a line: on a terminal in place of the one before, else plainly when the
// last is as old as every.
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
		s.draw(join(fit(parts, s.columns()-1), s.opt.Colour)) // a full last column would wrap
		return
	}
	if now := time.Now(); now.Sub(s.plain) >= every {
		s.plain = now
		fmt.Fprintln(s.w, join(fit(parts, math.MaxInt), false)) // nowhere to tell that progress cannot be told
	}
}

// Keep leaves the live line as it stands: what follows goes below it.
func (s *Screen) Keep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live != "" {
		fmt.Fprintln(s.w)
		s.live = ""
	}
}

// Clear takes the live line away, before something else writes to the terminal.
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
