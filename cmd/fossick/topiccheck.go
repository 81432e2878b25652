package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"fossick/crawler"
	"fossick/crawler/crawlplan"
	"fossick/crawler/fetch"
	"fossick/eval/monitor"
	"fossick/internal/printable"
	"fossick/internal/report"
	"fossick/internal/usage"
	"fossick/store"
)

type topicCheckCmd struct {
	Name      string        `arg:"" help:"A topic's name, or its folder." predictor:"topics"`
	Contact   string        `type:"contact" placeholder:"MAIL|URL" help:"How a site's owner can reach you; needed for the public web."`
	Timeout   time.Duration `default:"20s" placeholder:"D" help:"Longest time of one request [${default}]."`
	Delay     string        `type:"delay" placeholder:"D" help:"Rest after each fetch from a host: auto, or a time; 0 for your own servers [auto]." predictor:"auto,0"`
	UserAgent string        `placeholder:"NAME" help:"Name/version sent to servers and looked for in robots.txt [fossick/VERSION]." expert:""`
	crawlplan.Ways
}

func (topicCheckCmd) Help() string {
	return `Fetches the start pages of a topic, as politely as a crawl, and shows which of them answer with a page, and which of these pages the topic's model finds on topic. It follows redirects and judges the page that they lead to. It stores nothing and follows no link.

It asks three times for a start page that does not answer. A start page counts as not answering when its host asks for a rest of more than a minute, or after ten minutes.

The exit code is 0 when at least one start page answers, since a crawl can begin there, and 1 when none does.

Examples:
  fossick topic check science --contact you@example.org
  fossick topic check bees --proxy http://127.0.0.1:8090 --delay 0`
}

// How long topic check waits for hosts that want to be left alone, and in all.
const (
	checkWait = time.Minute
	checkTime = 10 * time.Minute
)

// checked is what topic check prints.
type checked struct {
	Topic    string              `json:"topic"`
	Seeds    []monitor.StartPage `json:"seeds"`
	Answered int                 `json:"answered"`
	OnTopic  int                 `json:"on_topic"`
}

// Run crawls the start pages alone, into a store that is thrown away.
func (c topicCheckCmd) Run(a *app) (err error) {
	asked := crawlplan.Crawl{Topic: c.Name, Settings: crawlplan.Settings{
		Network: crawlplan.Network{Ways: c.Ways},
		Manners: crawlplan.Manners{Delay: c.Delay, Timeout: c.Timeout, UserAgent: c.UserAgent, Contact: c.Contact},
	}}
	plan, err := asked.Plan(crawlplan.Program{Version: version, Seed: a.seed, Log: a.log, Say: a.say})
	if err != nil {
		return err
	}
	fetcher, err := fetch.New(plan.Fetch)
	if err != nil {
		return usage.Of(err)
	}
	defer fetcher.Close()
	dir, err := os.MkdirTemp("", "fossick-check-")
	if err != nil {
		return fmt.Errorf("topic check: %w; set TMPDIR to a folder for temporary files", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := store.Create(filepath.Join(dir, "store"), store.Info{Version: version, Topic: c.Name})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	opt := plan.Crawl
	opt.Store, opt.Fetcher = s, fetcher
	opt.Threshold = 2 // no link scores so much: none is followed
	opt.KeepNear, opt.FollowTraps, opt.Patience = true, true, 1
	opt.MaxPages, opt.MaxTime, opt.MaxWait = 0, checkTime, checkWait
	return c.check(a, opt)
}

// check crawls, and prints what became of the start pages.
func (c topicCheckCmd) check(a *app, opt crawler.Options) error {
	engine, err := crawler.New(opt)
	if err != nil {
		return err
	}
	asking := a.step("asking " + report.StartPages(len(opt.Seeds)))
	done, err := engine.Run(a.ctx)
	asking()
	if err != nil {
		return err
	}
	r := checked{Topic: c.Name, Seeds: []monitor.StartPage{}}
	for _, url := range opt.Seeds {
		p, ended := monitor.StartPageOf([]*store.Store{opt.Store}, url)
		if !ended {
			p.State, p.Reason = string(fetch.StateNone), "no answer before the check ended"
		}
		if p.Answered() {
			r.Answered++
		}
		if p.OnTopic != nil && *p.OnTopic {
			r.OnTopic++
		}
		r.Seeds = append(r.Seeds, p)
	}
	if err := a.emit(r, r.print); err != nil {
		return err
	}
	switch {
	case done.Stopped == crawler.StopInterrupted:
		return errInterrupted
	case r.Answered == 0:
		return fmt.Errorf("topic %s: no start page answers; see the reasons, and give others: --seed for a crawl, or seeds in the topic.toml of your own topic", c.Name)
	}
	return nil
}

func (r checked) print(w io.Writer) {
	for _, p := range r.Seeds {
		says := p.State + ", " + printable.Cut(p.Reason, 200)
		switch {
		case p.Answered() && p.OnTopic != nil && *p.OnTopic:
			says = "answers, on topic"
		case p.Answered():
			says = "answers, off topic"
		}
		printable.Fprintf(w, "%s: %s", p.URL, says)
		if p.RedirectedTo != nil {
			printable.Fprintf(w, " (redirected to %s)", *p.RedirectedTo)
		}
		io.WriteString(w, "\n")
	}
	printable.Fprintf(w, "%s: %d of %s answer, %d of them on topic\n", r.Topic, r.Answered, report.StartPages(len(r.Seeds)), r.OnTopic)
}
