package main

import (
	"os"
	"strings"
	"testing"

	"fossick/crawler"
	"fossick/internal/testkit"
	"fossick/ui"
)

// TestLimitsOfThePage: a limit that is no time changes nothing.
func TestLimitsOfThePage(t *testing.T) {
	for _, seconds := range []float64{-1, 1e300} {
		to := ui.Change{Limits: &ui.Limits{MaxSeconds: &seconds}}
		now := crawler.Change{}
		err := (&crawling{}).lasting(nil, to, &now)
		if err == nil || !strings.Contains(err.Error(), "max_seconds") || now.MaxTime != nil {
			t.Errorf("%g: %+v, %v", seconds, now, err)
		}
	}
}

// TestQuietPage: a page whose address nobody sees is a mistake.
func TestQuietPage(t *testing.T) {
	if _, err := (&focusCmd{UI: true}).crawl(t.Context(), &app{quiet: true}); err == nil || !strings.Contains(err.Error(), "--quiet") {
		t.Error(err)
	}
}

// TestLeadTo: the file with the token is its owner's alone.
func TestLeadTo(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	file := testkit.Call(leadTo("http://127.0.0.1:1/?token=t")).Must(t)
	text, _ := os.ReadFile(file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 || !strings.Contains(string(text), "url=http://127.0.0.1:1/?token=t") {
		t.Errorf("%v, %v: %s", info, err, text)
	}
}
