package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestUnknownEnv: a setting in the environment that no flag has is told, with the
// nearest; those that flags and tests have are not.
func TestUnknownEnv(t *testing.T) {
	t.Setenv("FOSSICK_MAXPAGES", "5")
	t.Setenv("FOSSICK_MAX_PAGES", "5")
	t.Setenv("FOSSICK_FULL", "")
	t.Setenv("FOSSICK_DELAY", "5s") // of another verb
	var out, errOut bytes.Buffer
	if code := run(t.Context(), []string{"version"}, &out, &errOut); code != exitDone {
		t.Fatalf("exit code %d", code)
	}
	told := errOut.String()
	if want := "FOSSICK_MAXPAGES has no effect: no verb has such a flag; did you mean FOSSICK_MAX_PAGES?"; !strings.Contains(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	for _, name := range []string{"FOSSICK_FULL ", "FOSSICK_DELAY ", "FOSSICK_MAX_PAGES sets"} {
		if strings.Contains(told, name) {
			t.Errorf("%sis told: %q", name, told)
		}
	}
}
