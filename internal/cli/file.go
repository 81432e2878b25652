package cli

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"fossick/internal/cli"
)

// file is a fossick.toml.
type file struct {
	path, text string
	values     map[string]any
	ofFolder   bool     // from the working folder
	trusted    bool     // the user trusts that folder
	trust      []string // only in the user's own file: trusted folders
}

// takeTrust moves the trusted folders out of the values of the user's own file.
func (f *file) takeTrust() error {
	value, ok := f.values["trust"]
	if !ok {
		return nil
	}
	delete(f.values, "trust")
	list, ok := value.([]any)
	for _, v := range list {
		folder, isText := v.(string)
		ok = ok && isText && filepath.IsAbs(folder)
		f.trust = append(f.trust, folder)
	}
	if !ok {
		return fmt.Errorf("%s: trust is a list of folders by their whole path, as trust = [\"/home/me/crawls\"]", f.place(nil, "trust"))
	}
	return nil
}

// trusts reports whether the user trusts a folder. A nil f trusts none.
func (f *file) trusts(folder string) bool {
	return f != nil && slices.ContainsFunc(f.trust, func(trusted string) bool { return sameFile(folder, trusted) })
}

// lookup finds a flag in a verb's table, else in the tables around it, and returns its place.
func (f *file) lookup(verb []string, flag string) (value any, place string) {
	tables := []map[string]any{f.values}
	for _, word := range verb {
		next, ok := tables[len(tables)-1][word].(map[string]any)
		if !ok {
			break
		}
		tables = append(tables, next)
	}
	for i := len(tables) - 1; i >= 0; i-- {
		v, ok := tables[i][flag]
		if _, isTable := v.(map[string]any); ok && !isTable {
			return v, f.place(verb[:i], flag)
		}
	}
	return nil, ""
}

// validate refuses entries that no verb has in a table, which belongs to node.
func (f *file) validate(node *kong.Node, path []string, table map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		inside := append(slices.Clone(path), key)
		inner, isTable := table[key].(map[string]any)
		child := Child(node, key)
		switch {
		case isTable && child == nil:
			return fmt.Errorf("%s: there is no verb %q%s", f.place(path, key), strings.Join(inside, " "), cli.DidYouMean(key, Children(node)))
		case isTable:
			if err := f.validate(child, inside, inner); err != nil {
				return err
			}
		case !slices.Contains(flagNames(node), key) && len(path) == 0:
			return fmt.Errorf("%s: no verb has a flag %q%s", f.place(path, key), key, cli.DidYouMean(key, flagNames(node)))
		case !slices.Contains(flagNames(node), key):
			return fmt.Errorf("%s: %s has no flag %q%s", f.place(path, key), strings.Join(path, " "), key, cli.DidYouMean(key, flagNames(node)))
		}
	}
	return nil
}

// flagNames returns the flags that can be set for a verb and the verbs below it.
func flagNames(node *kong.Node) []string {
	var names []string
	for at := node.Parent; at != nil; at = at.Parent {
		names = appendFlags(names, at)
	}
	return appendBelow(names, node)
}

func appendBelow(names []string, node *kong.Node) []string {
	names = appendFlags(names, node)
	for _, child := range node.Children {
		names = appendBelow(names, child)
	}
	return names
}

func appendFlags(names []string, node *kong.Node) []string {
	for _, f := range node.Flags {
		if isSetting(f) {
			names = append(names, f.Name)
		}
	}
	return names
}

// place returns a key's place as file:line, or only the file if it cannot find the key.
func (f *file) place(table []string, key string) string {
	want := append(slices.Clone(table), key)
	var within []string
	n := 0
	for line := range strings.Lines(f.text) {
		n++
		line = strings.TrimSpace(line)
		if head, ok := strings.CutPrefix(line, "["); ok {
			head, _, _ = strings.Cut(strings.Trim(head, "["), "]")
			if within = dotted(head); slices.Equal(within, want) {
				return fmt.Sprintf("%s:%d", f.path, n)
			}
			continue
		}
		name, _, ok := strings.Cut(line, "=")
		if at := append(slices.Clone(within), dotted(name)...); ok && len(at) >= len(want) && slices.Equal(at[:len(want)], want) {
			return fmt.Sprintf("%s:%d", f.path, n)
		}
	}
	return f.path
}

func dotted(key string) []string {
	parts := strings.Split(key, ".")
	for i, p := range parts {
		parts[i] = strings.Trim(strings.TrimSpace(p), `"'`)
	}
	return parts
}

const envPrefix = "FOSSICK_"

// envName returns a flag's name in the environment.
func envName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// UnknownEnv warns of variables that look like settings but match no flag, since a typo must not go
// unnoticed. It is no error, because the environment may be for another version of the program.
func UnknownEnv(app *kong.Application, environ []string) (sentences []string) {
	var known []string
	for _, flag := range flagNames(app.Node) {
		known = append(known, envName(flag))
	}
	for _, name := range unknownEnv(environ, known) {
		sentences = append(sentences, fmt.Sprintf("%s has no effect: no verb has such a flag%s", name, cli.DidYouMean(name, known)))
	}
	return sentences
}

// unknownEnv returns variables that look like unknown settings, except those for tests.
func unknownEnv(environ, known []string) (unknown []string) {
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		switch {
		case !strings.HasPrefix(name, envPrefix), slices.Contains(known, name):
		case name == "FOSSICK_FULL", name == "FOSSICK_DATA", strings.HasPrefix(name, "FOSSICK_TEST_"):
		default:
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown
}
