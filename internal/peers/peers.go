// Package peers finds third-party programs with which tests compare fossick's exports.
// scripts/peers.sh DIR installs them; FOSSICK_TEST_PEERS=DIR says that it did.
//
// A test without its peer fails if that is set, so that CI misses none, and is skipped otherwise.
// Start with Program, Script, Postgres. Files: peers.go programs and scripts; postgres.go a server.
package peers

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"fossick/internal/testkit"
)

// folder returns the folder of scripts/peers.sh, or "".
func folder() string { return os.Getenv("FOSSICK_TEST_PEERS") }

func missing(t testing.TB, what string) {
	t.Helper()
	if folder() != "" {
		t.Fatalf("no %s, though FOSSICK_TEST_PEERS is set: scripts/peers.sh installs it", what)
		return
	}
	t.Skipf("no %s to compare with; scripts/peers.sh DIR installs it, FOSSICK_TEST_PEERS=DIR names it", what)
}

// Program returns the path of a program, from the system or the folder.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	path = filepath.Join(folder(), "bin", name)
	if _, err := os.Stat(path); folder() == "" || err != nil {
		missing(t, name)
	}
	return path
}

// Module returns the path of a file of a node module.
func Module(t testing.TB, name, file string) string {
	t.Helper()
	path := filepath.Join(folder(), "node_modules", filepath.FromSlash(name), file)
	if _, err := os.Stat(path); folder() == "" || err != nil {
		missing(t, name)
	}
	return path
}

// python is Debian's, since its modules are installed for it.
const python = "/usr/bin/python3"

// PythonModule ends the test if Debian's Python cannot import a module.
func PythonModule(t testing.TB, name string) {
	t.Helper()
	if err := exec.CommandContext(t.Context(), python, "-c", "import "+name).Run(); err != nil {
		missing(t, "Python's "+name)
	}
}

// Script runs a script of scripts/peers in the folder of the modules and returns its output.
func Script(t testing.TB, name string, args ...string) []byte {
	t.Helper()
	program := python
	if filepath.Ext(name) == ".mjs" {
		program = Program(t, "node")
	}
	path, err := filepath.Abs(filepath.Join(testkit.Module(), "scripts", "peers", name))
	if err != nil {
		t.Fatal(err)
	}
	return Output(t, exec.CommandContext(t.Context(), program, append([]string{path}, args...)...))
}

// Output runs a program and returns what it prints.
func Output(t testing.TB, c *exec.Cmd) []byte {
	t.Helper()
	if c.Dir == "" {
		c.Dir = folder()
	}
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", c, err, errs.Bytes(), out[max(0, len(out)-2000):])
	}
	return out
}
