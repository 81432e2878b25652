package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"fossick/store"
)

// fakeProgram says its arguments and runs until it is interrupted; as "serve" it has an address.
const fakeProgram = `#!/bin/sh
trap 'echo bye; exit 130' INT
echo "ran:" "$@" "with" "$FOSSICK_UI_PASSWORD."
case "$*" in
serve*) echo '{"addr":"127.0.0.1:4321"}';;
topic*) exit 0;;
*broken*) echo "no such topic" >&2; exit 1;;
*deaf*) trap '' INT;;
esac
while :; do sleep 0.02; done
`

// startServer serves a page that starts the fake program in an empty folder.
func startServer(t *testing.T) (s *Server, ended *[]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("FOSSICK_UI_PASSWORD", "secret")
	program := filepath.Join(t.TempDir(), "fossick")
	if err := os.WriteFile(program, []byte(fakeProgram), 0o755); err != nil {
		t.Fatal(err)
	}
	ended = new([]string)
	s, err := Open(Options{Addr: "127.0.0.1:0", Rest: atRestOptions, Start: &Start{
		Program: program,
		Stores: func() (dirs []string) {
			all, _ := filepath.Glob("fossick-*")
			return slices.DeleteFunc(all, func(dir string) bool { return !store.Exists(dir) })
		},
		Topics: func() any { return []any{} },
		Ended:  func(command string) { *ended = append(*ended, command) },
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s, ended
}

// TestCommands: a task becomes arguments of which none can be taken for another flag, or a path elsewhere.
func TestCommands(t *testing.T) {
	s, _ := startServer(t)
	defer s.Stop()
	if err := os.Mkdir("fossick-bees", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ task, want string }{
		{`{"kind":"demo"}`, `fossick demo --out=fossick-demo`},
		{`{"kind":"topic","topic":"bees","keywords":["bee","it's a hive"],"seeds":["example.org/bees","http://a.test/?q=$(x)"]}`,
			`fossick topic new bees '--keywords=bee,it'\''s a hive' --seed=https://example.org/bees '--seed=http://a.test/?q=$(x)'`},
		{`{"kind":"topic","topic":"bees","pages":true,"list":true,"contact":"x"}`, `fossick topic new bees --examples=fossick-examples/bees/pages --seeds=fossick-examples/bees/seeds.txt`},
		{`{"kind":"topic","topic":"bees","seeds":["http://a.test/"],"contact":"you@example.org"}`, `fossick topic new bees --seed=http://a.test/ --keywords-from=seeds --contact=you@example.org`},
		{`{"kind":"crawl","topic":"bees","max_pages":5,"minutes":1.5,"depth":3,"per_host":9,"links":"site","lang":"de","contact":"-x --browser=/bin/sh"}`,
			`fossick focus --topic=bees --store=fossick-bees-2 --max-pages=5 --max-depth=3 --max-pages-per-host=9 --max-time=1.5m --links=site --lang=de '--contact=-x --browser=/bin/sh'`},
		{`{"kind":"topic","topic":"bees"}`, "nothing describes it"},
		{`{"kind":"crawl","topic":"--resume"}`, "give a name"},
		{`{"kind":"crawl","topic":"../../etc"}`, "give a name"},
		{`{"kind":"crawl","topic":"a/b"}`, "give a name"},
		{`{"kind":"crawl","topic":"bees","contact":"a\nb"}`, "one line"},
		{`{"kind":"crawl","topic":"bees","contact":"\u001b[31m"}`, "one line"},
		{`{"kind":"crawl","topic":"bees","seeds":["file:///etc/passwd"]}`, "http or https"},
		{`{"kind":"crawl","topic":"bees","links":"all --proxy=x"}`, "want all, site or external"},
		{`{"kind":"crawl","topic":"bees","lang":"../x"}`, "want a code"},
		{`{"kind":"crawl","topic":"bees","max_pages":-1}`, "want a number"},
		{`{"kind":"crawl","topic":"bees","minutes":1e9}`, "at most a year"},
		{`{"kind":"crawl","topic":"bees","browser":"/bin/sh"}`, "unknown field"},
		{`{"kind":"crawl","topic":"bees","demo":true}`, "does not run"},
		{`{"kind":"resume","store":7}`, "no such store"},
		{`{"kind":"export"}`, "want demo, web, topic, crawl or resume"},
	} {
		_, text := s.ask(t, "POST", "/api/start", test.task[:len(test.task)-1]+`,"preview":true}`, nil)
		var got struct {
			Line, Error string
			Job         *jobInfo
		}
		if err := json.Unmarshal(text, &got); err != nil || got.Job != nil || got.Line != test.want && (got.Error == "" || !strings.Contains(got.Error, test.want)) {
			t.Errorf("%s: %s, want %s", test.task, text, test.want)
		}
	}
	if len(s.jobs.list()) > 0 {
		t.Error("a preview has run")
	}
	resp, _ := s.ask(t, "POST", "/api/start", `{"kind":"demo"}`, func(r *http.Request) {
		r.Header.Set("Origin", "http://evil.test")
	})
	if resp.StatusCode != http.StatusForbidden || len(s.jobs.list()) > 0 {
		t.Errorf("a page of another site starts a command: %s", resp.Status)
	}
}

// TestJobs starts commands up to the bound, stops one, and ends with the server; the description fits.
func TestJobs(t *testing.T) {
	d := description{t: t, seen: map[*schema]map[string]bool{}}
	if err := yaml.Unmarshal(openAPI, &d); err != nil {
		t.Fatal(err)
	}
	s, ended := startServer(t)
	start := func(task string) (v startAnswer, text string) {
		_, answer := s.ask(t, "POST", "/api/start", task, nil)
		_ = json.Unmarshal(answer, &v) // an error has no job
		return v, string(answer)
	}
	wait := func(what string, holds func([]jobInfo) bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			var v struct{ Jobs []jobInfo }
			s.get(t, "/api/start", &v)
			if holds(v.Jobs) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("not yet %s: %+v", what, v.Jobs)
			}
		}
	}
	if v, text := start(`{"kind":"topic","topic":"bees","keywords":["bee"]}`); v.Job == nil || v.Job.State != "running" {
		t.Fatal(text)
	}
	wait("the topic is made", func(j []jobInfo) bool {
		return j[0].State == "done" && j[0].Text == "ran: topic new bees --keywords=bee with .\n"
	})
	start(`{"kind":"web"}`)
	start(`{"kind":"web"}`)
	wait("the web answers, once", func(j []jobInfo) bool { return len(j) == 2 && s.jobs.web() == "127.0.0.1:4321" })
	start(`{"kind":"crawl","topic":"broken"}`)
	wait("a failure is told", func(j []jobInfo) bool {
		return j[0].State == "failed" && strings.Contains(j[0].Text, "no such topic")
	})
	for _, topic := range []string{"a", "b", "c", "deaf"} {
		if v, text := start(`{"kind":"crawl","demo":true,"topic":"` + topic + `"}`); v.Job == nil || !strings.HasSuffix(v.Line, "--proxy=http://127.0.0.1:4321") {
			t.Fatal(text)
		}
	}
	wait("they run", func(j []jobInfo) bool {
		return !slices.ContainsFunc(j[:4], func(j jobInfo) bool { return j.Text == "" })
	})
	if _, text := start(`{"kind":"crawl","topic":"e"}`); !strings.Contains(text, "stop one") {
		t.Errorf("a fifth command: %s", text)
	}
	b := s.jobs.list()[2]
	_, text := s.ask(t, "POST", fmt.Sprintf("/api/start/%d/stop", b.id), "", nil)
	var stopped any
	if err := json.Unmarshal(text, &stopped); err != nil {
		t.Fatal(err)
	}
	d.check("job", d.Components.Schemas["Job"], stopped)
	wait("it stopped", func(j []jobInfo) bool { return j[2].State == "stopped" && strings.HasSuffix(j[2].Text, "bye\n") })
	if v, text := start(`{"kind":"crawl","topic":"a"}`); v.Job == nil || !strings.Contains(v.Line, "--store=fossick-a-2") { // fossick-a is not there yet
		t.Errorf("a second crawl of a topic: %s", text)
	}
	var now any
	s.get(t, "/api/start", &now)
	d.check("start", d.Components.Schemas["Starting"], now)
	var got []string
	s.jobs.end(200*time.Millisecond, func(dir string) { got = append(got, dir) })
	if slices.Sort(got); fmt.Sprint(got) != "[fossick-a fossick-a-2 fossick-c fossick-deaf]" {
		t.Errorf("stopped at the end: %v", got)
	}
	for _, j := range s.jobs.list() {
		if j.running() {
			t.Errorf("%s runs still", j.line)
		}
	}
	if _, text := start(`{"kind":"demo"}`); !strings.Contains(text, "is ending") {
		t.Errorf("a command at the end: %s", text)
	}
	if err := s.Stop(); err != nil || len(*ended) > 0 {
		t.Errorf("%v, %v", err, *ended)
	}
}

// TestExamples: dropped files land in the topic's folder, whatever their names, also where a link leads out.
func TestExamples(t *testing.T) {
	s, _ := startServer(t)
	defer s.Stop()
	send := func(topic string, parts ...[3]string) string {
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		for _, p := range parts {
			f, _ := w.CreateFormFile(p[0], p[1])
			_, _ = f.Write([]byte(p[2]))
		}
		_ = w.Close()
		_, text := s.ask(t, "POST", "/api/examples?topic="+topic, body.String(), func(r *http.Request) {
			r.Header.Set("Content-Type", w.FormDataContentType())
		})
		return string(text)
	}
	send("bees", [3]string{"page", "old.html", "old"}, [3]string{"page", "older.html", "older"})
	text := send("bees", [3]string{"page", "../../../evil.html", "<p>bees"}, [3]string{"page", "note.TXT", "hives"}, [3]string{"list", "fossick.toml", "http://a.test/"})
	if text != `{"pages":2,"lists":1,"dir":"fossick-examples/bees"}`+"\n" {
		t.Error(text)
	}
	files, _ := filepath.Glob("fossick-examples/*/*")
	pages, _ := filepath.Glob("fossick-examples/bees/pages/*")
	if fmt.Sprint(files, pages) != "[fossick-examples/bees/pages fossick-examples/bees/seeds.txt] [fossick-examples/bees/pages/0001.html fossick-examples/bees/pages/0002.txt]" {
		t.Error(files, pages)
	}
	away := t.TempDir()
	if err := os.Symlink(away, "fossick-examples/link"); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("topics/made", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll("fossick-examples"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(away, "fossick-examples"); err != nil {
		t.Fatal(err)
	}
	for topic, want := range map[string]string{"wasps": "escapes", "..": "give a name", "a%2Fb": "give a name", "made": "exists already"} {
		if text := send(topic, [3]string{"page", "a.html", "x"}); !strings.Contains(text, want) {
			t.Errorf("%s: %s", topic, text)
		}
	}
	if found, _ := os.ReadDir(away); len(found) > 0 {
		t.Errorf("written outside: %v", found)
	}
}

// TestLabelTakenBack: a store has after an undo what it had before the label.
func TestLabelTakenBack(t *testing.T) {
	dir := makeStore(t, 4)
	s := serve(t, dir)
	state := func() map[string]string {
		all := map[string]string{}
		for _, path := range []string{"", "/pages", "/queue", "/story?url=http://h0.test/page0"} {
			_, text := s.ask(t, "GET", "/api/stores/0"+path, "", nil)
			all[path] = string(text)
		}
		return all
	}
	label := func(url, label string) string {
		_, text := s.ask(t, "POST", "/api/stores/0/label", fmt.Sprintf(`{"labels":[{"url":%q,"label":%q}]}`, url, label), nil)
		return string(text)
	}
	before := state()
	for _, url := range []string{"http://h0.test/page0", "http://evil.test/b", "http://h2.test/page5"} {
		for _, said := range []string{"no", "yes", "no"} {
			if text := label(url, said); strings.Contains(text, "error") {
				t.Fatal(text)
			}
		}
		if maps.Equal(state(), before) && url != "http://h2.test/page5" {
			t.Errorf("%s: the label changes nothing", url)
		}
		label(url, "none")
	}
	if got := state(); !maps.Equal(got, before) {
		t.Errorf("after\n%v\nbefore\n%v", got, before)
	}
	if text := label("http://h0.test/page0", "maybe"); !strings.Contains(text, "want yes, no, or none") {
		t.Error(text)
	}
}
