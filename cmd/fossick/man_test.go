package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"fossick/internal/help"
)

// TestManPages: every page has its sections and every flag, and groff, where there is
// one, has nothing to say against it.
func TestManPages(t *testing.T) {
	groff, noGroff := exec.LookPath("groff")
	app := newParser(t).Model
	for _, node := range help.Verbs(app.Node) {
		page := manual.Page(app, node)
		for _, want := range []string{".SH NAME\n", ".SH SYNOPSIS\n", ".SH DESCRIPTION\n", ".SH OPTIONS\n", ".SH EXIT STATUS\n"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: no %q", help.PageName(node), want)
			}
		}
		for _, f := range append(node.Flags, app.Flags...) {
			if !strings.Contains(page, `\-\-`+strings.ReplaceAll(f.Name, "-", `\-`)) && !strings.Contains(page, `[no\-]`+strings.ReplaceAll(f.Name, "-", `\-`)) {
				t.Errorf("%s: no --%s", help.PageName(node), f.Name)
			}
		}
	}
	if noGroff != nil {
		t.Log("no groff to judge the pages by")
		return
	}
	pages := manual.Page(app, app.Node) + manual.Config()
	for _, node := range help.Verbs(app.Node) {
		pages += manual.Page(app, node)
	}
	cmd := exec.CommandContext(t.Context(), groff, "-ww", "-man", "-Tutf8")
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(pages), &out, &errs
	if err := cmd.Run(); err != nil || errs.Len() > 0 {
		t.Errorf("groff: %v: %s", err, errs.String())
	}
}
