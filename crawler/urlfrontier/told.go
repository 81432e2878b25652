package urlfrontier

import (
	"context"
	"log/slog"
	"sync/atomic"

	"fossick/crawler/urlfrontier/api"
)

// levelled is a log handler whose level clients set; until then it is the handler's own.
type levelled struct {
	slog.Handler
	level *atomic.Pointer[slog.Level]
}

func (h levelled) Enabled(ctx context.Context, level slog.Level) bool {
	if least := h.level.Load(); least != nil {
		return level >= *least
	}
	return h.Handler.Enabled(ctx, level)
}

// levels are those of the API.
var levels = map[api.LogLevelParams_Level]slog.Level{
	api.LogLevelParams_TRACE: slog.LevelDebug - 4,
	api.LogLevelParams_DEBUG: slog.LevelDebug,
	api.LogLevelParams_INFO:  slog.LevelInfo,
	api.LogLevelParams_WARN:  slog.LevelWarn,
	api.LogLevelParams_ERROR: slog.LevelError,
}
