package cluster

import (
	"slices"
	"time"
)

// sentFrames holds frames on their way, until the receiver acknowledges them. With takenFrames at
// the receiver, frames that an exchange loses, doubles and mixes up arrive once and in order.
// Its zero value has sent nothing; numbers begin at 1. Its user guards it.
type sentFrames struct {
	resend time.Duration // how long an answer is waited for

	frames [][]byte // not acknowledged
	acked  uint64   // the last before them
	due    time.Time
}

// next returns the number of the frame that is sent next.
func (s *sentFrames) next() uint64 { return s.acked + uint64(len(s.frames)) + 1 }

// add keeps the frame with the next number.
func (s *sentFrames) add(now time.Time, frame []byte) {
	if s.frames = append(s.frames, frame); len(s.frames) == 1 {
		s.due = now.Add(s.resend)
	}
}

// ack notes that the receiver has all frames up to a number. It ignores one that is late.
func (s *sentFrames) ack(now time.Time, number uint64) {
	if number <= s.acked || number >= s.next() {
		return
	}
	s.frames = slices.Clone(s.frames[number-s.acked:]) // frees those before
	s.acked, s.due = number, now.Add(s.resend)
}

// again returns the frames that are to be sent again now, and when to ask next.
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

// takenFrames puts frames that came in order. Its zero value has taken nothing.
type takenFrames[F any] struct {
	last  uint64 // the last frame taken: what is acknowledged
	ahead map[uint64]F
}

// put keeps a frame until those before it are taken, unless it was taken, or is more than so
// many ahead.
func (t *takenFrames[F]) put(number uint64, frame F, most int) {
	if number <= t.last || number > t.last+uint64(most) {
		return
	}
	if t.ahead == nil {
		t.ahead = map[uint64]F{}
	}
	t.ahead[number] = frame
}

// next returns the frame that follows the last one taken, if it is here.
func (t *takenFrames[F]) next() (frame F, ok bool) {
	frame, ok = t.ahead[t.last+1]
	return frame, ok
}

// take notes that the next frame is taken.
func (t *takenFrames[F]) take() {
	t.last++
	delete(t.ahead, t.last)
}
