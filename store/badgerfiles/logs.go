package badgerfiles

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/dgraph-io/badger/v4"
)

const (
	tableFiles    = "*.sst"
	memtableFiles = "*.mem"
	valueFiles    = "*.vlog"
)

// Exists reports whether a database is in path, even one that lost its manifest.
func Exists(path string) bool {
	if _, err := os.Stat(filepath.Join(path, badger.ManifestFilename)); err == nil {
		return true
	}
	tables, err := tablesIn(path)
	return err == nil && len(tables) > 0
}

// SyncLogs syncs the logs of memtables, then the end of the value log, so that whatever they point
// to exists. Badger's Sync would block every commit and look-up meanwhile, and stalled whole
// crawls. Syncing a file through our own descriptor also writes its mapped pages (fsync(2)).
func (d *Database) SyncLogs() error {
	if d.plain {
		return d.Sync()
	}
	reached := d.progress.last() // read before the logs are listed, or it might belong to a newer log
	memtables, err := syncLogs(d.path)
	if err == nil {
		d.progress.synced(memtables, reached)
	}
	if errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS) {
		// A mapped log reports no write errors: the next commit must fail. Other errors are temporary.
		d.log.fail(err.Error())
	}
	return err
}

func syncLogs(path string) (memtables []string, err error) {
	memtables, err1 := logsOf(path, memtableFiles)
	values, err2 := logsOf(path, valueFiles)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	values = values[max(0, len(values)-2):]
	for _, name := range slices.Concat(memtables, values) {
		if err := syncFile(name); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
	}
	return memtables, nil
}

func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // its memtable is a table by now, which Badger syncs itself
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

type Size struct {
	Tables     int
	TableBytes int64
	LargestLog int64
}

func SizeOf(path string) (s Size, err error) {
	tables, err1 := filepath.Glob(filepath.Join(path, tableFiles))
	logs, err2 := filepath.Glob(filepath.Join(path, valueFiles))
	if err := errors.Join(err1, err2); err != nil {
		return s, fmt.Errorf("store %s: %w", path, err)
	}
	s.Tables = len(tables)
	for i, name := range append(tables, logs...) {
		info, err := os.Stat(name)
		if err != nil {
			return s, fmt.Errorf("store: %w", err)
		}
		if i < len(tables) {
			s.TableBytes += info.Size()
		} else {
			s.LargestLog = max(s.LargestLog, info.Size())
		}
	}
	return s, nil
}

// A log of Badger's, of values or of a memtable, read without trusting any byte. Badger takes the
// first unreadable entry for the end and truncates the log there.
//
//	log = number of the encryption key (8 bytes, 0: none) · random (12) · entry… · zeros
//	entry = flags (1) · user flags (1) · key length · value length · expiry (uvarints) · key ·
//	value · CRC-32C of all before (4, big-endian)
//
// In a memtable's log, entries of a commit with more than one entry are flagged, and an end entry
// follows them. fossick uses no user flags and no expiry.

const logHead = 20

const (
	inCommit  = 1 << 6
	endCommit = 1 << 7
)

type entry struct {
	text       []byte
	key, value []byte // the key ends with its version
}

func (e entry) marks() byte { return e.text[0] }

func readEntry(text []byte) (e entry, ok bool) {
	if len(text) < 2+3+4 || text[1] != 0 {
		return e, false
	}
	at := 2
	var numbers [3]uint64
	for i := range numbers {
		n, length := binary.Uvarint(text[at:])
		if length <= 0 {
			return e, false
		}
		numbers[i] = n
		at += length
	}
	rest := uint64(len(text) - at)
	keyBytes, valueBytes := numbers[0], numbers[1]
	if numbers[2] != 0 || keyBytes < 8 || keyBytes > 1<<16 || keyBytes+4 > rest || valueBytes > rest-keyBytes-4 {
		return e, false
	}
	end := at + int(keyBytes+valueBytes)
	if Checksum(text[:end]) != binary.BigEndian.Uint32(text[end:]) {
		return e, false
	}
	key := at + int(keyBytes)
	return entry{text[:end+4], text[at:key], text[key:end]}, true
}

type logRead struct {
	entries []entry
	end     int // of the last entry
	damaged bool
}

// maxSearch bounds the bytes summed up in the search for the next entry.
const maxSearch = 1 << 30

// readLog returns the entries of a log. The log is damaged if an entry follows something else, or
// if it ends with neither an entry nor a zero. A half-written last entry before zeros is no damage
// but the result of a kill: a log is made large and truncated on closing.
func readLog(text []byte) (r logRead) {
	r.end = min(logHead, len(text))
	budget, written := maxSearch, -1
	for at := r.end; at < len(text); {
		e, ok := readEntry(text[at:])
		if !ok {
			if written < 0 {
				written = withoutZeros(text)
			}
			next, found := nextEntry(text, at+1, written, &budget)
			if !found {
				break
			}
			at, r.damaged = next, true
			continue
		}
		r.entries = append(r.entries, e)
		at += len(e.text)
		r.end = at
	}
	if r.end < len(text) && text[len(text)-1] != 0 || len(text) < logHead && len(text) > 0 {
		r.damaged = true
	}
	return r
}

func withoutZeros(text []byte) int {
	const step = 64 << 10
	zeros := make([]byte, step)
	for len(text) >= step && bytes.Equal(text[len(text)-step:], zeros) {
		text = text[:len(text)-step]
	}
	return len(bytes.TrimRight(text, "\x00"))
}

func nextEntry(text []byte, from, to int, budget *int) (at int, ok bool) {
	for at := from; at < to && *budget > 0; at++ {
		if _, ok := readEntry(text[at:]); ok {
			return at, true
		}
		*budget -= claimed(text[at:])
	}
	return 0, false
}

// claimed bounds the bytes summed up to find that no entry begins text.
func claimed(text []byte) int {
	if len(text) < 5 || text[1] != 0 {
		return 1
	}
	_, length := binary.Uvarint(text[2:])
	n, _ := binary.Uvarint(text[2+max(0, length):])
	return 1 + int(min(n, uint64(len(text))))
}

// committed returns the committed entries of a memtable's log, unflagged. If the final commit has
// no end, a kill cut it off; any other commit without an end was damaged.
func (r logRead) committed() (entries []entry) {
	open := 0 // start of the current commit
	var version []byte
	for _, e := range r.entries {
		switch {
		case e.marks()&endCommit != 0:
			open, version = len(entries), nil
			continue
		case e.marks()&inCommit == 0:
			open, version = len(entries), nil
		case !bytes.Equal(version, e.key[len(e.key)-8:]):
			open, version = len(entries), e.key[len(e.key)-8:]
		}
		entries = append(entries, e)
		if e.marks()&inCommit == 0 {
			open = len(entries)
		}
	}
	return entries[:open]
}

func logOf(entries []entry) []byte {
	text := make([]byte, logHead)
	for _, e := range entries {
		from := len(text)
		text = append(text, e.text...)
		text[from] &^= inCommit | endCommit
		end := len(text) - 4
		binary.BigEndian.PutUint32(text[end:], Checksum(text[from:end]))
	}
	return text
}
