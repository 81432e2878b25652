package terminal

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Task is work in progress. Its counters are safe for concurrent use; Step and Add of a nil Task do
// nothing.
type Task struct {
	screen *Screen
	unit   string // what is counted, such as pages; "" for nothing
	began  time.Time
	what   atomic.Pointer[string]
	done   atomic.Int64
	total  atomic.Int64
	left   Left // used only by the screen's goroutine
}

const (
	frameEvery = 125 * time.Millisecond
	showAfter  = time.Second      // quicker tasks are not shown
	plainEvery = 30 * time.Second // without a terminal
	barColumns = 20
)

var frames = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

// Begin shows a task until End. unit is what it counts, such as pages, or "".
func (s *Screen) Begin(what, unit string) *Task {
	t := &Task{screen: s, unit: unit, began: time.Now()}
	t.what.Store(&what)
	if s.opt.Quiet {
		return t
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks = append(s.tasks, t)
	if len(s.tasks) == 1 {
		s.plain = time.Now() // delays the first plain line by plainEvery
		s.stop, s.done = make(chan struct{}), make(chan struct{})
		go s.animate(s.stop, s.done)
	}
	return t
}

// Step sets what the task does now, and restarts its count.
func (t *Task) Step(what string, total int) {
	if t == nil {
		return
	}
	t.done.Store(0)
	t.total.Store(int64(total))
	t.what.Store(&what)
}

// Of sets the total; 0 means unknown.
func (t *Task) Of(total int) { t.total.Store(int64(total)) }

func (t *Task) Add(n int) {
	if t != nil {
		t.done.Add(int64(n))
	}
}

func (t *Task) Set(done int) { t.done.Store(int64(done)) }

// End removes the task's line. It may be called twice.
func (t *Task) End() {
	s := t.screen
	s.mu.Lock()
	i := slices.Index(s.tasks, t)
	if i < 0 {
		s.mu.Unlock()
		return
	}
	s.tasks = slices.Delete(s.tasks, i, i+1)
	if len(s.tasks) > 0 {
		s.mu.Unlock()
		return
	}
	close(s.stop)
	s.clear()
	done := s.done
	s.mu.Unlock()
	<-done
}

// animate draws the innermost task until stop is closed.
func (s *Screen) animate(stop <-chan struct{}, done chan<- struct{}) {
	defer close(done)
	tick := time.NewTicker(frameEvery)
	defer tick.Stop()
	for frame := 0; ; frame++ {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		s.mu.Lock()
		if n := len(s.tasks); n > 0 && !closed(stop) {
			if t := s.tasks[n-1]; time.Since(s.tasks[0].began) >= showAfter {
				s.show(plainEvery, t.parts(time.Since(t.began), frame, s.opt.Terminal))
			}
		}
		s.mu.Unlock()
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// parts describes the task: with a bar if the total is known, else with a spinner.
func (t *Task) parts(elapsed time.Duration, frame int, live bool) []Part {
	what, done, total := *t.what.Load(), t.done.Load(), t.total.Load()
	left, known := t.left.After(elapsed, float64(done), float64(total))
	name := Part{Text: what}
	if live && total <= 0 {
		name.Text = string(frames[frame%len(frames)]) + " " + what
	}
	parts := []Part{name}
	switch {
	case total > 0:
		share := min(1, float64(done)/float64(total))
		if live {
			parts = append(parts, Part{Text: bar(share), Rank: 4, Style: Green})
		}
		parts = append(parts, Part{Text: fmt.Sprintf("%.0f %%", 100*share), Rank: 1},
			Part{Text: strings.TrimSpace(fmt.Sprintf("%d/%d %s", done, total, t.unit)), Rank: 3})
	case t.unit != "" && done > 0:
		parts = append(parts, Part{Text: fmt.Sprintf("%d %s", done, t.unit), Rank: 1})
	}
	if known && total > 0 {
		return append(parts, Part{Text: Duration(left) + " left", Rank: 2})
	}
	return append(parts, Part{Text: clock(elapsed), Rank: 2})
}

func bar(share float64) string {
	full := int(share * barColumns)
	return strings.Repeat("━", full) + strings.Repeat("╌", barColumns-full)
}
