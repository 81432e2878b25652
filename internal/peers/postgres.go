package peers

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

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
