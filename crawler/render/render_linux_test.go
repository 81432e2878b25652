package render

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"fossick/crawler/fetch"
	"fossick/internal/testkit"
)

// chromium starts Chromium for a test, which is skipped where there is none or its sandbox cannot be.
func chromium(t *testing.T, opt Options) *Browser {
	t.Helper()
	if _, err := Find(""); err != nil {
		t.Skipf("no browser to test with: %v", err)
	}
	if opt.Dir == "" {
		opt.Dir = t.TempDir()
	}
	b, err := New(t.Context(), opt)
	if err != nil && strings.Contains(err.Error(), "user namespaces") {
		t.Skipf("the browser cannot start here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// answers is a web that records what it was asked for.
type answers struct {
	mu    sync.Mutex
	pages map[string]string
	asked []string
}

func (a *answers) ask(_ context.Context, url string) *fetch.Response {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, url)
	kind, body, ok := strings.Cut(a.pages[url], " ")
	switch {
	case !ok:
		return &fetch.Response{URL: url, State: fetch.StateCode, Code: http.StatusNotFound}
	case kind == "to":
		return &fetch.Response{URL: url, State: fetch.StateRedirect, Code: http.StatusFound, Location: body}
	}
	return &fetch.Response{URL: url, State: fetch.StateOK, Code: http.StatusOK, ContentType: kind, Body: []byte(body)}
}

const at = "http://shop.test/list"

func (a *answers) page(body string) Page {
	return Page{URL: at, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: []byte(body), Ask: a.ask}
}

// installed returns each Chromium of this machine; "", for any, if there is none.
func installed() (paths []string) {
	for _, name := range programs {
		if path, err := Find(name); err == nil {
			paths = append(paths, path)
		}
	}
	if paths == nil {
		return []string{""}
	}
	return paths
}

func TestRender(t *testing.T) {
	for _, program := range installed() {
		t.Run(filepath.Base(program), func(t *testing.T) {
			testRender(t, chromium(t, Options{Program: program, UserAgent: "fossick/test"}))
		})
	}
}

func testRender(t *testing.T, b *Browser) {
	for _, c := range []struct {
		name, body string
		web        map[string]string
		want       []string // in the HTML
		not        string   // not in it
		asked      []string
	}{
		{"script", `<p id=a></p><script>document.getElementById("a").textContent = "made " + "here"</script>`, nil, []string{"made here", "<!DOCTYPE html>"}, "", nil},
		{"data by fetch", `<ul id=a></ul><script src=/app.js></script>`, map[string]string{
			"http://shop.test/app.js":     `text/javascript fetch("/items.json").then(r => r.json()).then(l => { for (const x of l) a.innerHTML += "<li><a href=/i/" + x + ">item " + x + "</a>" })`,
			"http://shop.test/items.json": `application/json [1,2]`,
		}, []string{`<a href="/i/1">item 1</a>`, `item 2`}, "", []string{"http://shop.test/app.js", "http://shop.test/items.json"}},
		{"another origin, redirected", `<p id=a></p><script type=module src=http://api.shop.test/m.js></script>`, map[string]string{
			"http://api.shop.test/m.js": "to http://cdn.test/m.js",
			"http://cdn.test/m.js":      `text/javascript const r = await fetch("http://api.shop.test/x", {headers: {"X-Token": "1"}}); document.getElementById("a").textContent = await r.text()`,
			"http://api.shop.test/x":    "text/plain from afar",
		}, []string{"from afar"}, "", []string{"http://api.shop.test/m.js", "http://cdn.test/m.js", "http://api.shop.test/x"}},
		{"timers run ahead", `<p id=a></p><script>let n = 0; const f = () => { if (++n < 8) setTimeout(f, 60); else a.textContent = "late text" }; f()</script>`, nil, []string{"late text"}, "", nil},
		{"nothing else is asked for", `<img src=/i.png><link rel=stylesheet href=/s.css><link rel=icon href=/f.ico><video src=/v.mp4></video><iframe src=http://other.test/></iframe>
			<style>@font-face { font-family: f; src: url(/f.woff) } p { font-family: f; background: url(/b.png) }</style><p>text</p>
			<script src=https://www.google-analytics.com/ga.js></script>
			<script>navigator.sendBeacon?.("/beacon"); try { new WebSocket("ws://shop.test/ws") } catch {}; fetch("/post", {method: "POST", body: "x"}).catch(() => {}); navigator.serviceWorker?.register("/sw.js");
			try { new Worker("/w.js") } catch {}; try { new EventSource("/e") } catch {}; new Image().src = "/pixel"; document.title = "ran"</script>`,
			nil, []string{"<title>ran</title>"}, "", nil},
		{"frame of the site", `<iframe src=/frame></iframe><script>addEventListener("message", e => document.title = e.data)</script>`, map[string]string{
			"http://shop.test/frame": `text/html <script>parent.postMessage("framed", "*")</script>`,
		}, []string{"<title>framed</title>"}, "", []string{"http://shop.test/frame"}},
		{"dialogs and windows", `<p id=a></p><script>alert(1); confirm(2); open("/w"); a.textContent = "after"</script>`, nil, []string{"after"}, "", nil},
		{"the page moves", `<p>stays</p><script>location.href = "/elsewhere"</script>`, nil, []string{"stays", `<a href="http://shop.test/elsewhere">`}, "", nil},
		{"changed address", `<a href=x>x</a><script>history.pushState(0, "", "/deep/er/")</script>`, nil, []string{`href="http://shop.test/deep/er/x"`}, "", nil},
		{"scripts cannot forge the HTML", `<p>true</p><script>Object.defineProperty(Element.prototype, "outerHTML", {get: () => "false"}); JSON.stringify = () => "false"</script>`, nil, []string{"<p>true</p>"}, "", nil},
		{"user agent", `<script>document.title = navigator.userAgent</script>`, nil, []string{"<title>fossick/test</title>"}, "", nil},
		{"missing data", `<p>kept</p><script src=/none.js></script>`, nil, []string{"kept"}, "", []string{"http://shop.test/none.js"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			web := &answers{pages: c.web}
			r := testkit.Call(b.Render(t.Context(), web.page(c.body))).Must(t)
			for _, want := range c.want {
				if !strings.Contains(string(r.HTML), want) {
					t.Errorf("the HTML has no %q:\n%s", want, r.HTML)
				}
			}
			if r.Late {
				t.Error("the page was not ready in time")
			}
			if !slices.Equal(web.asked, c.asked) {
				t.Errorf("asked for %q, want %q", web.asked, c.asked)
			}
		})
	}
}

// TestEscapes: what the Fetch domain does not see finds no way into the network.
func TestEscapes(t *testing.T) {
	l := testkit.Call(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	var calls atomic.Int64
	var server sync.WaitGroup
	server.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			calls.Add(1)
			_ = c.Close()
		}
	})
	defer server.Wait()
	defer l.Close()
	body := strings.ReplaceAll(`<link rel=dns-prefetch href=//ADDR><link rel=preconnect href=http://ADDR><link rel=prefetch href=http://ADDR/p>
		<p id=a></p><script>const f = document.createElement("iframe"); document.body.append(f); const w = f.contentWindow;
		try { new w.WebSocket("ws://ADDR/") } catch {} try { new w.EventSource("http://ADDR/") } catch {}
		try { new w.Worker(URL.createObjectURL(new Blob(["fetch('http://ADDR/w')"]))) } catch {}
		try { new w.RTCPeerConnection({iceServers: [{urls: "turn:ADDR?transport=tcp", username: "u", credential: "c"}]}).createDataChannel("d") } catch {}
		const other = document.createElement("iframe"); other.src = "http://other.test/"; document.body.append(other);
		a.textContent = "ran"</script>`, "ADDR", l.Addr().String())
	for _, name := range append(installed(), "http://"+listening(t)) {
		b := chromium(t, Options{Program: name})
		web := &answers{pages: map[string]string{"http://other.test/": "text/html <link rel=stylesheet href=http://" + l.Addr().String() + "/><script src=http://" + l.Addr().String() + "/x.js></script>"}}
		r := testkit.Call(b.Render(t.Context(), web.page(body))).Must(t)
		if !strings.Contains(string(r.HTML), "ran") {
			t.Errorf("%s: the script did not run:\n%s", name, r.HTML)
		}
		if n := calls.Swap(0); n > 0 {
			t.Errorf("%s: %d connections reached a server past our own exchanges", name, n)
		}
	}
}

// listening starts a browser that listens for DevTools as a user would, and returns its address.
func listening(t *testing.T, flags ...string) (addr string) {
	t.Helper()
	program, err := Find("")
	if err != nil {
		t.Skipf("no browser to test with: %v", err)
	}
	profile, err := newProfile()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, append(flags, "--headless", "--remote-debugging-port=0", "--disable-gpu", "--user-data-dir="+profile)...)
	cmd.Dir, cmd.SysProcAttr, cmd.Env = "/", attributes(), []string{"HOME=" + profile, "TMPDIR=" + profile, "PATH=" + os.Getenv("PATH")}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	testkit.Must(t, cmd.Start())
	t.Cleanup(func() {
		killGroup(cmd.Process.Pid)
		_ = cmd.Wait() // killed
		_ = os.RemoveAll(profile)
	})
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if _, rest, is := strings.Cut(lines.Text(), "DevTools listening on ws://"); is {
			addr, _, _ = strings.Cut(rest, "/")
			return addr
		}
	}
	t.Skip("the browser cannot start here")
	return ""
}

// TestAttach: a browser that runs renders under both kinds of its address, and lives on; one without a
// sandbox is refused.
func TestAttach(t *testing.T) {
	addr := listening(t)
	for _, program := range []string{"ws://" + addr, "http://" + addr} {
		b, err := New(t.Context(), Options{Program: program, Dir: t.TempDir(), OnDemand: strings.HasPrefix(program, "http")})
		if err != nil {
			t.Fatal(err)
		}
		if b.now == nil {
			t.Errorf("%s: not reached before a page", program)
		}
		web := &answers{pages: map[string]string{"http://shop.test/app.js": "text/javascript document.title = 'from afar'"}}
		r, err := b.Render(t.Context(), web.page("<script src=/app.js></script>"))
		if err != nil || !strings.Contains(string(r.HTML), "<title>from afar</title>") {
			t.Errorf("%s: %+v, %v", program, r, err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	_, err := New(t.Context(), Options{Program: "ws://" + listening(t, "--no-sandbox"), Dir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "start it without --no-sandbox") {
		t.Errorf("without a sandbox: %v", err)
	}
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }))
	defer stranger.Close()
	if _, err := New(t.Context(), Options{Program: stranger.URL, Dir: t.TempDir(), OnDemand: true}); !errors.Is(err, ErrNoBrowser) || !strings.Contains(err.Error(), "it is no browser") {
		t.Errorf("a server that is no browser: %v", err)
	}
}

func TestEndlessScript(t *testing.T) {
	b := chromium(t, Options{pageTime: time.Second})
	web := &answers{}
	r, err := b.Render(t.Context(), web.page(`<p id=a>text</p><script>a.textContent = "before"; for (;;);</script>`))
	if err != nil {
		t.Fatal(err)
	}
	if !r.Late || !strings.Contains(string(r.HTML), "before") {
		t.Errorf("late %v, HTML %s; want the HTML at the limit of time", r.Late, r.HTML)
	}
	if r, err = b.Render(t.Context(), web.page(`<script>document.title = "next"</script>`)); err != nil || !strings.Contains(string(r.HTML), "<title>next</title>") {
		t.Errorf("the page after it: %v, %v", r, err)
	}
}

func TestLimitOfBytes(t *testing.T) {
	b := chromium(t, Options{pageSize: 1000})
	for _, letter := range []string{"x", "ж", "漢", "😀"} {
		r, err := b.Render(t.Context(), (&answers{}).page(`<script>document.title = "`+letter+`".repeat(5000)</script>`))
		if err != nil || len(r.HTML) > 1000 || len(r.HTML) < 997 || !utf8.Valid(r.HTML) {
			t.Errorf("%s: %d bytes, %v; want the first 1000", letter, len(r.HTML), err)
		}
	}
}

// TestStartIsBrokenOff: a start ends with its context and leaves nothing.
func TestStartIsBrokenOff(t *testing.T) {
	dir := t.TempDir()
	hangs := filepath.Join(dir, "hangs")
	err := os.WriteFile(hangs, []byte("#!/bin/sh\nexec sleep 100\n"), 0o755)
	for _, d := range []string{dir, filepath.Dir(dir)} { // for the user of the browser
		err = errors.Join(err, os.Chmod(d, 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err = New(ctx, Options{Program: hangs, Dir: dir})
	if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > startTime/2 {
		t.Errorf("ended after %v: %v", took, err)
	}
	if _, err := os.Stat(filepath.Join(dir, recordFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the record stays: %v", err)
	}
}

// group lists the processes of a process group that have not ended.
func group(t *testing.T, pid int) (alive []string) {
	t.Helper()
	dirs := testkit.Call(filepath.Glob("/proc/[0-9]*")).Must(t)
	for _, dir := range dirs {
		f := stat(filepath.Base(dir))
		if f != nil && string(f[statGroup]) == strconv.Itoa(pid) && string(f[0]) != "Z" {
			alive = append(alive, filepath.Base(dir))
		}
	}
	return alive
}

// ended waits until no process of a group is alive.
func ended(t *testing.T, pid int) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for len(group(t, pid)) > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("processes %v of the browser are alive", group(t, pid))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestCrash: a crash of tab or browser costs one page, and the next one has a new browser.
func TestCrash(t *testing.T) {
	b := chromium(t, Options{age: 3})
	web := &answers{}
	fine := func() {
		t.Helper()
		r, err := b.Render(t.Context(), web.page(`<script>document.title = "fine"</script>`))
		if err != nil || !strings.Contains(string(r.HTML), "fine") {
			t.Fatalf("%v, %v; want a rendered page", r, err)
		}
	}
	fine()
	first := b.now.record.Pid
	dies := web.page(`<script src=/x.js></script>`)
	dies.Ask = func(ctx context.Context, _ string) *fetch.Response {
		killGroup(first)
		<-ctx.Done()
		return nil
	}
	if _, err := b.Render(t.Context(), dies); !errors.Is(err, ErrCrashed) {
		t.Errorf("error %v, want ErrCrashed", err)
	}
	fine()
	second := b.now.record.Pid
	if second == first {
		t.Error("the same browser after a crash")
	}
	fine()
	fine()
	fine() // the fourth page of a browser for three
	if b.now.record.Pid == second {
		t.Error("the same browser after its age")
	}
	ended(t, first)
	ended(t, second)
	b.now.worn.Store(true)
	third := b.now.record.Pid
	fine()
	if b.now.record.Pid == third {
		t.Error("the same browser after it grew too large")
	}
}

func TestMemory(t *testing.T) {
	b := chromium(t, Options{})
	used := memoryOf(b.now.record.Pid)
	t.Logf("a browser without a page takes %d MiB", used>>20)
	if used < 32<<20 || used > 4<<30 {
		t.Errorf("the browser takes %d bytes", used)
	}
	b2 := chromium(t, Options{memory: 1 << 20, pageTime: 5 * time.Second})
	r, err := b2.Render(t.Context(), Page{URL: at, Header: http.Header{}, Body: []byte(`<script>for (;;);</script>`), Ask: (&answers{}).ask})
	if !errors.Is(err, ErrCrashed) || r == nil || r.Took <= 0 {
		t.Errorf("a browser of twice its memory: %+v, %v; want ErrCrashed after some time", r, err)
	}
}

// TestKilled: a killed session leaves no browser, and what it left is ended by the next one.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("FOSSICK_TEST_RENDER"); dir != "" {
		b := testkit.Call(New(t.Context(), Options{Dir: dir})).Must(t)
		fmt.Println("pid", b.now.record.Pid, b.now.record.Profile)
		select {}
	}
	chromium(t, Options{})
	dir := t.TempDir()
	child := exec.Command(os.Args[0], "-test.run=^TestKilled$", "-test.v")
	child.Env = append(os.Environ(), "FOSSICK_TEST_RENDER="+dir)
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	pid, profile := 0, ""
	for lines := bufio.NewScanner(out); pid == 0 && lines.Scan(); {
		_, _ = fmt.Sscanf(lines.Text(), "pid %d %s", &pid, &profile)
	}
	if pid == 0 || len(group(t, pid)) == 0 {
		t.Fatalf("browser %d does not run", pid)
	}
	testkit.Must(t, child.Process.Kill())
	_ = child.Wait() // killed
	ended(t, pid)
	if _, err := os.Stat(profile); err != nil {
		t.Errorf("the folder should still be there: %v", err)
	}
	chromium(t, Options{Dir: dir})
	if _, err := os.Stat(profile); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("folder %s of the killed session: %v, want it removed", profile, err)
	}
}

// TestLeft: the next start ends a process on record, but no other that has its number.
func TestLeft(t *testing.T) {
	for _, same := range []bool{true, false} {
		sleep := exec.Command("sleep", "100")
		sleep.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		testkit.Must(t, sleep.Start())
		kept := filepath.Join(t.TempDir(), "not-a-profile")
		testkit.Must(t, os.Mkdir(kept, 0o700))
		dir, r := t.TempDir(), record{Pid: sleep.Process.Pid, Start: started(sleep.Process.Pid), Profile: kept}
		if !same {
			r.Start = "1"
		}
		testkit.Must(t, r.write(dir))
		if left, err := endLeft(dir); err != nil || !left {
			t.Fatalf("left %v, %v", left, err)
		}
		alive := started(r.Pid) != "" && len(group(t, r.Pid)) > 0
		if same {
			_ = sleep.Wait() // killed
			alive = false
		} else {
			_ = sleep.Process.Kill()
			_ = sleep.Wait()
		}
		if alive == same {
			t.Errorf("same %v: alive %v", same, alive)
		}
		if _, err := os.Stat(kept); err != nil {
			t.Errorf("a folder that is none of ours is gone: %v", err)
		}
		if _, err := os.Stat(filepath.Join(dir, recordFile)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the record stays: %v", err)
		}
		if left, err := endLeft(dir); err != nil || left {
			t.Errorf("asked again: left %v, %v", left, err)
		}
	}
}

func TestNoBrowser(t *testing.T) {
	for program, want := range map[string]string{
		"/no/such/browser":                  "give the path of Chromium",
		"/bin/false":                        "user namespaces",
		"ws://127.0.0.1:1/devtools/browser": "remote-debugging-port, or",
	} {
		dir := t.TempDir()
		_, err := New(t.Context(), Options{Program: program, Dir: dir})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", program, err, want)
		}
		if files, _ := os.ReadDir(dir); len(files) > 0 {
			t.Errorf("%s: %v is left", program, files)
		}
	}
}
