// Package settings gives flags that the command line leaves open the values that the
// environment or a file has for them.
//
// In: FOSSICK_NAME variables, fossick.toml of the working folder and of the user. Out: a
// resolver for kong; what is wrong with a file, by its line; names that no flag has.
//
// Read opens the files; the parser asks the rest.
//
// Files: settings.go the order of the sources; file.go one fossick.toml; env.go variables;
// helptext.go what help config prints.
package settings
