package bus

import (
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"fossick/crawler/cluster"
	"fossick/internal/testkit"
)

// three is a cluster of servers in this process, each with an agent.
type three struct {
	options [3]ServeOptions
	servers [3]*Server
	agents  [3]*Bus
}

func secretsOf(t testing.TB, names ...string) []*Secrets {
	t.Helper()
	made := testkit.Call(Init(filepath.Join(t.TempDir(), "keys"), names, time.Now())).Must(t)
	var all []*Secrets
	for _, folder := range made.Folders {
		s := testkit.Call(ReadSecrets(folder, time.Now())).Must(t)
		all = append(all, s)
	}
	return all
}

func newThree(t testing.TB) *three {
	t.Helper()
	return newThreeSynced(t, true)
}

func newThreeSynced(t testing.TB, unsynced bool) *three {
	t.Helper()
	keys := secretsOf(t, "a", "b", "c")
	var at [3]string
	for i := range at {
		at[i] = freeAddress(t)
	}
	c := &three{}
	for i := range c.options {
		c.options[i] = ServeOptions{
			Crawl: "bees", Agent: agentID(1000 + i), Dir: t.TempDir(), Clients: "127.0.0.1:0",
			Routes: at[i], Peers: at[:], Secrets: keys[i], Log: logOf(t), unsynced: unsynced,
		}
		c.serve(t, i)
	}
	var wait sync.WaitGroup
	for i, s := range c.servers {
		wait.Go(func() { c.agents[i] = opened(t, Options{Agent: agentID(i), Server: s, Secrets: keys[i]}) })
	}
	wait.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return c
}

func (c *three) serve(t testing.TB, i int) {
	t.Helper()
	s := testkit.Call(Serve(c.options[i])).Must(t)
	c.servers[i] = s
	t.Cleanup(func() { closed(t, s) })
}

// leader returns the server through which the bucket is written.
func leader(ctx context.Context, t testing.TB, by *Bus) cluster.AgentID {
	t.Helper()
	for ctx.Err() == nil {
		stream, err := by.values.js.Stream(ctx, by.values.stream())
		if err == nil && stream.CachedInfo().Cluster != nil && stream.CachedInfo().Cluster.Leader != "" {
			if n := stream.CachedInfo().Config.Replicas; n != 3 {
				t.Fatalf("values are on %d servers", n)
			}
			return cluster.AgentID(stream.CachedInfo().Cluster.Leader)
		}
	}
	t.Fatal("no leader")
	return ""
}

// TestThree runs three servers with certificates. No value is lost when the leader ends, or when
// one server loses its disk.
func TestThree(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	begun := time.Now()
	c := newThree(t)
	t.Logf("three servers begin: %v", time.Since(begun))
	for from, a := range c.agents {
		for to, b := range c.agents {
			deliver(ctx, t, a, b, agentID(to), []byte{byte(from)})
		}
	}
	first, err := c.agents[0].Swap(ctx, "key", []byte("1"), 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range c.agents {
		if all, err := a.Values(ctx); err != nil || all["key"].Revision != first {
			t.Errorf("agent %d: %v, %v", i, all, err)
		}
	}

	// Stop the leader; the others go on.
	led := int(number(leader(ctx, t, c.agents[0]))) - 1000
	other := c.agents[(led+1)%3]
	closed(t, c.agents[led])
	closed(t, c.servers[led])
	begun = time.Now()
	second, err := other.Swap(ctx, "key", []byte("2"), first)
	if err != nil || second <= first {
		t.Fatalf("revision %d after %d, %v", second, first, err)
	}
	t.Logf("after the leader's end a value was written in %v", time.Since(begun))

	testkit.Only(t, "the rest takes 10 s")
	// It returns without its disk, and another server stops: two copies remain.
	testkit.Must(t, os.RemoveAll(c.options[led].Dir))
	c.serve(t, led)
	back := opened(t, Options{Agent: agentID(led), Server: c.servers[led], Secrets: c.options[led].Secrets})
	third, err := back.Swap(ctx, "key", []byte("3"), second)
	if err != nil || third <= second {
		t.Fatalf("revision %d after %d, %v", third, second, err)
	}
	current(ctx, t, back)
	closed(t, c.agents[(led+2)%3])
	closed(t, c.servers[(led+2)%3])
	for _, a := range []*Bus{back, other} {
		if all, err := a.Values(ctx); err != nil || string(all["key"].Bytes) != "3" {
			t.Errorf("values %v, %v", all, err)
		}
	}

	// One server alone cannot know the values.
	closed(t, other)
	closed(t, c.servers[(led+1)%3])
	short, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if _, err := back.Swap(short, "key", []byte("4"), third); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("alone: %v", err)
	}
	if all, err := back.Values(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("alone: %v, %v", all, err)
	}
}

// number inverts agentID.
func number(id cluster.AgentID) uint64 {
	var n [8]byte
	for i := range n {
		n[i] = unhex(id[2*i])<<4 | unhex(id[2*i+1])
	}
	return binary.BigEndian.Uint64(n[:])
}

func unhex(c byte) byte { return byte(strings.IndexByte("0123456789abcdef", c)) }

// deliver sends until the message arrives: a server needs time to learn the agents of its peers.
func deliver(ctx context.Context, t testing.TB, from, to *Bus, id cluster.AgentID, message []byte) {
	t.Helper()
	for {
		testkit.Must(t, from.Send(ctx, id, message))
		one, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		got, err := to.Receive(one)
		cancel()
		switch {
		case err == nil && string(got) == string(message):
			return
		case ctx.Err() != nil:
			t.Fatal(ctx.Err())
		}
	}
}

// current waits until all servers are up to date with the leader.
func current(ctx context.Context, t testing.TB, by *Bus) {
	t.Helper()
	for ctx.Err() == nil {
		stream, err := by.values.js.Stream(ctx, by.values.stream())
		if err != nil || stream.CachedInfo().Cluster == nil {
			continue
		}
		behind := false
		for _, r := range stream.CachedInfo().Cluster.Replicas {
			behind = behind || !r.Current || r.Offline || r.Lag > 0
		}
		if !behind && len(stream.CachedInfo().Cluster.Replicas) == 2 {
			return
		}
	}
	t.Fatal("a server stays behind")
}

// TestStrangers: a server of another authority, one without keys, and agents without the
// cluster's key are refused with an error.
func TestStrangers(t *testing.T) {
	t.Parallel()
	keys, stranger := secretsOf(t, "a", "b"), secretsOf(t, "a")[0]
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	at, peer, told := freeAddress(t), freeAddress(t), make(refusals, 1)
	a := testkit.Call(Serve(ServeOptions{
		Crawl: "bees", Agent: agentID(1000), Dir: t.TempDir(), Routes: at, Peers: []string{peer},
		Secrets: keys[0], Log: slog.New(told), unsynced: true,
	})).Must(t)
	defer closed(t, a)
	for name, other := range map[string]*Secrets{"another authority's": stranger, "no": nil} {
		b := testkit.Call(Serve(ServeOptions{
			Crawl: "bees", Agent: agentID(2000), Dir: t.TempDir(), Routes: peer, Peers: []string{at}, Secrets: other, unsynced: true,
		})).Must(t)
		for range 3 {
			select {
			case <-told:
			case <-ctx.Done():
				t.Fatalf("a server with %s keys is not refused", name)
			}
		}
		if n := a.nats.NumRoutes() + b.nats.NumRoutes(); n != 0 {
			t.Errorf("a server with %s keys has %d routes", name, n)
		}
		closed(t, b)
		if _, err := Open(ctx, Options{Crawl: "bees", Agent: agentID(9), URL: "nats://" + a.Addr(), Secrets: other}); !errors.Is(err, errRefused) {
			t.Errorf("an agent with %s keys: %v", name, err)
		}
	}
	b := testkit.Call(Serve(ServeOptions{
		Crawl: "bees", Agent: agentID(2000), Dir: t.TempDir(), Routes: peer, Peers: []string{at}, Secrets: keys[1], unsynced: true,
	})).Must(t)
	defer closed(t, b)
	opened(t, Options{Agent: agentID(9), URL: "nats://" + a.Addr(), Secrets: keys[1], replicas: 2})
}

// TestLocalStrangers: without given keys, a server on loopback still asks for a key. This user's
// agents have it, and others on the machine are refused.
func TestLocalStrangers(t *testing.T) {
	class := testkit.Tries(t, "strangers on the machine")
	at, peer := freeAddress(t), freeAddress(t)
	serve := func(routes, to string) *Server {
		s := testkit.Call(Serve(ServeOptions{Crawl: "bees", Agent: agentID(map[bool]int{true: 1000, false: 2000}[routes == at]), Dir: t.TempDir(), Clients: "127.0.0.1:0", Routes: routes, Peers: []string{to}, unsynced: true})).Must(t)
		return s
	}
	a := serve(at, peer)
	defer closed(t, a)
	for name, option := range map[string]nats.Option{"nothing": nats.Name("x"), "a password": nats.UserInfo("fossick", "fossick"), "a token": nats.Token("x"), "another key": secretsOf(t, "x")[0].proof()} {
		conn, err := nats.Connect("nats://"+a.Addr(), option)
		if conn != nil {
			conn.Close()
		}
		class.Try(errors.Is(err, nats.ErrAuthorization), "a client with %s: %v", name, err)
	}
	for name, user := range map[string]*url.Userinfo{"nothing": nil, "a password": url.UserPassword("fossick", "x")} {
		stranger := testkit.Call(natsserver.NewServer(&natsserver.Options{
			Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, NoSigs: true,
			Cluster: natsserver.ClusterOpts{Name: "bees", Host: "127.0.0.1", Port: natsserver.RANDOM_PORT}, Routes: []*url.URL{{Scheme: "nats", Host: at, User: user}},
		})).Must(t)
		stranger.Start()
		stranger.ReadyForConnections(time.Minute)
		time.Sleep(time.Second) // an accepted route is up within 10 ms
		class.Try(a.nats.NumRoutes() == 0, "a server with %s has %d routes", name, a.nats.NumRoutes())
		stranger.Shutdown()
		stranger.WaitForShutdown()
	}
	b := serve(peer, at)
	defer closed(t, b)
	ours := opened(t, Options{Agent: agentID(9), URL: "nats://" + a.Addr(), replicas: 2})
	if _, err := ours.Values(t.Context()); err != nil {
		t.Errorf("an agent of this user: %v", err)
	}
	other := testkit.Call(natsserver.NewServer(&natsserver.Options{Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, NoSigs: true, JetStream: true, StoreDir: t.TempDir()})).Must(t)
	other.Start()
	defer other.Shutdown()
	other.ReadyForConnections(time.Minute)
	opened(t, Options{Agent: agentID(9), URL: "nats://" + other.Addr().String()}) // an existing server that asks for no key
}

// refusals is a log handler that signals refused connections.
type refusals chan struct{}

func (refusals) Enabled(context.Context, slog.Level) bool { return true }
func (r refusals) WithAttrs([]slog.Attr) slog.Handler     { return r }
func (r refusals) WithGroup(string) slog.Handler          { return r }
func (r refusals) Handle(_ context.Context, record slog.Record) error {
	if strings.Contains(record.Message, "TLS route handshake error") {
		select {
		case r <- struct{}{}:
		default:
		}
	}
	return nil
}

// TestTwoOfThree: if one of three machines is absent, the others start with two copies. When it
// comes, it gets the third.
func TestTwoOfThree(t *testing.T) {
	t.Parallel()
	at := []string{freeAddress(t), freeAddress(t), freeAddress(t)}
	serve := func(i int) *Server {
		s := testkit.Call(Serve(ServeOptions{Crawl: "bees", Agent: agentID(1000 * (i + 1)), Dir: t.TempDir(), Routes: at[i], Peers: at, unsynced: true})).Must(t)
		t.Cleanup(func() { closed(t, s) })
		return s
	}
	serve(0)
	b := opened(t, Options{Agent: agentID(1), Server: serve(1)})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	testkit.Call(b.Swap(ctx, "key", []byte("value"), 0)).Must(t)
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
