package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"fossick/crawler/control"
	"fossick/crawler/plan"
	"fossick/eval/monitor"
	"fossick/internal/cli"
	"fossick/store"
	"fossick/ui"
)

type uiCmd struct {
	Stores   []string `arg:"" optional:"" name:"store" placeholder:"STORE" help:"Stores of crawls, also of running ones [those in this folder]." predictor:"dirs"`
	Addr     string   `default:"127.0.0.1:0" placeholder:"HOST:PORT" help:"Address to listen at; port 0 is any free port [${default}]." group:"net"`
	Password string   `name:"ui-password" placeholder:"WORD" help:"Let other machines come to --addr with this password, over plain HTTP; better set FOSSICK_UI_PASSWORD, and put a server with TLS before it." group:"net"`
}

func (uiCmd) Help() string {
	return `Shows crawls in the browser: a running crawl with its pages, best links and hosts; pages to judge by key; each page's story, text and snapshot; the collection with search, filters and downloads. It works offline and asks no other host.

The address has a token, so that no other user and no other web page can ask. The interface for programs is at /api/openapi.yaml of that address.

Examples:
  fossick ui
  fossick ui fossick-banking
  fossick focus --topic banking --contact you@example.org --ui`
}

type uiResult struct {
	Addr string `json:"addr"`
	URL  string `json:"url"` // for a browser, with the token
}

// anyPort is a free port on loopback.
const anyPort = "127.0.0.1:0"

func (c *uiCmd) Run(a *app) error {
	if len(c.Stores) == 0 {
		c.Stores = storesIn(".")
	}
	c.Stores = agentsOf(c.Stores)
	for _, dir := range c.Stores {
		if !store.Exists(dir) {
			return usagef("%s: %w; give the folder of a crawl, as --store of focus", dir, store.ErrNone)
		}
	}
	server, err := a.serveUI(ui.Options{Addr: c.Addr, Password: c.Password, Dirs: c.Stores})
	if err != nil {
		return err
	}
	a.signals.InOrder()
	err = a.emit(uiResult{server.Addr(), server.Address()}, func(w io.Writer) {
		cli.Fprintf(w, "%d stores in the browser: %s\n\nCtrl-C ends the server.\n", len(c.Stores), server.Address())
	})
	if err == nil {
		<-a.ctx.Done()
	}
	return errors.Join(err, server.Stop())
}

// serveUI starts the server, and on a desktop the browser.
func (a *app) serveUI(opt ui.Options) (*ui.Server, error) {
	opt.Rest = ui.Rest{Text: searchText, URLs: plan.URLs, Examine: a.examiner}
	server, err := ui.Open(opt)
	if err == nil && isLive(a.stdout) {
		browse(server.Address())
	}
	return server, err
}

// browse opens an address in the desktop's browser, if there is a desktop.
func browse(address string) {
	program := "xdg-open"
	switch {
	case runtime.GOOS == "darwin":
		program = "open"
	case os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "":
		return
	}
	cmd := exec.Command(program, address)
	if cmd.Start() == nil { // the address is printed in any case
		go func() { _ = cmd.Wait() }() // it hands over to the browser and ends, at the latest with this process
	}
}

// openSocket opens a crawl's control socket, which also answers for the page in the browser.
func openSocket(opt control.Options, shown *monitor.Server, change func(context.Context, *control.Socket, ui.Change) error) (*control.Socket, error) {
	opt.Status = shown.ServeStatus
	opt.Page = func(s *control.Socket) control.Page {
		crawl := ui.Crawl{Status: shown.Status}
		if change != nil {
			crawl.Change = func(ctx context.Context, to ui.Change) error { return change(ctx, s, to) }
		}
		return ui.New(s, plan.URLs, searchText, crawl)
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
