package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"fossick/internal/page"
)

// usageSignal is a statement of a site about the use of its pages.
type usageSignal struct {
	says    string
	refuses string // purposes, by their first letters; i for answer
}

// The statements of sites: in robots.txt, in a header, in the page, in tdmrep.json.
var (
	robotsSignals = []usageSignal{
		{"", ""}, {"Content-Signal: search=yes, ai-train=no", "t"}, {"Content-Usage: /p train-ai=n, ai-use=n", "ti"},
		{"Content-Signal: search=no\nLicense: https://rsl.test/robots.xml", "s"}, {"Allow: /\n\nUser-agent: Google-Extended\nDisallow: /p", "ti"}, {"Content-Usage: train-ai=n\nContent-Usage: /p search=y", ""},
	}
	headerSignals = []usageSignal{{"", ""}, {"X-Robots-Tag: noai", "t"}, {"TDM-Reservation: 1", "tri"}, {`Link: </rsl.xml>; rel="license"; type="application/rsl+xml"`, ""}}
	pageSignals   = []usageSignal{
		{"", ""}, {`<meta name="robots" content="noarchive, noimageai">`, "a"}, {`<meta name="tdm-reservation" content="1">`, "tri"},
		{`<link rel="license" href="https://creativecommons.org/licenses/by/4.0/">`, ""},
	}
	fileSignals = []usageSignal{{"", ""}, {`[{"location":"/p","tdm-reservation":1}]`, "tri"}, {`[{"location":"/other","tdm-reservation":1},{"location":"/","tdm-reservation":0}]`, ""}}
)

type ownerSignals struct{ robots, header, page, file usageSignal }

// refuse says whether one of the signals refuses a purpose.
func refuse(purpose string, some ...usageSignal) bool {
	letter := map[string]string{"search": "s", "answer": "i", "training": "t", "research": "r", "archive": "a"}[purpose]
	return slices.ContainsFunc(some, func(s usageSignal) bool { return purpose != "" && strings.Contains(s.refuses, letter) })
}

// signalWeb has a host for each combination of signals, and counts requests for its page and tdmrep.json.
type signalWeb struct {
	mu    sync.Mutex
	asked map[int]int
	files map[int]int
}

func (web *signalWeb) of(site int) (says ownerSignals) {
	for _, axis := range []struct {
		what *usageSignal
		of   []usageSignal
	}{{&says.robots, robotsSignals}, {&says.header, headerSignals}, {&says.page, pageSignals}, {&says.file, fileSignals}} {
		*axis.what, site = axis.of[site%len(axis.of)], site/len(axis.of)
	}
	return says
}

func (web *signalWeb) sites() int {
	return len(robotsSignals) * len(headerSignals) * len(pageSignals) * len(fileSignals)
}

func (web *signalWeb) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	name, _, _ := strings.Cut(strings.TrimPrefix(r.Host, "site"), ".")
	site, err := strconv.Atoi(name)
	if err != nil {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		for i := range web.sites() {
			fmt.Fprintf(w, `<a href="http://site%d.test/p">gold %d</a> `, i, i)
		}
		return
	}
	says := web.of(site)
	if r.URL.Path == "/robots.txt" {
		fmt.Fprintf(w, "User-agent: *\n%s\nAllow: /\n", says.robots.says)
		return
	}
	web.mu.Lock()
	defer web.mu.Unlock()
	if r.URL.Path == "/.well-known/tdmrep.json" {
		web.files[site]++
		if says.file.says == "" {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprint(w, says.file.says)
		return
	}
	web.asked[site]++
	if name, value, ok := strings.Cut(says.header.says, ": "); ok {
		w.Header().Set(name, value)
	}
	fmt.Fprintf(w, "<html><head>%s<title>gold</title></head><p>gold of site %d, and much of it: %d ounces</p>", says.page.says, site, 1000+site*7)
}

// TestRights exports pages of sites with every combination of signals, for each purpose: no refused
// page is among them, and all others are. No page is requested that robots.txt refuses.
func TestRights(t *testing.T) {
	t.Chdir(t.TempDir())
	web := &signalWeb{}
	srv := httptest.NewServer(web)
	defer srv.Close()
	if n := web.sites(); n < 60 {
		t.Fatalf("only %d combinations", n)
	}
	do := func(args ...string) string {
		t.Helper()
		var out, errOut bytes.Buffer
		if code := run(t.Context(), args, &out, &errOut); code != 0 {
			t.Fatalf("%s: exit code %d\n%s%s", args, code, &out, &errOut)
		}
		return out.String()
	}
	exported := func(purpose string, heard bool, args ...string) {
		t.Helper()
		rows := do(append([]string{"export", "--to", "csv", "-o", "-"}, args...)...)
		for site := range web.sites() {
			says := web.of(site)
			refused := refuse(purpose, says.robots, says.header, says.page) || heard && refuse(purpose, says.file)
			if had := strings.Contains(rows, fmt.Sprintf("http://site%d.test/p,", site)); had == refused {
				t.Errorf("%v, %q: site %d says %q; exported: %v", args, purpose, site, says, had)
			}
		}
	}
	for _, purpose := range []page.Purpose{"", page.ForSearch, page.ForAnswer, page.ForTraining, page.ForResearch, page.ForArchive} {
		web.asked, web.files = map[int]int{}, map[int]int{}
		dir := filepath.Join("stores", "for-"+string(purpose))
		args := []string{"focus", "--topic", "gold", "--keywords", "gold", "--proxy", "http://" + srv.Listener.Addr().String(), "--seed", "http://start.test/",
			"--delay", "0", "--quiet", "--store", dir}
		if purpose != "" {
			args = append(args, "--purpose", string(purpose))
		}
		do(args...)
		for site := range web.sites() {
			says, want, file := web.of(site), 1, 0
			if refuse(string(purpose), says.robots, says.file) {
				want = 0
			}
			if purpose.Mines() {
				file = 1
			}
			if web.asked[site] != want || web.files[site] != file {
				t.Errorf("%q: site %d, which says %q, was asked %d times, want %d, and %d times for tdmrep.json, want %d", purpose, site, says, web.asked[site], want, web.files[site], file)
			}
		}
		exported(string(purpose), true, dir)
	}
	for _, purpose := range []string{"training", "answer", "archive", "Search", "research"} {
		exported(strings.ToLower(purpose), false, filepath.Join("stores", "for-"), "--purpose", purpose)
	}
	rows := do("export", filepath.Join("stores", "for-"), "--to", "jsonl", "-o", "-")
	if n := strings.Count(rows, `"licence":"https://creativecommons.org/licenses/by/4.0/"`); n != web.sites()/len(pageSignals) {
		t.Errorf("%d licences", n)
	}
	// The licence of the page comes before that of its header, and this before that of robots.txt.
	inHeader := web.sites() / len(headerSignals) * (len(pageSignals) - 1) / len(pageSignals)
	inRobots := web.sites() / len(robotsSignals) * (len(headerSignals) - 1) / len(headerSignals) * (len(pageSignals) - 1) / len(pageSignals)
	if n, m := strings.Count(rows, `.test/rsl.xml","usage"`), strings.Count(rows, `"licence":"https://rsl.test/robots.xml"`); n != inHeader || m != inRobots {
		t.Errorf("%d licences in headers, want %d; %d in robots.txt, want %d", n, inHeader, m, inRobots)
	}
	if !strings.Contains(rows, `"usage":"train-ai=n, search=y"`) || !strings.Contains(rows, `"usage":"train-ai=n, ai-use=n"`) {
		t.Error("no row has the usage that its statements mean")
	}
	if !slices.ContainsFunc(strings.Split(rows, "\n"), func(row string) bool {
		return strings.Contains(row, `"rights":"robots.txt: content-signal search=yes, ai-train=no | header: x-robots-tag noai`)
	}) {
		t.Error("no row says its rights as they were found")
	}
	rows = do("export", filepath.Join("stores", "for-training"), "--to", "jsonl", "-o", "-")
	if !strings.Contains(rows, `"rights":"tdmrep.json: tdm-reservation 0`) {
		t.Error("no row says what tdmrep.json did")
	}
}
