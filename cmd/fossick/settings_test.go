package main

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"fossick/internal/testkit"
)

type bakery struct {
	Bake struct {
		Loaves int
		With   []string `sep:"none"`
	} `cmd:""`
	Sell struct {
		Loaves int
		Door   string
	} `cmd:""`
}

// read parses a command line in a folder with this fossick.toml.
func read(t *testing.T, toml string, args ...string) (*bakery, *settings, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	testkit.Must(t, os.WriteFile(settingsFile, []byte(toml), 0o644))
	s := readSettings(func(flag *kong.Flag) bool { return flag.Name != "door" })
	var l bakery
	parser, err := kong.New(&l, kong.Resolvers(s))
	if err != nil {
		t.Fatal(err)
	}
	_, err = parser.Parse(args)
	return &l, s, err
}

// TestOrderOfSources: command line, environment, the verb's table, the top of the file.
func TestOrderOfSources(t *testing.T) {
	toml := "loaves = 1\n[bake]\nloaves = 2\nwith = [\"a,b\", \"c\"]\n"
	l, s, err := read(t, toml, "sell")
	if err != nil || l.Sell.Loaves != 1 || !slices.Equal(s.set, []string{"--loaves 1"}) {
		t.Errorf("the top: %+v, told %v, %v", l, s.set, err)
	}
	if l, _, err = read(t, toml, "bake"); err != nil || l.Bake.Loaves != 2 || !slices.Equal(l.Bake.With, []string{"a,b", "c"}) {
		t.Errorf("the verb's table: %+v, %v", l, err)
	}
	t.Setenv("FOSSICK_LOAVES", "3")
	if l, _, err = read(t, toml, "bake"); err != nil || l.Bake.Loaves != 3 {
		t.Errorf("the environment: %+v, %v", l, err)
	}
	if l, s, err = read(t, toml, "bake", "--loaves", "4"); err != nil || l.Bake.Loaves != 4 || !slices.Equal(s.set, []string{"--with [a,b c]"}) {
		t.Errorf("the command line: %+v, told %v, %v", l, s.set, err)
	}
}

// TestWrongSettings: each mistake is reported with file and line.
func TestWrongSettings(t *testing.T) {
	for toml, want := range map[string]string{
		"\nloave = 1":              "fossick.toml:2: no verb has a flag \"loave\"; did you mean loaves?",
		"[sell]\nwith = [\"x\"]":   "fossick.toml:2: sell has no flag \"with\"",
		"[bade]\nloaves = 1":       "there is no verb \"bade\"; did you mean bake?",
		"loaves = [1, 2]":          "fossick.toml:1: it takes one value, not a list",
		"loaves = \"many\"":        "fossick.toml:1: ",
		"loaves =":                 "fossick.toml:1: ",
		"[sell]\ndoor = \"front\"": "--door: fossick.toml:2: the fossick.toml of a working folder must not set it",
	} {
		if _, _, err := read(t, toml, "sell"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", toml, err, want)
		}
	}
}

func TestUnknownEnv(t *testing.T) {
	parser := testkit.Call(kong.New(&bakery{})).Must(t)
	got := unknownEnvWarnings(parser.Model, []string{"FOSSICK_LOAVE=1", "FOSSICK_LOAVES=1", "FOSSICK_FULL=1", "FOSSICK_TEST_PEERS=x", "LOAVE=1"})
	if want := []string{"FOSSICK_LOAVE has no effect: no verb has such a flag; did you mean FOSSICK_LOAVES?"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

type little struct {
	Quiet bool `help:"Say nothing."`
	Bake  struct {
		Kind  string   `enum:"bread,cake" default:"bread" placeholder:"KIND" help:"What to bake: ${enum}."`
		Oven  string   `placeholder:"FILE" help:"Where. Any will do."`
		Grade int      `expert:"" help:"How dark."`
		With  []string `complete:"spices" help:"What goes in."`
	} `cmd:"" help:"Bake something."`
	Shop struct {
		Open struct{} `cmd:"" help:"Open it."`
	} `cmd:"" help:"The shop."`
}

func newLittle(t testing.TB, out io.Writer) *kong.Kong {
	t.Helper()
	parser := testkit.Call(kong.New(&little{}, kong.Name("fossick"), kong.Writers(out, out), kong.Exit(func(int) {}))).Must(t)
	return parser
}

// TestHelpText: expert flags are counted or shown; an unknown verb names the nearest one.
func TestHelpText(t *testing.T) {
	short, err := helpText(newLittle(t, io.Discard), []string{"bake"}, false)
	if err != nil || strings.Contains(short, "--grade") || !strings.Contains(short, "1 more flags: fossick bake --help-all") {
		t.Errorf("%v:\n%s", err, short)
	}
	long, err := helpText(newLittle(t, io.Discard), []string{"bake"}, true)
	if err != nil || !strings.Contains(long, "--grade") || strings.Contains(long, "more flags") {
		t.Errorf("with all, %v:\n%s", err, long)
	}
	if text, err := helpText(newLittle(t, io.Discard), []string{"config"}, false); err != nil || text != configHelp {
		t.Errorf("config: %q, %v", text, err)
	}
	if _, err := helpText(newLittle(t, io.Discard), []string{"bade"}, false); err == nil || !strings.Contains(err.Error(), "did you mean bake?") {
		t.Errorf("a verb that there is not: %v", err)
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]byteSize{
		"0": 0, "1000": 1000, "64K": 64 << 10, "512MB": 512 << 20, "1GiB": 1 << 30, "1.5 gb": 3 << 29, "2T": 2 << 40,
	} {
		var got byteSize
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "GB", "-1", "much", "1e99", "NaN", "1 2", "12MiBi"} {
		var got byteSize
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %d", text, got)
		}
	}
}

func TestMoment(t *testing.T) {
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"2026-11-01":                "2026-11-01T00:00:00Z",
		"2026-11-01T10:00:00+02:00": "2026-11-01T08:00:00Z",
		"2w":                        "2026-11-10T12:00:00Z",
		"0":                         "2026-11-24T12:00:00Z",
		"yesterday":                 "", "": "", "2026-13-01": "",
	} {
		got, err := parseMoment(text, now)
		if (err != nil) != (want == "") || err == nil && got.UTC().Format(time.RFC3339) != want {
			t.Errorf("%q: %v, %v; want %s", text, got, err, want)
		}
	}
}
