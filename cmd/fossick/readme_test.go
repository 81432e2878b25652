package main

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fossick/internal/testkit"
)

// notPasted are the README's commands that TestReadme does not run.
var notPasted = map[string]string{
	"go test -timeout 40m ./...": "runs this",
	"go install ./cmd/fossick":   "the test's own binary is what it installs",
	"fossick ui":                 "it serves until it is interrupted; the scripts have it",
	"fossick agent":              "each is for a machine of its own; TestAgentsByNATS has three on one",
}

// TestReadme runs the README's commands in one folder, one after another, and compares what they print
// with what the README shows. The README's own command serves the demo set, at another port; the
// user's fossick.toml names a proxy for the rest of the web. No host rests.
func TestReadme(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("needs bash, as who pastes has")
	}
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	addr, ca := exampleWeb(t)
	fossickInPath(t)
	dir := t.TempDir()
	ownSettings(t, fmt.Sprintf("[focus]\nproxy = \"http://%s\"\nca = %q\ndelay = 0\n[demo]\ndelay = 0\n", addr, ca))
	steps, served := readmeSteps(string(text)), "127.0.0.1:8090"
	if len(steps) < 15 {
		t.Fatalf("only %d commands found", len(steps))
	}
	for _, s := range steps {
		if slices.ContainsFunc(slices.Collect(maps.Keys(notPasted)), func(begin string) bool { return strings.HasPrefix(s.command, begin) }) {
			continue
		}
		command := strings.ReplaceAll(s.command, "go run ./cmd/fossick", "fossick")
		if serve, ok := strings.CutSuffix(command, " &"); ok {
			served = serveInBackground(t, bash, dir, strings.ReplaceAll(serve, served, "127.0.0.1:0"))
			continue
		}
		cmd := exec.CommandContext(t.Context(), bash, "-c", strings.ReplaceAll(command, "127.0.0.1:8090", served))
		var out, log bytes.Buffer
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &log
		if err := cmd.Run(); err != nil {
			t.Fatalf("line %d: %s: %v\n%s%s", s.line, command, err, &out, &log)
		}
		same := sameTimes
		if command == "fossick demo" {
			same = sameShape
		}
		if got, want := same(out.String()), same(s.output); !strings.Contains("\n"+got, "\n"+want) {
			t.Errorf("line %d: %s prints\n%s\nwant\n%s", s.line, command, got, want)
		}
	}
}

type readmeStep struct {
	line            int
	command, output string
}

// readmeSteps returns the indented commands, each with the block that follows it; ```text is a picture.
func readmeSteps(text string) (steps []readmeStep) {
	fenced, picture, goesOn := false, false, false
	for i, line := range strings.Split(text, "\n") {
		command, indented := strings.CutPrefix(line, "    ")
		switch {
		case strings.HasPrefix(line, "```"):
			fenced, picture = !fenced, line == "```text"
		case picture:
		case fenced:
			steps[len(steps)-1].output += line + "\n"
		case goesOn:
			steps[len(steps)-1].command += "\n" + line
		case indented:
			steps = append(steps, readmeStep{line: i + 1, command: command})
		}
		goesOn = !fenced && (indented || goesOn) && strings.HasSuffix(line, "\\")
	}
	return steps
}

var seconds = regexp.MustCompile(`\d+\.\d+ s\b`)

// sameTimes replaces all times by the same one.
func sameTimes(out string) string { return seconds.ReplaceAllString(out, "0.00 s") }

var figures = regexp.MustCompile(`\d+(\.\d+)?|http://\S+`)

// sameShape replaces all figures and addresses: without rests, the demo's depend on the order of answers.
func sameShape(out string) string { return figures.ReplaceAllString(out, "N") }

// serveInBackground runs a server until the test ends, and returns its address.
func serveInBackground(t *testing.T, bash, dir, command string) (addr string) {
	t.Helper()
	cmd := exec.Command(bash, "-c", "exec "+command)
	cmd.Dir = dir
	stdout := testkit.Call(cmd.StdoutPipe()).Must(t)
	testkit.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended
		_ = cmd.Wait()                       // the error is the interrupt
	})
	listens := regexp.MustCompile(`http://(127\.0\.0\.1:\d+)`)
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if m := listens.FindStringSubmatch(lines.Text()); m != nil {
			return m[1]
		}
	}
	t.Fatalf("%s does not say where it listens", command)
	return ""
}
