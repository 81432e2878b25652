package terminal

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"

	"fossick/internal/printable"
)

// spoken is the log on a terminal: a sentence a record, without the time. Whoever
// wants to take lines apart sends stderr to a file, or asks for --log-format json.
type spoken struct {
	screen *Screen
	level  slog.Level
	attrs  []slog.Attr
	prefix string // of the attributes' names, by group
}

// Log makes a handler of log records that are told above the line of a screen.
func Log(screen *Screen, level slog.Level) slog.Handler { return &spoken{screen: screen, level: level} }

// Enabled implements slog.Handler.
func (h *spoken) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

// WithAttrs implements slog.Handler.
func (h *spoken) WithAttrs(attrs []slog.Attr) slog.Handler {
	own := *h
	own.attrs = slices.Clone(h.attrs)
	for _, a := range attrs {
		own.attrs = append(own.attrs, slog.Attr{Key: h.prefix + a.Key, Value: a.Value})
	}
	return &own
}

// WithGroup implements slog.Handler.
func (h *spoken) WithGroup(name string) slog.Handler {
	own := *h
	own.prefix += name + "."
	return &own
}

// Handle implements slog.Handler: "warning: what happened: why (where)".
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
	_, err := io.WriteString(h.screen, h.name(r.Level)+" "+printable.Cut(text, 1000)+"\n")
	return err
}

// name says how bad it is.
func (h *spoken) name(level slog.Level) string {
	name, style := "note:", Faint
	switch {
	case level >= slog.LevelError:
		name, style = "error:", Red
	case level >= slog.LevelWarn:
		name, style = "warning:", Yellow
	}
	return paint(name, style, h.screen.Colour())
}
