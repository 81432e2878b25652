package cluster

import (
	"slices"
	"time"
)

// sentFrames holds frames until the receiver acknowledges them. With takenFrames there, it
// delivers frames once and in order over a lossy exchange. Numbers begin at 1.
type sentFrames struct {
	resend time.Duration // time to wait for an acknowledgement

	frames [][]byte // unacknowledged
	acked  uint64   // the last acknowledged number
	due    time.Time
}

func (s *sentFrames) next() uint64 { return s.acked + uint64(len(s.frames)) + 1 }

func (s *sentFrames) add(now time.Time, frame []byte) {
	if s.frames = append(s.frames, frame); len(s.frames) == 1 {
		s.due = now.Add(s.resend)
	}
}

// ack records that the receiver has all frames up to number. Late calls have no effect.
func (s *sentFrames) ack(now time.Time, number uint64) {
	if number <= s.acked || number >= s.next() {
		return
	}
	s.frames = slices.Clone(s.frames[number-s.acked:]) // frees the acknowledged frames
	s.acked, s.due = number, now.Add(s.resend)
}

// again returns the frames to send again now, and when to ask next.
func (s *sentFrames) again(now time.Time) (frames [][]byte, wait time.Duration) {
	if len(s.frames) == 0 {
		return nil, time.Hour
	}
	if wait = s.due.Sub(now); wait > 0 {
		return nil, wait
	}
	s.due = now.Add(s.resend)
	return slices.Clone(s.frames), s.resend
}

// takenFrames puts received frames in order. The zero value has received none.
type takenFrames[F any] struct {
	last  uint64 // last frame taken, to be acknowledged
	ahead map[uint64]F
}

// put stores a frame, unless it was taken already or is more than most ahead.
func (t *takenFrames[F]) put(number uint64, frame F, most int) {
	if number <= t.last || number > t.last+uint64(most) {
		return
	}
	if t.ahead == nil {
		t.ahead = map[uint64]F{}
	}
	t.ahead[number] = frame
}

// next returns the frame after the last one taken, if it has arrived.
func (t *takenFrames[F]) next() (frame F, ok bool) {
	frame, ok = t.ahead[t.last+1]
	return frame, ok
}

func (t *takenFrames[F]) take() {
	t.last++
	delete(t.ahead, t.last)
}
