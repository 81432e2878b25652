package store

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/dgraph-io/badger/v4"
)

// ErrCutOff reports a snapshot without its end: who wrote it ended before.
var ErrCutOff = errors.New("the snapshot of the store is incomplete")

// A snapshot is all records of one moment, as a stream:
//
//	head · record… · 0 · number of records (uvarint)
//	record = length of the key, which is not 0 · length of the value · key · value
const snapshotHead = "FSKSNAP1"

// maxRecordBytes bounds what a record of a snapshot is believed to have.
const maxRecordBytes = 1 << 30

// Snapshot writes all records of this moment. Commits go on meanwhile, and are not in it;
// what they replace stays on disk as long. It has one record in memory at a time.
func (s *Store) Snapshot(ctx context.Context, to io.Writer) error {
	w := bufio.NewWriterSize(to, 256<<10)
	_, _ = w.WriteString(snapshotHead) // errors of w show in Flush, and in each write from then on
	n := uint64(0)
	err := s.records.view(func(txn *badger.Txn) error {
		for item := range items(txn, nil) {
			if err := ctx.Err(); err != nil {
				return err
			}
			// A value that is missing is sent as an empty one, which no reader can decode.
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

// Receive makes a store of a snapshot of another one, in a temporary folder that Close
// removes; its Dir is the other's.
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
		err = withdrawPending(s) // it may be of the moment before the crawl does so
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// receive commits the records of a snapshot.
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

// readRecord returns the next record, none at the end.
func readRecord(r *bufio.Reader) (k, v []byte, err error) {
	keyBytes, err := binary.ReadUvarint(r)
	if err == nil && keyBytes == 0 {
		return nil, nil, nil
	}
	var valueBytes uint64
	if err == nil {
		valueBytes, err = binary.ReadUvarint(r)
	}
	if err == nil && (keyBytes > 1<<16 || valueBytes > maxRecordBytes) {
		return nil, nil, fmt.Errorf("%w: a record of %d and %d bytes; use the version of fossick that runs the crawl", ErrDamaged, keyBytes, valueBytes)
	}
	if err == nil {
		k, v = make([]byte, keyBytes), make([]byte, valueBytes)
		if _, err = io.ReadFull(r, k); err == nil {
			_, err = io.ReadFull(r, v)
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrCutOff, err)
	}
	return k, v, nil
}

// Temporary says whether the store is a copy that Close removes, or what can be read of
// a damaged one. What is written to it is lost.
func (s *Store) Temporary() bool { return s.copyOf != "" || len(s.damaged) > 0 }
