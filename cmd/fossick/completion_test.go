package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestCompletion checks the completions of unfinished lines.
func TestCompletion(t *testing.T) {
	for line, want := range map[string]string{
		"fossick foc": "focus", "fossick topic n": "new", "fossick focus --max-pages-per-h": "--max-pages-per-host", "fossick focus --topic sc": "science",
		"fossick focus --links ext": "external", "fossick focus --also tr": "traps", "fossick help exp": "export", "fossick completion f": "fish", "fossick focus --delay au": "auto",
	} {
		t.Setenv("COMP_LINE", line)
		var out, errs bytes.Buffer
		if code := run(t.Context(), nil, &out, &errs); code != exitDone || strings.TrimSpace(out.String()) != want {
			t.Errorf("%q: %d, %q, want %q; %s", line, code, out.String(), want, &errs)
		}
	}
}

// TestPredictors checks that every predictor tag has words or names a known kind of value.
func TestPredictors(t *testing.T) {
	err := kong.Visit(newParser(t).Model.Node, func(n kong.Visitable, next kong.Next) error {
		if f, ok := n.(*kong.Flag); ok {
			if tag := f.Tag.Get("predictor"); strings.HasSuffix(tag, "s") && !strings.Contains(tag, ",") && kinds[tag] == nil && tag != "files" && tag != "dirs" && tag != "newsgroups" {
				t.Errorf("--%s: predictor %q is no kind of value", f.Name, tag)
			}
		}
		return next(nil)
	})
	if err != nil {
		t.Error(err)
	}
}

// TestBashCompletion sources the script in bash, as a user does.
func TestBashCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("needs bash")
	}
	fossickInPath(t)
	cmd := exec.Command(bash, "-c", `source <(fossick completion bash) && complete -p fossick && COMP_LINE="fossick why" fossick`)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "-C 'fossick' fossick") || !strings.HasSuffix(string(out), "why\n") {
		t.Errorf("%v: %s", err, out)
	}
}
