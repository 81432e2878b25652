package bus

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"fossick/crawler/cluster"
	"fossick/internal/testkit"
)

// openExchange opens an agent's exchange. All exchanges of one test belong together and are
// closed at its end.
type openExchange func(t testing.TB, id cluster.AgentID) cluster.Exchange

// hangs is the time after which a test counts as hanging.
const hangs = time.Minute

func agentID(n int) cluster.AgentID { return cluster.AgentID(fmt.Sprintf("%016x", n)) }

// promises tests an implementation of cluster.Exchange. Each call of web makes a separate
// exchange.
func promises(t *testing.T, web func(t *testing.T) openExchange) {
	for name, test := range map[string]func(context.Context, *testing.T, openExchange){
		"messages":     messages,
		"own copies":   ownCopies,
		"overflow":     overflow,
		"swap":         swap,
		"writers":      writers,
		"read own":     readOwn,
		"boundsOf":     boundsOf,
		"many keys":    manyKeys,
		"close":        closing,
		"end of waits": contexts,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), hangs)
			defer cancel()
			test(ctx, t, web(t))
		})
	}
}

// messages: each of four agents sends to all, including itself, and each message arrives once.
func messages(ctx context.Context, t *testing.T, open openExchange) {
	const agents, each = 4, 100
	var all [agents]cluster.Exchange
	for i := range all {
		all[i] = open(t, agentID(i))
	}
	var wait sync.WaitGroup
	for from, e := range all {
		wait.Go(func() {
			for n := range each {
				for to := range all {
					if err := e.Send(ctx, agentID(to), binary.BigEndian.AppendUint64(nil, uint64(from*each+n))); err != nil {
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
	if err := all[0].Send(ctx, agentID(agents), nil); err != nil {
		t.Errorf("to an agent that nobody opened: %v", err)
	}
}

// ownCopies: callers may change bytes that they sent, wrote or received.
func ownCopies(ctx context.Context, t *testing.T, open openExchange) {
	a := open(t, agentID(1))
	b := []byte("word")
	testkit.Must(t, a.Send(ctx, agentID(1), b))
	testkit.Call(a.Swap(ctx, "key", b, 0)).Must(t)
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

// overflow: an agent that does not read loses messages, blocks nobody, and receives later ones.
// At most its mailbox and the connections' buffers are kept.
func overflow(ctx context.Context, t *testing.T, open openExchange) {
	a, b := open(t, agentID(1)), open(t, agentID(2))
	const size = 256 << 10
	const sent = 6 * cluster.MailboxBytes / size
	message := make([]byte, size)
	for range sent {
		testkit.Must(t, a.Send(ctx, agentID(2), message))
	}
	last := []byte("last")
	got, step := 0, 50*time.Millisecond
	for ctx.Err() == nil {
		testkit.Must(t, a.Send(ctx, agentID(2), last))
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

// swap: a write needs the key's present revision, and revisions rise over all keys.
func swap(ctx context.Context, t *testing.T, open openExchange) {
	a, b := open(t, agentID(1)), open(t, agentID(2))
	if all, err := a.Values(ctx); err != nil || len(all) != 0 {
		t.Fatalf("at the beginning: %v, %v", all, err)
	}
	write := func(e cluster.Exchange, key, value string, revision uint64) uint64 {
		t.Helper()
		got, err := e.Swap(ctx, key, []byte(value), revision)
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		return got
	}
	refused := func(e cluster.Exchange, key string, revision uint64) {
		t.Helper()
		if got, err := e.Swap(ctx, key, []byte("no"), revision); !errors.Is(err, cluster.ErrRevision) {
			t.Errorf("%s at revision %d: %d, %v; want ErrRevision", key, revision, got, err)
		}
	}
	one := write(a, "x", "1", 0)
	refused(b, "x", 0)
	refused(b, "y", one)
	two := write(b, "x.y", "2", 0)
	three := write(b, "x", "", one)
	refused(a, "x", one)
	refused(a, "x", two)
	refused(a, "x", three+1)
	if one == 0 || two <= one || three <= two {
		t.Errorf("revisions %d, %d, %d", one, two, three)
	}
	all, err := a.Values(ctx)
	if err != nil || len(all) != 2 || string(all["x.y"].Bytes) != "2" || all["x.y"].Revision != two ||
		len(all["x"].Bytes) != 0 || all["x"].Revision != three {
		t.Errorf("values %v, %v", all, err)
	}
	some, err := b.Values(ctx, "x.y", "never")
	if err != nil || len(some) != 1 || string(some["x.y"].Bytes) != "2" || some["x.y"].Revision != two {
		t.Errorf("of two keys: %v, %v", some, err)
	}
}

// writers: 16 agents count by compare-and-swap, and no step is lost.
func writers(ctx context.Context, t *testing.T, open openExchange) {
	const agents, each = 16, 12
	var wait sync.WaitGroup
	for n := range agents {
		e := open(t, agentID(n))
		wait.Go(func() {
			for range each {
				if err := count(ctx, e, "count"); err != nil {
					t.Errorf("agent %d: %v", n, err)
					return
				}
			}
		})
	}
	wait.Wait()
	all, err := open(t, agentID(agents)).Values(ctx)
	if got := counterOf(all["count"]); err != nil || got != agents*each {
		t.Errorf("counted %d of %d, %v", got, agents*each, err)
	}
}

func count(ctx context.Context, e cluster.Exchange, key string) error {
	for {
		all, err := e.Values(ctx)
		if err != nil {
			return err
		}
		had := all[key]
		revision, err := e.Swap(ctx, key, binary.BigEndian.AppendUint64(nil, counterOf(had)+1), had.Revision)
		switch {
		case err == nil && revision <= had.Revision:
			return fmt.Errorf("revision %d after %d", revision, had.Revision)
		case !errors.Is(err, cluster.ErrRevision):
			return err
		}
	}
}

func counterOf(v cluster.Value) uint64 {
	if len(v.Bytes) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(v.Bytes)
}

// readOwn: an agent reads at once what another has written.
func readOwn(ctx context.Context, t *testing.T, open openExchange) {
	a, b := open(t, agentID(1)), open(t, agentID(2))
	revision := uint64(0)
	for n := range 50 {
		var err error
		if revision, err = a.Swap(ctx, "key", fmt.Append(nil, n), revision); err != nil {
			t.Fatal(err)
		}
		all, err := b.Values(ctx)
		if err != nil || all["key"].Revision != revision || string(all["key"].Bytes) != fmt.Sprint(n) {
			t.Fatalf("write %d at %d: %v, %v", n, revision, all, err)
		}
	}
}

// boundsOf: oversized input and invalid names are refused and change nothing.
func boundsOf(ctx context.Context, t *testing.T, open openExchange) {
	a := open(t, agentID(1))
	for _, key := range []string{"", "a b", "a..b", ".a", "a.", "a.*", ">", "_a", strings.Repeat("k", 129)} {
		if _, err := a.Swap(ctx, key, nil, 0); !errors.Is(err, cluster.ErrName) {
			t.Errorf("key %q: %v", key, err)
		}
	}
	if _, err := a.Swap(ctx, "a", make([]byte, 512<<10+1), 0); !errors.Is(err, cluster.ErrLarge) {
		t.Errorf("a large value: %v", err)
	}
	if err := a.Send(ctx, agentID(1), make([]byte, 1<<20+1)); !errors.Is(err, cluster.ErrLarge) {
		t.Errorf("a large message: %v", err)
	}
	if err := a.Send(ctx, "a.>", nil); !errors.Is(err, cluster.ErrName) {
		t.Errorf("to no agent: %v", err)
	}
	if _, err := a.Swap(ctx, "a", make([]byte, 512<<10), 0); err != nil {
		t.Errorf("a value of the largest size: %v", err)
	}
	if err := a.Send(ctx, agentID(1), make([]byte, 1<<20)); err != nil {
		t.Errorf("a message of the largest size: %v", err)
	}
	if m, err := a.Receive(ctx); err != nil || len(m) != 1<<20 {
		t.Errorf("%d bytes, %v", len(m), err)
	}
	all, err := a.Values(ctx)
	if err != nil || len(all) != 1 || len(all["a"].Bytes) != 512<<10 {
		t.Errorf("%d values, %v", len(all), err)
	}
}

// manyKeys: the number of keys is limited; existing keys stay writable.
func manyKeys(ctx context.Context, t *testing.T, open openExchange) {
	const at = 8
	var wait sync.WaitGroup
	for part := range at {
		e := open(t, agentID(part))
		wait.Go(func() {
			for n := part; n < cluster.MostKeys; n += at {
				if _, err := e.Swap(ctx, fmt.Sprintf("key.%d", n), fmt.Append(nil, n), 0); err != nil {
					t.Errorf("key %d: %v", n, err)
					return
				}
			}
		})
	}
	wait.Wait()
	a := open(t, agentID(at))
	if _, err := a.Swap(ctx, "another", nil, 0); !errors.Is(err, cluster.ErrFull) {
		t.Errorf("one key more: %v", err)
	}
	all, err := a.Values(ctx)
	if err != nil || len(all) != cluster.MostKeys {
		t.Fatalf("%d keys, %v", len(all), err)
	}
	if _, err := a.Swap(ctx, "key.7", []byte("on"), all["key.7"].Revision); err != nil {
		t.Errorf("a key of a full table: %v", err)
	}
	if all, err := a.Values(ctx); err != nil || len(all) != cluster.MostKeys || string(all["key.7"].Bytes) != "on" {
		t.Errorf("%d keys, %q, %v", len(all), all["key.7"].Bytes, err)
	}
}

// closing: Close ends all waiting calls, may be called twice, and affects no other exchange.
func closing(ctx context.Context, t *testing.T, open openExchange) {
	a, b := open(t, agentID(1)), open(t, agentID(2))
	var wait, ready sync.WaitGroup
	for range 8 {
		ready.Add(1)
		wait.Go(func() {
			ready.Done()
			if m, err := a.Receive(ctx); !errors.Is(err, cluster.ErrClosed) {
				t.Errorf("who waits hears %q, %v", m, err)
			}
		})
	}
	ready.Wait()
	for range 2 {
		if err := a.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	wait.Wait()
	if err := a.Send(ctx, agentID(2), nil); !errors.Is(err, cluster.ErrClosed) {
		t.Errorf("send: %v", err)
	}
	if _, err := a.Swap(ctx, "a", nil, 0); !errors.Is(err, cluster.ErrClosed) {
		t.Errorf("swap: %v", err)
	}
	if _, err := a.Values(ctx); !errors.Is(err, cluster.ErrClosed) {
		t.Errorf("values: %v", err)
	}
	if err := b.Send(ctx, agentID(1), nil); err != nil {
		t.Errorf("to an agent that closed: %v", err)
	}
	if err := b.Send(ctx, agentID(2), []byte("x")); err != nil {
		t.Errorf("send: %v", err)
	}
	if m, err := b.Receive(ctx); err != nil || string(m) != "x" {
		t.Errorf("the other's message %q, %v", m, err)
	}
	again := open(t, agentID(1))
	if err := b.Send(ctx, agentID(1), []byte("y")); err != nil {
		t.Errorf("send: %v", err)
	}
	if m, err := again.Receive(ctx); err != nil || string(m) != "y" {
		t.Errorf("opened again: %q, %v", m, err)
	}
}

// contexts: a context ends a waiting call, and the exchange stays usable.
func contexts(ctx context.Context, t *testing.T, open openExchange) {
	a := open(t, agentID(1))
	waiting, cancel := context.WithCancel(ctx)
	heard := make(chan error)
	for range 4 {
		go func() {
			_, err := a.Receive(waiting)
			heard <- err
		}()
	}
	cancel()
	for range 4 {
		if err := <-heard; !errors.Is(err, context.Canceled) {
			t.Errorf("receive: %v", err)
		}
	}
	if err := a.Send(waiting, agentID(1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("send: %v", err)
	}
	if _, err := a.Swap(waiting, "a", nil, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("swap: %v", err)
	}
	if _, err := a.Values(waiting); !errors.Is(err, context.Canceled) {
		t.Errorf("values: %v", err)
	}
	if err := a.Send(ctx, agentID(1), []byte("x")); err != nil {
		t.Error(err)
	}
	if m, err := a.Receive(ctx); err != nil || string(m) != "x" {
		t.Errorf("afterwards: %q, %v", m, err)
	}
}
