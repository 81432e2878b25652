package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"fossick/internal/testkit"
)

// TestTopicCheck checks the outcomes of start pages: redirects to a page and to none, a silent host, and
// one that robots.txt refuses. If none answers, the exit code is 1, and a crawl gives advice.
func TestTopicCheck(t *testing.T) {
	silent := testkit.Call(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	defer silent.Close()
	web := http.NewServeMux()
	web.HandleFunc("GET /robots.txt", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "User-agent: *\nDisallow: /kept\n") })
	web.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, `<p>A bee leaves the hive for honey; the hive has honey, and each bee knows it. <a href="/gone">more honey</a>`)
	})
	web.Handle("GET /moved", http.RedirectHandler("/", http.StatusMovedPermanently))
	web.Handle("GET /astray", http.RedirectHandler("/gone", http.StatusFound))
	server := httptest.NewServer(web)
	defer server.Close()
	addr := server.Listener.Addr().String()
	t.Chdir(t.TempDir())
	testkit.Must(t, os.MkdirAll("topics/bees", 0o700))
	write := func(name, text string) {
		testkit.Must(t, os.WriteFile(name, []byte(text), 0o600))
	}
	write("hosts", "hive.test\t"+addr+"\nsilent.test\t"+silent.Addr().String()+"\n")
	topic := func(seeds string) {
		write("topics/bees/topic.toml", `name = "bees"
keywords = ["bee", "hive", "honey"]
seeds = [`+seeds+`]`)
	}
	network := []string{"--hosts", "hosts", "--allow-net", "127.0.0.0/8", "--delay", "0", "--timeout", "1s"}
	check := func() (code int, r checked, told string) {
		var out, errs bytes.Buffer
		code = run(t.Context(), append([]string{"topic", "check", "bees", "--json"}, network...), &out, &errs)
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatalf("%v: %s %s", err, &out, &errs)
		}
		return code, r, errs.String()
	}
	topic(`"http://hive.test/", "http://silent.test/", "http://hive.test/moved", "http://hive.test/astray", "http://hive.test/kept"`)
	code, r, told := check()
	var states []string
	for _, p := range r.Seeds {
		states = append(states, p.State)
	}
	if want := []string{"ok", "header_timeout", "ok", "code", "robots_denied"}; code != exitDone || !slices.Equal(states, want) || r.Answered != 2 || r.OnTopic != 2 {
		t.Errorf("exit code %d, states %v, want %v; %+v: %s", code, states, want, r, told)
	}
	if to := r.Seeds[2].RedirectedTo; to == nil || *to != "http://hive.test/" {
		t.Errorf("redirected to %v", to)
	}
	topic(`"http://hive.test/astray", "http://hive.test/kept"`)
	if code, r, told = check(); code != exitFailed || r.Answered != 0 || !strings.Contains(told, "no start page answers; ") {
		t.Errorf("exit code %d, %+v: %s", code, r, told)
	}
	if _, err := os.ReadDir("topics/bees/store"); err == nil {
		t.Error("a store was left behind")
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), append([]string{"focus", "--topic", "bees", "--json"}, network...), &out, &errs); code != exitFailed ||
		!strings.Contains(errs.String(), "nothing was fetched: ") || !strings.Contains(out.String(), `"seeds_failed":[{"url":"http://`) {
		t.Errorf("exit code %d: %s\n%s", code, &out, &errs)
	}
	topic("")
	if code := run(t.Context(), append([]string{"topic", "check", "bees"}, network...), &out, &errs); code != exitUsage {
		t.Errorf("a topic without start pages: exit code %d", code)
	}
}
