package cluster

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"fossick/internal/wire"
)

// pairOf returns peer 0 of two, whose exchange nobody reads, at a session 7 with lives 3 and 5.
func pairOf(t *testing.T) *peer {
	t.Helper()
	e, err := NewHub().Open(idA)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return newPeer(e, 7, 0, []AgentID{idA, idB}, []uint64{3, 5}, time.Second)
}

// TestPeerStrangers: only what the other says in this session, in its present life and to this
// one's, is heard.
func TestPeerStrangers(t *testing.T) {
	right := peerFrame{Version: taskVersion, Session: 7, From: 1, Life: 5, Of: 3, Seq: 1, Kind: kindEnd, Bytes: []byte("text")}
	for name, change := range map[string]func(f *peerFrame){
		"of another session":   func(f *peerFrame) { f.Session = 6 },
		"of a later session":   func(f *peerFrame) { f.Session = 8 },
		"of an earlier life":   func(f *peerFrame) { f.Life = 4 },
		"to an earlier life":   func(f *peerFrame) { f.Of = 2 },
		"of itself":            func(f *peerFrame) { f.From = 0 },
		"of nobody":            func(f *peerFrame) { f.From = 2 },
		"of another version":   func(f *peerFrame) { f.Version++ },
		"beyond the window":    func(f *peerFrame) { f.Seq = 1 << 40 },
		"after a missing one":  func(f *peerFrame) { f.Seq = 2 },
		"without the last bit": func(f *peerFrame) { f.Kind = kindPart },
	} {
		p, f := pairOf(t), right
		change(&f)
		if err := p.hear(t.Context(), wire.Encode(f)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(p.inbox) != 0 {
			t.Errorf("%s: heard %q", name, p.inbox[0].bytes)
		}
		if f.Kind == kindPart {
			continue // the rest of it may come
		}
		if err := p.hear(t.Context(), wire.Encode(right)); err != nil || len(p.inbox) == 0 || string(p.inbox[0].bytes) != "text" {
			t.Errorf("after one %s: %v, %d messages", name, err, len(p.inbox)) // what is right was spoilt
		}
	}
	p := pairOf(t)
	later := right
	later.Life = 6
	for _, f := range []peerFrame{right, right, later, right, later} {
		if err := p.hear(t.Context(), wire.Encode(f)); err != nil {
			t.Error(err)
		}
	}
	if len(p.inbox) != 2 {
		t.Errorf("%d messages, want one of each life", len(p.inbox))
	}
}

// TestPeerFull: a peer that takes nothing is not sent to without end, and nobody sends to itself.
func TestPeerFull(t *testing.T) {
	p := pairOf(t)
	var err error
	n := 0
	for ; err == nil && n < 10*mostQueued; n++ {
		err = p.Send(t.Context(), 1, []byte("text"))
	}
	if window := p.links[1].window; !errors.Is(err, errPeerFull) || n != window+mostQueued+1 {
		t.Errorf("%v after %d messages, with a window of %d", err, n, window)
	}
	for _, to := range []int{0, 2, -1} {
		if err := p.Send(t.Context(), to, nil); !errors.Is(err, errWire) {
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
