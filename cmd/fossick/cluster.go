package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"fossick/crawler/cluster"
	"fossick/crawler/cluster/bus"
	"fossick/internal/printable"
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

// clusterKeys is what cluster init prints.
type clusterKeys struct {
	Folders []string `json:"folders"` // one a machine
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
			printable.Fprintf(w, "%s\n", folder)
		}
		printable.Fprintf(w, "Valid until %s. Copy each folder to its machine. Keep ca.key here; copy it nowhere.\n", keys.Expires)
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

// clusterStatus is what cluster status prints.
type clusterStatus struct {
	Agents      []clusterAgent `json:"agents"`
	Coordinator string         `json:"coordinator"`
	Partitions  int            `json:"partitions"` // that have an owner
	Fetched     int64          `json:"fetched"`
	Relevant    int64          `json:"relevant"`
	Lost        int64          `json:"lost"`                 // pages that are gone with an agent
	Stopped     string         `json:"stopped_because"`      // "" while the crawl goes on
	Unreadable  []string       `json:"unreadable,omitempty"` // keys whose values no agent wrote
}

type clusterAgent struct {
	Name           string  `json:"name"`
	Partitions     int     `json:"partitions"`
	Fetched        int64   `json:"fetched"`
	Relevant       int64   `json:"relevant"`
	Waiting        int64   `json:"waiting"`
	Lost           int64   `json:"lost"` // of its sites: pages that are gone with another agent
	PagesPerSecond float64 `json:"pages_per_second"`
	State          string  `json:"state"` // "", dead or leaving
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
	told := tellStatus(&s)
	return a.emit(told, told.print)
}

func tellStatus(s *cluster.Status) *clusterStatus {
	told := &clusterStatus{Coordinator: string(s.Coordinator), Partitions: s.Partitions, Stopped: s.Ended, Unreadable: s.Unreadable}
	for _, one := range s.Agents {
		state := ""
		switch {
		case one.Dead:
			state = "dead"
		case one.Leaving:
			state = "leaving"
		}
		r := &one.Report
		told.Agents = append(told.Agents, clusterAgent{string(one.ID), one.Partitions, r.Pages, r.Relevant, r.Waiting, r.Lost, r.Rate, state})
		told.Fetched += r.Pages
		told.Relevant += r.Relevant
		if !one.Dead { // its sites are others' now, with what is lost of them
			told.Lost += r.Lost
		}
	}
	return told
}

func (s *clusterStatus) print(w io.Writer) {
	printable.Fprintf(w, "%-17s %10s %9s %9s %9s %8s\n", "agent", "partitions", "pages", "on topic", "waiting", "pages/s")
	for _, one := range s.Agents {
		state := one.State
		if one.Name == s.Coordinator {
			state = strings.TrimSpace("coordinator " + state)
		}
		printable.Fprintf(w, "%-17s %10d %9d %9d %9d %8.1f  %s\n", one.Name, one.Partitions, one.Fetched, one.Relevant, one.Waiting, one.PagesPerSecond, state)
	}
	printable.Fprintf(w, "%d of 1,024 partitions have an owner; %d pages, %d of them on topic\n", s.Partitions, s.Fetched, s.Relevant)
	for _, key := range s.Unreadable {
		printable.Fprintf(w, "%s cannot be read: no agent of this release wrote it; an agent that lives writes it anew\n", key)
	}
	if s.Lost > 0 {
		printable.Fprintf(w, "%d pages were lost with agents that are gone; fossick agent --refetch-lost fetches them again\n", s.Lost)
	}
	if s.Stopped != "" {
		printable.Fprintf(w, "the crawl has ended: %s\n", s.Stopped)
	}
}
