package main

import (
	"reflect"

	"github.com/alecthomas/kong"

	"fossick/crawler/crawlplan"
	"fossick/internal/rights"
	"fossick/internal/values"
)

// valueMappers make the parser read values as people write them.
func valueMappers() []kong.Option {
	return append(values.Mappers(),
		kong.NamedMapper("delay", values.Text(func(v reflect.Value, text string) error {
			v.SetString(text)
			_, err := crawlplan.ParseDelay(text)
			return err
		})),
		kong.NamedMapper("purpose", values.Text(func(v reflect.Value, text string) error {
			v.SetString(text)
			_, err := rights.Parse(text)
			return err
		})),
		kong.NamedMapper("contact", values.Text(func(v reflect.Value, text string) error {
			v.SetString(text)
			return crawlplan.CheckContact(text)
		})),
	)
}
