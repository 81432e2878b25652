package terminal

import (
	"fmt"
	"math"
	"strings"
	"time"
)

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
	l.shown = max(0, l.shown)
	return time.Duration(l.shown * float64(time.Second)), true
}

// clock formats elapsed time: 8 s, 1 min 20 s.
func clock(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
}

// Duration formats remaining time, coarser the longer it is: 8 s, 40 s, 3 min, 2 h 10 min.
func Duration(d time.Duration) string {
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
