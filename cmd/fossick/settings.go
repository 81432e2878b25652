package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/alecthomas/kong"

	"fossick/crawler/plan"
	"fossick/internal/cli"
	"fossick/internal/fileio"
	"fossick/internal/page"
)

// settings implements kong.Resolver for flags not on the command line. In falling precedence:
// FOSSICK_NAME in the environment, fossick.toml in the working folder, fossick/fossick.toml in the
// user's configuration folder. In a file a flag stands in the verb's table, or at the top for every
// verb that has it.
type settings struct {
	harmless func(flag *kong.Flag) bool
	files    []file
	err      error // from reading a file; Validate returns it
	set      []string
}

const settingsFile = "fossick.toml"

// readSettings reads both files; Validate returns their errors. The working folder's file may be a
// stranger's: it may set only harmless flags, unless the user's own file trusts the folder.
func readSettings(harmless func(flag *kong.Flag) bool) *settings {
	s := &settings{harmless: harmless}
	own, err := ownFile()
	if err != nil {
		s.err = err
		return s
	}
	folder, err := readSettingsFile(settingsFile)
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
	own, err := readSettingsFile(path)
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
	return filepath.Join(dir, "fossick", settingsFile)
}

func sameFile(a, b string) bool {
	one, errOne := os.Stat(a)
	two, errTwo := os.Stat(b)
	return errOne == nil && errTwo == nil && os.SameFile(one, two)
}

func readSettingsFile(path string) (*file, error) {
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
func (s *settings) Validate(grammar *kong.Application) error {
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
func (s *settings) Resolve(ctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
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
func (s *settings) lookup(node *kong.Node, flag *kong.Flag) (value any, place string, file *file) {
	if !isSetting(flag) {
		return nil, "", nil
	}
	env := envName(flag.Name)
	if v, ok := os.LookupEnv(env); ok {
		return v, env, nil
	}
	for i := range s.files {
		if v, place := s.files[i].lookup(verbPath(node), flag.Name); v != nil {
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
func (s *settings) tell(flag, value string) {
	if u, err := url.Parse(value); err == nil && u.User != nil {
		value = u.Redacted()
	}
	if told := "--" + flag + " " + value; !slices.Contains(s.set, told) {
		s.set = append(s.set, told)
	}
}

// OfFolder returns the flags that the working folder's file sets, in order, and whether the user
// trusts that folder.
func (s *settings) OfFolder() (flags []string, trusted bool) {
	return slices.Sorted(slices.Values(s.set)), len(s.files) > 0 && s.files[0].trusted
}

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
		child := childVerb(node, key)
		switch {
		case isTable && child == nil:
			return fmt.Errorf("%s: there is no verb %q%s", f.place(path, key), strings.Join(inside, " "), cli.DidYouMean(key, childNames(node)))
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

// unknownEnvWarnings warns of variables that look like settings but match no flag, since a typo must not go
// unnoticed. It is no error, because the environment may be for another version of the program.
func unknownEnvWarnings(app *kong.Application, environ []string) (sentences []string) {
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
		case name == "FOSSICK_FULL", name == "FOSSICK_DATA", name == cli.WithParent, strings.HasPrefix(name, "FOSSICK_TEST_"):
		default:
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown
}

// configHelp is the text of help config; docs/config.md has details.
const configHelp = `settings of fossick

Every flag can be set for good. The first of these that sets a flag counts:

  1. the flag on the command line         --max-pages 500
  2. the environment                      FOSSICK_MAX_PAGES=500
  3. fossick.toml in the working folder
  4. fossick/fossick.toml in the user's configuration folder
     (~/.config, or what XDG_CONFIG_HOME names)

A fossick.toml sets flags by their long names without dashes. At the top they
hold for every verb that has them, in a verb's table for that verb alone:

  contact = "crawler@example.org"
  max-pages = "10k"

  [focus]
  delay = "5s"
  lang = ["en", "de"]
  also = ["sitemaps"]

  [topic.new]
  unlabelled = ["old-crawl/"]

Times are 500ms, 90s, 15m, 2h, 1d, 2w, or 0. Numbers are 500, 10k (thousand),
2M (million). Sizes are 500MB, 2GB (of 1024). A switch is true or false. Lists
are in brackets; in the environment by comma: FOSSICK_LANG=en,de.

A stranger may have made a working folder. So its file may set only numbers,
times, switches and flags that narrow a crawl; each run prints what it sets.
Files, addresses, start pages, models, keys and quiet are refused there. To
allow them, trust the folder in your own fossick.toml, at the top:

  trust = ["/home/me/crawls"]

A key that no verb has, or a value that its flag cannot have, is an error that
names the file and line. A FOSSICK_ variable without a flag gives a warning.
NO_COLOR and GOMEMLIMIT work as in other programs.
`

// valueMappers make the parser accept values as people write them: times as 90s or 2w, numbers as 10k,
// and choices from a list.
func valueMappers() []kong.Option {
	return []kong.Option{
		kong.TypeMapper(reflect.TypeFor[time.Duration](), textMapper(func(v reflect.Value, text string) error {
			d, err := cli.Duration(text)
			v.SetInt(int64(d))
			return err
		})),
		kong.KindMapper(reflect.Int, textMapper(setInt)),
		kong.KindMapper(reflect.Int64, textMapper(setInt)),
		kong.KindMapper(reflect.Uint64, textMapper(func(v reflect.Value, text string) error {
			n, err := cli.Count(text)
			if err == nil && n < 0 {
				err = fmt.Errorf("%q: want a whole number from 0, such as 500, 10k or 2M", text)
			}
			v.SetUint(uint64(max(0, n)))
			return err
		})),
		kong.KindMapper(reflect.String, kong.MapperFunc(mapString)),
		kong.NamedMapper("delay", textMapper(func(v reflect.Value, text string) error {
			v.SetString(text)
			_, err := plan.ParseDelay(text)
			return err
		})),
		kong.NamedMapper("purpose", textMapper(func(v reflect.Value, text string) error {
			v.SetString(text)
			_, err := page.ParsePurpose(text)
			return err
		})),
		kong.NamedMapper("contact", textMapper(func(v reflect.Value, text string) error {
			v.SetString(text)
			return plan.CheckContact(text)
		})),
	}
}

// textMapper returns a mapper for a single value as text.
func textMapper(set func(target reflect.Value, text string) error) kong.Mapper {
	return kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
		text, err := popText(ctx)
		if err != nil {
			return err
		}
		return set(target, text)
	})
}

func popText(ctx *kong.DecodeContext) (text string, err error) {
	if err = ctx.Scan.PopValueInto("value", &text); err != nil {
		return "", fmt.Errorf("no value given; it takes %s", valueName(ctx.Value))
	}
	return text, nil
}

// valueName returns a value's name in the help.
func valueName(v *kong.Value) string {
	if v.Flag != nil {
		return v.Flag.FormatPlaceHolder()
	}
	return v.Summary()
}

func setInt(v reflect.Value, text string) error {
	n, err := cli.Count(text)
	v.SetInt(n)
	return err
}

// mapString sets a string, which must be among its choices if there are any.
func mapString(ctx *kong.DecodeContext, target reflect.Value) error {
	text, err := popText(ctx)
	if err != nil {
		return err
	}
	if allowed := choices(ctx.Value); len(allowed) > 0 && text != "" && !slices.Contains(allowed, text) {
		return fmt.Errorf("%q: want %s%s", text, cli.OrList(allowed), cli.DidYouMean(text, allowed))
	}
	target.SetString(text)
	return nil
}

// choices returns the allowed values of an enum, without "" for a flag that is not given.
func choices(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return slices.DeleteFunc(v.EnumSlice(), func(s string) bool { return s == "" })
}

// parseMoment parses a past time: a day as 2026-11-24 (from midnight UTC), a time as
// 2026-11-24T13:00:00Z, or an age as 2w.
func parseMoment(text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	age, err := cli.Duration(text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q: want a day such as 2026-11-24, a time such as 2026-11-24T13:00:00Z, or an age such as 2w", text)
	}
	return now.Add(-age), nil
}

// byteSize is a number of bytes as people write it: 500000000, 512MB, 2GB, 1.5GiB. K, M and G are
// powers of 1024, with or without an i.
type byteSize int64

func (s *byteSize) UnmarshalText(text []byte) error {
	n, err := cli.Bytes(string(text))
	*s = byteSize(n)
	return err
}
