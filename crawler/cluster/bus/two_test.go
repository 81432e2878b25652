package bus

import (
	"context"
	"testing"
	"time"
)

// TestTwoOfThree: if one of three machines is absent, the others start with two copies. When it
// comes, it gets the third.
func TestTwoOfThree(t *testing.T) {
	t.Parallel()
	at := []string{freeAddress(t), freeAddress(t), freeAddress(t)}
	serve := func(i int) *Server {
		s, err := Serve(ServeOptions{Crawl: "bees", Agent: agentID(1000 * (i + 1)), Dir: t.TempDir(), Routes: at[i], Peers: at, unsynced: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closed(t, s) })
		return s
	}
	serve(0)
	b := opened(t, Options{Agent: agentID(1), Server: serve(1)})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := b.Swap(ctx, "key", []byte("value"), 0); err != nil {
		t.Fatal(err)
	}
	serve(2)
	for copies := 0; copies != 3; {
		if _, err := b.Values(ctx); err != nil {
			t.Fatalf("%d copies, %v", copies, err)
		}
		if s, err := b.values.js.Stream(ctx, b.values.stream()); err == nil {
			copies = s.CachedInfo().Config.Replicas
		}
	}
}
