package bus

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fossick/internal/testkit"
)

func made(t *testing.T, dir string, names ...string) *issued {
	t.Helper()
	got := testkit.Call(Init(dir, names, time.Now())).Must(t)
	return got
}

func TestInit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	got := made(t, dir, "a.test", "127.0.0.9")
	if want := []string{filepath.Join(dir, "a.test"), filepath.Join(dir, "127.0.0.9")}; !slices.Equal(got.Folders, want) {
		t.Errorf("folders %v, want %v", got.Folders, want)
	}
	if left := time.Until(got.Expires); left < (years*365-1)*24*time.Hour || left > (years*365+4)*24*time.Hour {
		t.Errorf("good for %v", left)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if want := fs.FileMode(0o600); err == nil && !d.IsDir() && info.Mode() != want || d.IsDir() && info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v", path, info.Mode())
		}
		if name := filepath.Base(path); name == authorityKey && filepath.Dir(path) != dir {
			t.Errorf("a machine has the authority's key: %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := Init(dir, []string{"b", "a.test"}, time.Now()); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("a machine twice: %v", err)
	}
	for _, name := range []string{"", "..", "a/b", "a b", "-a", "*", strings.Repeat("a", 64)} {
		if _, err := Init(dir, []string{name}, time.Now()); !errors.Is(err, errName) {
			t.Errorf("name %q: %v", name, err)
		}
	}
	if _, err := Init(dir, []string{"c", "c"}, time.Now()); !errors.Is(err, errName) {
		t.Errorf("a name twice: %v", err)
	}
	later, err := Init(dir, []string{"b"}, time.Now().AddDate(1, 0, 0))
	if err != nil || later.Expires != got.Expires.UTC().Truncate(time.Second) && !later.Expires.Equal(got.Expires.Truncate(time.Second)) {
		t.Errorf("a year later: %v, %v; want %v", later, err, got.Expires)
	}
	first, err := ReadSecrets(got.Folders[0], time.Now())
	if err != nil {
		t.Fatal(err)
	}
	added, err := ReadSecrets(later.Folders[0], time.Now().AddDate(1, 0, 0))
	if err != nil || added.public != first.public || !added.root.Equal(first.root) {
		t.Errorf("a machine added later is another cluster's, %v", err)
	}
}

// TestReadSecrets: any other file is refused, and the error says what to do.
func TestReadSecrets(t *testing.T) {
	other := made(t, filepath.Join(t.TempDir(), "other")).Folders[0]
	for name, c := range map[string]struct {
		spoil func(folder string) error
		at    time.Time
		want  string
	}{
		"read by others":    {func(f string) error { return os.Chmod(filepath.Join(f, machineKey), 0o640) }, time.Now(), "chmod 600"},
		"a seed for others": {func(f string) error { return os.Chmod(filepath.Join(f, agentSeed), 0o604) }, time.Now(), "chmod 600"},
		"no key":            {func(f string) error { return os.Remove(filepath.Join(f, machineKey)) }, time.Now(), "fossick cluster init"},
		"no authority":      {func(f string) error { return os.Remove(filepath.Join(f, authorityCert)) }, time.Now(), "fossick cluster init"},
		"no PEM":            {func(f string) error { return os.WriteFile(filepath.Join(f, authorityCert), nil, 0o600) }, time.Now(), errSecrets.Error()},
		"another's seed":    {func(f string) error { return os.WriteFile(filepath.Join(f, agentSeed), []byte("SUAB"), 0o600) }, time.Now(), errSecrets.Error()},
		"another's authority": {func(f string) error {
			text, err := os.ReadFile(filepath.Join(other, authorityCert))
			return errors.Join(err, os.WriteFile(filepath.Join(f, authorityCert), text, 0o600))
		}, time.Now(), errSecrets.Error()},
		"another's certificate": {func(f string) error {
			text, err := os.ReadFile(filepath.Join(other, machineCert))
			return errors.Join(err, os.WriteFile(filepath.Join(f, machineCert), text, 0o600))
		}, time.Now(), errSecrets.Error()},
		"over": {func(string) error { return nil }, time.Now().AddDate(years, 0, 1), "make another with fossick cluster init"},
	} {
		folder := made(t, filepath.Join(t.TempDir(), "keys")).Folders[0]
		testkit.Must(t, c.spoil(folder))
		if _, err := ReadSecrets(folder, c.at); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	folder := made(t, filepath.Join(t.TempDir(), "keys")).Folders[0]
	s := testkit.Call(ReadSecrets(folder, time.Now())).Must(t)
	var out strings.Builder
	slog.New(slog.NewTextHandler(&out, nil)).Error("x", "keys", s)
	slog.New(slog.NewJSONHandler(&out, nil)).Error("x", "keys", s)
	const want = "keys of the cluster"
	fmt.Fprintf(&out, "%v %+v %#v %s", s, s, s, s)
	if got := strings.Count(out.String(), want); got != 6 || len(out.String()) > 400 {
		t.Errorf("it shows %s", &out)
	}
}

// FuzzReadSecrets: no file makes ReadSecrets panic.
func FuzzReadSecrets(f *testing.F) {
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), []byte("SUAB"))
	f.Fuzz(func(t *testing.T, cert, seed []byte) {
		folder := t.TempDir()
		for name, text := range map[string][]byte{machineKey: cert, machineCert: cert, authorityCert: cert, agentSeed: seed} {
			testkit.Must(t, os.WriteFile(filepath.Join(folder, name), text, 0o600))
		}
		if s, err := ReadSecrets(folder, time.Now()); err == nil && s.public == "" {
			t.Error("secrets without a key")
		}
	})
}
