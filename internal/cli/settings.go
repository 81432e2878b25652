package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"

	"github.com/BurntSushi/toml"
	"github.com/alecthomas/kong"

	"fossick/internal/fileio"
)

// Settings implements kong.Resolver for flags not on the command line. In falling precedence:
// FOSSICK_NAME in the environment, fossick.toml in the working folder, fossick/fossick.toml in the
// user's configuration folder. In a file a flag stands in the verb's table, or at the top for every
// verb that has it.
type Settings struct {
	harmless func(flag *kong.Flag) bool
	files    []file
	err      error // from reading a file; Validate returns it
	set      []string
}

const FileName = "fossick.toml"

// ReadSettings reads both files; Validate returns their errors. The working folder's file may be a
// stranger's: it may set only harmless flags, unless the user's own file trusts the folder.
func ReadSettings(harmless func(flag *kong.Flag) bool) *Settings {
	s := &Settings{harmless: harmless}
	own, err := ownFile()
	if err != nil {
		s.err = err
		return s
	}
	folder, err := readFile(FileName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		s.err = err
		return s
	case own != nil && sameFile(folder.path, own.path): // the working folder is the configuration folder
	default:
		folder.ofFolder, folder.trusted = true, own.trusts(".")
		s.files = append(s.files, *folder)
	}
	if own != nil {
		s.files = append(s.files, *own)
	}
	return s
}

// ownFile reads the user's own file; nil if there is none.
func ownFile() (*file, error) {
	path := ownPath()
	if path == "" {
		return nil, nil
	}
	own, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = own.takeTrust()
	}
	return own, err
}

// ownPath returns the path of the user's own file, or "" without a configuration folder.
func ownPath() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "fossick", FileName)
}

func sameFile(a, b string) bool {
	one, errOne := os.Stat(a)
	two, errTwo := os.Stat(b)
	return errOne == nil && errTwo == nil && os.SameFile(one, two)
}

func readFile(path string) (*file, error) {
	text, err := fileio.All(path, fileio.MaxTOMLBytes)
	if err != nil {
		return nil, err
	}
	file := &file{path: path, text: string(text)}
	if err := fileio.CheckTOML(file.text); err != nil {
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

// Validate refuses keys that no verb has, since a typo must not go unnoticed.
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

// Resolve returns a flag's value, or nil. It parses the value, to report a bad one with its place.
func (s *Settings) Resolve(ctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if s.err != nil {
		return nil, nil // Validate returns it
	}
	value, place, file := s.lookup(ctx.Selected(), flag)
	if value == nil {
		return nil, nil
	}
	if file != nil && file.ofFolder && !file.trusted && !s.harmless(flag) {
		return nil, refused(place)
	}
	text, err := asOnCommandLine(value, flag)
	if err == nil {
		err = flag.Mapper.Decode(&kong.DecodeContext{Value: flag.Value, Scan: kong.Scan().PushTyped(text, kong.FlagValueToken)},
			emptyLike(flag.Target))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", place, err)
	}
	if file != nil && file.ofFolder {
		s.tell(flag.Name, fmt.Sprint(text))
	}
	return text, nil
}

// lookup finds a flag's value and place; file is nil for the environment.
func (s *Settings) lookup(node *kong.Node, flag *kong.Flag) (value any, place string, file *file) {
	if !isSetting(flag) {
		return nil, "", nil
	}
	env := envName(flag.Name)
	if v, ok := os.LookupEnv(env); ok {
		return v, env, nil
	}
	for i := range s.files {
		if v, place := s.files[i].lookup(Path(node), flag.Name); v != nil {
			return v, place, &s.files[i]
		}
	}
	return nil, "", nil
}

// isSetting excludes flags that print something and exit.
func isSetting(flag *kong.Flag) bool {
	switch flag.Name {
	case "help", "help-all", "version":
		return false
	}
	return true
}

// emptyLike makes a variable like v, for a trial parse.
func emptyLike(v reflect.Value) reflect.Value {
	fresh := reflect.New(v.Type()).Elem()
	if fresh.Kind() == reflect.Pointer {
		fresh.Set(reflect.New(v.Type().Elem()))
	}
	return fresh
}

// asOnCommandLine converts a value to command-line form. For a repeated flag that is not split it
// returns a list; the environment separates by commas.
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

// asList returns the form in which kong does not split values.
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

// refused tells a user how to set what a stranger's file must not set.
func refused(place string) error {
	folder, err := os.Getwd()
	if err != nil {
		folder = "FOLDER"
	}
	return fmt.Errorf("%s: the fossick.toml of a working folder must not set it, because a stranger may have written that file; give it on the command line, or trust the folder by the line trust = [%q] in %s",
		place, folder, ownPath())
}

// tell records once a flag set by the working folder's file.
func (s *Settings) tell(flag, value string) {
	if u, err := url.Parse(value); err == nil && u.User != nil {
		value = u.Redacted()
	}
	if told := "--" + flag + " " + value; !slices.Contains(s.set, told) {
		s.set = append(s.set, told)
	}
}

// OfFolder returns the flags that the working folder's file sets, in order, and whether the user
// trusts that folder.
func (s *Settings) OfFolder() (flags []string, trusted bool) {
	return slices.Sorted(slices.Values(s.set)), len(s.files) > 0 && s.files[0].trusted
}
