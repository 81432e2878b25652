package place

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"fossick/internal/reading"
)

// Equal says whether two files, or two folders, have the same content. The error wraps
// fs.ErrNotExist when there is none at b.
func Equal(a, b string) (bool, error) {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if err := errors.Join(errA, errB); err != nil {
		return false, err
	}
	if infoA.IsDir() != infoB.IsDir() {
		return false, nil
	}
	if !infoA.IsDir() {
		return infoA.Size() == infoB.Size() && sameBytes(a, b), nil
	}
	inA, errA := os.ReadDir(a)
	inB, errB := os.ReadDir(b)
	if err := errors.Join(errA, errB); err != nil || len(inA) != len(inB) {
		return false, err
	}
	for i, e := range inA { // both are sorted
		if e.Name() != inB[i].Name() {
			return false, nil
		}
		if same, err := Equal(filepath.Join(a, e.Name()), filepath.Join(b, e.Name())); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

// sameBytes compares two files; one that cannot be read is not the same.
func sameBytes(a, b string) bool {
	fa, err := reading.Open(a)
	if err != nil {
		return false
	}
	defer fa.Close()
	fb, err := reading.Open(b)
	if err != nil {
		return false
	}
	defer fb.Close()
	bufA, bufB := make([]byte, 256<<10), make([]byte, 256<<10)
	for {
		n, errA := io.ReadFull(fa, bufA)
		m, errB := io.ReadFull(fb, bufB)
		if !bytes.Equal(bufA[:n], bufB[:m]) {
			return false
		}
		if errA != nil || errB != nil {
			return isEnd(errA) && isEnd(errB)
		}
	}
}

func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// syncTree brings files to the disk: each of few, and of many all that the system has.
func syncTree(root string) error {
	const few = 100
	var files []string
	folders := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if len(files) <= few {
			files = append(files, path)
			folders[path] = err == nil && d.IsDir()
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(files) > few {
		return syncAll(root)
	}
	for _, path := range files {
		open := reading.Open
		if folders[path] {
			open = reading.OpenFolder
		}
		f, err := open(path)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}
