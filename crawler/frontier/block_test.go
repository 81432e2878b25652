package frontier

import (
	"encoding/hex"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fossick/internal/testkit"
)

// TestBlockBytes has the bytes of docs/frontier.md, written by hand.
func TestBlockBytes(t *testing.T) {
	got := appendBlock(nil, []entry{{id: 1, priority: 0.5, host: 2, key: 3}})
	want := "01000000" + "d8d84b43" + // count, CRC-32C of the rest
		"0100000000000000" + "000000000000e03f" + "0200000000000000" + "0300000000000000"
	if hex.EncodeToString(got) != want {
		t.Errorf("block %x\nwant  %s", got, want)
	}
}

func TestParseBlockRefusesDamage(t *testing.T) {
	whole := appendBlock(nil, []entry{{id: 1, priority: math.Inf(-1)}, {id: 2, key: math.MaxUint64}})
	if entries, err := parseBlock(nil, whole); err != nil || len(entries) != 2 {
		t.Fatalf("the whole block: %v, %v", entries, err)
	}
	for i := range whole {
		if _, err := parseBlock(nil, whole[:i]); !errors.Is(err, errDamaged) {
			t.Errorf("cut after %d bytes: %v, want ErrDamaged", i, err)
		}
		flipped := append([]byte(nil), whole...)
		flipped[i] ^= 0x10
		if _, err := parseBlock(nil, flipped); !errors.Is(err, errDamaged) {
			t.Errorf("byte %d flipped: %v, want ErrDamaged", i, err)
		}
	}
}

func FuzzParseBlock(f *testing.F) {
	f.Add([]byte{})
	f.Add(appendBlock(nil, nil))
	f.Add(appendBlock(nil, []entry{{id: 7, priority: 0.25, host: 8, key: 9}}))
	f.Add(appendBlock(nil, make([]entry, 300)))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseBlock(nil, data)
		if err != nil {
			if !errors.Is(err, errDamaged) {
				t.Errorf("%v is no ErrDamaged", err)
			}
			return
		}
		if again := appendBlock(nil, entries); string(again) != string(data) {
			t.Errorf("%x was read and written again as %x", data, again)
		}
	})
}

// overflowed returns a frontier with URLs of the tail and of a resting host on disk.
func overflowed(t *testing.T) *Frontier {
	f := newFrontier(t, Options{Dir: filepath.Join(t.TempDir(), "f"), Memory: 16})
	f.tail.block, f.hosts.room.block = 4, 4
	push := func(from, to int, host string, priority float64) {
		for id := from; id < to; id++ {
			f.Push(Item{ID: ID(id), Host: f.Host(host), Priority: priority})
		}
	}
	push(1, 100, "rests:80", 0.9)
	f.Rest(f.Host("rests:80"), start.Add(time.Hour))
	push(100, 200, "free:80", 0.5)
	if it, ok := f.Next(start); !ok || it.ID != 100 {
		t.Fatalf("got %v %v, want URL 100", it, ok)
	}
	if f.tail.onDisk == 0 || f.hosts.room.onDisk == 0 {
		t.Fatalf("%d URLs of the tail on disk and %d parked, want both", f.tail.onDisk, f.hosts.room.onDisk)
	}
	return f
}

// TestDamagedFile: with a damaged scratch file the frontier fails, but gives no wrong URL.
func TestDamagedFile(t *testing.T) {
	for _, pattern := range []string{"tail-*", "parked-*"} {
		f := overflowed(t)
		names, err := filepath.Glob(filepath.Join(f.tail.scratch.dir, pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("no files %s: %v", pattern, err)
		}
		for _, name := range names {
			data := testkit.Call(os.ReadFile(name)).Must(t)
			data[len(data)/2] ^= 1
			testkit.Must(t, os.WriteFile(name, data, 0o644))
		}
		f.Done(f.Host("free:80"), time.Time{})
		now := start.Add(2 * time.Hour)
		for last := 1.0; ; {
			it, ok := f.Next(now)
			if !ok {
				break
			}
			if it.ID < 1 || it.ID >= 200 || it.Priority > last {
				t.Fatalf("%s: got %+v after priority %v", pattern, it, last)
			}
			last = it.Priority
			f.Done(it.Host, time.Time{})
		}
		if err := f.Err(); !errors.Is(err, errDamaged) || !strings.Contains(err.Error(), "offset") {
			t.Errorf("%s: error %v, want ErrDamaged with the place", pattern, err)
		}
		f.Push(Item{ID: 1000, Host: f.Host("new:80"), Priority: 1})
		if it, ok := f.Next(now); ok {
			t.Errorf("%s: got %v after the error", pattern, it)
		}
	}
}

// TestNoDisk: a folder that cannot be made is an error that names it.
func TestNoDisk(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	testkit.Must(t, os.WriteFile(file, nil, 0o644))
	f := newFrontier(t, Options{Dir: filepath.Join(file, "f"), Memory: 16})
	for id := range ID(100) {
		f.Push(Item{ID: id + 1, Host: f.Host("a:80")})
	}
	if err := f.Err(); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("error %v, want one that names %s", err, file)
	}
	if it, ok := f.Next(start); ok {
		t.Errorf("got %v after the error", it)
	}
}

// TestLeftovers: files of a killed process are removed, other files are not.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"tail-000001", "parked-000007", "notes"} {
		testkit.Must(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644))
	}
	newFrontier(t, Options{Dir: dir})
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "notes" {
		t.Errorf("left are %v, %v; want the notes alone", left, err)
	}
}

func TestNaNComesLast(t *testing.T) {
	f := newFrontier(t, Options{})
	f.Push(Item{ID: 1, Host: f.Host("a:80"), Priority: math.NaN()})
	f.Push(Item{ID: 2, Host: f.Host("b:80"), Priority: -1e300})
	if it, _ := f.Next(start); it.ID != 2 {
		t.Errorf("first is %d, want 2", it.ID)
	}
	if it, ok := f.Next(start); !ok || it.ID != 1 {
		t.Errorf("then %v %v, want 1", it, ok)
	}
}

// TestRestingHostIsPassedOverOnce: a resting host's URLs are not visited for each URL taken.
func TestRestingHostIsPassedOverOnce(t *testing.T) {
	f := newFrontier(t, Options{Dir: t.TempDir(), Memory: 1000})
	const urls = 20_000
	for id := 1; id <= urls; id++ {
		host, priority := "rests:80", 0.9
		if id%2 == 0 {
			host, priority = "free:80", 0.1
		}
		f.Push(Item{ID: ID(id), Host: f.Host(host), Priority: priority})
	}
	f.Rest(f.Host("rests:80"), start.Add(time.Hour))
	parked := 0
	for id := 2; id <= urls; id += 2 {
		it, ok := f.Next(start)
		if !ok || it.ID != ID(id) {
			t.Fatalf("got %v %v, want URL %d", it, ok, id)
		}
		f.Done(it.Host, time.Time{})
		if n := f.hosts.room.inMemory + f.hosts.room.onDisk; n < parked {
			t.Fatalf("%d URLs are parked, after %d", n, parked)
		} else {
			parked = n
		}
		if f.hosts.room.inMemory > 1000 || len(f.tail.buffer) > 1000 {
			t.Fatalf("%d parked and %d other URLs in memory, want at most 1000", f.hosts.room.inMemory, len(f.tail.buffer))
		}
	}
	if parked != urls/2 {
		t.Errorf("%d URLs were parked, want %d", parked, urls/2)
	}
	if at, ok := f.Wake(); !ok || !at.Equal(start.Add(time.Hour)) {
		t.Errorf("Wake = %v %v, want in an hour", at, ok)
	}
}
