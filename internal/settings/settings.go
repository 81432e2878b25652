package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"

	"github.com/BurntSushi/toml"
	"github.com/alecthomas/kong"

	"fossick/internal/help"
	"fossick/internal/reading"
)

// Settings answers for flags that the command line leaves open. In falling
// precedence: FOSSICK_NAME in the environment, fossick.toml in the working
// folder, fossick/fossick.toml in the user's configuration folder. In a file a
// flag stands at the top, for every verb that has it, or in the verb's table.
type Settings struct {
	refuse func(flag, place string) error
	tell   func(flag, value string) string
	files  []file
	err    error           // a file that could not be read; told when the flags are resolved
	opened map[string]bool // by the working folder's file, as flags: to be told
}

// Name is the file's in both folders.
const Name = "fossick.toml"

// Read reads both files. What is wrong with them is told by Validate. That of the working
// folder may be a stranger's: refuse is an error for a flag that it must not set, and tell
// says how its user hears of one that it sets, "" for most.
func Read(refuse func(flag, place string) error, tell func(flag, value string) string) *Settings {
	s := &Settings{refuse: refuse, tell: tell, opened: map[string]bool{}}
	paths := []string{Name}
	if dir, err := os.UserConfigDir(); err == nil { // without one there is no such file
		paths = append(paths, filepath.Join(dir, "fossick", Name))
	}
	for _, path := range paths {
		file, err := readSettings(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			s.err = err
			return s
		}
		s.files = append(s.files, *file)
	}
	return s
}

func readSettings(path string) (*file, error) {
	text, err := reading.All(path, reading.MaxTOMLBytes)
	if err != nil {
		return nil, err
	}
	file := &file{path: path, text: string(text)}
	if err := reading.CheckTOML(file.text); err != nil {
		return nil, fmt.Errorf("%s: %w; fossick help config shows how it is written", path, err)
	}
	_, err = toml.Decode(file.text, &file.values)
	if bad, ok := errors.AsType[toml.ParseError](err); ok {
		return nil, fmt.Errorf("%s:%d: %s; fossick help config shows how it is written", path, bad.Position.Line, bad.Message)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; fossick help config shows how it is written", path, err)
	}
	return file, nil
}

// Validate rejects keys that no verb knows: a typo must not pass in silence.
func (s *Settings) Validate(grammar *kong.Application) error {
	if s.err != nil {
		return s.err
	}
	for _, file := range s.files {
		if err := file.validate(grammar.Node, nil, file.values); err != nil {
			return err
		}
	}
	return nil
}

// Resolve gives the value of one flag, nil when nothing names it. It reads the value
// as the flag will, so that a bad one is told with its place.
func (s *Settings) Resolve(ctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if s.err != nil {
		return nil, nil // Validate tells it
	}
	value, place, file := s.lookup(ctx.Selected(), flag)
	if value == nil {
		return nil, nil
	}
	if file != nil && file.path == Name {
		if err := s.refuse(flag.Name, place); err != nil {
			return nil, err
		}
	}
	text, err := asOnCommandLine(value, flag)
	if err == nil {
		err = flag.Mapper.Decode(&kong.DecodeContext{Value: flag.Value, Scan: kong.Scan().PushTyped(text, kong.FlagValueToken)},
			emptyLike(flag.Target))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", place, err)
	}
	if file != nil && file.path == Name {
		if told := s.tell(flag.Name, fmt.Sprint(text)); told != "" {
			s.opened[told] = true
		}
	}
	return text, nil
}

// lookup finds a flag's value, and says where; file is nil when that is the environment.
func (s *Settings) lookup(node *kong.Node, flag *kong.Flag) (value any, place string, file *file) {
	if !isSetting(flag) {
		return nil, "", nil
	}
	env := envName(flag.Name)
	if v, ok := os.LookupEnv(env); ok {
		return v, env, nil
	}
	for i := range s.files {
		if v, place := s.files[i].lookup(help.Path(node), flag.Name); v != nil {
			return v, place, &s.files[i]
		}
	}
	return nil, "", nil
}

// isSetting says whether a flag can be set but on the command line: what prints
// something and ends cannot.
func isSetting(flag *kong.Flag) bool {
	switch flag.Name {
	case "help", "help-all", "version":
		return false
	}
	return true
}

// emptyLike makes a variable like the one that v is, for a first reading.
func emptyLike(v reflect.Value) reflect.Value {
	fresh := reflect.New(v.Type()).Elem()
	if fresh.Kind() == reflect.Pointer {
		fresh.Set(reflect.New(v.Type().Elem()))
	}
	return fresh
}

// asOnCommandLine turns a value into what one would type; for a flag that is repeated,
// not split, into a list: the environment has it by comma.
func asOnCommandLine(value any, flag *kong.Flag) (any, error) {
	text, isText := value.(string)
	list, isList := value.([]any)
	switch {
	case isList && !flag.IsSlice():
		return nil, errors.New("it takes one value, not a list")
	case isText && flag.IsSlice() && flag.Tag.Sep == -1:
		return asList(kong.SplitEscaped(text, ',')), nil
	case !isList:
		return scalarText(value)
	}
	var texts []string
	for _, v := range list {
		t, err := scalarText(v)
		if err != nil {
			return nil, err
		}
		texts = append(texts, t)
	}
	if flag.Tag.Sep == -1 {
		return asList(texts), nil
	}
	return kong.JoinEscaped(texts, flag.Tag.Sep), nil
}

// asList is the form in which kong takes what is not to be split.
func asList(texts []string) []any {
	list := make([]any, len(texts))
	for i, t := range texts {
		list[i] = t
	}
	return list
}

func scalarText(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case bool, int64:
		return fmt.Sprint(v), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	}
	return "", errors.New("want a text, a number, true or false, or a list of them")
}

// Opened returns what of the working folder's file is to be told, in order.
func (s *Settings) Opened() []string { return slices.Sorted(maps.Keys(s.opened)) }
