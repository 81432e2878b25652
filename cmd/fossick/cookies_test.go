package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCookiesOfACrawl: a page that asks for the cookie of another is had with
// --cookies, from the command line, the environment or fossick.toml, and refused
// without.
func TestCookiesOfACrawl(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, err := r.Cookie("agreed")
		switch {
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		case r.URL.Path == "/":
			http.SetCookie(w, &http.Cookie{Name: "agreed", Value: "yes"})
			fmt.Fprint(w, `<p>gold <a href="/inside">more</a>`)
		case err != nil:
			http.Error(w, "no cookie", http.StatusForbidden)
		default:
			fmt.Fprint(w, "<p>more gold")
		}
	}))
	defer srv.Close()
	t.Chdir(t.TempDir())
	crawl := func(name, want string, flags ...string) {
		t.Helper()
		var out, errOut bytes.Buffer
		args := append([]string{"focus", "--topic", "a", "--keywords", "gold", "--seed", srv.URL + "/", "--allow-net", "127.0.0.0/8", "--delay", "0",
			"--store", filepath.Join("stores", name), "--json", "--quiet"}, flags...)
		if code := run(t.Context(), args, &out, &errOut); code != 0 || !strings.Contains(out.String(), want) {
			t.Errorf("%s: exit code %d, want %s in\n%s%s", name, code, want, out.String(), errOut.String())
		}
	}
	const refused, had = `"codes":{"403":1}`, `"fetched":2,`
	crawl("without", refused)
	crawl("flag", had, "--cookies")
	if err := os.WriteFile("fossick.toml", []byte("[focus]\ncookies = true\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	crawl("toml", had)
	t.Setenv("FOSSICK_COOKIES", "false")
	crawl("environment", refused)
	crawl("flag first", had, "--cookies")
}
