package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fossick/crawlplan"
	"fossick/internal/settings"
	"fossick/store"
)

// TestWhatSettingsOpen: a fossick.toml that happens to lie in a folder does not open the
// guard, and what it or a store opens else is told in a line.
func TestWhatSettingsOpen(t *testing.T) {
	for _, c := range []struct {
		name, folder, own string
		args              []string
		env               string // FOSSICK_ALLOW_NET
		want              string // on stderr; "" is no word of it
	}{
		{"guard", "[focus]\nallow-net = [\"127.0.0.0/8\"]", "", nil, "", "fossick.toml:2: a working folder's file must not open the guard"},
		{"guard, at the top", "allow-net = \"10.0.0.0/8\"", "", nil, "", "fossick.toml:1: a working folder's file must not open the guard"},
		{"guard, on the command line too", "allow-net = \"10.0.0.0/8\"", "", []string{"--allow-net", "127.0.0.0/8"}, "", ""},
		{"guard, in the environment too", "allow-net = \"10.0.0.0/8\"", "", nil, "127.0.0.0/8", ""},
		{"guard, in one's own settings", "", "allow-net = \"10.0.0.0/8\"\nlisten = \":0\"", nil, "", ""},
		{"listener", "[focus]\nlisten = \":9100\"\npprof = true", "", nil, "", "fossick.toml of this folder sets --listen :9100, --pprof true\n"},
		{"proxy", "proxy = \"http://me:secret@127.0.0.1:1\"", "", nil, "", "fossick.toml of this folder sets --proxy http://me:xxxxx@127.0.0.1:1\n"},
		{"proxy, on the command line too", "proxy = \"http://127.0.0.1:1\"", "", []string{"--proxy", "http://127.0.0.1:2"}, "", ""},
		{"listener of another verb", "[serve]\naddr = \":80\"", "", nil, "", ""},
		{"nothing", "delay = 0", "", nil, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("XDG_CONFIG_HOME", t.TempDir())
			if c.env != "" {
				t.Setenv("FOSSICK_ALLOW_NET", c.env)
			}
			write(t, settings.Name, c.folder)
			if c.own != "" {
				dir := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "fossick")
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(dir, settings.Name), c.own)
			}
			// No such topic: it ends when the flags have been read.
			code, told := runForErrors(t, append([]string{"focus", "--topic", "nothing-of-that-name"}, c.args...))
			if code == exitDone || strings.Contains(told, "secret") {
				t.Errorf("exit code %d, %s", code, told)
			}
			if c.want != "" && !strings.Contains(told, c.want) || c.want == "" && (strings.Contains(told, settings.Name) || strings.Contains(told, "sets")) {
				t.Errorf("told %q, want %q", told, c.want)
			}
			if guarded := strings.Contains(c.want, "guard"); guarded != (code == exitUsage && strings.Contains(told, "guard")) {
				t.Errorf("exit code %d, %s", code, told)
			}
		})
	}

	t.Chdir(t.TempDir())
	s, err := store.Create("s", store.Info{Topic: "x"})
	if err != nil {
		t.Fatal(err)
	}
	saved, err := json.Marshal(crawlplan.Network{Ways: crawlplan.Ways{AllowNet: []string{"127.0.0.0/8", "::1/128"}, Proxy: "http://127.0.0.1:1"}, Listen: ":0"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetSettings(saved); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"the crawl in s goes on with its --allow-net 127.0.0.0/8,::1/128, --listen :0, --proxy http://127.0.0.1:1\n": nil,
		"the crawl in s goes on with its --allow-net 127.0.0.0/8,::1/128, --proxy http://127.0.0.1:1\n":              {"--listen", "127.0.0.1:0"},
	} {
		// It has no keywords, so it ends before it begins.
		if code, told := runForErrors(t, append([]string{"focus", "--resume", "--store", "s"}, args...)); code == exitDone || strings.Count(told, "goes on with") != 1 || !strings.Contains(told, want) {
			t.Errorf("%v: exit code %d, told %q, want %q", args, code, told, want)
		}
	}
}

func runForErrors(t *testing.T, args []string) (code int, told string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs)
	return code, errs.String()
}
