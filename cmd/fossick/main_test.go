package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// beMain makes the test binary behave as fossick, for tests that kill it.
const beMain = "FOSSICK_TEST_BE_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(beMain) != "" {
		main()
		return
	}
	testscript.Main(m, map[string]func(){"fossick": main})
}

// TestScripts runs testdata/script: the command line as users and other programs
// see it, one behaviour a file.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: serveDemo})
}
