package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/dgraph-io/badger/v4"
)

// A replica is a copy of a store's URLs and hosts on another machine: the base, all records of one
// moment, then the changes of each commit as parcels. Without bodies it has no pages or visits;
// that is enough to continue the crawl, not to read its results.

// KeeperPart is the pseudo part of the web whose parcels go to the replica.
const KeeperPart = 1<<16 - 1

func replicated(kind byte, bodies bool) bool {
	switch kind {
	case keySeen, keyDiscovery, keyQueued, keyOutcome, keyHost, keyCount, keyParcel, keyCursor, keyInfo, keyMark, keyMarkFor, keyForget, keyHolder, keyAddress:
		return true
	}
	return bodies
}

// changes holds what a batch has set and deleted, encoded as
//
//	record… · 0
//	record = key length, not 0 · 1 + value length, or 0 for a deletion · key · value
type changes struct {
	bodies bool
	data   []byte
}

// Replicate makes a batch record its changes for a replica, with or without bodies.
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

// isReplication reports keys of the transfer itself, which the replica must not receive.
func isReplication(k []byte) bool {
	return (k[0] == keyParcel || k[0] == keyCursor) && len(k) > 3 && binary.BigEndian.Uint16(k[1:]) == KeeperPart
}

// PutChanges puts the batch's changes, compressed, into the outbox. It must be the last change.
func (o OutboxBatch) PutChanges(number uint64) error {
	c := o.b.changes
	if c == nil {
		return nil
	}
	o.b.changes = nil
	return o.b.set(parcelKey(KeeperPart, number), o.b.s.Compress(append(c.data, 0)))
}

// WriteBase writes all records of a replica as of one moment. It returns the number of the last
// parcel included; later changes have higher numbers.
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
	_ = w.WriteByte(0) // Flush returns the error
	return number, w.Flush()
}

// outdate invalidates all replicas of a store and drops the changes waiting for them, because
// records were changed without a parcel or must be forgotten.
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

// Replica is a store that follows another one. Only one goroutine may use it.
type Replica struct{ s *Store }

func ReplicaIn(s *Store) Replica { return Replica{s} }

const replicaSender = "base"

// Number returns the number of the last parcel applied, 0 without a base.
func (r Replica) Number() (uint64, error) {
	return OutboxOf(r.s).Cursor(KeeperPart, replicaSender)
}

const bodiesSender = "bodies"

func (r Replica) Bodies() (bool, error) {
	n, err := OutboxOf(r.s).Cursor(KeeperPart, bodiesSender)
	return n > 0, err
}

// Base reads the base into a new store; number is the last parcel it includes. If reading breaks
// off, the replica stays without a base.
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

// Apply applies parcels in order, each once, and returns the last number applied. after is the
// number of the parcel before the first one given.
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
		// The changes of one commit fitted into one batch there, so they fit into one here.
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

func setter(b *Batch) func(k, v []byte) error {
	return func(k, v []byte) error {
		if v == nil {
			return b.delete(k)
		}
		return b.set(k, v)
	}
}

type byteScanner interface {
	io.Reader
	io.ByteReader
}

// readChanges calls do with each record; v is nil for a deletion.
func readChanges(r byteScanner, do func(k, v []byte) error) error {
	for {
		k, v, err := readSized(r, 1)
		if err != nil || k == nil {
			return err
		}
		if !replicated(k[0], true) || !ourKey(k) || k[0] == keyCursor && !isCursor(k) {
			return fmt.Errorf("%w: %.40q is not a key of a store; run the same version of fossick on all agents", ErrDamaged, k)
		}
		if err := do(k, v); err != nil {
			return err
		}
	}
}

// readBytes reads n bytes, and allocates no more than it has read.
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

var ErrCutOff = errors.New("the snapshot of the store is incomplete")

// A snapshot holds all records of one moment:
//
//	head · record… · 0 · number of records (uvarint)
//	record = key length, not 0 · value length · key · value
const snapshotHead = "FSKSNAP1"

const maxRecordBytes = 1 << 30

// Snapshot writes all records of this moment, one at a time, while commits continue.
func (s *Store) Snapshot(ctx context.Context, to io.Writer) error {
	w := bufio.NewWriterSize(to, 256<<10)
	_, _ = w.WriteString(snapshotHead) // Flush returns errors of w
	n := uint64(0)
	err := s.records.view(func(txn *badger.Txn) error {
		for item := range items(txn, nil) {
			if err := ctx.Err(); err != nil {
				return err
			}
			// A missing value is sent as an empty one, which no reader can decode.
			if err := item.Value(func(v []byte) error { return writeRecord(w, item.Key(), v) }); err != nil {
				return fmt.Errorf("store key %q: %w", item.Key(), err)
			}
			n++
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store %s: snapshot: %w", s.dir, err)
	}
	_, _ = w.Write(binary.AppendUvarint([]byte{0}, n))
	return w.Flush()
}

func writeRecord(w *bufio.Writer, k, v []byte) error {
	var head [2 * binary.MaxVarintLen64]byte
	sizes := binary.AppendUvarint(binary.AppendUvarint(head[:0], uint64(len(k))), uint64(len(v)))
	_, _ = w.Write(sizes)
	_, _ = w.Write(k)
	_, err := w.Write(v)
	return err
}

// Receive makes a store from a snapshot, in a temporary folder that Close removes.
func Receive(of string, from io.Reader) (_ *Store, err error) {
	dir, err := os.MkdirTemp("", "fossick-snapshot-")
	if err != nil {
		return nil, fmt.Errorf("store: %w; set TMPDIR to a folder that can be written to", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if err := roomToMake(dir); err != nil {
		return nil, err
	}
	s, err := open(dir, database)
	if err != nil {
		return nil, err
	}
	s.copyOf = of
	if err = s.receive(bufio.NewReaderSize(from, 256<<10)); err == nil {
		err = s.records.get(key(keyInfo), &s.info)
	}
	if err == nil {
		err = withdrawPending(s) // the crawl may not have done so yet at that moment
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) receive(r *bufio.Reader) error {
	to := batches{s: s}
	defer to.cancel()
	head := make([]byte, len(snapshotHead))
	if _, err := io.ReadFull(r, head); err != nil || string(head) != snapshotHead {
		return fmt.Errorf("%w: it has no head", ErrCutOff)
	}
	for n := uint64(0); ; n++ {
		k, v, err := readRecord(r)
		if err != nil {
			return err
		}
		if k == nil {
			if stated, err := binary.ReadUvarint(r); err != nil || stated != n {
				return fmt.Errorf("%w: %d records, %d stated", ErrCutOff, n, stated)
			}
			return to.flush()
		}
		if err := to.add(func(b *Batch) error { return b.set(k, v) }); err != nil {
			return err
		}
	}
}

func readRecord(r *bufio.Reader) (k, v []byte, err error) {
	k, v, err = readSized(r, 0)
	if k != nil && v == nil {
		v = []byte{}
	}
	return k, v, err
}

// readSized reads a key length, a value length plus more, the key and the value. The key is nil at
// the end, the value if its length is 0.
func readSized(r byteScanner, more uint64) (k, v []byte, err error) {
	keyBytes, err := binary.ReadUvarint(r)
	if err == nil && keyBytes == 0 {
		return nil, nil, nil
	}
	var valueBytes uint64
	if err == nil {
		valueBytes, err = binary.ReadUvarint(r)
	}
	if err == nil && (keyBytes > 1<<16 || valueBytes > maxRecordBytes) {
		return nil, nil, fmt.Errorf("%w: a record of %d and %d bytes; run the same version of fossick everywhere", ErrDamaged, keyBytes, valueBytes)
	}
	if err == nil {
		k, err = readBytes(r, keyBytes)
	}
	if err == nil && valueBytes > 0 {
		v, err = readBytes(r, valueBytes-more)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrCutOff, err)
	}
	return k, v, nil
}

// Temporary reports whether the store is a copy that Close removes, or the readable part of a
// damaged store. Writes to it are lost.
func (s *Store) Temporary() bool { return s.copyOf != "" || len(s.damaged) > 0 }
