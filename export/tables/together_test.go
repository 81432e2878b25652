package tables

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/cluster"
	"fossick/export"
	"fossick/internal/testkit"
)

var errDied = errors.New("died")

// life is one process of an agent. It dies after a number of operations and loses its memory.
type life struct {
	stop context.CancelCauseFunc

	mu   sync.Mutex // guards left
	left int
}

// did counts an operation; it returns errDied from the fatal one on.
func (l *life) did() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left--; l.left == 0 {
		l.stop(errDied)
	}
	if l.left <= 0 {
		return errDied
	}
	return nil
}

const forever = 1 << 40

// mortal counts an agent's messages until its death. It loses a fifth of them, repeats a fifth, and delays a
// fifth by four to eight seconds of synctest time.
type mortal struct {
	cluster.Exchange
	life *life
	late sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	rng    *rand.Rand
	closed bool
}

func (m *mortal) Send(ctx context.Context, to cluster.AgentID, b []byte) error {
	if err := m.life.did(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch chance := m.rng.Float64(); {
	case m.closed, chance < .2:
		return nil
	case chance < .4:
		m.late.Go(func() {
			time.Sleep(time.Duration(chance * float64(20*time.Second)))
			_ = m.Exchange.Send(context.WithoutCancel(ctx), to, b) // may fail at the end of the test
		})
		return nil
	case chance < .6:
		_ = m.Exchange.Send(ctx, to, b) // the send below returns the error
	}
	return m.Exchange.Send(ctx, to, b)
}

func (m *mortal) Close() error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.late.Wait()
	return m.Exchange.Close()
}

func (m *mortal) Swap(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if err := m.life.did(); err != nil {
		return 0, err
	}
	return m.Exchange.Swap(ctx, key, value, revision)
}

type together struct {
	hub      *cluster.Hub
	dirs     []string
	collects int
	out      string
	seed     uint64
}

// live runs an agent that dies at operation dies.
func (w *together) live(ctx context.Context, i, dies int) (r *Result, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	l := &life{stop: stop, left: dies}
	opt := options(w.dirs[i:i+1], "")
	if opt.Tight(); i == w.collects {
		opt.Dir = w.out
	}
	opt.Step, opt.Did = func(string, int) { _ = l.did() }, func(int) { _ = l.did() }
	id := cluster.AgentID(fmt.Sprintf("%016x", i+1))
	err = cluster.Task{Me: id, Agents: len(w.dirs), Name: "convert", Open: func(_ context.Context, at cluster.AgentID) (cluster.Exchange, error) {
		e, err := w.hub.Open(at)
		return &mortal{Exchange: e, life: l, rng: rand.New(rand.NewPCG(w.seed*100+uint64(i), 4))}, err
	}}.Run(ctx, func(ctx context.Context, s cluster.TaskSession) (err error) {
		r, err = Together(ctx, opt, Group{Me: s.Me, Agents: s.Agents, Name: string(id), Peers: s.Peer})
		return err
	})
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	return r, err
}

// TestTogether: agents that die and restart, over a lossy exchange, give the same bytes as one conversion.
func TestTogether(t *testing.T) {
	deaths := 0
	for seed := range uint64(testkit.Rounds(2, 40)) {
		rng := rand.New(rand.NewPCG(seed, 3))
		agents := 1 + int(seed%4)
		dirs := written(t, world(rng, agents, 20+rng.IntN(80)))
		whole := options(dirs, filepath.Join(t.TempDir(), "whole"))
		whole.Tight()
		want, err := Run(t.Context(), whole)
		if err != nil {
			t.Fatal(err)
		}
		w := &together{dirs: dirs, collects: rng.IntN(agents), out: filepath.Join(t.TempDir(), "out"), seed: seed}
		var late atomic.Bool
		dies := make([][]int, agents)
		for i := range dies {
			for range rng.IntN(3) {
				dies[i] = append(dies[i], 1+rng.IntN(150))
			}
		}
		synctest.Test(t, func(t *testing.T) {
			w.hub = cluster.NewHub()
			ctx, stop := context.WithTimeout(t.Context(), time.Hour)
			defer stop()
			var all sync.WaitGroup
			for i := range agents {
				all.Go(func() {
					for n := 0; ; n++ {
						at := forever
						if n < len(dies[i]) {
							at = dies[i][n]
						}
						r, err := w.live(ctx, i, at)
						if errors.Is(err, errDied) {
							time.Sleep(time.Duration(n+i) * 3 * time.Second)
							continue
						}
						_, there := os.Stat(w.out)
						if n > 0 && there == nil && errors.Is(err, context.DeadlineExceeded) {
							late.Store(true) // the others finished already
							return
						}
						if err != nil {
							t.Errorf("seed %d, %v, agent %d: %v", seed, dies, i, err)
						} else if r.Counts != want.Counts || r.Withdrawn != want.Withdrawn {
							t.Errorf("seed %d, agent %d: %+v, want %+v", seed, i, r, want)
						}
						return
					}
				})
			}
			all.Wait()
		})
		for _, d := range dies {
			deaths += len(d)
		}
		same(t, w.out, whole.Dir)
		for _, dir := range dirs {
			if beside, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+"*")); len(beside) > 0 && !late.Load() || err != nil {
				t.Errorf("seed %d: %v is left", seed, beside)
			}
		}
	}
	t.Logf("%d deaths", deaths)
}

func same(t *testing.T, got, want string) {
	t.Helper()
	for _, dir := range []string{got, want} {
		if err := os.Remove(filepath.Join(dir, "manifest.json")); err != nil {
			t.Fatal(err)
		}
	}
	if same, err := export.Equal(got, want); !same || err != nil {
		t.Errorf("%s differs from %s: %v", got, want, err)
	}
}

var each = []message{
	{Kind: hello, Name: "1", Print: "p", Collects: true},
	{Kind: hello, Name: "2", Print: "q"},
	{Kind: offer, Store: &input{Name: "1", Fingerprint: "p"}, Files: []part{{Name: "parts/0/links"}, {Name: "parts/0/aliases", Bytes: 3}}},
	{Kind: want, File: 2, From: 7},
	{Kind: piece, File: 2, From: 7, Bytes: []byte("x")},
	{Kind: done, Result: &Result{Counts: Counts{Pages: 3}, At: "1"}},
}

// FuzzMessage: decoded messages round-trip, and nothing panics.
func FuzzMessage(f *testing.F) {
	for _, m := range each {
		f.Add(m.encode())
	}
	f.Add([]byte{})
	f.Add(message{Kind: piece}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeMessage(b)
		if err != nil {
			return
		}
		if again, err := decodeMessage(m.encode()); err != nil || !bytes.Equal(again.encode(), m.encode()) {
			t.Errorf("%+v is read as %+v, %v", m, again, err)
		}
		if _, err := under(storeFolder(3), m.Files); m.Kind == offer && err == nil && !slices.IsSortedFunc(m.Files[:len(m.Files)-2], func(a, b part) int { return int(a.Last) - int(b.Last) }) {
			t.Errorf("chunks %+v", m.Files)
		}
	})
}

// TestUnder: received file names must be those of parts.
func TestUnder(t *testing.T) {
	chunk := func(n int, last uint64) part { return part{Name: storeFolder(0) + chunkName(n), Last: last} }
	rest := []part{{Name: "parts/0/links"}, {Name: "parts/0/aliases"}}
	for _, bad := range [][]part{
		{chunk(0, 0)},
		rest[:1],
		rest[1:],
		{rest[1], rest[0]},
		append([]part{chunk(0, 0)}, rest...),
		append([]part{chunk(0, 9), chunk(1, 9)}, rest...),
		append([]part{chunk(1, 9)}, rest...),
		append([]part{{Name: "parts/0/../../x", Last: 1}}, rest...),
	} {
		if named, err := under("parts/4/", bad); err == nil {
			t.Errorf("%+v is %+v", bad, named)
		}
	}
	named, err := under("parts/4/", append([]part{chunk(0, 5), chunk(1, 9)}, rest...))
	if err != nil || len(named) != 4 || named[1].Name != "parts/4/pages-00001" || named[3].Name != "parts/4/aliases" {
		t.Errorf("%+v, %v", named, err)
	}
}
