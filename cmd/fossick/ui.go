package main

import (
	"context"
	"errors"
	"html"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"fossick/crawler/control"
	"fossick/crawler/plan"
	"fossick/eval/monitor"
	"fossick/internal/cli"
	"fossick/store"
	"fossick/train/topics"
	"fossick/ui"
)

type uiCmd struct {
	Stores   []string `arg:"" optional:"" name:"store" placeholder:"STORE" help:"Stores of crawls, also of running ones [those in this folder, and a page that starts others]." predictor:"dirs"`
	Addr     string   `default:"127.0.0.1:0" placeholder:"HOST:PORT" help:"Address to listen at; port 0 is any free port [${default}]." group:"net"`
	Password string   `name:"ui-password" placeholder:"WORD" help:"Let other machines come to --addr with this password, over plain HTTP. Without a STORE they can then start crawls too. Better set FOSSICK_UI_PASSWORD, or come by ssh -L without one." group:"net"`
}

func (uiCmd) Help() string {
	return `Shows crawls in the browser: a running crawl with its pages, best links and hosts; pages to judge by key; each page's story, text and snapshot; the collection with search, filters, like pages, links between hosts, changes and downloads. It works offline and asks no other host.

Without a STORE, its first page starts the demo, makes topics from words or dropped pages, and starts and resumes crawls, with the command of each. They work in this folder, up to four at a time, and Ctrl-C stops them cleanly. The page chooses among a few flags; files and programs it cannot name.

The address has a token, so that no other user and no other web page can ask. The interface for programs is at /api/openapi.yaml of that address.

Examples:
  fossick ui
  fossick ui fossick-banking
  fossick focus --topic science --contact you@example.org --ui`
}

type uiResult struct {
	Addr string `json:"addr"`
	URL  string `json:"url"` // for a browser, with the token
}

// anyPort is a free port on loopback.
const anyPort = "127.0.0.1:0"

func (c *uiCmd) Run(a *app) error {
	opt := ui.Options{Addr: c.Addr, Password: c.Password}
	if len(c.Stores) == 0 {
		program, err := os.Executable()
		if err != nil {
			return err
		}
		opt.Start = &ui.Start{
			Program: program, Stores: func() []string { return agentsOf(storesIn(".")) }, Topics: func() any { return topics.List() },
			Ended: func(command string) { a.say("the crawl has stopped; it goes on with: %s", command) },
		}
		c.Stores = storesIn(".")
	}
	c.Stores = agentsOf(c.Stores)
	opt.Dirs = c.Stores
	for _, dir := range c.Stores {
		if !store.Exists(dir) {
			return usagef("%s: %w; give the folder of a crawl, as --store of focus", dir, store.ErrNone)
		}
	}
	server, end, err := a.serveUI(opt)
	if err != nil {
		return err
	}
	a.signals.InOrder()
	err = a.emit(uiResult{server.Addr(), server.Address()}, func(w io.Writer) {
		cli.Fprintf(w, "%d stores in the browser: %s\n\nCtrl-C ends the server.\n", len(c.Stores), server.Address())
	})
	if err != nil {
		return errors.Join(err, end())
	}
	<-a.ctx.Done()
	if err := end(); err != nil {
		return err
	}
	return errInterrupted
}

// serveUI starts the server until end, and on a desktop the browser.
func (a *app) serveUI(opt ui.Options) (server *ui.Server, end func() error, err error) {
	opt.Rest = ui.Rest{Text: searchText, URLs: plan.URLs, Examine: a.examiner, Changes: changesFor}
	if server, err = ui.Open(opt); err != nil {
		return nil, nil, err
	}
	file := ""
	if isLive(a.stdout) {
		file = browse(server.Address())
	}
	return server, func() error {
		if file != "" {
			_ = os.Remove(file) // its token is of no use any more
		}
		return server.Stop()
	}, nil
}

// browse opens an address in the desktop's browser, if there is a desktop. The browser gets a file that
// leads to the address, since other users see the arguments of programs, and the address has the token.
func browse(address string) (file string) {
	program := "xdg-open"
	switch {
	case runtime.GOOS == "darwin":
		program = "open"
	case os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "":
		return ""
	}
	file, err := leadTo(address)
	if err != nil {
		return file // the address is printed in any case
	}
	cmd := exec.Command(program, file)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C here must not end the browser
	if cmd.Start() == nil {
		go func() { _ = cmd.Wait() }() // it hands over to the browser and ends, at the latest with this process
	}
	return file
}

// leadTo writes a temporary file, for its owner alone, that leads a browser to an address. It is in
// the home folder, because a browser in a sandbox of its own may not see others.
func leadTo(address string) (file string, err error) {
	home, _ := os.UserHomeDir() // "" is the folder of temporary files
	f, err := os.CreateTemp(home, "fossick-*.html")
	if err != nil {
		f, err = os.CreateTemp("", "fossick-*.html")
	}
	if err != nil {
		return "", err
	}
	_, err = f.WriteString("<!doctype html><meta charset=utf-8><meta http-equiv=refresh content=\"0;url=" + html.EscapeString(address) + "\">\n")
	return f.Name(), errors.Join(err, f.Close())
}

// openSocket opens a crawl's control socket, which also answers for the page in the browser.
func openSocket(opt control.Options, shown *monitor.Server, change func(context.Context, *control.Socket, ui.Change) error) (*control.Socket, error) {
	opt.Status = shown.ServeStatus
	opt.Page = func(s *control.Socket) control.Page {
		crawl := ui.Crawl{Status: shown.Status}
		if change != nil {
			crawl.Change = func(ctx context.Context, to ui.Change) error { return change(ctx, s, to) }
		}
		return ui.New(s, plan.URLs, searchText, changesFor, crawl)
	}
	return control.Open(opt)
}

// storesIn returns the stores in a folder and in its folders.
func storesIn(dir string) (stores []string) {
	for _, pattern := range []string{"*", "*/*"} {
		found, _ := filepath.Glob(filepath.Join(dir, pattern)) // the pattern is well-formed
		for _, path := range found {
			inside := slices.ContainsFunc(stores, func(s string) bool { return filepath.Dir(path) == s })
			if !inside && (store.Exists(path) || len(store.AgentDirs(path)) > 0) {
				stores = append(stores, path)
			}
		}
	}
	return stores
}
