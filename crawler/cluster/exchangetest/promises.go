package exchangetest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"fossick/crawler/cluster"
	"fossick/crawler/cluster/limits"
)

// Open returns the exchange of an agent; all that one test opens belong together, and are
// closed at its end.
type Open func(t testing.TB, id cluster.AgentID) cluster.Exchange

// patience ends a test that hangs.
const patience = time.Minute

// ID names the n-th agent.
func ID(n int) cluster.AgentID { return cluster.AgentID(fmt.Sprintf("%016x", n)) }

// Promises runs all tests. web makes exchanges that share nothing with those of other calls.
func Promises(t *testing.T, web func(t *testing.T) Open) {
	for name, test := range map[string]func(context.Context, *testing.T, Open){
		"messages":     messages,
		"own copies":   ownCopies,
		"overflow":     overflow,
		"swap":         swap,
		"writers":      writers,
		"read own":     readOwn,
		"bounds":       bounds,
		"many keys":    manyKeys,
		"close":        closing,
		"end of waits": contexts,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			test(ctx, t, web(t))
		})
	}
}

// messages: of four agents each sends to all, itself too, and each message arrives once.
func messages(ctx context.Context, t *testing.T, open Open) {
	const agents, each = 4, 100
	var all [agents]cluster.Exchange
	for i := range all {
		all[i] = open(t, ID(i))
	}
	var wait sync.WaitGroup
	for from, e := range all {
		wait.Go(func() {
			for n := range each {
				for to := range all {
					if err := e.Send(ctx, ID(to), binary.BigEndian.AppendUint64(nil, uint64(from*each+n))); err != nil {
						t.Errorf("send: %v", err)
					}
				}
			}
		})
		wait.Go(func() {
			seen := map[uint64]bool{}
			for len(seen) < agents*each {
				m, err := e.Receive(ctx)
				if err != nil || len(m) != 8 {
					t.Errorf("after %d messages: %x, %v", len(seen), m, err)
					return
				}
				n := binary.BigEndian.Uint64(m)
				if seen[n] {
					t.Errorf("message %d came twice", n)
				}
				seen[n] = true
			}
		})
	}
	wait.Wait()
	if err := all[0].Send(ctx, ID(agents), nil); err != nil {
		t.Errorf("to an agent that nobody opened: %v", err)
	}
}

// ownCopies: who sent, wrote or was given bytes may change them.
func ownCopies(ctx context.Context, t *testing.T, open Open) {
	a := open(t, ID(1))
	b := []byte("word")
	if err := a.Send(ctx, ID(1), b); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Swap(ctx, "key", b, 0); err != nil {
		t.Fatal(err)
	}
	copy(b, "sage")
	if m, err := a.Receive(ctx); err != nil || string(m) != "word" {
		t.Errorf("message %q, %v", m, err)
	}
	for range 2 {
		all, err := a.Values(ctx)
		if err != nil || string(all["key"].Bytes) != "word" {
			t.Fatalf("value %q, %v", all["key"].Bytes, err)
		}
		copy(all["key"].Bytes, "sage")
	}
}

// overflow: an agent that reads nothing loses messages. It holds nobody up and hears the
// next ones. What is kept is its mailbox, and what connections may hold on the way.
func overflow(ctx context.Context, t *testing.T, open Open) {
	a, b := open(t, ID(1)), open(t, ID(2))
	const size = 256 << 10
	const sent = 6 * limits.MailboxBytes / size
	message := make([]byte, size)
	for range sent {
		if err := a.Send(ctx, ID(2), message); err != nil {
			t.Fatal(err)
		}
	}
	last := []byte("last")
	got, step := 0, 50*time.Millisecond
	for ctx.Err() == nil {
		if err := a.Send(ctx, ID(2), last); err != nil {
			t.Fatal(err)
		}
		one, cancel := context.WithTimeout(ctx, step)
		m, err := b.Receive(one)
		cancel()
		switch {
		case err == nil && bytes.Equal(m, last):
			if most := sent * 2 / 3; got == 0 || got > most {
				t.Errorf("%d of %d messages were kept, want at most %d", got, sent, most)
			}
			return
		case err == nil:
			got++
		case !errors.Is(err, context.DeadlineExceeded):
			t.Fatal(err)
		}
	}
	t.Error("the mailbox never took another message")
}
