package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
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
func read(t *testing.T, toml string, args ...string) (*bakery, *Settings, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	if err := os.WriteFile(FileName, []byte(toml), 0o644); err != nil {
		t.Fatal(err)
	}
	s := ReadSettings(func(flag *kong.Flag) bool { return flag.Name != "door" })
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
	parser, err := kong.New(&bakery{})
	if err != nil {
		t.Fatal(err)
	}
	got := UnknownEnv(parser.Model, []string{"FOSSICK_LOAVE=1", "FOSSICK_LOAVES=1", "FOSSICK_FULL=1", "FOSSICK_TEST_PEERS=x", "LOAVE=1"})
	if want := []string{"FOSSICK_LOAVE has no effect: no verb has such a flag; did you mean FOSSICK_LOAVES?"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
