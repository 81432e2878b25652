package main

import (
	"reflect"
	"slices"

	"github.com/alecthomas/kong"
)

// harmlessTexts are the flags with a text that name no file, program, address, start page,
// model or identity: the worst of their values spoils a crawl, but leads it nowhere else.
var harmlessTexts = []string{
	"also", "classifier", "contact", "delay", "exclude", "include", "lang", "links", "log-format", "method",
	"order", "patience", "policy", "score", "tld",
}

// refusedSwitches are the switches that a stranger's file must not turn: quiet hides what the
// file does, partial accepts damage, and all may write more than was asked.
var refusedSwitches = []string{"quiet", "partial", "all"}

// harmless says whether the fossick.toml of a working folder, which may be a stranger's, may
// set a flag. A flag with a text is refused unless it is listed, so that a new one is.
func harmless(flag *kong.Flag) bool {
	typ := flag.Target.Type()
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	switch kind := typ.Kind(); {
	case kind == reflect.Bool:
		return !slices.Contains(refusedSwitches, flag.Name)
	case kind >= reflect.Int && kind <= reflect.Float64:
		return true
	}
	return slices.Contains(harmlessTexts, flag.Name)
}
