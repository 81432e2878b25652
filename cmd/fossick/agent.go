package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"fossick/crawler"
	"fossick/crawler/cluster"
	"fossick/crawler/control"
	"fossick/crawler/plan"
	"fossick/eval/monitor"
	"fossick/store"
	"fossick/train/topics"
)

// agentCmd crawls as one of several machines, each with its own store.
type agentCmd struct {
	focusCmd
	Name string `name:"crawl" placeholder:"NAME" help:"Name of the crawl, the same on all machines [the topic]." group:"cluster"`
	exchangeFlags

	Replicate   string `enum:"state,bodies,none" default:"state" placeholder:"WHAT" help:"What another agent keeps a copy of, in case this one never comes back: ${enum}. state is enough to continue; with bodies no pages are lost either [${default}]." group:"cluster"`
	RefetchLost bool   `name:"refetch-lost" help:"Fetch again pages of its sites that were lost with another agent." group:"cluster"`

	prefers bool // this agent takes the coordinator's role whenever it can
}

func (agentCmd) Help() string {
	return `Crawls for a topic together with other agents. Each agent owns whole sites and has its own store and queue; it sends links to other sites to their owners. Limits such as --max-pages apply to all agents together. An agent that is started again with the same --store continues its crawl. No two agents can share a --store.

Examples:
  fossick cluster init -o keys --names alpha,beta,gamma
  fossick agent --topic banking --contact you@example.org --max-pages 1M \
      --keys keys/alpha --route alpha:7422 --peers beta:7422,gamma:7422
  fossick agent --topic banking --contact you@example.org --max-pages 1M \
      --nats nats://127.0.0.1:4222`
}

func (agentCmd) MoreHelp() string {
	return `Two agents on one machine:
  fossick agent --topic banking --contact you@example.org \
      --local 4222 --store one
  fossick agent --topic banking --contact you@example.org \
      --nats nats://127.0.0.1:4222 --store two`
}

// notOfAgents are the flags of focus that agents lack: an agent is one, and resumes if its store exists.
var notOfAgents = []string{"resume", "agents", "refresh"}

// agentHelp removes the flags in notOfAgents.
func agentHelp(parser *kong.Kong) {
	for _, verb := range []string{"agent", "coordinator"} {
		node := childVerb(parser.Model.Node, verb)
		node.Flags = slices.DeleteFunc(node.Flags, func(f *kong.Flag) bool { return slices.Contains(notOfAgents, f.Name) })
	}
}

// An interrupted agent has leaveFor to hand over its sites, and endWithin to end. After that the
// other agents go on without it; its store keeps everything that was committed.
const (
	leaveFor  = 6 * time.Second
	endWithin = 9 * time.Second
)

func (c *agentCmd) Run(a *app) error {
	result, err := c.join(a.ctx, a)
	return emitCrawl(a, result, err)
}

func (c *agentCmd) join(ctx context.Context, a *app) (result *monitor.Result, err error) {
	if err := errors.Join(c.check(), c.seen(a)); err != nil {
		return nil, err
	}
	c.Resume = store.Exists(c.Store)
	var s *store.Store
	if c.Resume {
		if s, err = c.reopen(ctx, a); err != nil {
			return nil, err
		}
	}
	defer func() {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	p, fetcher, err := c.planned(a)
	if err != nil {
		return nil, err
	}
	defer fetcher.Close()
	if s == nil { // only now: a mistake in the command line must leave no store behind
		if s, err = store.Create(c.Store, store.Info{Version: version, Topic: c.Topic, Topics: p.Names(), Agent: newAgentID()}); err != nil {
			return nil, err
		}
	}
	if s.Info().Agent == "" {
		return nil, usagef("%s holds a crawl of one machine; give the agent another --store", c.Store)
	}
	if err := c.Keep(s, p); err != nil {
		return nil, err
	}
	p.Crawl.Store, p.Crawl.Fetcher = s, fetcher
	closeBrowser, err := startBrowser(ctx, p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeBrowser()) }()
	exchange, closeExchange, err := c.exchange(ctx, a, c.Name, c.Store, cluster.AgentID(s.Info().Agent))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeExchange()) }()
	return c.crawlAsMember(ctx, a, p, exchange)
}

func (c *agentCmd) check() error {
	if err := c.NameStore(); err != nil {
		return err
	}
	if err := c.checkExchange(); err != nil {
		return err
	}
	if c.Name == "" {
		c.Name = topics.FileName(c.Topic)
	}
	return nil
}

func newAgentID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// crawlAsMember crawls until the whole crawl ends; an interrupted agent first hands over its sites.
func (c *agentCmd) crawlAsMember(ctx context.Context, a *app, p *plan.Plan, exchange cluster.Exchange) (result *monitor.Result, err error) {
	session := c.session(p)
	session.Agent, session.Whole = true, wholeOf(exchange, p.Crawl.MaxPages)
	shown, err := monitor.Listen(c.Listen, a.verbose, session)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, shown.Stop()) }()
	line := monitor.NewLine(a.screen, p.Crawl.MaxPages, p.Crawl.MaxTime, p.Names()...)
	starts := monitor.WatchStarts(p.Crawl.Seeds, p.Crawl.Store)
	p.Crawl.Progress = showing(a, line, shown, starts)
	a.signals.Within(endWithin)
	defer limitHeap(crawlMemory)()
	p.Crawl.RefetchLost = c.RefetchLost
	p.Crawl.Replicate, p.Crawl.ReplicateBodies = c.Replicate != "none", c.Replicate == "bodies"
	id := cluster.AgentID(p.Crawl.Store.Info().Agent)
	protocol := cluster.Protocol{ID: id, Fresh: c.fresh(), Prefers: c.prefers, Longest: p.Fetch.Timeout, Place: placeOf(c.Store)}
	m, err := cluster.New(p.Crawl, protocol, exchange)
	if err != nil {
		return nil, err
	}
	socket, err := openSocket(control.Options{Store: p.Crawl.Store, URLs: p.Crawl.URLs, Engine: m.Engine(), Scorer: p.Crawl.Scorer}, shown, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, socket.Close()) }()
	closePage, err := c.showPage(a, p.Crawl.Store.Dir())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closePage()) }()
	a.say("agent %s of the crawl %s: %s", id, c.Name, monitor.Beginning(c.Resume, p.NoTopic, m.Engine().Progress()))
	if !c.fresh() {
		a.say("it begins when no request of an earlier agent can still be running; with new agents this takes a minute or two")
	}
	done, err := leaving(ctx, m)
	line.End()
	result = monitor.ResultOf(session, done, m.Engine().Progress())
	addPoliteness(ctx, a, result, p, p.Crawl.Store)
	result.SeedsFailed = starts.Failed()
	return result, err
}

// wholeOf returns a function that reads the reports of all agents. It is not safe for concurrent use.
func wholeOf(exchange cluster.Exchange, maxPages uint64) func(context.Context) (monitor.Whole, error) {
	revisions, heard := map[cluster.AgentID]uint64{}, map[cluster.AgentID]*time.Time{}
	return func(ctx context.Context) (monitor.Whole, error) {
		values, err := exchange.Values(ctx)
		if err != nil {
			return monitor.Whole{}, err
		}
		s, now := cluster.StatusOf(values), time.Now().UTC()
		w := monitor.WholeOf(s, maxPages)
		for i, one := range s.Agents {
			if before, known := revisions[one.ID]; known && before != one.Revision && !one.Dead {
				heard[one.ID] = &now
			}
			revisions[one.ID] = one.Revision
			w.Each.Agents[i].Heard = heard[one.ID]
		}
		return w, nil
	}
}

// placeOf names this machine and a store for people.
func placeOf(dir string) string {
	host, _ := os.Hostname() // without one, the store alone
	return strings.TrimPrefix(host+":"+filepath.Base(dir), ":")
}

// fresh says whether the exchange is new, so that no earlier agent's request can still be running;
// otherwise the first agents wait a minute or two.
func (c *agentCmd) fresh() bool { return !c.Resume && c.Nats == "" && c.Route == "" }

// leaving runs a member; when ctx ends, the member leaves, and is stopped after leaveFor.
func leaving(ctx context.Context, m *cluster.Member) (crawler.Result, error) {
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	ended := make(chan struct{})
	interrupted := make(chan bool, 1)
	go func() {
		select {
		case <-ended:
			interrupted <- false
			return
		case <-ctx.Done():
		}
		m.Leave()
		select {
		case <-ended:
		case <-time.After(leaveFor):
			stop()
		}
		interrupted <- true
	}()
	result, err := m.Run(run)
	close(ended)
	if <-interrupted {
		result.Stopped = crawler.StopInterrupted
	}
	return result, err
}

// coordinatorCmd is an agent that takes the coordinator's role.
type coordinatorCmd struct{ agentCmd }

func (coordinatorCmd) Help() string {
	return `Starts an agent, as fossick agent does, that also distributes sites and budget among the agents. One agent always has this role; this one takes it over when it starts, and again when it comes back. Use it to keep the role on a machine that is always on.

Examples:
  fossick coordinator --topic banking --contact you@example.org \
      --max-pages 1M --keys keys/alpha --route alpha:7422 --peers beta:7422
  fossick coordinator --topic banking --contact you@example.org \
      --nats nats://127.0.0.1:4222`
}

func (coordinatorCmd) MoreHelp() string { return "" }

func (c *coordinatorCmd) Run(a *app) error {
	c.prefers = true
	return c.agentCmd.Run(a)
}
