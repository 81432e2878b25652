package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/dgraph-io/badger/v4"
)

// A replica is what a store knows of URLs and hosts, in a store of another machine. It has
// all records of a moment, the base, and then the changes of each commit, which come as
// parcels. Without bodies it has no pages either, and no visits: enough to go on with the
// crawl, not to read what it has found.

// KeeperPart is the part of the web that stands for who keeps the replica.
const KeeperPart = 1<<16 - 1

// replicated says whether a replica has records of a kind.
func replicated(kind byte, bodies bool) bool {
	switch kind {
	case keySeen, keyBirth, keyQueued, keyFate, keyHost, keyCount, keyParcel, keyCursor, keyInfo, keyMark, keyMarkFor, keyForget, keyHolder, keyAddress:
		return true
	}
	return bodies
}

// changes are what a batch has set and deleted, as bytes:
//
//	record… · 0
//	record = length of the key, which is not 0 · 1 + length of the value, 0 of one deleted · key · value
type changes struct {
	bodies bool
	data   []byte
}

// Replicate has a batch note what it changes, for a replica with bodies or without.
func (b *Batch) Replicate(bodies bool) { b.changes = &changes{bodies: bodies} }

func (c *changes) set(k, v []byte) {
	if c == nil || !replicated(k[0], c.bodies) || isReplication(k) {
		return
	}
	c.head(k, 1+len(v))
	c.data = append(append(c.data, k...), v...)
}

func (c *changes) delete(k []byte) {
	if c == nil || !replicated(k[0], c.bodies) || isReplication(k) {
		return
	}
	c.head(k, 0)
	c.data = append(c.data, k...)
}

func (c *changes) head(k []byte, value int) {
	c.data = binary.AppendUvarint(binary.AppendUvarint(c.data, uint64(len(k))), uint64(value))
}

// isReplication says whether a key is of what is on its way to a replica, which has no use
// for it.
func isReplication(k []byte) bool {
	return (k[0] == keyParcel || k[0] == keyCursor) && len(k) > 3 && binary.BigEndian.Uint16(k[1:]) == KeeperPart
}

// PutChanges puts what the batch has changed so far into the outbox, for the replica,
// packed. It is the last of its changes.
func (o OutboxBatch) PutChanges(number uint64) error {
	c := o.b.changes
	if c == nil {
		return nil
	}
	o.b.changes = nil
	return o.b.set(parcelKey(KeeperPart, number), o.b.s.Compress(append(c.data, 0)))
}

// WriteBase writes all records that a replica has, of one moment, and returns the number
// of the last parcel by then: the changes above it follow.
func (o Outbox) WriteBase(ctx context.Context, to io.Writer, bodies bool) (number uint64, err error) {
	w := bufio.NewWriterSize(to, 64<<10)
	err = o.s.records.view(func(txn *badger.Txn) error {
		var counts Counts
		if err := get(txn, key(keyCount), &counts); err != nil && !errors.Is(err, ErrUnknown) {
			return err
		}
		number = counts.Parcels
		for item := range items(txn, nil) {
			if err := ctx.Err(); err != nil {
				return err
			}
			k := item.Key()
			if !replicated(k[0], bodies) || isReplication(k) {
				continue
			}
			if err := valueOf(item, item.KeyCopy(nil), func(k, v []byte) error {
				c := changes{bodies: true}
				c.set(k, v)
				_, err := w.Write(c.data)
				return err
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("store %s: start of a replica: %w", o.s.dir, err)
	}
	_ = w.WriteByte(0) // an error shows in Flush
	return number, w.Flush()
}

// outdate says that no replica of a store is good any more, and drops the changes that wait
// for one: records were changed without, or are to be forgotten.
func outdate(s *Store) error {
	if s.info.Agent == "" {
		return nil
	}
	counts, err := s.Counts()
	for done := false; !done && err == nil; {
		b := s.Batch()
		if done, err = OutboxIn(b).DropChanges(counts.Parcels + 1); err != nil {
			b.Cancel()
			return err
		}
		err = b.Commit()
	}
	return err
}

// Replica is a store that follows another one. One goroutine uses it.
type Replica struct{ s *Store }

// ReplicaIn returns the replica in a store that nobody else writes to.
func ReplicaIn(s *Store) Replica { return Replica{s} }

// replicaSender is under which name a replica's own cursor stands.
const replicaSender = "base"

// Number returns up to which parcel the replica has followed; 0 where it has no base.
func (r Replica) Number() (uint64, error) {
	return OutboxOf(r.s).Cursor(KeeperPart, replicaSender)
}

// bodiesSender is under which name it stands that a replica has the pages, too.
const bodiesSender = "bodies"

// Bodies says whether the replica has the pages, too.
func (r Replica) Bodies() (bool, error) {
	n, err := OutboxOf(r.s).Cursor(KeeperPart, bodiesSender)
	return n > 0, err
}

// Base takes in the base, of which number is the last parcel. The store must be new. A
// base that breaks off leaves a replica without one.
func (r Replica) Base(from io.Reader, number uint64, bodies bool) error {
	to := batches{s: r.s}
	defer to.cancel()
	if err := readChanges(bufio.NewReaderSize(from, 64<<10), func(k, v []byte) error {
		return to.add(func(b *Batch) error { return setter(b)(k, v) })
	}); err != nil {
		return err
	}
	if err := to.add(func(b *Batch) error {
		if bodies {
			if err := OutboxIn(b).PutCursor(KeeperPart, bodiesSender, 1); err != nil {
				return err
			}
		}
		return OutboxIn(b).PutCursor(KeeperPart, replicaSender, max(number, 1))
	}); err != nil {
		return err
	}
	return to.flush()
}

// Apply takes in those of some parcels that follow what was taken in before, each once, and
// returns how far that is. After is the number of the parcel before the first.
func (r Replica) Apply(after uint64, parcels []Parcel) (taken uint64, err error) {
	if taken, err = r.Number(); err != nil || taken == 0 || after > taken {
		return taken, err
	}
	to := batches{s: r.s}
	defer to.cancel()
	last := taken
	for _, p := range parcels {
		if p.Number <= last {
			continue
		}
		data, err := r.s.codec.unpack(p.Data)
		if err != nil {
			return taken, fmt.Errorf("%w: changes %d of another agent: %w", ErrDamaged, p.Number, err)
		}
		// What one commit changed goes into one batch, as it fitted into one there.
		if err := to.add(func(b *Batch) error {
			if err := readChanges(bytes.NewReader(data), setter(b)); err != nil {
				return err
			}
			return OutboxIn(b).PutCursor(KeeperPart, replicaSender, p.Number)
		}); err != nil {
			return taken, err
		}
		last = p.Number
	}
	if err := to.flush(); err != nil {
		return taken, err
	}
	return last, nil
}

// setter returns what sets a key, or deletes it where v is nil.
func setter(b *Batch) func(k, v []byte) error {
	return func(k, v []byte) error {
		if v == nil {
			return b.delete(k)
		}
		return b.set(k, v)
	}
}

// byteScanner is what changes are read from.
type byteScanner interface {
	io.Reader
	io.ByteReader
}

// readChanges calls do with each record; v is nil of one that was deleted.
func readChanges(r byteScanner, do func(k, v []byte) error) error {
	for {
		keyBytes, err := binary.ReadUvarint(r)
		if err == nil && keyBytes == 0 {
			return nil
		}
		var valueBytes uint64
		if err == nil {
			valueBytes, err = binary.ReadUvarint(r)
		}
		switch {
		case err != nil:
			return fmt.Errorf("%w: %w", ErrCutOff, err)
		case keyBytes > maxKeyBytes || valueBytes > maxRecordBytes:
			return fmt.Errorf("%w: a record of %d and %d bytes; run the same version of fossick on all agents", ErrDamaged, keyBytes, valueBytes)
		}
		k, err := readBytes(r, keyBytes)
		var v []byte
		if err == nil && valueBytes > 0 {
			v, err = readBytes(r, valueBytes-1)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrCutOff, err)
		}
		if !replicated(k[0], true) || !ourKey(k) || k[0] == keyCursor && !isCursor(k) {
			return fmt.Errorf("%w: %.40q is not a key of a store; run the same version of fossick on all agents", ErrDamaged, k)
		}
		if err := do(k, v); err != nil {
			return err
		}
	}
}

// readBytes reads so many, and takes no more memory than there is to read.
func readBytes(r io.Reader, n uint64) ([]byte, error) {
	var b bytes.Buffer
	got, err := io.CopyN(&b, r, int64(n))
	if err != nil && uint64(got) < n {
		return nil, io.ErrUnexpectedEOF
	}
	if b.Bytes() == nil {
		return []byte{}, nil
	}
	return b.Bytes(), nil
}
