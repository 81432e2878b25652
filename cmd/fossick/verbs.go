package main

// verbs lists what fossick can do; a verb that does not work is not here.
type verbs struct {
	Version versionCmd `cmd:"" help:"Print version, commit and Go version."`
}
