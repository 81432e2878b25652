package badgerfiles

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dgraph-io/badger/v4"

	"fossick/internal/fileio"
)

// If a memtable's log is lost or replaced by an older one, the database looks as it did some time
// before, and nothing in it shows the lost commits. So a separate file records how far commits
// came:
//
//	"FSKREACH" · CRC-32C of the rest (4) · boot ID of the system (36, zeros if unknown) ·
//	version of the last commit (8) · number of logs (4) · for each its number (8) and version
//	(8) · zeros up to 512 bytes
//
// Numbers are big-endian. A log's version is the newest one in all tables and in the logs up to it,
// as synced. The last commit's version is not synced. It counts only until the system goes down,
// since the kernel might have written this file but not the log.
//
// A kill never leaves a version that the database does not reach. Each is written after its commit,
// for a record that is never removed. Flushes and compactions keep such a record, in the same or a
// newer version.
const (
	reachedFile  = "REACHED"
	reachedHead  = "FSKREACH"
	reachedBytes = 512 // one sector, which a power cut leaves old or new
	bootBytes    = 36
	reachedLogs  = (reachedBytes - len(reachedHead) - 4 - bootBytes - 8 - 4) / 16 // Badger has three logs
)

type reached struct {
	boot string // "" if unknown
	last uint64
	logs []logReached // oldest first
}

type logReached struct{ log, version uint64 }

func (r reached) encode() []byte {
	text := make([]byte, len(reachedHead)+4+bootBytes, reachedBytes)
	copy(text, reachedHead)
	copy(text[len(reachedHead)+4:], r.boot)
	text = binary.BigEndian.AppendUint64(text, r.last)
	logs := r.logs[max(0, len(r.logs)-reachedLogs):]
	text = binary.BigEndian.AppendUint32(text, uint32(len(logs)))
	for _, l := range logs {
		text = binary.BigEndian.AppendUint64(text, l.log)
		text = binary.BigEndian.AppendUint64(text, l.version)
	}
	text = text[:reachedBytes]
	binary.BigEndian.PutUint32(text[len(reachedHead):], Checksum(text[len(reachedHead)+4:]))
	return text
}

func decodeReached(text []byte) (r reached, ok bool) {
	if len(text) != reachedBytes || string(text[:len(reachedHead)]) != reachedHead {
		return r, false
	}
	text = text[len(reachedHead):]
	if Checksum(text[4:]) != binary.BigEndian.Uint32(text) {
		return r, false
	}
	text = text[4:]
	r.boot = strings.TrimRight(string(text[:bootBytes]), "\x00")
	r.last = binary.BigEndian.Uint64(text[bootBytes:])
	text = text[bootBytes+8:]
	n := binary.BigEndian.Uint32(text)
	if n > uint32(reachedLogs) {
		return r, false
	}
	for text = text[4:]; n > 0; n-- {
		r.logs = append(r.logs, logReached{binary.BigEndian.Uint64(text), binary.BigEndian.Uint64(text[8:])})
		text = text[16:]
	}
	return r, true
}

// readReached reads the file of a closed database. If it is missing or incomplete, ok is false.
func readReached(path string) (r reached, ok bool) {
	name := filepath.Join(path, reachedFile)
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() != reachedBytes {
		return r, false
	}
	text, err := fileio.All(name, 64<<20)
	if err != nil {
		return r, false
	}
	return decodeReached(text)
}

func boot() string {
	text, err := fileio.All("/proc/sys/kernel/random/boot_id", 64<<20)
	if id := strings.TrimSpace(string(text)); err == nil && len(id) == bootBytes {
		return id
	}
	return ""
}

// checkReached compares the file with tables and logs, unless other damage explains a difference.
func (f *findings) checkReached() {
	r, ok := readReached(f.path)
	if !ok || slices.ContainsFunc(f.damage, func(d Damage) bool { return d.Lost }) {
		return
	}
	for _, l := range r.logs {
		if has := f.reach(l.log); has < l.version {
			name, what := fmt.Sprintf("%05d.mem", l.log), "the log of a memtable is gone"
			if _, there := f.inLogs[l.log]; there {
				what = "it is older than it was, or incomplete"
			}
			f.foundUnreached(name, what, has, l.version)
			return
		}
	}
	if has := f.reach(math.MaxUint64); has < r.last && r.boot != "" && r.boot == boot() {
		f.foundUnreached(memtableFiles, "the log of a memtable is gone, or older than it was", has, r.last)
	}
}

// reach returns the newest version in the tables and the logs up to this one.
func (f *findings) reach(upTo uint64) (version uint64) {
	version = f.inTables
	for log, has := range f.inLogs {
		if log <= upTo {
			version = max(version, has)
		}
	}
	return version
}

func (f *findings) foundUnreached(file, what string, has, version uint64) {
	f.unreached, f.has = true, has
	f.found(file, true, "the part of these commits in the value log is taken from there",
		"%s: the last %d commits are in no table and in no log", what, version-has)
}

func logNumber(name string) uint64 {
	base := filepath.Base(name)
	n, _ := strconv.ParseUint(strings.TrimSuffix(base, filepath.Ext(base)), 10, 64)
	return n
}

// progress writes the file of an open database. It is safe for concurrent use.
type progress struct {
	mu   sync.Mutex
	path string
	r    reached
	file *os.File // nil until the first write
}

func readProgress(path string) *progress {
	r, _ := readReached(path)
	if r.boot != boot() {
		r.last = 0
	}
	return &progress{path: path, r: r}
}

// Reached notes, without a sync, a committed transaction that wrote a record that stays for ever.
func (d *Database) Reached(txn *badger.Txn) {
	if d.plain || d.view != "" {
		return
	}
	d.progress.mu.Lock()
	defer d.progress.mu.Unlock()
	d.progress.r.last = txn.ReadTs() + 1 // there is only one writer
	d.progress.write()
}

func (p *progress) last() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil {
		return 0
	}
	return p.r.last
}

// synced notes that the memtables' logs were synced up to this version.
func (p *progress) synced(memlogs []string, version uint64) {
	if version == 0 || len(memlogs) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	newest := logNumber(memlogs[len(memlogs)-1])
	kept := p.r.logs[:0]
	for _, l := range p.r.logs {
		there := func(name string) bool { return logNumber(name) == l.log }
		if l.log != newest && slices.ContainsFunc(memlogs, there) {
			kept = append(kept, l)
		}
	}
	p.r.logs = append(kept, logReached{newest, version})
	p.write()
}

func (p *progress) write() {
	if p.file == nil {
		file, err := os.OpenFile(filepath.Join(p.path, reachedFile), os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return
		}
		p.file, p.r.boot = file, boot()
	}
	_, _ = p.file.WriteAt(p.r.encode(), 0)
}

func (p *progress) close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file != nil {
		_ = p.file.Close() // not needed for its writes
		p.file = nil
	}
}
