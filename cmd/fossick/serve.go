package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/internal/cli"
	"fossick/internal/fileio"
	"fossick/internal/serving"
)

type serveCmd struct {
	Corpus     []string      `arg:"" optional:"" name:"CORPUS" help:"Corpora to serve: demo, a folder, a .jsonl file, or a web archive (.warc)." predictor:"sets"`
	Addr       string        `default:"127.0.0.1:0" placeholder:"HOST:PORT" help:"Address to listen at; :PORT is on loopback, port 0 is any free port [${default}]."`
	Latency    time.Duration `placeholder:"DURATION" help:"Mean time before each answer, as 50ms; that of a URL is 0.5 to 1.5 times the mean [0]."`
	Disallow   float64       `placeholder:"SHARE" help:"Share of each host's pages that its robots.txt forbids, chosen by --rand [0]."`
	CrawlDelay time.Duration `placeholder:"DURATION" help:"Crawl-delay that the robots.txt of an eighth of the hosts asks for [0]."`
	Faults     string        `placeholder:"SHARE|NAMES|list" help:"Misbehave: for a share of all pages (0.3), with faults by name (silence,gzip-bomb) or both (0.1:silence); list shows them all." predictor:"faults"`
	Change     time.Duration `placeholder:"DURATION" help:"Median time between two changes of a page's text, as 10s, for fossick watch [0: never]."`
	Adverts    float64       `default:"1" placeholder:"X" help:"With --change, how often an advert and a date change, as a multiple of the text [${default}]."`
	Away       float64       `default:"0.1" placeholder:"SHARE" help:"With --change, share of pages that vanish or move now and then, and come back [${default}]."`
	Wrong      float64       `name:"wrong-lastmod" default:"0.2" placeholder:"SHARE" help:"With --change and --sitemaps, share of hosts whose lastmod is wrong [${default}]."`
	Truth      string        `placeholder:"FILE" help:"With --change, write how each page changes to FILE, a JSON object a line."`
	Documents  float64       `placeholder:"SHARE" help:"Share of the pages to serve as documents of the same text and links: PDF, DOCX and EPUB in turn, chosen by --rand [0]."`
	Sitemaps   bool          `help:"Give each host a sitemap, named in its robots.txt."`
	Shells     float64       `placeholder:"SHARE" help:"Share of the pages, by host and kind of URL, whose text and links come by script and a second request; half as many others stay empty, and the scripts of all others add nothing [0]."`
	Partial    bool          `help:"Serve the part of a damaged corpus that can be read."`
	Log        string        `placeholder:"FILE" help:"Append a JSON object for each request to FILE."`
}

func (serveCmd) Help() string {
	return `Serves corpora as a web of many hosts on one port: by Host header, as a forward proxy for http:// and, by CONNECT, for https:// with a certificate authority whose file it names. It runs until it is interrupted.

Example:
  fossick serve demo --addr 127.0.0.1:8090 --latency 20ms --log log.jsonl

For fossick watch, pages that change, vanish or move for a while, and come back:
  fossick serve demo --change 10s --truth truth.jsonl

With --sitemaps, each robots.txt names /sitemap.xml, for fossick focus --also sitemaps.

To test a crawler on a hostile web:
  fossick serve demo --faults 0.3 --log requests.jsonl
The start page that it names has no faults; the log names the fault of each request.`
}

type serveResult struct {
	Addr  string `json:"addr"`
	Hosts int    `json:"hosts"`
	Pages int    `json:"pages"`
	CA    string `json:"ca"`
}

func (c *serveCmd) Run(a *app) (err error) {
	if c.Faults == "list" {
		return listFaults(a)
	}
	opt, err := c.options(a)
	if err != nil {
		return err
	}
	var sets []*datasets.Set
	for _, path := range c.Corpus {
		set, err := a.openSet(path, datasets.Options{Partial: c.Partial})
		if err != nil {
			return err
		}
		sets = append(sets, set)
	}
	if c.Log != "" {
		f, err := openLog(c.Log)
		if err != nil {
			return fmt.Errorf("request log: %w; give a file that can be written, /dev/stdout or /dev/stderr", err)
		}
		defer closing(&err, f)
		opt.Log = f
	}
	listener, err := serving.Listen(c.Addr) // before reading the corpus, so that a port in use is reported at once
	if err != nil {
		return fmt.Errorf("%w; choose another --addr", err)
	}
	defer listener.Close() // for when New fails; otherwise Serve has closed it
	reading := a.task("reading "+strings.Join(c.Corpus, ", "), "pages")
	opt.Progress = reading.Add
	web, err := web.New(a.ctx, opt, sets...)
	reading.End()
	if err != nil {
		return err
	}
	defer closing(&err, web)
	if c.Truth != "" {
		if err := fileio.Write(c.Truth, 0o644, func(f *os.File) error { return web.WriteTruth(f) }); err != nil {
			return fmt.Errorf("--truth: %w", err)
		}
	}
	if err := c.ready(a, web, listener.Addr().String()); err != nil {
		return err
	}
	if err := web.Serve(a.ctx, listener); err != nil {
		return err
	}
	return errInterrupted
}

func (c *serveCmd) options(a *app) (web.Options, error) {
	opt := web.Options{
		Latency: c.Latency, Disallow: c.Disallow, CrawlDelay: c.CrawlDelay,
		Seed: uint64(a.seed), Logger: a.log, Sitemaps: c.Sitemaps, Documents: c.Documents, Shells: c.Shells, Change: web.ChangePlan{Mean: c.Change, Adverts: c.Adverts, Away: c.Away, Wrong: c.Wrong},
	}
	switch {
	case len(c.Corpus) == 0:
		return opt, usagef("no corpus to serve; try demo")
	case c.Change < 0 || c.Adverts < 0 || c.Away < 0 || c.Away > 1 || c.Wrong < 0 || c.Wrong > 1:
		return opt, usagef("--change, --adverts, --away and --wrong-lastmod: want 0 or more, and at most 1 for the last two")
	case c.Shells < 0 || c.Shells > 1:
		return opt, usagef("--shells %v: want a share from 0 to 1", c.Shells)
	case c.Shells > 0 && c.Change > 0:
		return opt, usagef("--shells serves pages that do not change; leave --shells or --change out")
	case c.Truth != "" && c.Change == 0:
		return opt, usagef("--truth records how pages change; give --change with it")
	case c.Documents < 0 || c.Documents > 1:
		return opt, usagef("--documents %v: want a share from 0 to 1", c.Documents)
	case c.Documents > 0 && (c.Change > 0 || c.Faults != ""):
		return opt, usagef("--documents with --change or --faults: these alter the text of pages, which documents have not; leave one out")
	case c.Disallow < 0 || c.Disallow >= 1:
		return opt, usagef("--disallow %v: want a share from 0 to less than 1", c.Disallow)
	}
	plan, err := web.ParseFaults(c.Faults)
	if err != nil {
		return opt, usagef("--%v", err)
	}
	opt.Faults = plan
	return opt, nil
}

type faultResult struct {
	Name   string   `json:"name"`
	About  string   `json:"about"`
	States []string `json:"states"` // states that a crawler should record
}

func listFaults(a *app) error {
	var all []faultResult
	for _, f := range web.Faults() {
		all = append(all, faultResult{f.Name, f.About, f.States})
	}
	result := struct {
		Faults []faultResult `json:"faults"`
	}{all}
	return a.emit(result, func(w io.Writer) {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		io.WriteString(t, "name\twhat the server does\tstate of the URL\n")
		for _, f := range all {
			cli.Fprintf(t, "%s\t%s\t%s\n", f.Name, f.About, strings.Join(f.States, " or "))
		}
		_ = t.Flush() // its only errors are w's
	})
}

// ready prints the result once requests are answered.
func (c *serveCmd) ready(a *app, web *web.Web, addr string) error {
	st := web.Stats()
	if st.Unserved > 0 {
		a.say("%d rows have no http or https URL and are not served", st.Unserved)
	}
	if st.Repeated > 0 {
		a.say("%d rows repeat a URL (without its fragment); only the first row of each URL is served", st.Repeated)
	}
	return a.emit(serveResult{addr, st.Hosts, st.Pages, web.CA()}, func(w io.Writer) {
		cli.Fprintf(w, "%d pages of %d hosts at http://%s; certificate authority in %s\n", st.Pages, st.Hosts, addr, web.CA())
		io.WriteString(w, "\nTo crawl them, in another terminal:\n\n")
		topic := "banking"
		if !slices.Equal(c.Corpus, []string{"demo"}) { // its topics are unknown
			topic = "NAME --keywords WORDS,OF,IT"
		}
		cli.Fprintf(w, "  fossick focus --topic "+topic+" --seed '%s' \\\n    --proxy http://%s --ca %s --delay 0 --store crawl\n", web.First(), addr, web.CA())
		io.WriteString(w, "\nCtrl-C ends the server.\n")
	})
}

// closing closes c at the end of a function, and sets the error if there is none.
func closing(err *error, c io.Closer) {
	if e := c.Close(); e != nil && *err == nil {
		*err = e
	}
}

// openLog opens a log to append to. It refuses pipes and devices, except stdout and stderr.
func openLog(path string) (*os.File, error) {
	if path == "/dev/stdout" || path == "/dev/stderr" {
		return os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return nil, err
	}
	if at, err := f.Stat(); err != nil || !at.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%s is no ordinary file", path), err, f.Close())
	}
	return f, nil
}
