package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"fossick/crawler/plan"
	"fossick/internal/testkit"
	"fossick/store"
)

// refusedOfFolder are the flags that the fossick.toml of a stranger's folder must not set: they name
// files, programs, addresses, start pages, models or identities, or hide what the file does. A new
// flag that is not refused needs a thought.
const refusedOfFolder = `addr all allow-net block browser ca candidates cidr cn2 crawl csv
	edges examples explain faults from history host hosts html judge keys keywords keywords-from label
	labels level listen local log model mu-sweep names nats negatives out output
	partial peers per-class personal protocol proxy purpose quiet rename render replicate rho-sweep
	route seed seeds seeds-out seeds-table select sign since store table target test test-where
	to topic train truth ui ui-password unlabelled user-agent where`

// TestFolderSettings tries every flag in the fossick.toml of a working folder.
func TestFolderSettings(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	refused := map[string]bool{}
	for _, verb := range verbsBelow(newParser(t).Model.Node) {
		for _, flag := range slices.Concat(verb.AllFlags(false)...) {
			if _, known := refused[flag.Name]; known && !refused[flag.Name] == harmless(flag) {
				continue
			}
			write(t, settingsFile, flag.Name+" = \"1\"\n")
			_, err := newParser(t).Parse(verbPath(verb))
			refused[flag.Name] = refused[flag.Name] || err != nil && strings.Contains(err.Error(), "--"+flag.Name+": fossick.toml:1: the fossick.toml of a working folder")
		}
	}
	maps.DeleteFunc(refused, func(_ string, says bool) bool { return !says })
	if got := strings.Join(slices.Sorted(maps.Keys(refused)), " "); got != strings.Join(strings.Fields(refusedOfFolder), " ") {
		t.Errorf("refused: %s", got)
	}
}

// TestWhatSettingsOpen checks that fossick prints what a folder's fossick.toml sets, that the file
// cannot hide it, and that a forbidden flag ends the program.
func TestWhatSettingsOpen(t *testing.T) {
	for _, c := range []struct {
		name, folder, own string
		args              []string
		env               string // FOSSICK_ALLOW_NET
		want              string // on stderr; "" for no word of the file
		refused           bool
	}{
		{"guard", "[focus]\nallow-net = [\"127.0.0.0/8\"]", "", nil, "", "--allow-net: fossick.toml:2: the fossick.toml of a working folder", true},
		{"quiet", "quiet = true", "", nil, "", "--quiet: fossick.toml:1: the fossick.toml of a working folder", true},
		{"names", "\nhosts = \"h\"", "", []string{"--quiet"}, "", "--hosts: fossick.toml:2: the fossick.toml of a working folder", true},
		{"proxy", "proxy = \"http://me:secret@127.0.0.1:1\"", "", nil, "", "--proxy: fossick.toml:1: the fossick.toml of a working folder", true},
		{"guard, on the command line too", "allow-net = \"10.0.0.0/8\"", "", []string{"--allow-net", "127.0.0.0/8"}, "", "", false},
		{"guard, in the environment too", "allow-net = \"10.0.0.0/8\"", "", nil, "127.0.0.0/8", "", false},
		{"guard, in one's own settings", "", "allow-net = \"10.0.0.0/8\"\nlisten = \":0\"", nil, "", "", false},
		{"listener of another verb", "[serve]\naddr = \":80\"", "", nil, "", "", false},
		{"harmless", "delay = 0\nlang = [\"en\"]", "", nil, "", "fossick.toml of this folder sets --delay 0, --lang en\n", false},
		{"harmless, quietly", "delay = 0", "", []string{"--quiet"}, "", "fossick.toml of this folder sets --delay 0\n", false},
		{"trusted", "listen = \":9100\"\nproxy = \"http://me:secret@127.0.0.1:1\"", "trust = [\"HERE\"]", nil, "", "fossick.toml of this folder sets --listen :9100, --proxy http://me:xxxxx@127.0.0.1:1\n", false},
		{"trusted, quietly", "quiet = true\nlisten = \":9100\"", "trust = [\"/nowhere\", \"HERE\"]", nil, "", "", false},
		{"another is trusted", "hosts = \"h\"", "trust = [\"HERE/sub\"]", nil, "", "--hosts: fossick.toml:1: the fossick.toml of a working folder", true},
		{"trusts itself", "trust = [\"HERE\"]", "", nil, "", "fossick.toml:1: no verb has a flag \"trust\"", true},
		{"trust by a name", "", "trust = [\"crawls\"]", nil, "", "trust is a list of folders by their whole path", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			here := t.TempDir()
			t.Chdir(here)
			t.Setenv("XDG_CONFIG_HOME", t.TempDir())
			if c.env != "" {
				t.Setenv("FOSSICK_ALLOW_NET", c.env)
			}
			write(t, settingsFile, strings.ReplaceAll(c.folder, "HERE", here))
			ownSettings(t, strings.ReplaceAll(c.own, "HERE", here))
			// An unknown topic ends the program once the flags are read.
			code, told := runForErrors(t, append([]string{"focus", "--topic", "nothing-of-that-name"}, c.args...))
			if code == exitDone || c.refused == strings.Contains(told, "no such topic") || strings.Contains(told, "secret") {
				t.Errorf("exit code %d, %s", code, told)
			}
			if c.want != "" && !strings.Contains(told, c.want) || c.want == "" && (strings.Contains(told, settingsFile) || strings.Contains(told, "sets")) {
				t.Errorf("told %q, want %q", told, c.want)
			}
		})
	}
}

func ownSettings(t *testing.T, text string) {
	t.Helper()
	dir := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "fossick")
	testkit.Must(t, os.MkdirAll(dir, 0o755))
	write(t, filepath.Join(dir, settingsFile), text)
}

// TestWhatAStoreOpens checks that a resumed crawl prints what it takes from its store.
func TestWhatAStoreOpens(t *testing.T) {
	t.Chdir(t.TempDir())
	s := testkit.Call(store.Create("s", store.Info{Topic: "x"})).Must(t)
	saved := testkit.Call(json.Marshal(plan.Settings{Manners: plan.Manners{Sign: "key"}, Network: plan.Network{
		Ways: plan.Ways{AllowNet: []string{"127.0.0.0/8", "::1/128"}, Proxy: "http://127.0.0.1:1", Hosts: "names", CA: "ca.pem"}, Listen: ":0"}})).Must(t)
	testkit.Must(t, s.SetSettings(saved))
	testkit.Must(t, s.Close())
	for want, args := range map[string][]string{
		"the crawl in s resumes with its --allow-net 127.0.0.0/8,::1/128, --ca ca.pem, --hosts names, --listen :0, --proxy http://127.0.0.1:1, --sign key\n": nil,
		"the crawl in s resumes with its --allow-net 127.0.0.0/8,::1/128, --ca ca.pem, --hosts names, --proxy http://127.0.0.1:1, --sign key\n":              {"--listen", "127.0.0.1:0"},
	} {
		// Without keywords the crawl ends before it begins.
		if code, told := runForErrors(t, append([]string{"focus", "--resume", "--store", "s"}, args...)); code == exitDone || strings.Count(told, "resumes with") != 1 || !strings.Contains(told, want) {
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

// TestHiddenTopic checks that fossick says when a folder's topic hides a built-in one.
func TestHiddenTopic(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	if code, told := runForErrors(t, []string{"topic", "new", "science", "--keywords", "gold,mine", "--seed", "http://a.test/"}); code != exitDone {
		t.Fatal(told)
	}
	crawl := []string{"focus", "--topic", "science", "--max-pages", "1", "--allow-net", "10.0.0.0/8", "--seed", "http://127.0.0.1:1/", "--store", "s"}
	if _, told := runForErrors(t, crawl); !strings.Contains(told, "topic science is the one in the folder topics/science, not the built-in one\n") {
		t.Errorf("told %q", told)
	}
}

// FuzzSettings checks that any fossick.toml is accepted, or refused with a message, without a panic.
func FuzzSettings(f *testing.F) {
	for _, seed := range []string{
		"workers = 5", "[focus]\nworkers = 5\nkeywords = [\"a\", \"b\"]", "delay = 2024-01-01", "workers = [1, 2]", "quiet = \"maybe\"",
		"[focus]\nmax-time = 5\n[focus.seed]\nx = 1", "rho = nan", "max-pages = -1", "threshold = inf", "[[focus]]\nworkers = 1", "log-format = \"xml\"", "a.b.c = 1", "workers = 1e400", "seed = [[]]",
		"[version]\n", "json = true\nquiet = true", "workers = 0x7fffffffffffffff", "keywords = {a = 1}", "help = true",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		t.Chdir(t.TempDir())
		t.Setenv("XDG_CONFIG_HOME", t.TempDir())
		write(t, "fossick.toml", text)
		var out, errs bytes.Buffer
		// Without keywords focus ends after it has read its flags.
		code := run(t.Context(), []string{"focus", "--topic", "nothing-of-that-name"}, &out, &errs)
		if code != exitUsage && code != exitFailed && code != exitDone {
			t.Errorf("%q: exit code %d", text, code)
		}
		if code != exitDone && strings.TrimSpace(errs.String()+out.String()) == "" {
			t.Errorf("%q: exit code %d without a word", text, code)
		}
	})
}

func write(t *testing.T, name, text string) {
	t.Helper()
	testkit.Must(t, os.WriteFile(name, []byte(text), 0o644))
}

// TestSettingsOfAnyKind checks that a pipe, a folder or the like in place of settings or topics is
// refused at once, with advice.
func TestSettingsOfAnyKind(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"pipe":    func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"endless": func(path string) error { return os.Symlink("/dev/zero", path) },
		"folder":  func(path string) error { return os.Mkdir(path, 0o700) },
		"large":   func(path string) error { return os.WriteFile(path, make([]byte, 2<<20), 0o600) },
		"dotted":  func(path string) error { return os.WriteFile(path, dotted100k(), 0o600) },
		"dotted tables": func(path string) error {
			return os.WriteFile(path, append(append([]byte("["), dotted100k()...), ']'), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("XDG_CONFIG_HOME", t.TempDir())
			testkit.Must(t, os.MkdirAll(filepath.Join("topics", "own"), 0o700))
			testkit.Must(t, put(filepath.Join("topics", "own", "topic.toml")))
			if code, told := runForErrors(t, []string{"topic", "show", "own"}); code != exitFailed {
				t.Errorf("a topic: exit code %d, %s", code, told)
			}
			testkit.Must(t, put(settingsFile))
			if code, told := runForErrors(t, []string{"version"}); code != exitUsage || len(told) > 300 {
				t.Errorf("settings: exit code %d, %.300s", code, told)
			}
		})
	}
}

// dotted100k is one key of 100,000 parts, which once took 5.5 GB to parse.
func dotted100k() []byte {
	text := make([]byte, 200_000)
	for i := range text {
		text[i] = "a."[i%2]
	}
	return append(text, "a"...)
}
