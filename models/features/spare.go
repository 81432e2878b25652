package features

import (
	"runtime"
	"sync"
)

// Spare keeps values that are costly to make until they are needed again, one a
// processor at most. Unlike a sync.Pool it keeps them through garbage
// collections. An Analyzer that lost the words it knows would stem them all
// again, which takes several times as long as a page. It is safe for concurrent
// use.
type Spare[T any] struct {
	make func() *T

	mu   sync.Mutex // guards free
	free []*T
}

// NewSpare returns an empty store of values that make makes.
func NewSpare[T any](make func() *T) *Spare[T] { return &Spare[T]{make: make} }

// Get returns a value that nobody else uses: the one put back last, or a new one.
func (s *Spare[T]) Get() *T {
	s.mu.Lock()
	if n := len(s.free); n > 0 {
		v := s.free[n-1]
		s.free = s.free[:n-1]
		s.mu.Unlock()
		return v
	}
	s.mu.Unlock()
	return s.make()
}

// Put gives a value back. Where enough are kept it is dropped.
func (s *Spare[T]) Put(v *T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free) < runtime.GOMAXPROCS(0) {
		s.free = append(s.free, v)
	}
}
