package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/internal/help"
)

func TestComplete(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("topics/bees", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, "topics/bees/topic.toml", "name = \"bees\"")
	tests := []struct {
		line string // its last word is being typed
		want string // words, and what else there may be
	}{
		{"fo", "focus forget :none"},
		{"topic ", "list show check new :none"},
		{"topic show b", "banking bees :dirs"},
		{"help topic s", "show :none"},
		{"help co", "coordinator convert completion config :none"},
		{"focus --topi", "--topic :none"},
		{"focus --topic s", "science sport :dirs"},
		{"focus --no-s", "--no-sitemaps :none"},
		{"focus --links ", "all external site host :none"},
		{"focus --links=e", "--links=external :none"},
		{"focus --score lea", "learned :none"},
		{"focus --order m", "mcs mcs-sites mns :none"},
		{"focus --seeds ", ":files"},
		{"focus --store x --resume --max-p", "--max-pages --max-pages-per-host --max-pages-per-site :none"},
		{"focus --max-pages ", ":none"},
		{"refine --model sci", "science :files"},
		{"refine ", ":dirs"},
		{"refine x -", "--model --topic --threshold --help --help-all --json --quiet --verbose --log-format --rand --version :none"},
		{"train --classifier c45,l", "c45,linear :none"},
		{"lab demo --policy bfs,rand", "bfs,random :list"},
		{"train d", "demo :files"},
		{"label http://a.test/ ", "yes no :none"},
		{"completion z", "zsh :none"},
		{"focus --bogus=", ":none"},
		{"bogus ", ":none"},
		{"", "demo train classify topic propose focus survey agent coordinator cluster frontier refine eval lab graph simulate rank serve why label export convert import stats watch search forget verify repair help completion man version :none"},
	}
	for _, tt := range tests {
		var out, errs bytes.Buffer
		if code := run(t.Context(), append([]string{help.CompleteWord}, strings.Split(tt.line, " ")...), &out, &errs); code != exitDone {
			t.Fatalf("%q: %d: %s", tt.line, code, errs.String())
		}
		var words []string
		for line := range strings.Lines(out.String()) {
			word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			words = append(words, word)
		}
		if got := strings.Join(words, " "); got != tt.want {
			t.Errorf("fossick %s\ngot  %s\nwant %s", tt.line, got, tt.want)
		}
	}
}

// TestCompleteValues: each flag that names a kind of value names one that there is.
func TestCompleteValues(t *testing.T) {
	for _, verb := range help.Verbs(newParser(t).Model.Node) {
		for _, f := range verb.Flags {
			kinds := f.Tag.Get("complete")
			words, more := offers.Of(f.Value)
			if kinds != "" && len(words) == 0 && more == help.Nothing {
				t.Errorf("%s --%s: complete:%q offers nothing", verb.FullPath(), f.Name, kinds)
			}
			if slices.Contains([]string{"FILE", "DIR", "SET"}, f.Tag.PlaceHolder) && more == help.Nothing {
				t.Errorf("%s --%s takes %s, which no shell will offer", verb.FullPath(), f.Name, f.Tag.PlaceHolder)
			}
		}
	}
}

// TestBashCompletion sources the script in bash and presses TAB.
func TestBashCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	bin, dir := t.TempDir(), t.TempDir()
	if err := os.Symlink(testBinary(t), filepath.Join(bin, "fossick")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "a page.html"), "")
	for _, tt := range []struct {
		words []string // as bash splits them
		want  string
	}{
		{[]string{"refi"}, "refine"},
		{[]string{"focus", "--topic", "spo"}, "sport"},
		{[]string{"focus", "--links", "=", "ex"}, "external"},
		{[]string{"focus", "--links", "="}, "all|external|site|host"},
		{[]string{"classify", "--model", "science", "a"}, "a page.html"},
		{[]string{"lab", "demo", "--policy", "bfs,op"}, "bfs,opic"},
		{[]string{"completion", ""}, "bash|zsh|fish"},
	} {
		script := `source <(fossick completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _fossick; IFS='|'; echo "${COMPREPLY[*]}"`
		cmd := exec.CommandContext(t.Context(), bash, append([]string{"-c", script, "bash", "fossick"}, tt.words...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), beMain+"=1", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != tt.want {
			t.Errorf("%q: %q, %v; want %q", tt.words, got, err, tt.want)
		}
	}
}

// FuzzComplete: whatever was typed, the answer ends with what else there may be.
func FuzzComplete(f *testing.F) {
	for _, line := range []string{"focus --topic s", "help topic ", "-- x", "label - -- -", "--=", "train --classifier ,,", "focus --seeds=", ""} {
		f.Add(line)
	}
	app := newParser(f).Model
	f.Fuzz(func(t *testing.T, line string) {
		var out bytes.Buffer
		help.Complete(app, offers, strings.Split(line, " "), &out)
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if last := lines[len(lines)-1]; !slices.Contains([]string{help.Nothing, help.Files, help.Folders, help.ListGoesOn}, last) {
			t.Errorf("%q: the answer ends with %q", line, last)
		}
	})
}
