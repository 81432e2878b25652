package main

import (
	"cmp"
	"fmt"
	"io"

	"fossick/crawler/crawlplan"
	"fossick/crawler/urlfrontier"
	"fossick/crawler/urlfrontier/priority"
	"fossick/internal/printable"
	"fossick/internal/process"
	"fossick/internal/serving"
	"fossick/internal/usage"
	"fossick/models"
	"fossick/relevance"
)

type frontierCmd struct {
	Store   string   `required:"" placeholder:"DIR" help:"Folder that keeps the URLs; made if it does not exist." predictor:"dirs"`
	Topic   string   `required:"" placeholder:"T" help:"Topic that URLs are ordered by: $${topics}, or one of your own." predictor:"topics"`
	Model   string   `placeholder:"M" help:"Model that judges, a file or a topic's name [its own]." predictor:"models"`
	Keyword []string `name:"keywords" placeholder:"WORDS" help:"Words and phrases of the topic, by comma [its own]."`
	Addr    string   `default:"127.0.0.1:7071" placeholder:"HOST:PORT" help:"Address to listen at; :PORT is on loopback, port 0 is any free port [${default}]."`
	Waiting int      `default:"10000000" placeholder:"N" help:"URLs that may wait; clients that put more are told to retry later. Each takes about 130 bytes of memory [${default}]."`
}

func (frontierCmd) Help() string {
	return `Serves as the frontier of other crawlers, such as StormCrawler, through crawler-commons' URLFrontier API (gRPC). They put the links that they find, and get the URLs to fetch, the best for the topic first. A URL is on disk before it is acknowledged. The server runs until it is interrupted.

Example:
  fossick cluster frontier --store frontier --topic banking

There is no password: anyone who can reach the address can read and delete everything. Give an --addr beyond loopback, as 0.0.0.0:7071, only behind a firewall that admits your crawlers alone.

docs/machines.md lists the metadata of pages and links that clients can send to improve the order.`
}

type frontierResult struct {
	Addr   string `json:"addr"`
	Topic  string `json:"topic"`
	Score  string `json:"score"` // the crawl policy
	Crawls int    `json:"crawls"`
	URLs   int    `json:"urls"` // that wait
}

// frontierMemory is from where on the garbage collector works harder: what clients send fast
// would else pile up beside what is in flight.
const frontierMemory = 768 << 20

func (c *frontierCmd) Run(a *app) (err error) {
	defer process.LimitHeap(frontierMemory)()
	if c.Waiting < 1 {
		return usagef("--waiting %d: want 1 or more", c.Waiting)
	}
	scorer, how, err := c.scorer(a.seed)
	if err != nil {
		return err
	}
	listener, err := serving.Listen(c.Addr)
	if err != nil {
		return fmt.Errorf("%w; choose another --addr", err)
	}
	defer listener.Close() // Serve has closed it, unless Open fails
	opening := a.step("reading " + c.Store)
	f, err := urlfrontier.Open(c.Store, urlfrontier.Options{Scorer: scorer, Waiting: c.Waiting, Logger: a.log})
	opening()
	if err != nil {
		return err
	}
	defer closing(&err, f)
	addr := listener.Addr().String()
	r := frontierResult{Addr: addr, Topic: c.Topic, Score: how}
	r.Crawls, r.URLs = f.Size()
	if err := a.emit(r, r.print); err != nil {
		return err
	}
	if err := urlfrontier.NewServer(f, addr).Serve(a.ctx, listener); err != nil {
		return err
	}
	return errInterrupted
}

func (r frontierResult) print(w io.Writer) {
	printable.Fprintf(w, "frontier at %s, ordered by %s for topic %s: %d URLs of %d crawls wait\n", r.Addr, r.Score, r.Topic, r.URLs, r.Crawls)
	io.WriteString(w, "\nCtrl-C ends the server.\n")
}

// scorer returns what makes the scorer of a crawl, and the name of its policy: learned
// where there is a model, else paper.
func (c *frontierCmd) scorer(seed int64) (make func(string) urlfrontier.Scorer, how string, err error) {
	goal := crawlplan.Goal{Model: c.Model, Keywords: c.Keyword}
	topic, err := goal.Find(c.Topic)
	if err != nil {
		return nil, "", err
	}
	how = "learned"
	if topic.Model == nil {
		how = "paper"
	}
	p, err := crawlplan.Named(how)
	if err != nil {
		return nil, "", err
	}
	in, err := inputOf(topic, seed)
	if err != nil {
		return nil, "", err
	}
	if _, err := p.Scorer(in); err != nil { // what is wrong is said now, and not with a crawl's first URL
		return nil, "", usage.Of(err)
	}
	return func(string) urlfrontier.Scorer {
		scorer, _ := p.Scorer(in) // as the one above was made
		return priority.New(scorer)
	}, how, nil
}

// inputOf is what the policies learned and paper are built from, with their defaults.
func inputOf(t *models.Topic, seed int64) (in crawlplan.Input, err error) {
	in = crawlplan.Input{Rho: crawlplan.DefaultRho, Threshold: crawlplan.DefaultThreshold, Explore: crawlplan.DefaultExplore, Seed: uint64(seed)}
	if t.Model != nil {
		in.Labeller, err = crawlplan.NewLabeller(t)
	}
	if len(t.Keywords) > 0 {
		var bad error
		in.Keywords, bad = relevance.NewKeywords(t.Keywords)
		err = cmp.Or(err, bad)
	}
	if err != nil {
		return in, usagef("topic %s: %w", t.Name, err)
	}
	return in, nil
}
