package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fossick/datasets/web"
)

// TestProxyPasswordIsNowhere checks that a proxy's password is in no output, log or file.
func TestProxyPasswordIsNowhere(t *testing.T) {
	const password = "s3cr3t"
	addr, stop, err := serve(t.Context(), "demo", web.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	dir := filepath.Join(t.TempDir(), "crawl")
	fossick := func(want int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if code := run(context.Background(), args, &out, &out); code != want {
			t.Errorf("%q: exit code %d, want %d\n%s", args, code, want, out.String())
		}
		if strings.Contains(out.String(), password) {
			t.Errorf("%q: the password is in\n%s", args, out.String())
		}
		return out.String()
	}
	crawl := func(want int, proxy, store string) string {
		t.Helper()
		return fossick(want, "focus", "--topic", "a", "--keywords", "bank", "--threshold", "0", "--seed", "http://moneyroom.test/", "--delay", "0",
			"--max-pages", "5", "--store", store, "--verbose", "--log-format", "json", "--proxy", proxy)
	}
	good := "http://user:" + password + "@" + addr
	crawl(0, good, dir)
	for _, bad := range []string{
		"http://user:" + password + " x@" + addr, "http://user:" + password + "%zz@" + addr, "http://user:" + password + "@[::1", "ftp://user:" + password + "@" + addr,
		"http://user:" + password + "@" + addr + ":x", "http://user:" + password + "@",
	} {
		crawl(2, bad, dir+"2")
	}
	crawl(1, "http://user:"+password+"@127.0.0.1:1", dir+"3") // nothing listens there, so it fetches nothing
	fossick(0, "why", "http://moneyroom.test/", "--store", dir+"3")
	if out := fossick(2, "focus", "--resume", "--store", dir, "--max-pages", "6"); !strings.Contains(out, "give --proxy (or FOSSICK_PROXY) again") {
		t.Errorf("resumed without the password: %s", out)
	}
	fossick(0, "focus", "--resume", "--store", dir, "--max-pages", "6", "--proxy", good)
	t.Setenv("FOSSICK_PROXY", good)
	fossick(0, "focus", "--resume", "--store", dir, "--max-pages", "7")
	err = filepath.WalkDir(filepath.Dir(dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		if bytes.Contains(body, []byte(password)) {
			t.Errorf("the password is in %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
