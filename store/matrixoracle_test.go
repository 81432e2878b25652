package store

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
)

// lostKeys says which keys are gone with the bytes from at[0] to at[1] of a file: those of
// a table's blocks, and the entries of a log. Other files have no records.
func lostKeys(t *testing.T, name string, data []byte, at [2]int) func(k []byte) bool {
	t.Helper()
	gone := map[string]bool{}
	switch filepath.Ext(name) {
	case ".sst":
		for _, b := range blocksOf(t, data) {
			if b.from < at[1] && at[0] < b.to {
				for _, k := range b.keys {
					gone[k] = true
				}
			}
		}
	case ".vlog":
		for _, e := range entriesOf(data) {
			if e.from < at[1] && at[0] < e.to {
				gone[e.key] = true
			}
		}
	case ".mem": // what was committed together is there or not
		var together []string
		harmed := false
		for _, e := range entriesOf(data) {
			together = append(together, e.key)
			harmed = harmed || e.from < at[1] && at[0] < e.to
			if !strings.HasPrefix(e.key, "!badger!txn") {
				continue
			}
			if harmed {
				for _, k := range together {
					gone[k] = true
				}
			}
			together, harmed = nil, false
		}
	}
	return func(k []byte) bool { return gone[string(k)] }
}

// part is a block of a table, with its keys, or an entry of a log.
type part struct {
	from, to int
	keys     []string
	key      string
}

// blocksOf returns the blocks of a table.
func blocksOf(t *testing.T, data []byte) (blocks []part) {
	t.Helper()
	end := len(data) - 4
	end -= int(binary.BigEndian.Uint32(data[end:])) + 4
	n := int(binary.BigEndian.Uint32(data[end:]))
	index := fb.GetRootAsTableIndex(data[end-n:end], 0)
	var firsts [][]byte
	for i := range index.OffsetsLength() {
		var o fb.BlockOffset
		index.Offsets(&o, i)
		firsts = append(firsts, bytes.Clone(o.KeyBytes()))
		blocks = append(blocks, part{from: int(o.Offset()), to: int(o.Offset() + o.Len())})
	}
	tab, err := table.OpenInMemoryTable(bytes.Clone(data), 1, &table.Options{})
	must(t, err)
	it := tab.NewIterator(0)
	defer it.Close()
	i := 0
	for it.Rewind(); it.Valid(); it.Next() {
		for i+1 < len(firsts) && y.CompareKeys(it.Key(), firsts[i+1]) >= 0 {
			i++
		}
		blocks[i].keys = append(blocks[i].keys, string(y.ParseKey(it.Key())))
	}
	return blocks
}

// entriesOf returns the entries of a log:
//
//	head (20) · entry…
//	entry = meta (2) · length of key · of value · expiry (uvarints) · key · value · CRC (4)
func entriesOf(data []byte) (entries []part) {
	for at := 20; at+6 < len(data); {
		from, lengths := at, [3]uint64{}
		at += 2
		for i := range lengths {
			v, n := binary.Uvarint(data[at:])
			lengths[i], at = v, at+n
		}
		if lengths[0] < 8 || at+int(lengths[0]+lengths[1]) > len(data) {
			break
		}
		k := data[at : at+int(lengths[0])-8] // without its version
		at += int(lengths[0]+lengths[1]) + 4
		entries = append(entries, part{from: from, to: at, key: string(k)})
	}
	return entries
}
