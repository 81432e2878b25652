package cluster

import (
	"slices"
	"testing"
	"time"

	"fossick/internal/testkit"
	"fossick/internal/wire"
)

// TestWindow: messages have a bounded size, few are under way, and unacknowledged ones are resent
// from the first.
func TestWindow(t *testing.T) {
	n := newNode(Protocol{ID: idA, Resend: time.Second, parts: 2}, recovered{Outbox: map[partition]span{1: {5, 104}}})
	n.owned.table = &table{version: 1, entries: []entry{{}, {owner: idB, epoch: 1}}}
	outbox := func(after uint64) (parcels []Parcel) {
		for number := max(after+1, 5); number <= 104; number++ {
			parcels = append(parcels, Parcel{Number: number, Bytes: make([]byte, 20<<10)})
		}
		return parcels
	}
	// drain carries out the node's effects and returns the messages.
	drain := func(now time.Duration) (sent []message) {
		todo := []event{messageEvent{}}
		for len(todo) > 0 {
			effects := n.step(now, todo[0])
			todo = todo[1:]
			for _, e := range effects {
				switch e := e.(type) {
				case readOutbox:
					todo = append(todo, outgoingEvent{e.partition, e.after, outbox(e.after)})
				case sendMessage:
					if len(e.bytes) > mostMessageBytes {
						t.Errorf("a message of %d bytes", len(e.bytes))
					}
					m := testkit.Call(decodeMessage(e.bytes)).Must(t)
					sent = append(sent, m)
				}
			}
		}
		return sent
	}
	first := drain(time.Hour)
	if len(first) != mostSent || first[0].After != 4 || first[0].Parcels[0].Number != 5 {
		t.Fatalf("%d messages, the first after %d; want %d after 4", len(first), first[0].After, mostSent)
	}
	for i := 1; i < len(first); i++ {
		if last := first[i-1].Parcels[len(first[i-1].Parcels)-1].Number; first[i].After != last {
			t.Errorf("a message after %d follows one up to %d", first[i].After, last)
		}
	}
	if again := drain(time.Hour + time.Second/2); len(again) != 0 {
		t.Errorf("%d messages before the pause is over", len(again))
	}
	if again := drain(time.Hour + time.Second); len(again) != mostSent || again[0].After != 4 {
		t.Errorf("%d messages after the pause, want the same %d again", len(again), mostSent)
	}
	ack := message{Version: wireVersion, Kind: kindAck, From: idB, Partition: 1, Epoch: 1, After: first[0].Parcels[len(first[0].Parcels)-1].Number}
	stale := ack
	stale.Epoch = 0
	for _, e := range n.step(time.Hour+time.Second, messageEvent{wire.Encode(stale)}) {
		if _, ok := e.(trimOutbox); ok {
			t.Error("trimmed by an earlier owner of the partition")
		}
	}
	trimmed := false
	for _, e := range n.step(time.Hour+time.Second, messageEvent{wire.Encode(ack)}) {
		if trim, ok := e.(trimOutbox); ok {
			trimmed = trim.upto == ack.After
		}
	}
	if !trimmed {
		t.Error("not trimmed by the owner's word")
	}
}

// TestTurns: if more partitions have parcels than messages may be under way, each gets its turn.
func TestTurns(t *testing.T) {
	const parts, each = 300, 1000
	outbox := map[partition]span{}
	for p := range partition(parts) {
		outbox[p] = span{1, each}
	}
	n := newNode(Protocol{ID: idA, parts: parts}, recovered{Outbox: outbox})
	n.owned.table = &table{version: 1, entries: slices.Repeat([]entry{{owner: idB, epoch: 1}}, parts)}
	sent := map[partition]int{}
	var acks []event // owners are slow: 20 a step
	for now := time.Hour; now < time.Hour+time.Minute; now += 50 * time.Millisecond {
		todo := append([]event{tickEvent{}}, acks[:min(len(acks), 20)]...)
		acks = acks[min(len(acks), 20):]
		for ; len(todo) > 0; todo = todo[1:] {
			for _, e := range n.step(now, todo[0]) {
				switch e := e.(type) {
				case readOutbox:
					todo = append(todo, outgoingEvent{e.partition, e.after, []Parcel{{Number: e.after + 1, Bytes: make([]byte, 10)}}})
				case sendMessage:
					m := testkit.Call(decodeMessage(e.bytes)).Must(t)
					sent[m.Partition]++
					acks = append(acks, messageEvent{wire.Encode(message{Version: wireVersion, Kind: kindAck, From: idB, Partition: m.Partition, Epoch: 1, After: m.Parcels[0].Number})})
				}
			}
		}
	}
	least, most := each, 0
	for p := range partition(parts) {
		least, most = min(least, sent[p]), max(most, sent[p])
	}
	if least == 0 || most > 2*least {
		t.Errorf("of %d partitions one sent %d messages, another %d", parts, least, most)
	}
}

// TestShare: a sender has no more under way than its receiver takes at once. So a handover of any
// number of partitions goes through without a refusal.
func TestShare(t *testing.T) {
	const parts = 100
	for _, ofSender := range []int{1, 2, 64} {
		outbox, entries := map[partition]span{}, make([]entry, parts)
		for p := range partition(parts) {
			outbox[p], entries[p] = span{1, 1}, entry{owner: idB, epoch: 1}
		}
		opt := Protocol{Resend: time.Second, parts: parts, ofSender: ofSender}
		tab := &table{version: 1, entries: entries, members: map[AgentID]member{idA: {}, idB: {}}}
		opt.ID = idA
		a := newNode(opt, recovered{Outbox: outbox})
		opt.ID = idB
		b := newNode(opt, recovered{})
		a.owned.table, b.owned.table = tab, tab
		b.lease.joined, b.lease.until, b.lease.acked = true, 2*time.Hour, 1
		for p := range partition(parts) {
			b.owned.parts[p] = ownedPart{epoch: 1}
		}
		type delivered struct {
			to *node
			ev event
		}
		took, sent := 0, 0
		for todo := []delivered{{a, messageEvent{}}}; len(todo) > 0; todo = todo[1:] {
			n := todo[0].to
			for _, e := range n.step(time.Hour, todo[0].ev) {
				switch e := e.(type) {
				case readOutbox:
					todo = append(todo, delivered{n, outgoingEvent{e.partition, e.after, []Parcel{{Number: 1}}}})
				case sendMessage:
					sent++
					to := map[AgentID]*node{idA: a, idB: b}[e.to]
					todo = append(todo, delivered{to, messageEvent{e.bytes}})
				case takeParcels:
					took++
					todo = append(todo, delivered{n, takenEvent{e.delivery, true}})
				}
			}
		}
		if took != parts || sent != 2*parts {
			t.Errorf("%d of a sender: %d of %d deliveries taken, %d messages, want %d", ofSender, took, parts, sent, 2*parts)
		}
	}
}
