package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// TestManPages: every page has its sections and every flag, and groff, where there is
// one, has nothing to say against it.
func TestManPages(t *testing.T) {
	groff, noGroff := exec.LookPath("groff")
	app := newParser(t).Model
	for _, node := range verbNodes(app.Node) {
		page := manPage(app, node)
		for _, want := range []string{".SH NAME\n", ".SH SYNOPSIS\n", ".SH DESCRIPTION\n", ".SH OPTIONS\n", ".SH EXIT STATUS\n"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: no %q", manName(node), want)
			}
		}
		for _, f := range append(node.Flags, app.Flags...) {
			if !strings.Contains(page, `\-\-`+roffEscape(f.Name)) && !strings.Contains(page, `[no\-]`+roffEscape(f.Name)) {
				t.Errorf("%s: no --%s", manName(node), f.Name)
			}
		}
	}
	if noGroff != nil {
		t.Log("no groff to judge the pages by")
		return
	}
	pages := manPage(app, app.Node) + manConfig()
	for _, node := range verbNodes(app.Node) {
		pages += manPage(app, node)
	}
	cmd := exec.CommandContext(t.Context(), groff, "-ww", "-man", "-Tutf8")
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(pages), &out, &errs
	if err := cmd.Run(); err != nil || errs.Len() > 0 {
		t.Errorf("groff: %v: %s", err, errs.String())
	}
}

func TestRoffEscape(t *testing.T) {
	for text, want := range map[string]string{
		".hidden": `\&.hidden`, "'quoted'": `\(aqquoted\(aq`, `a\b`: `a\eb`, "--max": `\-\-max`, "χ²": `\[u03C7]\[u00B2]`, "plain.": "plain.",
	} {
		if got := roffText(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzRoff: no text becomes a request.
func FuzzRoff(f *testing.F) {
	for _, s := range []string{".TH x", "a\n.so /etc/passwd", "  .x\n  y\n\nz", "'br", "\\", " \n."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := &roff{}
		p.text(text)
		for line := range strings.Lines(p.String()) {
			line = strings.TrimSuffix(line, "\n")
			known := line == ".PP" || line == ".nf" || line == ".fi" || line == ".RS 4" || line == ".RE"
			if (strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'")) && !known {
				t.Errorf("%q: request %q", text, line)
			}
		}
	})
}
