package cli

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
)

// spoken is the log on a terminal: one sentence per record, without the time.
type spoken struct {
	screen *Screen
	level  slog.Level
	attrs  []slog.Attr
	prefix string // of attribute names, from groups
}

// Log returns a handler that prints log records above the live line of a screen.
func Log(screen *Screen, level slog.Level) slog.Handler { return &spoken{screen: screen, level: level} }

func (h *spoken) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

func (h *spoken) WithAttrs(attrs []slog.Attr) slog.Handler {
	own := *h
	own.attrs = slices.Clone(h.attrs)
	for _, a := range attrs {
		own.attrs = append(own.attrs, slog.Attr{Key: h.prefix + a.Key, Value: a.Value})
	}
	return &own
}

func (h *spoken) WithGroup(name string) slog.Handler {
	own := *h
	own.prefix += name + "."
	return &own
}

// Handle prints "warning: what happened: why (where)".
func (h *spoken) Handle(_ context.Context, r slog.Record) error {
	why, where := "", []string{}
	attrs := slices.Clone(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, slog.Attr{Key: h.prefix + a.Key, Value: a.Value})
		return true
	})
	for _, a := range attrs {
		switch value := a.Value.Resolve().String(); {
		case value == "":
		case a.Key == "what" || a.Key == "err":
			why += ": " + value
		default:
			where = append(where, a.Key+" "+value)
		}
	}
	text := r.Message + why
	if len(where) > 0 {
		text += " (" + strings.Join(where, ", ") + ")"
	}
	_, err := io.WriteString(h.screen, h.name(r.Level)+" "+Cut(text, 1000)+"\n")
	return err
}

func (h *spoken) name(level slog.Level) string {
	name, style := "note:", Faint
	switch {
	case level >= slog.LevelError:
		name, style = "error:", Red
	case level >= slog.LevelWarn:
		name, style = "warning:", Yellow
	}
	return paint(name, style, h.screen.colour())
}
