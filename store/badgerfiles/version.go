package badgerfiles

import "runtime/debug"

// knownVersion is the Badger whose files this package knows. A test opens a real database
// with the one of go.mod and looks at all that is relied on.
const knownVersion = "v4.9.6"

const module = "github.com/dgraph-io/badger/v4"

// unknownVersion returns the Badger that this build has, "" when it is the one we know or
// the build does not say.
func unknownVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return otherThan(knownVersion, info)
}

func otherThan(version string, info *debug.BuildInfo) string {
	for _, m := range info.Deps {
		switch {
		case m.Path != module:
		case m.Replace != nil:
			return m.Replace.Path + " " + m.Replace.Version
		case m.Version != version:
			return m.Version
		}
	}
	return ""
}
