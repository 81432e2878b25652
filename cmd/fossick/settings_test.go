package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// FuzzSettings: any fossick.toml is taken, or refused with a message and exit
// code 2; nothing in it makes a verb panic.
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
		// Without a topic's keywords there is nothing to crawl: focus ends after it
		// has read its flags.
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
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
