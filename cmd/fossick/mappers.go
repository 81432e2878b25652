package main

import (
	"reflect"

	"github.com/alecthomas/kong"

	"fossick/crawler/crawlplan"
	"fossick/internal/cli"
	"fossick/internal/rights"
)

// valueMappers make the parser read values as people write them.
func valueMappers() []kong.Option {
	return append(cli.Mappers(),
		kong.NamedMapper("delay", cli.Mapper(func(v reflect.Value, text string) error {
			v.SetString(text)
			_, err := crawlplan.ParseDelay(text)
			return err
		})),
		kong.NamedMapper("purpose", cli.Mapper(func(v reflect.Value, text string) error {
			v.SetString(text)
			_, err := rights.Parse(text)
			return err
		})),
		kong.NamedMapper("contact", cli.Mapper(func(v reflect.Value, text string) error {
			v.SetString(text)
			return crawlplan.CheckContact(text)
		})),
	)
}
