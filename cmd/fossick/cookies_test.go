package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// cookieServer shows a page only to who has the cookie of another.
func cookieServer(t *testing.T) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, err := r.Cookie("agreed")
		switch {
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		case r.URL.Path == "/start":
			fmt.Fprint(w, `<p>gold at the door <a href="/">home</a>`)
		case r.URL.Path == "/":
			http.SetCookie(w, &http.Cookie{Name: "agreed", Value: "yes"})
			fmt.Fprint(w, `<p>gold <a href="/inside">more</a>`)
		case err != nil:
			http.Error(w, "no cookie", http.StatusForbidden)
		default:
			fmt.Fprint(w, "<p>more gold")
		}
	}))
	t.Cleanup(srv.Close)
	return srv
}

// TestCookiesOfACrawl: a page that asks for the cookie of another is had with
// --cookies, from the command line, the environment or fossick.toml. It is
// refused without, or with --no-cookies, which a resumed crawl can be told as
// well.
func TestCookiesOfACrawl(t *testing.T) {
	srv := cookieServer(t)
	t.Chdir(t.TempDir())
	crawl := func(name, want string, flags ...string) {
		t.Helper()
		var out, errOut bytes.Buffer
		args := append([]string{"focus", "--topic", "a", "--keywords", "gold", "--allow-net", "127.0.0.0/8", "--delay", "0",
			"--store", filepath.Join("stores", name), "--json", "--quiet"}, flags...)
		if !slices.Contains(flags, "--seed") {
			args = append(args, "--seed", srv.URL+"/")
		}
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
	t.Setenv("FOSSICK_COOKIES", "true")
	crawl("switched off", refused, "--no-cookies")
	if err := errors.Join(os.Unsetenv("FOSSICK_COOKIES"), os.Remove("fossick.toml")); err != nil {
		t.Fatal(err)
	}
	for store, again := range map[string]struct {
		want  string
		flags []string
	}{
		"kept on":         {`"fetched":3,`, nil},
		"resumed without": {refused, []string{"--no-cookies"}},
	} {
		crawl(store, `"fetched":1,`, "--cookies", "--max-pages", "1", "--seed", srv.URL+"/start")
		crawl(store, again.want, append(again.flags, "--resume", "--max-pages", "9", "--seed", srv.URL+"/start")...)
	}
}
