package cli

import (
	"bytes"
	"log"
	"log/slog"
	"strings"
	"testing"
)

// TestLibraryLog: a library's last words are shown; net/http's remarks need --verbose.
func TestLibraryLog(t *testing.T) {
	var out bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&out, nil))
	log.New(libraryLog{logger, badgerCode}, "", 0).Print("Unsolicited response received on idle HTTP channel")
	if out.Len() > 0 {
		t.Errorf("%q", out.String())
	}
	log.New(libraryLog{logger, "fossick/"}, "", 0).Printf(" err: %s", "input/output error")
	if got := out.String(); strings.Count(got, "level=ERROR") != 1 || !strings.Contains(got, "input/output error") {
		t.Errorf("%q, want one error with its reason", got)
	}
}
