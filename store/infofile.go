package store

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	"fossick/internal/reading"
	"fossick/internal/wholefile"
	"fossick/store/badgerfiles"
)

// A store's Info stands beside its database too. So a store is known as one before Badger
// opens anything, which changes files, and a lost table costs no crawl its settings.
//
//	"FSKINFO1" · CRC-32C of the rest (4 bytes, big-endian) · Info as in the database
const (
	infoFile = "info.fossick"
	infoHead = "FSKINFO1"
)

// maxInfoBytes bounds what is read: 1,000 start pages of 2,000 bytes and more.
const maxInfoBytes = 16 << 20

// readInfoFile returns the Info beside the database; false when there is none, or it
// cannot be read.
func readInfoFile(dir string) (info Info, ok bool) {
	name := filepath.Join(dir, infoFile)
	if stat, err := os.Lstat(name); err != nil || !stat.Mode().IsRegular() || stat.Size() > maxInfoBytes {
		return Info{}, false
	}
	text, err := reading.All(name, maxInfoBytes)
	if err != nil || len(text) < len(infoHead)+4 || string(text[:len(infoHead)]) != infoHead {
		return Info{}, false
	}
	text = text[len(infoHead):]
	if binary.BigEndian.Uint32(text) != badgerfiles.Checksum(text[4:]) {
		return Info{}, false
	}
	err = decode(key(keyInfo), text[4:], &info)
	return info, err == nil && info.Format > 0
}

// writeInfoFile writes the Info beside the database.
func (s *Store) writeInfoFile() error {
	if s.Temporary() {
		return nil
	}
	body, err := encode(s.info)
	if err != nil {
		return err
	}
	text := binary.BigEndian.AppendUint32([]byte(infoHead), badgerfiles.Checksum(body))
	err = wholefile.Write(filepath.Join(s.dir, infoFile), 0o600, func(f *os.File) error {
		_, err := f.Write(append(text, body...))
		return err
	})
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// keepInfoFile writes the file where it is missing, as in stores of earlier builds, or is
// not what the database says. That it cannot be written is no reason not to read the store.
func (s *Store) keepInfoFile() {
	if beside, ok := readInfoFile(s.dir); !ok || !reflect.DeepEqual(beside, s.info) {
		_ = s.writeInfoFile()
	}
}
