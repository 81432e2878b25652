package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"fossick/internal/fileio"
)

// record names a browser's process and its folder, for a session that must end them.
type record struct {
	Pid     int    `json:"pid"`
	Start   string `json:"start"` // when it started, as the system says
	Profile string `json:"profile"`
}

// recordFile is the record's name in the store's folder.
const recordFile = "browser.json"

func (r record) write(dir string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("record of the browser: %w", err)
	}
	return fileio.Write(filepath.Join(dir, recordFile), 0o600, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
}

// remove removes the browser's folder and the record.
func (r record) remove(dir string) error {
	err := removeAll(r.Profile)
	if e := os.Remove(filepath.Join(dir, recordFile)); e != nil && !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}

// removeAll removes a folder that dying processes may still write to.
func removeAll(dir string) (err error) {
	for range 50 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}

// endLeft ends the browser that a killed session left behind, and reports whether there was one.
func endLeft(dir string) (left bool, err error) {
	text, err := fileio.All(filepath.Join(dir, recordFile), 4<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var r record
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return false, fmt.Errorf("record of an earlier browser: %w; end that browser if it still runs, and remove the file", err)
	}
	if ours, err := filepath.Match(filepath.Join(os.TempDir(), "fossick-browser-*"), r.Profile); err != nil || !ours {
		r.Profile = "" // not a folder of ours: the file was changed
	}
	if at := started(r.Pid); r.Pid > 1 && (at == r.Start || at == "") {
		killGroup(r.Pid) // without its leader, the group still holds the number
	}
	return true, r.remove(dir)
}

// killGroup ends a browser and all that it started.
func killGroup(pid int) {
	_ = syscall.Kill(-pid, syscall.SIGKILL) // it may be gone
}
