// Package api is the wire format of crawler-commons' URLFrontier API: the messages of
// its nineteen calls, and nothing that they mean (docs/machines.md).
//
// urlfrontier.pb.go is made of urlfrontier.proto. Names and numbers there are the
// API's; a field may be added when the API has it, and none is ever renumbered.
package api

//go:generate protoc --plugin=protoc-gen-go --go_out=. --go_opt=paths=source_relative urlfrontier.proto
