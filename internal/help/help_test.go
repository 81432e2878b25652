package help

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// little is a command line to speak of.
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

var spices = Offers{"files": {More: Files}, "spices": {Words: func() []string { return []string{"salt", "sugar"} }}}

func TestCompleteLittle(t *testing.T) {
	app := newLittle(t, io.Discard).Model
	for line, want := range map[string]string{
		"b": "bake :none", "shop ": "open :none", "bake --k": "--kind :none", "bake --kind c": "cake :none", "bake --kind=b": "--kind=bread :none",
		"bake --oven ": ":files", "bake --with s": "salt sugar :list", "bake --with salt,": "salt,sugar :list", "none ": ":none",
	} {
		var out bytes.Buffer
		Complete(app, spices, strings.Split(line, " "), &out)
		var words []string
		for row := range strings.Lines(out.String()) {
			word, _, _ := strings.Cut(strings.TrimSuffix(row, "\n"), "\t")
			words = append(words, word)
		}
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}

// TestText: flags of experts are counted, and shown when all are asked for; a verb that
// there is not is told with the nearest.
func TestText(t *testing.T) {
	short, err := Text(newLittle(t, io.Discard), []string{"bake"}, false, "")
	if err != nil || strings.Contains(short, "--grade") || !strings.Contains(short, "1 more flags: fossick bake --help-all") {
		t.Errorf("%v:\n%s", err, short)
	}
	long, err := Text(newLittle(t, io.Discard), []string{"bake"}, true, "")
	if err != nil || !strings.Contains(long, "--grade") || strings.Contains(long, "more flags") {
		t.Errorf("with all, %v:\n%s", err, long)
	}
	if text, err := Text(newLittle(t, io.Discard), []string{"config"}, false, "settings"); err != nil || text != "settings" {
		t.Errorf("config: %q, %v", text, err)
	}
	if _, err := Text(newLittle(t, io.Discard), []string{"bade"}, false, ""); err == nil || !strings.Contains(err.Error(), "did you mean bake?") {
		t.Errorf("a verb that there is not: %v", err)
	}
}

// TestManual: a page for each verb that does something, with all its flags.
func TestManual(t *testing.T) {
	app := newLittle(t, io.Discard).Model
	var names []string
	for _, verb := range Verbs(app.Node) {
		names = append(names, PageName(verb))
	}
	if want := []string{"fossick-bake", "fossick-shop-open"}; !slices.Equal(names, want) {
		t.Errorf("pages of %v, want %v", names, want)
	}
	page := Manual{Version: "7"}.Page(app, Child(app.Node, "bake"))
	for _, want := range []string{`.TH "FOSSICK\-BAKE" "1" "" "fossick 7" "fossick"`, `\fB\-\-grade\fR`, `\fB\-\-quiet\fR`, "Bake something"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
}
