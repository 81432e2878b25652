package testkit

import (
	"bytes"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// folder returns the folder of scripts/peers.sh, or "".
func folder() string { return getenv("FOSSICK_TEST_PEERS") }

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

// NodeModule returns the path of a file of a node module.
func NodeModule(t testing.TB, name, file string) string {
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
	path, err := filepath.Abs(filepath.Join(Module(), "scripts", "peers", name))
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

// Postgres starts a PostgreSQL on a socket; as nobody if the test runs as root, which it refuses.
func Postgres(t testing.TB) (address string) {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		missing(t, "PostgreSQL")
	}
	bin := filepath.Dir(found[len(found)-1])
	dir, err := os.MkdirTemp("", "pg") // short, since a socket's path has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	command := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(filepath.Join(bin, name), args...)
		c.Dir = dir
		return c
	}
	as := func(c *exec.Cmd) *exec.Cmd { return c }
	if os.Getuid() == 0 {
		nobody, err := user.Lookup("nobody")
		if err != nil {
			missing(t, "user nobody, and PostgreSQL refuses root")
		}
		uid, _ := strconv.Atoi(nobody.Uid)
		gid, _ := strconv.Atoi(nobody.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		as = func(c *exec.Cmd) *exec.Cmd {
			c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
			return c
		}
	}
	data := filepath.Join(dir, "data")
	if out, err := as(command("initdb", "-D", data, "-A", "trust", "-U", "fossick", "-N", "-E", "UTF8", "--locale=C")).CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	options := "-c listen_addresses= -c fsync=off -c shared_buffers=16MB -k " + dir
	if out, err := as(command("pg_ctl", "-D", data, "-w", "-s", "-l", filepath.Join(dir, "log"), "-o", options, "start")).CombinedOutput(); err != nil {
		t.Fatalf("pg_ctl: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		if out, err := as(command("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")).CombinedOutput(); err != nil {
			t.Errorf("pg_ctl stop: %v\n%s", err, out)
		}
	})
	return "postgres:///postgres?host=" + dir + "&user=fossick"
}
