package badgerfiles

import (
	"encoding/binary"
	"fmt"
	"path/filepath"

	"github.com/dgraph-io/badger/v4/y"
)

// Marks of entries, and what tables and memtables have in the place of a value
// in a value log. That is the log's number, the length of the entry there and
// where it begins, 4 bytes each, as the processor has them.
const (
	isDelete     = 1 << 0
	isPointer    = 1 << 1
	pointerBytes = 12
)

// maxSalvaged bounds a log that salvage writes: Badger makes a memtable of each, which has
// some three bytes for each of these.
const maxSalvaged = 4 << 20

// salvage enters again, as logs of memtables, what the value logs have of
// commits after the newest one that is there. They have bodies, and the pages'
// own records where these are long.
func (f *findings) salvage() error {
	logs, err := logsOf(f.path, valueFiles)
	if err != nil {
		return err
	}
	memlogs, err := logsOf(f.path, memtableFiles)
	if err != nil {
		return err
	}
	next := uint64(1)
	if n := len(memlogs); n > 0 {
		next = logNumber(memlogs[n-1]) + 1
	}
	for i := len(logs) - 1; i >= 0; i-- {
		var found [][]byte
		if err := withLog(logs[i], func(text []byte) { found = f.pointersInto(logNumber(logs[i]), text) }); err != nil {
			return err
		}
		if len(found) == 0 {
			return nil // older logs have older entries
		}
		for _, text := range found {
			if err := replaceFile(filepath.Join(f.path, fmt.Sprintf("%05d.mem", next)), text); err != nil {
				return err
			}
			next++
		}
	}
	return nil
}

// pointersInto returns logs of memtables that point to the lost entries of a value log.
func (f *findings) pointersInto(log uint64, text []byte) (logs [][]byte) {
	made := make([]byte, logHead)
	for _, e := range readLog(text).entries {
		if y.ParseTs(e.key) <= f.has || e.marks()&isDelete != 0 {
			continue
		}
		at := cap(text) - cap(e.text) // it is a part of text
		made = appendPointer(made, e.key, uint32(log), uint32(len(e.text)), uint32(at))
		if len(made) > maxSalvaged {
			logs, made = append(logs, made), make([]byte, logHead)
		}
	}
	if len(made) > logHead {
		logs = append(logs, made)
	}
	return logs
}

// appendPointer appends an entry that points to a value.
func appendPointer(text, key []byte, log, length, at uint32) []byte {
	from := len(text)
	text = append(text, isPointer, 0)
	text = binary.AppendUvarint(text, uint64(len(key)))
	text = binary.AppendUvarint(text, pointerBytes)
	text = append(text, 0) // it does not expire
	text = append(text, key...)
	for _, n := range [...]uint32{log, length, at} {
		text = binary.NativeEndian.AppendUint32(text, n)
	}
	return binary.BigEndian.AppendUint32(text, Checksum(text[from:]))
}
