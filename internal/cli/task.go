package cli

import (
	"fmt"
	"math"
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
		return append(parts, Part{Text: TimeLeft(left) + " left", Rank: 2})
	}
	return append(parts, Part{Text: clock(elapsed), Rank: 2})
}

func bar(share float64) string {
	full := int(share * barColumns)
	return strings.Repeat("━", full) + strings.Repeat("╌", barColumns-full)
}

// Left estimates the remaining time from the pace of the last minute or so. The figure approaches a
// new estimate gradually, so that it does not jump. The zero value is ready; only one goroutine may
// use it.
type Left struct {
	begun   bool
	at      time.Duration // of the last call
	done    float64       // at the last call
	span    float64       // weighted seconds observed
	gained  float64       // work done in span
	shown   float64       // seconds left at the last call
	showing bool
}

const (
	paceOver  = 60 * time.Second // about how long an observation counts
	shownOver = 10 * time.Second // longest time until a change is fully shown
	leastTime = 4 * time.Second  // shortest time before an estimate
	leastDone = 5                // least work before an estimate
)

// After records the work done after elapsed, and returns the remaining time if it is known.
func (l *Left) After(elapsed time.Duration, done, total float64) (time.Duration, bool) {
	if !l.begun {
		l.begun, l.at, l.done = true, elapsed, done
		return 0, false
	}
	step := (elapsed - l.at).Seconds()
	if step > 0 {
		fade := math.Exp(-step / paceOver.Seconds())
		l.span, l.gained = l.span*fade+step, l.gained*fade+done-l.done
		l.at, l.done = elapsed, done
		l.shown -= step
	}
	if l.span < leastTime.Seconds() || l.gained < leastDone || total <= 0 {
		l.showing = false
		return 0, false
	}
	now := max(0, total-done) * l.span / l.gained
	if !l.showing {
		l.shown, l.showing = now, true
	}
	over := min(shownOver.Seconds(), l.span/3) // early estimates are worst, so they change fastest
	l.shown += (now - l.shown) * (1 - math.Exp(-step/over))
	l.shown = max(now/2, l.shown) // it has run on while the work stood still, or the work has grown
	return time.Duration(l.shown * float64(time.Second)), true
}

// clock formats elapsed time: 8 s, 1 min 20 s.
func clock(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
}

// TimeLeft formats remaining time, coarser the longer it is: 8 s, 40 s, 3 min, 2 h 10 min.
func TimeLeft(d time.Duration) string {
	round := func(to time.Duration) time.Duration { return (d + to - 1) / to * to }
	switch {
	case d <= 20*time.Second:
		return fmt.Sprintf("%d s", round(time.Second)/time.Second)
	case d <= 55*time.Second:
		return fmt.Sprintf("%d s", round(5*time.Second)/time.Second)
	case d <= 59*time.Minute:
		return fmt.Sprintf("%d min", round(time.Minute)/time.Minute)
	case d <= 24*time.Hour:
		d = round(10 * time.Minute)
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	}
	d = round(time.Hour)
	return fmt.Sprintf("%d d %d h", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}

// Brief formats a time without empty parts: 1h, not 1h0m0s.
func Brief(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
