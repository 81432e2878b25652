package frontier

import (
	"testing"
	"time"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newFrontier(t testing.TB, opt Options) *Frontier {
	t.Helper()
	f, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func TestNextGivesBestFirstThenEarliestDiscovered(t *testing.T) {
	f := newFrontier(t, Options{})
	f.Push(Item{ID: 1, Host: f.Host("a:80"), Priority: 0.5})
	f.Push(Item{ID: 2, Host: f.Host("b:80"), Priority: 0.9})
	f.Push(Item{ID: 3, Host: f.Host("c:80"), Priority: 0.5})
	f.Push(Item{ID: 4, Host: f.Host("d:80"), Priority: 0.1})
	want := []ID{2, 1, 3, 4}
	for i, id := range want {
		it, ok := f.Next(start)
		if !ok || it.ID != id {
			t.Fatalf("take %d: got %v %v, want URL %d", i, it, ok, id)
		}
	}
}

func TestHostInUseIsPassedOver(t *testing.T) {
	f := newFrontier(t, Options{})
	f.Push(Item{ID: 1, Host: f.Host("a:80"), Priority: 0.9})
	f.Push(Item{ID: 2, Host: f.Host("a:80"), Priority: 0.8})
	f.Push(Item{ID: 3, Host: f.Host("b:80"), Priority: 0.1})
	first, _ := f.Next(start)
	second, _ := f.Next(start)
	if first.ID != 1 || second.ID != 3 {
		t.Fatalf("got %d then %d, want 1 then 3: host a is in use", first.ID, second.ID)
	}
	if it, ok := f.Next(start); ok {
		t.Fatalf("got %v while both hosts are in use", it)
	}
	f.Done(f.Host("a:80"), start.Add(2*time.Second))
	if it, ok := f.Next(start.Add(time.Second)); ok {
		t.Fatalf("got %v while host a rests", it)
	}
	if at, ok := f.Wake(); !ok || !at.Equal(start.Add(2*time.Second)) {
		t.Fatalf("Wake = %v %v, want in 2 s", at, ok)
	}
	if n := f.Resting(); n != 1 {
		t.Errorf("%d hosts rest with URLs, want a alone: b has none left", n)
	}
	if it, ok := f.Next(start.Add(2 * time.Second)); !ok || it.ID != 2 {
		t.Fatalf("got %v %v after the rest, want URL 2", it, ok)
	}
}

func TestQueuedURLTakesBestParent(t *testing.T) {
	f := newFrontier(t, Options{})
	raise := func(id ID, priority float64) { f.Raise(Item{ID: id, Host: f.Host("a:80"), Priority: priority}) }
	raise(1, 0.3)
	raise(2, 0.4)
	raise(1, 0.6) // a better parent raises it
	raise(2, 0.1) // a worse one does not lower it
	if n := f.Len(); n != 2 {
		t.Errorf("Len = %d, want 2", n)
	}
	for _, want := range []Item{{ID: 1, Priority: 0.6}, {ID: 2, Priority: 0.4}} {
		want.Host = f.Host("a:80")
		if it, _ := f.Next(start); it != want {
			t.Errorf("next is %+v, want %+v", it, want)
		}
		f.Done(f.Host("a:80"), time.Time{})
	}
	if it, ok := f.Next(start); ok {
		t.Errorf("got %+v again", it)
	}
}

func TestRestAll(t *testing.T) {
	f := newFrontier(t, Options{})
	f.RestAll(start.Add(time.Second))
	f.Push(Item{ID: 1, Host: f.Host("a:80")})
	f.Push(Item{ID: 2, Host: f.Host("b:80")})
	f.Rest(f.Host("b:80"), start.Add(3*time.Second))
	if it, ok := f.Next(start); ok {
		t.Fatalf("got %v while all rest", it)
	}
	for i, seconds := range []int{1, 3} {
		at, ok := f.Wake()
		if want := start.Add(time.Duration(seconds) * time.Second); !ok || !at.Equal(want) {
			t.Fatalf("Wake = %v %v, want %v", at, ok, want)
		}
		if it, ok := f.Next(at); !ok || it.ID != ID(i+1) {
			t.Fatalf("got %v %v at %v, want URL %d", it, ok, at, i+1)
		}
		f.Next(at) // parks what rests
	}
}

func TestHostsAtOneAddressAreOneParty(t *testing.T) {
	f := newFrontier(t, Options{})
	f.Push(Item{ID: 1, Host: f.Host("a:80"), Priority: 0.9})
	f.Push(Item{ID: 2, Host: f.Host("b:80"), Priority: 0.8})
	f.Join(f.Host("a:80"), "192.0.2.1")
	f.Join(f.Host("b:80"), "192.0.2.1")
	f.Next(start)
	if it, ok := f.Next(start); ok {
		t.Fatalf("got %v while its address is in use", it)
	}
	f.Done(f.Host("a:80"), time.Time{})
	if it, ok := f.Next(start); !ok || it.ID != 2 || it.Host != f.Host("b:80") {
		t.Fatalf("got %v %v, want URL 2 of b", it, ok)
	}
}

func TestTake(t *testing.T) {
	f := newFrontier(t, Options{})
	f.Push(Item{ID: 1, Host: f.Host("a:80"), Priority: 0.9})
	f.Push(Item{ID: 2, Host: f.Host("b:80"), Priority: 0.8})
	f.Next(start)
	if !f.Take(f.Host("b:80"), f.Host("a:80"), start) {
		t.Fatal("b is free and was not given")
	}
	if it, ok := f.Next(start); ok {
		t.Fatalf("got %v of a host that was taken", it)
	}
	if f.Take(f.Host("b:80"), f.Host("a:80"), start) {
		t.Error("b was given twice")
	}
	f.Done(f.Host("b:80"), start.Add(time.Second))
	if f.Take(f.Host("b:80"), f.Host("a:80"), start) {
		t.Error("b was given while it rests")
	}
	if !f.Take(f.Host("b:80"), f.Host("a:80"), start.Add(time.Second)) {
		t.Error("b was not given after its rest")
	}
	f.Done(f.Host("b:80"), time.Time{})
	if f.Next(start.Add(time.Second)); !f.Take(f.Host("a:80"), f.Host("a:80"), start) {
		t.Error("a host could not be taken on its own behalf")
	}
}
