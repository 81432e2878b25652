package features

import (
	"runtime"
	"testing"
)

func TestSpare(t *testing.T) {
	made := 0
	s := NewSpare(func() *int { made++; return new(int) })
	a := s.Get()
	*a = 7
	s.Put(a)
	runtime.GC()
	runtime.GC() // a sync.Pool would have dropped it by now
	if b := s.Get(); b != a || made != 1 {
		t.Errorf("got %v after %d made; want the one put back", b, made)
	}
	most := runtime.GOMAXPROCS(0)
	for range 3 * most {
		s.Put(new(int))
	}
	for range most {
		s.Get()
	}
	if before := made; s.Get() == nil || made != before+1 {
		t.Errorf("%d made; want %d kept and no more", made-before, most)
	}
}
