package peers

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"fossick/crawler/cluster"
	"fossick/crawler/cluster/local"
	"fossick/internal/wire"
)

// pairOf returns peer 0 of two, whose exchange nobody reads, at a session 7 with lives 3 and 5.
func pairOf(t *testing.T) *Peer {
	t.Helper()
	e, err := local.New().Open(a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return newPeer(e, 7, 0, []cluster.AgentID{a, b}, []uint64{3, 5}, time.Second)
}

// TestStrangers: only what the other says in this session, in its present life and to this
// one's, is heard.
func TestStrangers(t *testing.T) {
	right := frame{Version: wireVersion, Session: 7, From: 1, Life: 5, Of: 3, Seq: 1, Kind: kindEnd, Bytes: []byte("text")}
	for name, change := range map[string]func(f *frame){
		"of another session":   func(f *frame) { f.Session = 6 },
		"of a later session":   func(f *frame) { f.Session = 8 },
		"of an earlier life":   func(f *frame) { f.Life = 4 },
		"to an earlier life":   func(f *frame) { f.Of = 2 },
		"of itself":            func(f *frame) { f.From = 0 },
		"of nobody":            func(f *frame) { f.From = 2 },
		"of another version":   func(f *frame) { f.Version++ },
		"beyond the window":    func(f *frame) { f.Seq = 1 << 40 },
		"after a missing one":  func(f *frame) { f.Seq = 2 },
		"without the last bit": func(f *frame) { f.Kind = kindPiece },
	} {
		p, f := pairOf(t), right
		change(&f)
		if err := p.hear(t.Context(), wire.Encode(f)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(p.inbox) != 0 {
			t.Errorf("%s: heard %q", name, p.inbox[0].bytes)
		}
		if f.Kind == kindPiece {
			continue // the rest of it may come
		}
		if err := p.hear(t.Context(), wire.Encode(right)); err != nil || len(p.inbox) == 0 || string(p.inbox[0].bytes) != "text" {
			t.Errorf("after one %s: %v, %d messages", name, err, len(p.inbox)) // what is right was spoilt
		}
	}
	p := pairOf(t)
	later := right
	later.Life = 6
	for _, f := range []frame{right, right, later, right, later} {
		if err := p.hear(t.Context(), wire.Encode(f)); err != nil {
			t.Error(err)
		}
	}
	if len(p.inbox) != 2 {
		t.Errorf("%d messages, want one of each life", len(p.inbox))
	}
}

// TestFull: a peer that takes nothing is not sent to without end, and nobody sends to itself.
func TestFull(t *testing.T) {
	p := pairOf(t)
	var err error
	n := 0
	for ; err == nil && n < 10*mostQueued; n++ {
		err = p.Send(t.Context(), 1, []byte("text"))
	}
	if window := p.links[1].window; !errors.Is(err, ErrFull) || n != window+mostQueued+1 {
		t.Errorf("%v after %d messages, with a window of %d", err, n, window)
	}
	for _, to := range []int{0, 2, -1} {
		if err := p.Send(t.Context(), to, nil); !errors.Is(err, ErrWire) {
			t.Errorf("to %d: %v", to, err)
		}
	}
	ctx, stop := context.WithCancelCause(t.Context())
	why := fmt.Errorf("enough")
	stop(why)
	if _, _, err := p.Receive(ctx); !errors.Is(err, why) {
		t.Error(err)
	}
}
