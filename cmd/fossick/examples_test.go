package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/internal/testkit"
	"fossick/models"
)

// TestHelpExamples runs every example of every verb's help, in a folder with the files that the
// examples name. A fossick.toml of the user sets the proxy.
func TestHelpExamples(t *testing.T) {
	testkit.Only(t, "it runs every example of every help")
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("needs bash, as who pastes has")
	}
	addr, ca := exampleWeb(t)
	fossickInPath(t)
	ownSettings(t, fmt.Sprintf("[focus]\nproxy = \"http://%s\"\nca = %q\ndelay = 0\n[survey]\nproxy = \"http://%[1]s\"\nca = %[2]q\ndelay = 0\n[topic.check]\nproxy = \"http://%[1]s\"\nca = %[2]q\ndelay = 0\n", addr, ca))
	folder := exampleFolder(t)
	for _, verb := range verbsBelow(newParser(t).Model.Node) {
		name := strings.Join(verbPath(verb), " ")
		t.Run(name, func(t *testing.T) {
			examples := examplesOf(longHelp(verb))
			if len(examples) == 0 {
				t.Fatalf("fossick %s --help has no example to paste", name)
			}
			if slices.Contains([]string{"demo", "focus", "lab", "simulate", "topic new", "topic propose", "train"}, name) {
				for _, example := range examples {
					parseExample(t, example)
				}
				testkit.Only(t, "they take long, and scripts run much the same")
			}
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(folder)); err != nil {
				t.Fatal(err)
			}
			makes := map[string]string{"focus": "fossick-banking", "topic propose": "fossick-banking", "survey": "fossick-survey", "topic new": "topics"}
			if made := makes[name]; made != "" {
				if err := os.RemoveAll(filepath.Join(dir, made)); err != nil {
					t.Fatal(err)
				}
			}
			for _, example := range examples {
				for line := range strings.Lines(example) {
					if len(line) > 77 { // help indents it by two more
						t.Errorf("%q is wider than a terminal", line)
					}
				}
				runExample(t, bash, dir, strings.ReplaceAll(example, "127.0.0.1:8090", addr))
			}
		})
	}
}

// examplesOf returns the commands in a help: its indented lines, with their continuation lines.
func examplesOf(help string) (examples []string) {
	goesOn := false
	for line := range strings.Lines(help) {
		line = strings.TrimRight(line, "\n")
		switch {
		case goesOn:
			examples[len(examples)-1] += "\n" + line
		case strings.HasPrefix(line, "  fossick "), strings.HasPrefix(line, "  source "):
			examples = append(examples, line)
		default:
			continue
		}
		goesOn = strings.HasSuffix(line, "\\")
	}
	return examples
}

// parseExample checks that a command parses, without running it.
func parseExample(t *testing.T, command string) {
	t.Helper()
	out, err := exec.Command("bash", "-c", `fossick() { printf '%s\0' "$@"; }`+"\n"+command).Output()
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	if _, err := newParser(t).Parse(strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")); err != nil {
		t.Errorf("%s: %v", command, err)
	}
}

// runExample runs a command as a user pastes it, and interrupts a server once it is ready.
func runExample(t *testing.T, bash, dir, command string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if strings.HasPrefix(command, "  fossick agent") || strings.HasPrefix(command, "  fossick coordinator") || strings.HasPrefix(command, "  fossick cluster status") || strings.Contains(command, "--crawl") { // it waits for other machines, as in TestAgentsByNATS
		parseExample(t, command)
		return
	}
	want := exitDone
	cmd := exec.CommandContext(ctx, bash, "-c", command)
	var out bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, &out, &out, time.Minute
	if strings.HasPrefix(command, "  fossick serve") || strings.HasPrefix(command, "  fossick ui") || strings.HasPrefix(command, "  fossick cluster frontier") {
		want = exitInterrupted
		free := strings.Fields(command)
		for i := range free {
			if i > 0 && free[i-1] == "--addr" {
				free[i] = "127.0.0.1:0"
			}
		}
		cmd.Args[2] = "exec " + strings.Join(free, " ")
		cmd.Stdout = whenSaid{&out, "Ctrl-C ends the server", cancel}
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	}
	if strings.Contains(command, "--every") || strings.Contains(command, "--budget") { // they take days
		want = exitInterrupted
		cmd.Args[2] = "exec " + strings.TrimSpace(command)
		cmd.Stderr = whenSaid{&out, "resuming:", cancel}
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	}
	err := cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != want {
		t.Errorf("%s\nended with %d, %v; want %d:\n%s", command, code, err, want, out.String())
	}
}

// whenSaid is a writer that calls do when it is given a text.
type whenSaid struct {
	w    io.Writer
	text string
	do   func()
}

func (s whenSaid) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(s.text)) {
		s.do()
	}
	return s.w.Write(b)
}

// fossickInPath puts this test binary into PATH as fossick, without a user's settings.
func fossickInPath(t *testing.T) {
	t.Helper()
	bin := t.TempDir()
	if err := os.Symlink(testBinary(t), filepath.Join(bin, "fossick")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv(beMain, "1")
}

func testBinary(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// newParser returns the parser that run makes.
func newParser(t testing.TB) *kong.Kong {
	t.Helper()
	parser, err := newGrammar(&grammar{}, readSettings(harmless), io.Discard, io.Discard, false)
	if err != nil {
		t.Fatal(err)
	}
	return parser
}

// exampleWeb serves the demo set, the built-in topics' start pages and the examples' URLs, over
// http and https.
func exampleWeb(t *testing.T) (addr, ca string) {
	t.Helper()
	pages := []string{"http://example.org/loans", "https://example.org/bees", "https://example.org/wasps", "https://en.wikipedia.org/wiki/Beekeeping", "http://attic.test/"}
	for _, name := range models.BuiltinTopics() {
		topic, err := models.BuiltinTopic(name)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, topic.Seeds...)
	}
	var rows bytes.Buffer
	for i, url := range pages {
		html := fmt.Sprintf("<title>Page %d</title><p>bank loan hive honey %d<a href=%q>next</a><a href=%q>others</a>", i, i, pages[(i+1)%len(pages)], pages[(i*7+3)%len(pages)])
		if err := json.NewEncoder(&rows).Encode(map[string]string{"url": url, "html": html}); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "pages.jsonl")
	write(t, path, rows.String())
	more, err := datasets.Open(path, datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	demo, err := datasets.Open("demo", datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	addr, ca, stop, err := serveSets(t.Context(), "127.0.0.1:0", web.Options{}, more, demo)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return addr, ca
}

// exampleFolder makes the files that the examples name: pages, lists, models, old crawls.
func exampleFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"sites.txt":   "http://example.org/loans\n",
		"page.html":   "<title>Comets</title>Astronomers look at comets and planets with telescopes.",
		"labels.tsv":  "http://example.org/loans\tbanking\n",
		"marks.tsv":   "http://example.org/loans\tno\n",
		"links.tsv":   "http://a.test/\thttp://b.test/\nhttp://b.test/x\thttp://a.test/\nhttp://b.test/\thttp://c.test/\n",
		"sitemap.xml": `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://a.test/mortgage/interest-rate</loc></url><url><loc>http://a.test/about</loc></url><url><loc>http://b.test/loan/house</loc></url></urlset>`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, path, text)
	}
	for i, text := range []string{
		"The queen of the hive lays two thousand eggs a day, and nurse bees feed the larvae.", "A beekeeper opens the hive with a smoker and lifts the frames to look for brood.",
		"Honey is nectar that worker bees have dried until it keeps.", "Swarms leave the hive in May; a beekeeper catches them in a box.",
		"Varroa mites weaken a colony of bees; they are treated after the honey is taken.", "Wax glands make scales, from which bees build the cells of the comb.",
		"A colony needs fifteen kilograms of honey to come through the winter.", "Drones do no work in the hive; they mate with a young queen in flight.",
		"Foragers dance on the comb to tell other bees where nectar is.", "The honey harvest is spun from the combs; wax cappings become candles.",
	} {
		path := filepath.Join(dir, "saved-pages", fmt.Sprintf("%d.txt", i))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, path, text)
	}
	t.Chdir(dir)
	for _, args := range []string{
		"focus --topic banking --seed http://example.org/loans --seed http://moneyroom.test/ --max-pages 30",
		"focus --topic banking --seed http://moneyroom.test/ --order bfs --max-pages 20 --store old-crawl",
		"survey --seed http://example.org/loans --max-pages 20",
		"topic new bees --seed example.org/bees --examples saved-pages/",
		"train demo --classifier nb -o old.model", "train demo --classifier linear -o new.model",
		"refine fossick-banking --model new.model --topic banking",
	} {
		var out bytes.Buffer
		if code := run(t.Context(), append(strings.Fields(args), "--quiet"), &out, &out); code != exitDone {
			t.Fatalf("fossick %s: %d: %s", args, code, out.String())
		}
	}
	return dir
}

// TestListsAreFilledIn checks that every list named in a flag's tag exists.
func TestListsAreFilledIn(t *testing.T) {
	flags := 0
	err := kong.Visit(newParser(t).Model.Node, func(n kong.Visitable, next kong.Next) error {
		texts := []string{}
		switch n := n.(type) {
		case *kong.Node:
			texts = append(texts, n.Help)
		case *kong.Flag:
			texts = append(texts, n.PlaceHolder)
			flags++
		case *kong.Value:
			texts = append(texts, n.Help, n.Enum, n.Default)
		}
		for _, text := range texts {
			if strings.Contains(text, "${") {
				t.Errorf("%q", text)
			}
		}
		return next(nil)
	})
	if err != nil || flags < 100 {
		t.Errorf("%d flags, %v", flags, err)
	}
}

// verbsBelow returns the executable verbs below a node.
func verbsBelow(node *kong.Node) (verbs []*kong.Node) {
	for _, child := range node.Children {
		switch {
		case child.Hidden:
		case child.Leaf():
			verbs = append(verbs, child)
		default:
			verbs = append(verbs, verbsBelow(child)...)
		}
	}
	return verbs
}
