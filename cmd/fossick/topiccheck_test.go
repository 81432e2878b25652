package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/eval/monitor"
	"fossick/models"
)

// row is a page of a set.
func row(url, html string) string {
	text, err := json.Marshal(map[string]string{"url": url, "label": "x", "html": html})
	if err != nil {
		panic(err)
	}
	return string(text) + "\n"
}

const (
	onSport  = `<title>Ice hockey</title><p>The team won the hockey game in overtime. The goalie stopped forty shots, the coach praised his players, and the fans of the league cheered the season's best playoff team. The pitcher, the baseball team and their fans saw another championship game; players scored goals in the match.`
	offSport = `<title>Tea</title><p>Pour boiling water over the leaves and wait for four minutes. A pot of clay keeps the tea warm; milk and sugar are added to taste.`
)

// TestTopicCheckBuiltIn: of the start pages of a built-in topic, served by their own names,
// topic check says which answer, by redirects too, and which are on topic. A crawl names
// those that failed, and goes on with the others.
func TestTopicCheckBuiltIn(t *testing.T) {
	topic, err := models.BuiltinTopic("sport")
	if err != nil {
		t.Fatal(err)
	}
	on, off, gone := topic.Seeds[0], topic.Seeds[1], topic.Seeds[4]
	file := filepath.Join(t.TempDir(), "set.jsonl")
	if err := os.WriteFile(file, []byte(row(on, onSport)+row(off, offSport)+row(gone+"elsewhere", onSport)), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := datasets.Open(file, datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	addr, ca, stop, err := serveSet(t.Context(), set, web.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	network := []string{"--proxy", "http://" + addr, "--ca", ca, "--delay", "0"}

	var out, told bytes.Buffer
	code := run(t.Context(), append([]string{"topic", "check", "sport", "--json"}, network...), &out, &told)
	var r checked
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || code != exitDone {
		t.Fatalf("exit code %d, %s, %v: %s", code, &out, err, &told)
	}
	found := map[string]monitor.StartPage{}
	for i, p := range r.Seeds {
		if p.URL != topic.Seeds[i] {
			t.Errorf("page %d is %s, want %s", i, p.URL, topic.Seeds[i])
		}
		found[p.URL] = p
	}
	if p := found[on]; p.State != "ok" || p.OnTopic == nil || !*p.OnTopic {
		t.Errorf("%s: %+v; want an answer on topic", on, p)
	}
	if p := found[off]; p.State != "ok" || p.OnTopic == nil || *p.OnTopic {
		t.Errorf("%s: %+v; want an answer off topic", off, p)
	}
	if p := found[gone]; p.State != "code" || p.OnTopic != nil || !strings.Contains(p.Reason, "404") {
		t.Errorf("%s: %+v; want a 404", gone, p)
	}
	if len(r.Seeds) != len(topic.Seeds) || r.Answered != 2 || r.OnTopic != 1 {
		t.Errorf("%d start pages, %d answer, %d on topic; want %d, 2, 1", len(r.Seeds), r.Answered, r.OnTopic, len(topic.Seeds))
	}

	out.Reset()
	told.Reset()
	store := filepath.Join(t.TempDir(), "crawl")
	code = run(t.Context(), append([]string{"focus", "--topic", "sport", "--store", store}, network...), &out, &told)
	if code != exitDone || !strings.Contains(told.String(), "start page "+gone+" failed: code, "+gone+": status 404 Not Found\n") {
		t.Errorf("exit code %d: %s", code, &told)
	}
	if want := fmt.Sprintf("start pages that failed: %d\n  %s: code, ", len(topic.Seeds)-2, topic.Seeds[2]); !strings.Contains(out.String(), want) {
		t.Errorf("want %q in\n%s", want, &out)
	}
}

// TestTopicCheck: what becomes of start pages of a topic of one's own: redirects to a page and
// to none, a host that says nothing, one that refuses by robots.txt. Without any answer the
// exit code is 1, and a crawl says what to do.
func TestTopicCheck(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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
	if err := os.MkdirAll("topics/bees", 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
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
