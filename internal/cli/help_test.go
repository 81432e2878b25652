package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

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
	parser, err := kong.New(&little{}, kong.Name("fossick"), kong.Writers(out, out), kong.Exit(func(int) {}))
	if err != nil {
		t.Fatal(err)
	}
	return parser
}

// TestHelpText: expert flags are counted or shown; an unknown verb names the nearest one.
func TestHelpText(t *testing.T) {
	short, err := HelpText(newLittle(t, io.Discard), []string{"bake"}, false)
	if err != nil || strings.Contains(short, "--grade") || !strings.Contains(short, "1 more flags: fossick bake --help-all") {
		t.Errorf("%v:\n%s", err, short)
	}
	long, err := HelpText(newLittle(t, io.Discard), []string{"bake"}, true)
	if err != nil || !strings.Contains(long, "--grade") || strings.Contains(long, "more flags") {
		t.Errorf("with all, %v:\n%s", err, long)
	}
	if text, err := HelpText(newLittle(t, io.Discard), []string{"config"}, false); err != nil || text != configHelp {
		t.Errorf("config: %q, %v", text, err)
	}
	if _, err := HelpText(newLittle(t, io.Discard), []string{"bade"}, false); err == nil || !strings.Contains(err.Error(), "did you mean bake?") {
		t.Errorf("a verb that there is not: %v", err)
	}
}
