// Package inorder has what both ends of a connection keep, so that frames which an exchange
// loses, doubles and mixes up come once and in order.
//
// In: frames, their numbers, the time. Out: what is to be sent again, what is next. It sends
// nothing and starts nothing. Who uses it guards it.
//
// Start with Sent at the sender, Taken at the receiver.
//
// Files: inorder.go all of it.
package inorder

import (
	"slices"
	"time"
)

// Sent is frames on their way. Its zero value has sent nothing; numbers begin at 1.
type Sent struct {
	Resend time.Duration // how long an answer is waited for

	frames [][]byte // not acknowledged
	acked  uint64   // the last before them
	due    time.Time
}

// Next is the number of the frame that is sent next.
func (s *Sent) Next() uint64 { return s.acked + uint64(len(s.frames)) + 1 }

// Acked is the last number that was acknowledged, Len how many frames after it are on their way.
func (s *Sent) Acked() uint64 { return s.acked }
func (s *Sent) Len() int      { return len(s.frames) }

// Add keeps the frame with the next number.
func (s *Sent) Add(now time.Time, frame []byte) {
	if s.frames = append(s.frames, frame); len(s.frames) == 1 {
		s.due = now.Add(s.Resend)
	}
}

// Ack says that the receiver has all up to a number. One that is late says nothing.
func (s *Sent) Ack(now time.Time, number uint64) {
	if number <= s.acked || number >= s.Next() {
		return
	}
	s.frames = slices.Clone(s.frames[number-s.acked:]) // those before may go
	s.acked, s.due = number, now.Add(s.Resend)
}

// Again returns the frames that are to be sent again now, and when to ask next.
func (s *Sent) Again(now time.Time) (frames [][]byte, wait time.Duration) {
	if len(s.frames) == 0 {
		return nil, time.Hour
	}
	if wait = s.due.Sub(now); wait > 0 {
		return nil, wait
	}
	s.due = now.Add(s.Resend)
	return slices.Clone(s.frames), s.Resend
}

// Taken is frames that came. Its zero value has taken nothing.
type Taken[F any] struct {
	last  uint64
	ahead map[uint64]F
}

// Put keeps a frame until those before it are taken, unless it was, or is more than so many
// ahead.
func (t *Taken[F]) Put(number uint64, frame F, most int) {
	if number <= t.last || number > t.last+uint64(most) {
		return
	}
	if t.ahead == nil {
		t.ahead = map[uint64]F{}
	}
	t.ahead[number] = frame
}

// Next returns the frame that follows what was taken, if it is here.
func (t *Taken[F]) Next() (frame F, ok bool) {
	frame, ok = t.ahead[t.last+1]
	return frame, ok
}

// Take says that the next one is taken.
func (t *Taken[F]) Take() {
	t.last++
	delete(t.ahead, t.last)
}

// Last is the number of the last frame taken: what is acknowledged.
func (t *Taken[F]) Last() uint64 { return t.last }
