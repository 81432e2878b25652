package render

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/systeminfo"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
)

// Options configure a Browser. Only Dir is needed.
type Options struct {
	// Program is Chromium's path, or the address ws://HOST:PORT or http://HOST:PORT of one that
	// runs [chromium of PATH].
	Program   string
	Dir       string // keeps the record of the process
	UserAgent string // as pages see it [Chromium's]
	OnDemand  bool   // start with the first page; one that runs is looked for at once
	Log       *slog.Logger

	tabs     int           // pages at a time [cores]
	age      int64         // pages of one process [1000]
	memory   int64         // bytes of one process, after which it starts anew [1 GiB]
	pageTime time.Duration // of one page [10 s]
	pageSize int           // bytes of the HTML [4 MiB]
}

const (
	startTime  = 30 * time.Second // bounds a start of the browser
	startAgain = 30 * time.Second // between a failed start and the next one
	sampled    = time.Second      // between two looks at the memory
	// killed is how many times its memory limit the browser may take before it is killed in
	// the middle of its pages.
	killed = 2
)

var (
	// ErrCrashed reports a page whose tab or browser crashed.
	ErrCrashed = errors.New("the browser crashed")
	// ErrNoBrowser reports that no browser can be started or reached.
	ErrNoBrowser = errors.New("no browser runs")
)

// Browser renders pages. It is safe for concurrent use.
type Browser struct {
	opt  Options
	tabs chan struct{}
	left bool // a killed session may have been rendering

	mu     sync.RWMutex // read-locked by each page; locked to start and end the process
	now    *process     // nil: none
	failed time.Time    // of the last start
	err    error        // of the last start
}

// New ends the browser that an earlier session left behind, and starts one, unless that is left
// to the first page.
func New(ctx context.Context, opt Options) (*Browser, error) {
	opt.Log = cmp.Or(opt.Log, slog.New(slog.DiscardHandler))
	opt.tabs, opt.age = cmp.Or(opt.tabs, runtime.GOMAXPROCS(0)), cmp.Or(opt.age, 1000)
	opt.memory, opt.pageSize = cmp.Or(opt.memory, 1<<30), cmp.Or(opt.pageSize, 4<<20)
	opt.pageTime = cmp.Or(opt.pageTime, 10*time.Second)
	var err error
	if opt.Program, err = Find(opt.Program); err != nil {
		return nil, err
	}
	left := true
	if !opt.attaches() {
		if left, err = endLeft(opt.Dir); err != nil {
			return nil, err
		}
	}
	b := &Browser{opt: opt, tabs: make(chan struct{}, opt.tabs), left: left}
	if opt.OnDemand && !opt.attaches() {
		return b, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b, b.start(ctx)
}

// attaches reports whether somebody else started the browser.
func (o *Options) attaches() bool { return Remote(o.Program) }

// Remote reports whether a program is named by the address at which it listens for DevTools.
func Remote(program string) bool {
	scheme, _, is := strings.Cut(program, "://")
	return is && slices.Contains([]string{"ws", "wss", "http"}, scheme)
}

// programs are the names of Chromium, best first. The headless shell renders a page in a seventh of the
// processor time of the whole browser, which makes a profile for each. Debian's command for it is a
// script that would outlive a kill of ours, unlike the program behind it.
var programs = []string{
	"/usr/lib/chromium/chromium-headless-shell", "chromium-headless-shell", "chrome-headless-shell", "headless-shell",
	"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
}

// Find returns the path of a program, "" for any Chromium; the address of a browser that runs
// is returned as it is.
func Find(program string) (string, error) {
	if Remote(program) {
		return program, nil
	}
	names := []string{program}
	if program == "" {
		names = programs
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return filepath.Abs(path)
		}
	}
	if program != "" {
		return "", fmt.Errorf("no browser %s; give the path of Chromium or Chrome, or the ws:// address of one that runs", program)
	}
	return "", errors.New("no Chromium or Chrome found; install chromium-headless-shell or chromium, or name one by its path or its ws:// address")
}

// Left reports whether the session before may have been killed in the middle of pages. Of a browser
// that somebody else started nobody knows.
func (b *Browser) Left() bool { return b.left }

// Close ends the browser. No page may be under way.
func (b *Browser) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.end()
}

// Render runs the scripts of a page. An error costs this page only; the result of one that failed in
// its tab has the time that it took.
func (b *Browser) Render(ctx context.Context, p Page) (*Result, error) {
	select {
	case b.tabs <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-b.tabs }()
	proc, err := b.use(ctx)
	if err != nil {
		return nil, err
	}
	defer b.mu.RUnlock()
	began := time.Now()
	result, err := proc.render(ctx, &b.opt, p)
	if err != nil {
		result = &Result{}
	}
	result.Took = time.Since(began)
	return result, err
}

// use returns a process that is fit for a page; b.mu is then read-locked.
func (b *Browser) use(ctx context.Context) (*process, error) {
	for {
		b.mu.RLock()
		if b.now.fit(b.opt.age) {
			b.now.pages.Add(1)
			return b.now, nil
		}
		b.mu.RUnlock()
		if err := b.renew(ctx); err != nil {
			return nil, err
		}
	}
}

// renew replaces a process that is no longer fit.
func (b *Browser) renew(ctx context.Context) error {
	b.mu.Lock() // waits for the pages under way
	defer b.mu.Unlock()
	switch {
	case b.now.fit(b.opt.age):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case b.err != nil && time.Since(b.failed) < startAgain:
		return b.err
	}
	if err := b.end(); err != nil {
		return err
	}
	b.opt.Log.Debug("the browser starts anew")
	return b.start(ctx)
}

// start starts the process; b.mu is held.
func (b *Browser) start(ctx context.Context) error {
	b.now, b.err = startProcess(ctx, &b.opt)
	if ctx.Err() != nil && b.err != nil { // it says nothing of the next start
		b.err = nil
		return ctx.Err()
	}
	if b.err != nil {
		b.err = fmt.Errorf("%w: %w", ErrNoBrowser, b.err)
	}
	b.failed = time.Now()
	return b.err
}

// end ends the process; b.mu is held.
func (b *Browser) end() error {
	if b.now == nil {
		return nil
	}
	err := b.now.end()
	b.now = nil
	return err
}

// process is a running browser.
type process struct {
	browser context.Context // chromedp's handle
	close   func()          // ends browser and waits for it
	record  record          // its Pid is 0 if somebody else started it
	dir     string          // of the record
	pages   atomic.Int64
	worn    atomic.Bool // too large
	watch   sync.WaitGroup
	over    chan struct{} // closed at the end
}

// fit reports whether a process can take another page.
func (p *process) fit(age int64) bool {
	return p != nil && p.browser.Err() == nil && !p.worn.Load() && p.pages.Load() < age
}

// startProcess starts a browser, or connects to one.
func startProcess(ctx context.Context, opt *Options) (p *process, err error) {
	p = &process{dir: opt.Dir, over: make(chan struct{})}
	var said tail
	free := func() {}
	var parent context.Context // the browser outlives the page that starts it
	if opt.attaches() {
		parent, free = remote.NewAllocator(context.WithoutCancel(ctx), opt.Program)
	} else {
		if p.record.Profile, err = newProfile(); err != nil {
			return nil, err
		}
		if err := p.record.write(p.dir); err != nil {
			return nil, errors.Join(err, p.record.remove(p.dir))
		}
		parent, free = chromedp.NewExecAllocator(context.WithoutCancel(ctx), append(flags(opt, p.record.Profile), chromedp.CombinedOutput(&said))...)
	}
	browser, end := chromedp.NewContext(parent)
	p.browser, p.close = browser, func() { end(); free() }
	timer := time.AfterFunc(startTime, end)
	interrupted := context.AfterFunc(ctx, end)
	err = connect(browser)
	if !timer.Stop() {
		err = errors.Join(err, fmt.Errorf("not ready after %v", startTime))
	}
	if !interrupted() {
		return nil, errors.Join(ctx.Err(), p.end())
	}
	switch {
	case err != nil:
	case opt.attaches():
		err = checkSandbox(browser)
	default:
		err = p.keep(chromedp.FromContext(browser).Browser.Process().Pid)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("browser %s: %w%s; %s", opt.Program, err, said.text(), opt.advice()), p.end())
	}
	if !opt.attaches() {
		p.watch.Go(func() { p.weigh(opt) })
	}
	return p, nil
}

// connect starts the browser of a context, or connects to it.
func connect(browser context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil { // chromedp trusts the answer of a server that is no browser
			err = fmt.Errorf("it is no browser: %v", r)
		}
	}()
	return chromedp.Do(browser)
}

// checkSandbox refuses a browser that somebody has started without a sandbox. All other guarantees
// hold for each page: it has a context with a dead proxy, and its requests stop.
func checkSandbox(browser context.Context) error {
	info, err := chromedp.CallBrowser(browser, systeminfo.GetInfo, cdp.Empty{})
	switch {
	case err != nil:
		return fmt.Errorf("it does not tell whether its sandbox is on: %w", err)
	case info.CommandLine == "":
		return errors.New("it does not tell whether its sandbox is on")
	case strings.Contains(info.CommandLine, "--no-sandbox"):
		return errors.New("it runs without a sandbox, so the pages of strangers could read this machine; start it without --no-sandbox")
	}
	return nil
}

// advice is what to do about a browser that does not start.
func (o *Options) advice() string {
	if o.attaches() {
		return "start one with --remote-debugging-port, or give the path of Chromium"
	}
	return "its sandbox needs user namespaces, which a container may forbid: allow them, or start a browser yourself with --remote-debugging-port and give its ws:// address"
}

// keep records the process, so that it can be ended after a kill of this one.
func (p *process) keep(pid int) error {
	p.record.Pid, p.record.Start = pid, started(pid)
	return p.record.write(p.dir)
}

// weigh watches the memory of the process until its end.
func (p *process) weigh(opt *Options) {
	tick := time.NewTicker(sampled)
	defer tick.Stop()
	for {
		select {
		case <-p.over:
			return
		case <-tick.C:
		}
		switch used := memoryOf(p.record.Pid); {
		case used > killed*opt.memory:
			opt.Log.Warn("the browser takes too much memory and is ended", "bytes", used)
			p.worn.Store(true)
			killGroup(p.record.Pid)
		case used > opt.memory:
			p.worn.Store(true)
		}
	}
}

// end ends the process and removes its files.
func (p *process) end() error {
	close(p.over)
	p.watch.Wait()
	if p.record.Pid != 0 {
		killGroup(p.record.Pid)
	}
	p.close()
	if p.record.Profile == "" {
		return nil
	}
	return p.record.remove(p.dir)
}

// flags are the browser's: a sandbox, no request of its own, and no way into the network.
func flags(opt *Options, profile string) []chromedp.ExecAllocatorOption {
	all := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	for name, value := range map[string]any{
		// Whether a script may read an answer is a question of its Origin and cookies; our requests
		// have neither.
		"disable-web-security":            true,
		"no-sandbox":                      false, // chromedp turns it off for root
		"proxy-server":                    deadProxy,
		"proxy-bypass-list":               "<-loopback>",
		"host-resolver-rules":             "MAP * ~NOTFOUND",
		"dns-prefetch-disable":            true,
		"no-pings":                        true,
		"disable-component-update":        true,
		"disable-domain-reliability":      true,
		"disable-crash-reporter":          true,
		"disable-gpu":                     true,
		"disable-remote-fonts":            true,
		"disable-notifications":           true,
		"disable-speech-api":              true,
		"disable-site-isolation-trials":   true, // frames in one process, whose requests all stop
		"force-webrtc-ip-handling-policy": "disable_non_proxied_udp",
		"blink-settings":                  "imagesEnabled=false",
		"disable-features":                "Translate,OptimizationHints,MediaRouter,AutofillServerCommunication,InterestFeedContentSuggestions,CertificateTransparencyComponentUpdater,IsolateOrigins,site-per-process",
		"user-data-dir":                   profile,
	} {
		all = append(all, chromedp.Flag(name, value))
	}
	return append(all,
		chromedp.ExecPath(opt.Program),
		chromedp.NoInheritEnv, // no secrets of ours
		chromedp.Env("HOME="+profile, "TMPDIR="+profile, "PATH="+os.Getenv("PATH"), "LANG=en_US.UTF-8", "DBUS_SESSION_BUS_ADDRESS=disabled:"),
		chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) {
			cmd.Dir, cmd.SysProcAttr = "/", attributes()
			if os.Getuid() == 0 { // its sandbox refuses root
				cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
			}
		}))
}

const (
	// deadProxy takes what might pass by our own exchanges: nothing listens there.
	deadProxy = "http://127.0.0.1:9"
	// nobody is the user of the browser of root.
	nobody = 65534
)

// newProfile makes the folder of the browser's files.
func newProfile() (string, error) {
	dir, err := os.MkdirTemp("", "fossick-browser-") // short, for sockets
	if err == nil && os.Getuid() == 0 {
		err = os.Chown(dir, nobody, nobody)
	}
	if err != nil {
		return "", fmt.Errorf("the browser's folder: %w", err)
	}
	return dir, nil
}

// tail keeps the end of what a browser prints. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	last []byte
}

const tailBytes = 1 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p...)
	t.last = t.last[max(0, len(t.last)-tailBytes):]
	return len(p), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.last) == 0 {
		return ""
	}
	return fmt.Sprintf("; it printed %q", t.last)
}
