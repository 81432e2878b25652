package keeper

import "slices"

// waiting is what is to be done when the replica has a parcel.
type waiting struct {
	number uint64
	do     func()
}

// When has something done once the replica has all up to a number, or nobody keeps one. It
// is not to wait.
func (s *Sender) When(number uint64, do func()) {
	s.mu.Lock()
	s.waiting = append(s.waiting, waiting{number, do})
	s.mu.Unlock()
	s.Reach(number)
	s.doReady()
}

// doReady does what was waited for.
func (s *Sender) doReady() {
	s.mu.Lock()
	var ready []waiting
	s.waiting = slices.DeleteFunc(s.waiting, func(w waiting) bool {
		ok := s.named && (s.keeper == "" || w.number <= s.number)
		if ok {
			ready = append(ready, w)
		}
		return ok
	})
	s.mu.Unlock()
	for _, w := range ready {
		w.do()
	}
}
