package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"fossick/crawler/cluster"
	"fossick/internal/testkit"
)

func alone(t testing.TB, dir string) *Server {
	t.Helper()
	s := testkit.Call(Serve(ServeOptions{Crawl: "bees", Agent: agentID(1000), Dir: dir, Clients: "127.0.0.1:0", Log: logOf(t), unsynced: !testkit.Asked()})).Must(t)
	t.Cleanup(func() { closed(t, s) })
	return s
}

func opened(t testing.TB, o Options) *Bus {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o.Crawl = "bees"
	b := testkit.Call(Open(ctx, o)).Must(t)
	t.Cleanup(func() { closed(t, b) })
	return b
}

func closed(t testing.TB, c interface{ Close() error }) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// logOf logs to the output of a failed test.
func logOf(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelInfo}))
}

// freeAddress returns an address without a listener, below the ports that systems use for
// outgoing connections.
func freeAddress(t testing.TB) string {
	t.Helper()
	for {
		at := fmt.Sprintf("127.0.0.1:%d", 10000+rand.IntN(20000))
		if l, err := net.Listen("tcp", at); err == nil {
			closed(t, l)
			return at
		}
	}
}

func TestHub(t *testing.T) {
	promises(t, func(t *testing.T) openExchange {
		hub := cluster.NewHub()
		return func(t testing.TB, id cluster.AgentID) cluster.Exchange {
			e := testkit.Call(hub.Open(id)).Must(t)
			t.Cleanup(func() { _ = e.Close() })
			return e
		}
	})
}

func TestPromises(t *testing.T) {
	t.Parallel()
	t.Run("in process", func(t *testing.T) {
		promises(t, func(t *testing.T) openExchange {
			s := alone(t, t.TempDir())
			return func(t testing.TB, id cluster.AgentID) cluster.Exchange {
				return opened(t, Options{Agent: id, Server: s})
			}
		})
	})
	t.Run("by address", func(t *testing.T) {
		testkit.Only(t, "takes 5 s")
		promises(t, func(t *testing.T) openExchange {
			s := alone(t, t.TempDir())
			return func(t testing.TB, id cluster.AgentID) cluster.Exchange {
				return opened(t, Options{Agent: id, URL: "nats://" + s.Addr()})
			}
		})
	})
}

// TestRefusals expects an error for contradictory options, without any password in it.
func TestRefusals(t *testing.T) {
	s := alone(t, t.TempDir())
	id := agentID(1)
	for name, c := range map[string]struct {
		o    Options
		want error
	}{
		"a crawl's name":    {Options{Crawl: "a.b", Agent: id, Server: s}, errCrawl},
		"an agent's name":   {Options{Crawl: "bees", Agent: "me", Server: s}, cluster.ErrName},
		"no server":         {Options{Crawl: "bees", Agent: id}, errURL},
		"both":              {Options{Crawl: "bees", Agent: id, Server: s, URL: "nats://127.0.0.1"}, errURL},
		"another crawl":     {Options{Crawl: "wasps", Agent: id, Server: s}, errURL},
		"a password":        {Options{Crawl: "bees", Agent: id, URL: "nats://bee:honey@127.0.0.1"}, errURL},
		"a broken password": {Options{Crawl: "bees", Agent: id, URL: "nats://bee:honey%@127.0.0.1"}, errURL},
		"another protocol":  {Options{Crawl: "bees", Agent: id, URL: "http://127.0.0.1"}, errURL},
	} {
		_, err := Open(t.Context(), c.o)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "honey") {
			t.Errorf("%s is in the message: %v", name, err)
		}
	}
	for name, o := range map[string]ServeOptions{
		"clients of a network": {Clients: "0.0.0.0:0"},
		"routes without keys":  {Routes: "10.0.0.1:1", Peers: []string{"10.0.0.2:1"}},
		"no peer":              {Routes: "127.0.0.1:0"},
		"no routes":            {Peers: []string{"127.0.0.1:1"}},
		"no port":              {Clients: "127.0.0.1"},
	} {
		o.Crawl, o.Agent, o.Dir = "bees", id, t.TempDir()
		if _, err := Serve(o); !errors.Is(err, errServe) {
			t.Errorf("%s: %v", name, err)
		}
	}
	taken := ServeOptions{Crawl: "bees", Agent: id, Dir: t.TempDir(), Clients: s.Addr()}
	if _, err := Serve(taken); !errors.Is(err, errServe) {
		t.Errorf("an address that is taken: %v", err)
	}
}

func TestNoServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := Open(ctx, Options{Crawl: "bees", Agent: agentID(1), URL: "nats://" + freeAddress(t)})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestRestart: a restarted server has its values, and its clients reconnect. Without its files it
// has none; earlier revisions are invalid, and new ones are higher.
func TestRestart(t *testing.T) {
	t.Parallel()
	dir, clients := t.TempDir(), freeAddress(t)
	serve := func() *Server {
		s := testkit.Call(Serve(ServeOptions{Crawl: "bees", Agent: agentID(1000), Dir: dir, Clients: clients, Log: logOf(t), unsynced: !testkit.Asked()})).Must(t)
		return s
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := serve()
	b := opened(t, Options{Agent: agentID(1), URL: "nats://" + clients})
	before, err := b.Swap(ctx, "key", []byte("1"), 0)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	if err := b.Send(ctx, agentID(2), make([]byte, cluster.MailboxBytes/64)); err != nil {
		t.Errorf("while it is away: %v", err)
	}
	s = serve()
	after, err := b.Swap(ctx, "key", []byte("2"), before)
	if err != nil || after <= before {
		t.Errorf("revision %d after %d, %v", after, before, err)
	}
	if err := b.Send(ctx, agentID(1), []byte("x")); err != nil {
		t.Error(err)
	}
	if m, err := b.Receive(ctx); err != nil || string(m) != "x" {
		t.Errorf("%q, %v", m, err)
	}
	closed(t, s)
	testkit.Must(t, os.RemoveAll(dir))
	s = serve()
	defer closed(t, s)
	if all, err := b.Values(ctx); err != nil || len(all) != 0 {
		t.Errorf("values of a lost disk: %v, %v", all, err)
	}
	if _, err := b.Swap(ctx, "key", nil, after); !errors.Is(err, cluster.ErrRevision) {
		t.Errorf("a revision of before: %v", err)
	}
	if anew, err := b.Swap(ctx, "key", nil, 0); err != nil || anew <= after {
		t.Errorf("revision %d after %d, %v", anew, after, err)
	}
}

func TestAway(t *testing.T) {
	s := alone(t, t.TempDir())
	b := opened(t, Options{Agent: agentID(1), URL: "nats://" + s.Addr()})
	closed(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := b.Swap(ctx, "key", nil, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("swap: %v", err)
	}
	if _, err := b.Values(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("values: %v", err)
	}
	result, waits := make(chan error), make(chan struct{}, 100)
	go func() {
		_, err := b.Swap(watched{t.Context(), waits}, "key", nil, 0)
		result <- err
	}()
	<-waits
	closed(t, b)
	if err := <-result; !errors.Is(err, cluster.ErrClosed) {
		t.Errorf("a call that waits when the bus is closed: %v", err)
	}
}

// watched is a context that tells when a call begins to wait for it.
type watched struct {
	context.Context
	waits chan<- struct{}
}

func (w watched) Done() <-chan struct{} {
	w.waits <- struct{}{}
	return w.Context.Done()
}

// TestOwnWrite: after a lost answer, a swap can tell its own write from another agent's.
func TestOwnWrite(t *testing.T) {
	ctx := t.Context()
	s := alone(t, t.TempDir())
	a := opened(t, Options{Agent: agentID(1), Server: s})
	testkit.Call(a.Swap(ctx, "key", []byte("x"), 0)).Must(t)
	all := testkit.Call(a.values.read(ctx)).Must(t)
	if got, err := a.values.ownWrite(ctx, "key", all["key"].writer); err != nil || got != all["key"].Revision {
		t.Errorf("own: %d, %v; want %d", got, err, all["key"].Revision)
	}
	if _, err := a.values.ownWrite(ctx, "key", "another"); !errors.Is(err, cluster.ErrRevision) {
		t.Errorf("another's: %v", err)
	}
	if _, err := a.values.ownWrite(ctx, "none", "another"); !errors.Is(err, cluster.ErrRevision) {
		t.Errorf("nobody's: %v", err)
	}
}

// TestPages reads more values than one answer holds.
func TestPages(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := alone(t, t.TempDir())
	a := opened(t, Options{Agent: agentID(1), Server: s})
	const values = pendingBytes/(512<<10) + 10
	for n := range values {
		testkit.Call(a.Swap(ctx, fmt.Sprint(n), make([]byte, 512<<10), 0)).Must(t)
	}
	if all, err := a.Values(ctx); err != nil || len(all) != values {
		t.Errorf("%d of %d values, %v", len(all), values, err)
	}
}
