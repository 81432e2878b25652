package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/alecthomas/kong"
)

// settings answers for flags that the command line leaves open. In falling
// precedence: FOSSICK_NAME in the environment, fossick.toml in the working
// folder, fossick/fossick.toml in the user's configuration folder. In a file a
// flag stands at the top, for every verb that has it, or in the verb's table.
type settings struct {
	files []settingsFile
	err   error // a file that could not be read; told when the flags are resolved
}

type settingsFile struct {
	path   string
	values map[string]any
}

func newSettings() *settings {
	s := &settings{}
	paths := []string{"fossick.toml"}
	if dir, err := os.UserConfigDir(); err == nil { // without one there is no such file
		paths = append(paths, filepath.Join(dir, "fossick", "fossick.toml"))
	}
	for _, path := range paths {
		file := settingsFile{path: path}
		_, err := toml.DecodeFile(path, &file.values)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			s.err = fmt.Errorf("%s: %w; it must be TOML with flags' names as keys", path, err)
			return s
		}
		s.files = append(s.files, file)
	}
	return s
}

// Validate rejects keys that no verb knows: a typo must not pass in silence.
func (s *settings) Validate(grammar *kong.Application) error {
	if s.err != nil {
		return s.err
	}
	for _, file := range s.files {
		for key, value := range file.values {
			table, ok := value.(map[string]any)
			if !ok {
				if !knowsFlag(grammar.Node, key) {
					return fmt.Errorf("%s: no verb has a flag %q", file.path, key)
				}
				continue
			}
			if err := validateTable(grammar.Node, key, table); err != nil {
				return fmt.Errorf("%s: %w", file.path, err)
			}
		}
	}
	return nil
}

func validateTable(root *kong.Node, verb string, table map[string]any) error {
	for _, child := range root.Children {
		if child.Name != verb {
			continue
		}
		for key := range table {
			if !knowsFlag(child, key) {
				return fmt.Errorf("[%s]: the verb has no flag %q", verb, key)
			}
		}
		return nil
	}
	return fmt.Errorf("[%s]: there is no such verb", verb)
}

func knowsFlag(n *kong.Node, name string) bool {
	for _, f := range n.Flags {
		if f.Name == name {
			return true
		}
	}
	for _, child := range n.Children {
		if knowsFlag(child, name) {
			return true
		}
	}
	return false
}

// Resolve gives the value of one flag, nil when nothing names it.
func (s *settings) Resolve(_ *kong.Context, parent *kong.Path, flag *kong.Flag) (any, error) {
	if flag.Name == "help" {
		return nil, nil
	}
	name := "FOSSICK_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
	if v, ok := os.LookupEnv(name); ok {
		return v, nil
	}
	for _, file := range s.files {
		if node := parent.Node(); node != nil {
			if table, ok := file.values[node.Name].(map[string]any); ok {
				if v, ok := table[flag.Name]; ok {
					return v, nil
				}
			}
		}
		if v, ok := file.values[flag.Name]; ok {
			if _, table := v.(map[string]any); !table {
				return v, nil
			}
		}
	}
	return nil, nil
}
