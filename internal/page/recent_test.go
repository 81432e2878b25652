package page

import "testing"

func TestRecentForgetsTheOldest(t *testing.T) {
	r := NewRecent[int](3)
	for key := range uint64(3) {
		r.Put(key, int(key))
	}
	r.Put(3, 3) // now 0, 1, 2 are the older half
	if v, ok := r.Get(0); !ok || v != 0 {
		t.Errorf("get(0) = %d, %v; want 0", v, ok)
	}
	r.Put(4, 4)
	r.Peek(1) // does not count as use
	r.Put(5, 5)
	for key, want := range map[uint64]bool{0: true, 1: false, 2: false, 3: true, 4: true, 5: true} {
		if v, ok := r.Peek(key); ok != want || ok && v != int(key) {
			t.Errorf("peek(%d) = %d, %v; want %v", key, v, ok, want)
		}
	}
	r.Remove(3)
	r.Remove(5)
	if _, ok := r.Get(3); ok {
		t.Error("an entry of the older half was not removed")
	}
	if _, ok := r.Get(5); ok {
		t.Error("an entry of the younger half was not removed")
	}
}
