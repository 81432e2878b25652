package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"fossick/crawler/cluster"
	"fossick/crawler/cluster/bus"
	"fossick/crawler/plan"
	"fossick/crawler/urlfrontier"
	"fossick/eval/monitor"
	"fossick/internal/cli"
	"fossick/internal/serving"
	"fossick/models"
	"fossick/relevance"
)

type clusterCmd struct {
	Init     clusterInitCmd   `cmd:"" help:"Make the certificates and keys by which the machines of a crawl trust each other."`
	Frontier frontierCmd      `cmd:"" help:"Serve as the frontier of other crawlers, by the URLFrontier API."`
	Status   clusterStatusCmd `cmd:"" help:"Show the state of the machines of a crawl."`
}

type clusterInitCmd struct {
	Out   string   `short:"o" required:"" placeholder:"DIR" help:"Folder for the keys: a new one, or an existing one to add machines."`
	Names []string `placeholder:"A,B,C" help:"Names or IP addresses of the machines; without it one folder serves all."`
}

func (clusterInitCmd) Help() string {
	return `Makes a certificate authority, and for each machine a folder with its certificate and the keys of its agents. Copy each folder to its machine, and keep the authority's key (ca.key) where no crawl runs. Agents refuse peers without such a certificate. To add machines, run it again with their names.

Examples:
  fossick cluster init -o keys --names alpha,beta,gamma
  fossick cluster init -o keys --names delta`
}

type clusterKeys struct {
	Folders []string `json:"folders"` // one per machine
	Expires string   `json:"expires"` // the last day, RFC 3339
}

func (c clusterInitCmd) Run(a *app) error {
	made, err := bus.Init(c.Out, c.Names, time.Now())
	if err != nil {
		return err
	}
	keys := clusterKeys{made.Folders, made.Expires.UTC().Format(time.DateOnly)}
	return a.emit(keys, func(w io.Writer) {
		for _, folder := range keys.Folders {
			cli.Fprintf(w, "%s\n", folder)
		}
		cli.Fprintf(w, "Valid until %s. Copy each folder to its machine. Keep ca.key here; copy it nowhere.\n", keys.Expires)
	})
}

type clusterStatusCmd struct {
	Name string `name:"crawl" required:"" placeholder:"NAME" help:"Name of the crawl that its agents use; without a --crawl of theirs, the topic."`
	Nats string `required:"" placeholder:"URL" help:"Server of the crawl: the NATS that its agents use, or nats://127.0.0.1:PORT of an agent's --local."`
	Keys string `type:"path" placeholder:"DIR" help:"This machine's folder from fossick cluster init, if the agents use keys." predictor:"dirs"`
}

func (clusterStatusCmd) Help() string {
	return `Shows what each agent last reported to the exchange that they share: its partitions (of 1,024), pages and speed.

Examples:
  fossick cluster status --crawl banking --nats nats://127.0.0.1:4222`
}

// statusWait is how long a server may take to answer.
const statusWait = 15 * time.Second

func (c clusterStatusCmd) Run(a *app) error {
	var secrets *bus.Secrets
	var err error
	if c.Keys != "" {
		if secrets, err = bus.ReadSecrets(c.Keys, time.Now()); err != nil {
			return err
		}
	}
	ctx, stop := context.WithTimeout(a.ctx, statusWait)
	defer stop()
	exchange, err := bus.Open(ctx, bus.Options{Crawl: c.Name, Agent: cluster.AgentID(newAgentID()), URL: c.Nats, Secrets: secrets, Log: a.log})
	if err != nil {
		return fmt.Errorf("the crawl %s at %s: %w", c.Name, c.Nats, err)
	}
	values, err := exchange.Values(ctx)
	if err = errors.Join(err, exchange.Close()); err != nil {
		return err
	}
	s := cluster.StatusOf(values)
	if len(s.Agents)+len(s.Unreadable) == 0 {
		return fmt.Errorf("no agent of a crawl %q has connected to %s; give --crawl the name that the agents use", c.Name, c.Nats)
	}
	told := monitor.AgentsOf(&s)
	return a.emit(told, func(w io.Writer) { printAgents(w, &told) })
}

func printAgents(w io.Writer, s *monitor.Agents) {
	cli.Fprintf(w, "%-17s %10s %9s %9s %9s %8s\n", "agent", "partitions", "pages", "on topic", "waiting", "pages/s")
	for _, one := range s.Agents {
		state := one.State
		if one.Name == s.Coordinator {
			state = strings.TrimSpace("coordinator " + state)
		}
		cli.Fprintf(w, "%-17s %10d %9d %9d %9d %8.1f  %s\n", one.Name, one.Partitions, one.Fetched, one.Relevant, one.Waiting, one.PagesPerSecond, state)
	}
	cli.Fprintf(w, "%d of 1,024 partitions have an owner; %d pages, %d of them on topic\n", s.Partitions, s.Fetched, s.Relevant)
	for _, key := range s.Unreadable {
		cli.Fprintf(w, "%s cannot be read: an agent of another release wrote it; a running agent will replace it\n", key)
	}
	if s.Lost > 0 {
		cli.Fprintf(w, "%d pages were lost with agents that are gone; fossick agent --refetch-lost fetches them again\n", s.Lost)
	}
	if s.Stopped != "" {
		cli.Fprintf(w, "the crawl has ended: %s\n", s.Stopped)
	}
}

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
	URLs   int    `json:"urls"` // waiting
}

// frontierMemory is the heap in bytes at which the garbage collector works harder, so that memory
// stays bounded when clients send fast.
const frontierMemory = 768 << 20

func (c *frontierCmd) Run(a *app) (err error) {
	defer limitHeap(frontierMemory)()
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
	defer listener.Close() // for when Open fails; otherwise Serve has closed it
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
	cli.Fprintf(w, "frontier at %s, ordered by %s for topic %s: %d URLs of %d crawls wait\n", r.Addr, r.Score, r.Topic, r.URLs, r.Crawls)
	io.WriteString(w, "\nCtrl-C ends the server.\n")
}

// scorer returns a function that makes a crawl's scorer, and its policy: learned for a topic with a
// model, else paper.
func (c *frontierCmd) scorer(seed int64) (make func(string) urlfrontier.Scorer, how string, err error) {
	goal := plan.Goal{Model: c.Model, Keywords: c.Keyword}
	topic, err := goal.Find(c.Topic)
	if err != nil {
		return nil, "", err
	}
	how = "learned"
	if topic.Model == nil {
		how = "paper"
	}
	p, err := plan.Named(how)
	if err != nil {
		return nil, "", err
	}
	in, err := inputOf(topic, seed)
	if err != nil {
		return nil, "", err
	}
	if _, err := p.Scorer(in); err != nil { // reports a mistake now instead of at a crawl's first URL
		return nil, "", cli.Usage(err)
	}
	return func(string) urlfrontier.Scorer {
		scorer, _ := p.Scorer(in) // the call above had no error
		return urlfrontier.NewScorer(scorer)
	}, how, nil
}

// inputOf returns the inputs of the policies learned and paper, with default settings.
func inputOf(t *models.Topic, seed int64) (in plan.Input, err error) {
	in = plan.Input{Rho: plan.DefaultRho, Threshold: plan.DefaultThreshold, Seed: uint64(seed)}
	if t.Model != nil {
		in.Labeller, err = plan.NewLabeller(t)
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
