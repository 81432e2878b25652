package settings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"fossick/internal/printable"
)

const envPrefix = "FOSSICK_"

// envName is what a flag is called in the environment.
func envName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// UnknownEnv says of variables that look like settings, but are of no flag: a typo must not
// pass in silence. It is no error, as an environment may be older or younger than the
// program.
func UnknownEnv(app *kong.Application, environ []string) (sentences []string) {
	var known []string
	for _, flag := range flagNames(app.Node) {
		known = append(known, envName(flag))
	}
	for _, name := range unknownEnv(environ, known) {
		sentences = append(sentences, fmt.Sprintf("%s has no effect: no verb has such a flag%s", name, printable.DidYouMean(name, known)))
	}
	return sentences
}

// unknownEnv returns the names in the environment that only seem to be settings. What
// tests alone read is left out (docs/testing.md).
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
