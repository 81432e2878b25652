package exchangetest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"fossick/crawler/cluster"
	"fossick/crawler/cluster/limits"
)

// swap: a key is written by who knows its revision, and revisions rise over all keys.
func swap(ctx context.Context, t *testing.T, open Open) {
	a, b := open(t, ID(1)), open(t, ID(2))
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

// writers: 16 agents count together by compare-and-swap, and no step is lost.
func writers(ctx context.Context, t *testing.T, open Open) {
	const agents, each = 16, 12
	var wait sync.WaitGroup
	for n := range agents {
		e := open(t, ID(n))
		wait.Go(func() {
			for range each {
				if err := Count(ctx, e, "count"); err != nil {
					t.Errorf("agent %d: %v", n, err)
					return
				}
			}
		})
	}
	wait.Wait()
	all, err := open(t, ID(agents)).Values(ctx)
	if got := Counted(all["count"]); err != nil || got != agents*each {
		t.Errorf("counted %d of %d, %v", got, agents*each, err)
	}
}

// Count adds one to a key by compare-and-swap, however often others were first.
func Count(ctx context.Context, e cluster.Exchange, key string) error {
	for {
		all, err := e.Values(ctx)
		if err != nil {
			return err
		}
		had := all[key]
		revision, err := e.Swap(ctx, key, binary.BigEndian.AppendUint64(nil, Counted(had)+1), had.Revision)
		switch {
		case err == nil && revision <= had.Revision:
			return fmt.Errorf("revision %d after %d", revision, had.Revision)
		case !errors.Is(err, cluster.ErrRevision):
			return err
		}
	}
}

// Counted is what Count has reached.
func Counted(v cluster.Value) uint64 {
	if len(v.Bytes) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(v.Bytes)
}

// readOwn: what one has written, another reads at once.
func readOwn(ctx context.Context, t *testing.T, open Open) {
	a, b := open(t, ID(1)), open(t, ID(2))
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

// bounds: what is too large, or no name, is refused and changes nothing.
func bounds(ctx context.Context, t *testing.T, open Open) {
	a := open(t, ID(1))
	for _, key := range []string{"", "a b", "a..b", ".a", "a.", "a.*", ">", "_a", strings.Repeat("k", 129)} {
		if _, err := a.Swap(ctx, key, nil, 0); !errors.Is(err, limits.ErrName) {
			t.Errorf("key %q: %v", key, err)
		}
	}
	if _, err := a.Swap(ctx, "a", make([]byte, 512<<10+1), 0); !errors.Is(err, limits.ErrLarge) {
		t.Errorf("a large value: %v", err)
	}
	if err := a.Send(ctx, ID(1), make([]byte, 1<<20+1)); !errors.Is(err, limits.ErrLarge) {
		t.Errorf("a large message: %v", err)
	}
	if err := a.Send(ctx, "a.>", nil); !errors.Is(err, limits.ErrName) {
		t.Errorf("to no agent: %v", err)
	}
	if _, err := a.Swap(ctx, "a", make([]byte, 512<<10), 0); err != nil {
		t.Errorf("a value of the largest size: %v", err)
	}
	if err := a.Send(ctx, ID(1), make([]byte, 1<<20)); err != nil {
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

// manyKeys: the table takes so many keys and no more; those it has can be written on.
func manyKeys(ctx context.Context, t *testing.T, open Open) {
	const at = 8
	var wait sync.WaitGroup
	for part := range at {
		e := open(t, ID(part))
		wait.Go(func() {
			for n := part; n < limits.Keys; n += at {
				if _, err := e.Swap(ctx, fmt.Sprintf("key.%d", n), fmt.Append(nil, n), 0); err != nil {
					t.Errorf("key %d: %v", n, err)
					return
				}
			}
		})
	}
	wait.Wait()
	a := open(t, ID(at))
	if _, err := a.Swap(ctx, "another", nil, 0); !errors.Is(err, limits.ErrFull) {
		t.Errorf("one key more: %v", err)
	}
	all, err := a.Values(ctx)
	if err != nil || len(all) != limits.Keys {
		t.Fatalf("%d keys, %v", len(all), err)
	}
	if _, err := a.Swap(ctx, "key.7", []byte("on"), all["key.7"].Revision); err != nil {
		t.Errorf("a key of a full table: %v", err)
	}
	if all, err := a.Values(ctx); err != nil || len(all) != limits.Keys || string(all["key.7"].Bytes) != "on" {
		t.Errorf("%d keys, %q, %v", len(all), all["key.7"].Bytes, err)
	}
}
