package cluster

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fossick/internal/testkit"
	"fossick/internal/wire"
	"fossick/store"
)

// owner is a store that replicates every commit, and its connections to keepers.
type owner struct {
	t      *testing.T
	store  *store.Store
	sender *sender
	bodies bool
	rng    *rand.Rand

	mu      sync.Mutex // guards the rest, and is held while a batch is open
	counts  store.Counts
	keepers map[AgentID]*keeper
	kinds   map[uint64]int // counts of sent frames by kind
	opened  []byte         // the last frame that opened a session
	lossy   bool
	dice    *rand.Rand
}

const ownerID = "00000000000000aa"

func newOwner(t *testing.T, bodies bool) *owner {
	s := testkit.Call(store.Create(filepath.Join(t.TempDir(), "owner"), store.Info{Agent: ownerID})).Must(t)
	t.Cleanup(func() { _ = s.Close() })
	o := &owner{
		t: t, store: s, bodies: bodies, rng: rand.New(rand.NewPCG(1, 2)), dice: rand.New(rand.NewPCG(3, 4)),
		keepers: map[AgentID]*keeper{}, kinds: map[uint64]int{},
	}
	o.sender = newSender(senderOptions{store: s, bodies: bodies, send: o.send, trim: o.trim})
	return o
}

// carry delivers a message; some are lost, doubled or late.
func (o *owner) carry(arrive func()) {
	o.mu.Lock()
	copies, late := 1, 5*time.Millisecond
	if o.lossy {
		copies = []int{0, 1, 1, 1, 1, 2}[o.dice.IntN(6)]
		late += time.Duration(o.dice.IntN(20)) * time.Millisecond
	}
	o.mu.Unlock()
	for range copies {
		time.AfterFunc(late, arrive)
	}
}

func (o *owner) send(to AgentID, b []byte) {
	f, err := decodeFrame(b)
	if err != nil {
		o.t.Error(err)
	}
	o.mu.Lock()
	if o.kinds[f.Kind]++; f.Kind == kindOpen {
		o.opened = b
	}
	k := o.keepers[to]
	o.mu.Unlock()
	if k != nil {
		o.carry(func() { k.handle(ownerID, b) })
	}
}

// keep starts a keeper and returns a function to stop it.
func (o *owner) keep(id AgentID, dir string) (end func()) {
	k := newKeeper(dir, func(_ AgentID, b []byte) { o.carry(func() { o.sender.handle(id, b) }) })
	o.mu.Lock()
	o.keepers[id] = k
	o.mu.Unlock()
	stop := runs(o.t, k.run)
	return func() {
		o.mu.Lock()
		delete(o.keepers, id)
		o.mu.Unlock()
		stop()
	}
}

// runs calls run in the background; stop ends it and waits.
func runs(t *testing.T, run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func (o *owner) trim(_ context.Context, upto uint64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for done := false; !done; {
		b := o.store.Batch()
		var err error
		if done, err = store.OutboxIn(b).DropChanges(upto); err == nil {
			err = b.Commit()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// commit commits a change and reports it to the sender. A large one takes several frames.
func (o *owner) commit(large bool) (number uint64) {
	o.mu.Lock()
	b := o.store.Batch()
	b.Replicate(o.bodies)
	n := 1
	if large {
		n = 2000
	}
	for range n {
		o.counts.URLs++
		id := store.ID(o.counts.URLs)
		u := fmt.Sprintf("http://%x.test/%x", o.rng.Uint64(), o.rng.Uint64())
		if err := b.PutDiscovery(id, store.Discovery{URL: u, Via: store.ViaLink}); err != nil {
			o.t.Error(err)
		}
		if err := b.PutSeen(store.HashURL(u), id, false); err != nil {
			o.t.Error(err)
		}
		if err := b.PutQueued(id, store.Queued{Priority: o.rng.Float64()}); err != nil {
			o.t.Error(err)
		}
	}
	o.counts.Parcels++
	if err := b.PutCounts(&o.counts); err != nil {
		o.t.Error(err)
	}
	if err := store.OutboxIn(b).PutChanges(o.counts.Parcels); err != nil {
		o.t.Error(err)
	}
	if err := b.Commit(); err != nil {
		o.t.Error(err)
	}
	number = o.counts.Parcels
	o.mu.Unlock()
	o.sender.extend(number)
	return number
}

// urls returns all that a store knows about URLs.
func urls(t *testing.T, s *store.Store) string {
	var b bytes.Buffer
	for k := range testkit.All(t, s.URLs().Known()) {
		fmt.Fprintf(&b, "%d %s %v\n", k.ID, k.URL, k.Outcome)
	}
	return b.String()
}

// same reports whether a keeper's replica equals the owner's state.
func (o *owner) same(id AgentID) bool {
	o.mu.Lock()
	k := o.keepers[id]
	o.mu.Unlock()
	got, n := "", uint64(0)
	if err := k.read(ownerID, func(s *store.Store) (err error) {
		got = urls(o.t, s)
		n, err = store.ReplicaIn(s).Number()
		return err
	}); err != nil {
		o.t.Error(err)
	}
	return n == o.counts.Parcels && got == urls(o.t, o.store)
}

// TestFollow: whatever messages are lost, a keeper in the end has the owner's state, and waiting
// calls run then and not earlier. A restarted keeper continues; one that is new, or missed
// changes, gets a base.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwner(t, false)
		stop := runs(t, o.sender.run)
		dirs := map[AgentID]string{"00000000000000b1": t.TempDir(), "00000000000000b2": t.TempDir()}
		const one, two = AgentID("00000000000000b1"), AgentID("00000000000000b2")
		o.lossy = true
		work := func(keeper AgentID) {
			o.t.Helper()
			for i := range testkit.Rounds(12, 30) {
				n := o.commit(i%6 == 5)
				o.sender.when(n, func() {
					if keeper == "" {
						return
					}
					o.mu.Lock()
					k := o.keepers[keeper]
					o.mu.Unlock()
					if k == nil {
						return
					}
					if err := k.read(ownerID, func(s *store.Store) error {
						if got, err := store.ReplicaIn(s).Number(); err != nil || got < n {
							t.Errorf("told of %d, the replica has %d, %v", n, got, err)
						}
						return nil
					}); err != nil {
						t.Error(err)
					}
				})
				time.Sleep(100 * time.Millisecond)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			if keeper != "" && !o.same(keeper) {
				t.Errorf("%s has not what the owner has", keeper)
			}
			o.sender.mu.Lock()
			if n := len(o.sender.waiting); n > 0 {
				t.Errorf("%d are still waited for", n)
			}
			o.sender.mu.Unlock()
			left := 0
			for p := range testkit.All(t, store.OutboxOf(o.store).Parcels(store.KeeperPart, 0)) {
				_ = p
				left++
			}
			if left > 0 {
				t.Errorf("%d changes are still in the outbox", left)
			}
		}
		bases := func() int {
			o.mu.Lock()
			defer o.mu.Unlock()
			n := o.kinds[kindBaseEnd]
			clear(o.kinds)
			return n
		}

		o.sender.name("")
		work("")
		end := o.keep(one, dirs[one])
		o.sender.name(one)
		work(one)
		if bases() == 0 {
			t.Error("no base")
		}
		end()
		o.commit(true)
		end = o.keep(one, dirs[one])
		work(one)
		if bases() != 0 {
			t.Error("a base for who has all but the last")
		}
		end2 := o.keep(two, dirs[two])
		o.sender.name(two)
		work(two)
		if bases() == 0 {
			t.Error("no base for the other")
		}
		o.sender.name(one)
		work(one)
		if bases() == 0 {
			t.Error("no base for who was passed over")
		}
		end()
		end2()
		stop()
	})
}

// TestLateOpen: the frame that opened a session arrives again at a restarted keeper, which does
// not know the session. The owner starts another one.
func TestLateOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwner(t, false)
		stop := runs(t, o.sender.run)
		const id = AgentID("00000000000000b1")
		dir := t.TempDir()
		end := o.keep(id, dir)
		o.sender.name(id)
		for range 3 {
			o.commit(false)
			time.Sleep(time.Second)
		}
		end()
		end = o.keep(id, dir)
		o.keepers[id].handle(ownerID, o.opened)
		synctest.Wait()
		o.commit(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		if !o.same(id) {
			t.Error("the keeper has not what the owner has")
		}
		end()
		stop()
	})
}

// TestSilentKeeper: a keeper that is silent for hours costs the owner only a bounded outbox. It
// gets a base when it answers again.
func TestSilentKeeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwner(t, false)
		const behind = 50
		o.sender.opt.behind = behind
		stop := runs(t, o.sender.run)
		const id = AgentID("00000000000000b1")
		dir := t.TempDir()
		end := o.keep(id, dir)
		o.sender.name(id)
		o.commit(false)
		time.Sleep(time.Minute)
		end()
		most := 0
		for range 1000 {
			o.commit(false)
			time.Sleep(5 * time.Second)
			synctest.Wait()
			waits := 0
			for range testkit.All(t, store.OutboxOf(o.store).Parcels(store.KeeperPart, 0)) {
				waits++
			}
			most = max(most, waits)
		}
		if most < behind || most > behind+10 {
			t.Errorf("%d changes wait for a keeper that says nothing, want %d", most, behind)
		}
		clear(o.kinds)
		end = o.keep(id, dir)
		time.Sleep(time.Minute)
		synctest.Wait()
		if !o.same(id) || o.kinds[kindBaseEnd] != 1 {
			t.Errorf("the keeper has not what the owner has, after %d bases", o.kinds[kindBaseEnd])
		}
		end()
		stop()
	})
}

// FuzzFrame: a keeper carries out or refuses any frames.
func FuzzFrame(f *testing.F) {
	f.Add(wire.Encode(frame{Session: 1, Seq: 1, Kind: kindOpen}), wire.Encode(frame{Session: 1, Seq: 2, Kind: kindChanges, Number: 3, Changes: []frameChanges{{Number: 4, Bytes: []byte{0}}}}))
	f.Add([]byte{0}, wire.Encode(frame{Session: 9, Seq: 7, Kind: kindPiece, Bytes: []byte("x")}))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		k := newKeeper(filepath.Join(t.TempDir(), "replicas"), func(AgentID, []byte) {})
		for _, b := range [][]byte{one, two} {
			f, err := decodeFrame(b)
			if err != nil {
				continue
			}
			if _, err := k.of(ownerID).take(f); err != nil {
				t.Error(err)
			}
		}
		if err := k.drop(); err != nil {
			t.Error(err)
		}
	})
}
