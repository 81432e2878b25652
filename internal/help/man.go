package help

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"
)

// Manual makes manual pages for man.
type Manual struct {
	Version  string
	Settings string // what help config prints
}

// settingsFile is what the page of settings is about.
const settingsFile = "fossick.toml"

// PageName is the name of a verb's page.
func PageName(node *kong.Node) string {
	return strings.Join(append([]string{"fossick"}, Path(node)...), "-")
}

// Page is the page of a verb, or of fossick itself.
func (m Manual) Page(app *kong.Application, node *kong.Node) string {
	p := newRoff(m.Version, PageName(node), 1)
	if node == app.Node {
		p.name("topic-focused web crawler with a trained classifier pipeline")
		p.section("SYNOPSIS")
		p.line(".B fossick")
		p.line(".I verb")
		p.line(`[\fIarguments\fR] [\fIflags\fR]`)
		p.section("DESCRIPTION")
		p.text(node.Help)
		p.section("VERBS")
		for _, verb := range Verbs(node) {
			p.item(`\fB`+roffEscape(strings.TrimPrefix(verb.FullPath(), "fossick "))+`\fR`, verb.Help)
		}
	} else {
		p.name(strings.TrimSuffix(node.Help, "."))
		p.section("SYNOPSIS")
		p.line(".B " + roffEscape(node.FullPath()))
		p.line(roffEscape(strings.TrimSpace(strings.TrimPrefix(node.Summary(), node.Path()))))
		p.section("DESCRIPTION")
		p.text(Long(node))
		p.arguments(node)
	}
	p.section("OPTIONS")
	p.flags(node.Flags)
	if node != app.Node {
		p.flags(app.Flags)
	}
	p.ending(node == app.Node)
	return p.String()
}

// Config is the page of fossick.toml.
func (m Manual) Config() string {
	p := newRoff(m.Version, settingsFile, 5)
	p.name("settings of fossick")
	p.section("DESCRIPTION")
	_, text, _ := strings.Cut(m.Settings, "\n\n")
	p.text(text)
	p.section("SEE ALSO")
	p.line(`.BR fossick (1)`)
	return p.String()
}

// ending writes what is the same on all pages.
func (p *roff) ending(main bool) {
	p.section("EXIT STATUS")
	p.text("0 done, 1 failed, 2 wrong usage, 130 interrupted.")
	p.section("FILES")
	p.item(`\fI`+roffEscape(settingsFile)+`\fR`, "Settings, in the working folder or in fossick/ of the user's configuration folder; see fossick.toml(5).")
	p.section("SEE ALSO")
	if !main {
		p.line(`.BR fossick (1),`)
	}
	p.line(`.BR fossick.toml (5)`)
}

func (p *roff) arguments(node *kong.Node) {
	if len(node.Positional) == 0 {
		return
	}
	p.section("ARGUMENTS")
	for _, arg := range node.Positional {
		p.item(`\fI`+roffEscape(strings.Trim(arg.Summary(), "[]"))+`\fR`, arg.Help)
	}
}

// flags writes all flags, in their groups.
func (p *roff) flags(flags []*kong.Flag) {
	title := ""
	for _, f := range inGroups(flags) {
		if t := groupTitle(f); t != title {
			title = t
			p.line(`.SS "` + roffEscape(strings.TrimSuffix(title, ":")) + `"`)
		}
		term := ""
		if f.Short != 0 {
			term = `\fB\-` + string(f.Short) + `\fR, `
		}
		name := f.Name
		if f.Tag.Negatable != "" {
			name = "[no-]" + name
		}
		term += `\fB\-\-` + roffEscape(name) + `\fR`
		if !f.IsBool() {
			term += `=\fI` + roffEscape(f.FormatPlaceHolder()) + `\fR`
		}
		p.item(term, f.Help)
	}
}

// inGroups puts flags of one group one after the other, groups as they first appear.
func inGroups(flags []*kong.Flag) (sorted []*kong.Flag) {
	done := map[string]bool{}
	for _, first := range flags {
		title := groupTitle(first)
		if done[title] {
			continue
		}
		done[title] = true
		for _, f := range flags {
			if groupTitle(f) == title && !f.Hidden {
				sorted = append(sorted, f)
			}
		}
	}
	return sorted
}

func groupTitle(f *kong.Flag) string {
	if f.Group == nil {
		return "Flags:"
	}
	return cmp.Or(f.Group.Title, f.Group.Key)
}

// WriteAll writes all pages into a folder, and returns the files.
func (m Manual) WriteAll(dir string, app *kong.Application) (files []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("manual pages: %w; give another folder", err)
	}
	write := func(name, page string) error {
		path := filepath.Join(dir, name)
		files = append(files, path)
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			return fmt.Errorf("manual pages: %w", err)
		}
		return nil
	}
	for _, node := range append([]*kong.Node{app.Node}, Verbs(app.Node)...) {
		if err := write(PageName(node)+".1", m.Page(app, node)); err != nil {
			return nil, err
		}
	}
	return files, write(settingsFile+".5", m.Config())
}
