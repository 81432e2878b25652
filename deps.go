//go:build deps

// Package deps keeps the module file whole while the rooms are being laid; it goes when they are.
package deps

import (
	_ "github.com/BurntSushi/toml"
	_ "github.com/abadojack/whatlanggo"
	_ "github.com/alecthomas/kong"
	_ "github.com/bits-and-blooms/bloom/v3"
	_ "github.com/clipperhouse/uax29/v2/words"
	_ "github.com/dgraph-io/badger/v4"
	_ "github.com/fxamacker/cbor/v2"
	_ "github.com/gocolly/colly/v2"
	_ "github.com/jdkato/prose/v2"
	_ "github.com/jimsmart/grobotstxt"
	_ "github.com/kljensen/snowball"
	_ "github.com/klauspost/compress/zstd"
	_ "github.com/nlnwa/whatwg-url/url"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/sjwhitworth/golearn/base"
	_ "github.com/sjwhitworth/golearn/trees"
	_ "github.com/sjwhitworth/golearn/neural"
	_ "golang.org/x/net/html/charset"
	_ "golang.org/x/net/publicsuffix"
	_ "golang.org/x/net/idna"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/term"
	_ "golang.org/x/text/unicode/norm"
	_ "gonum.org/v1/gonum/stat"
	_ "gonum.org/v1/plot"
	_ "gonum.org/v1/plot/vg/vgsvg"
)
