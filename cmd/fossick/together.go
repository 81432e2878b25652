package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fossick/crawler/cluster"
	"fossick/crawler/cluster/bus"
	"fossick/internal/cli"
	"fossick/store"
)

// withAgents are the flags of a verb that works together with agents on other machines.
type withAgents struct {
	Crawl  string `placeholder:"NAME" help:"Work together with the other agents of this crawl, on other machines; give only this machine's store." group:"cluster"`
	Agents int    `placeholder:"N" help:"How many agents take part [all that the crawl has had]." group:"cluster"`
	exchangeFlags
}

func (f *withAgents) checkTogether(stores []string) error {
	switch {
	case f.Crawl != "" && len(stores) > 1:
		return usagef("--crawl: give only this agent's store; run the command once for each of the other agents")
	case f.Crawl == "" && (f.Agents != 0 || f.Nats != "" || f.Route != "" || f.Local != "" || f.Keys != "" || len(f.Peers) > 0):
		return usagef("--agents, --nats, --route, --peers, --local and --keys work only with --crawl, the name of a crawl on several machines")
	case f.Agents < 0:
		return usagef("--agents %d: give the number of agents that take part", f.Agents)
	case f.Crawl != "" && f.Nats == "" && f.Route == "" && f.Local == "":
		return usagef("--crawl: give --nats, or --route and --peers, to reach the other agents")
	}
	return f.checkExchange()
}

// meet has a store's agent take part in a task; settings must be the same at all agents. It calls ready
// while others may still join, and work when all are there, again after each restart.
func (f *withAgents) meet(a *app, store, task, settings string, ready func() error, work func(ctx context.Context, s cluster.TaskSession, id cluster.AgentID) error) (err error) {
	id, err := f.agentOf(a, store)
	if err != nil {
		return err
	}
	exchange, closeServer, err := f.serve(a.ctx, a, f.Crawl, store, id)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeServer()) }()
	named, err := f.awaited(a, exchange, store, id)
	if err == nil {
		err = ready()
	}
	if err != nil {
		return err
	}
	told, begun := &standingTold{a: a}, ""
	return cluster.Task{
		Me: id, Name: task, Agents: f.Agents, Named: named, Progress: told.tell,
		Settings: cli.Sprintf("%s, %d agents", settings, f.Agents),
		Open: func(ctx context.Context, at cluster.AgentID) (cluster.Exchange, error) {
			opt := exchange
			opt.Agent = at
			return bus.Open(ctx, opt)
		},
	}.Run(a.ctx, func(ctx context.Context, s cluster.TaskSession) error {
		a.say("all %d agents are here%s", s.Agents, begun)
		begun = " again, and start over"
		return work(ctx, s, id)
	})
}

// agentOf returns a store's agent; another graph gets a lasting ID from its path.
func (f *withAgents) agentOf(a *app, name string) (id cluster.AgentID, err error) {
	live := false
	if store.Exists(name) {
		s, done, err := a.openToRead(name)
		if err != nil {
			return "", err
		}
		id, live = cluster.AgentID(s.Info().Agent), s.Temporary()
		if err := done(); err != nil {
			return "", err
		}
	}
	switch {
	case f.Nats == "" && id == "":
		return "", usagef("%s is not an agent's store: it has no files of a server; use --nats", name)
	case f.Nats == "" && live:
		return "", usagef("a running agent uses %s and its server; reach that server by --nats, at the port of the agent's --local", name)
	case id != "":
		return id, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(host + "\x00" + path))
	return cluster.AgentID(hex.EncodeToString(sum[:8])), nil
}

// awaited returns the crawl's agents that the exchange knows, none if --agents gives their number.
func (f *withAgents) awaited(a *app, opt bus.Options, store string, id cluster.AgentID) (named []cluster.AgentID, err error) {
	ctx, stop := a.ctx, func() {}
	if f.Nats != "" { // otherwise the others' servers may start later
		ctx, stop = context.WithTimeout(ctx, statusWait)
	}
	defer stop()
	opt.Agent = cluster.AgentID(newAgentID())
	waits := a.step("waiting for the exchange")
	exchange, err := bus.Open(ctx, opt)
	waits()
	if err != nil {
		return nil, fmt.Errorf("the crawl %s: %w", f.Crawl, err)
	}
	defer func() { err = errors.Join(err, exchange.Close()) }()
	if f.Agents > 0 {
		return nil, nil
	}
	values, err := exchange.Values(ctx)
	if err != nil {
		return nil, err
	}
	s := cluster.StatusOf(values)
	if len(s.Unreadable) > 0 {
		return nil, fmt.Errorf("the records of crawl %q under %s in the exchange cannot be read, so its agents are not known; give --agents N to all of them", f.Crawl, strings.Join(s.Unreadable, ", "))
	}
	for _, one := range s.Agents {
		named = append(named, one.ID)
	}
	switch {
	case len(named) == 0:
		return nil, fmt.Errorf("the exchange knows no agent of a crawl %q; give --crawl the name that the agents use, or give their number by --agents", f.Crawl)
	case !slices.Contains(named, id):
		return nil, fmt.Errorf("agent %s of %s is not one of the %d agents of crawl %s; to include it, give --agents N to all of them", id, store, len(named), f.Crawl)
	}
	return named, nil
}

// standingTold prints which agents are missing, whenever that changes.
type standingTold struct {
	a    *app
	last string
}

func (t *standingTold) tell(s cluster.TaskStanding) {
	var names []string
	for _, id := range s.Missing {
		names = append(names, string(id))
	}
	text := ""
	switch missing := strings.Join(names, ", "); {
	case s.Working && missing != "":
		text = "no word from agent " + missing + "; the others wait: start it again with its store"
	case s.Working:
	case missing != "":
		text = cli.Sprintf("%d of %d agents are here; run the same command at agent %s", s.Here, s.Wanted, missing)
	default:
		text = cli.Sprintf("%d of %d agents are here; run the same command at the others", s.Here, s.Wanted)
	}
	if text != t.last && text != "" {
		t.a.say("%s", text)
	}
	t.last = text
}

// exchangeFlags say how an agent reaches the others.
type exchangeFlags struct {
	Nats  string   `placeholder:"URL" help:"NATS servers that run already, nats://HOST:PORT [an embedded server]." group:"cluster"`
	Route string   `placeholder:"HOST:PORT" help:"Address at which the other agents reach this one's embedded server [none: it stays alone]." group:"cluster"`
	Peers []string `placeholder:"HOST:PORT" help:"Addresses of the other agents' servers: at least one, preferably all." group:"cluster"`
	Local string   `placeholder:"PORT" help:"Port on loopback at which other agents on this machine reach its server by --nats nats://127.0.0.1:PORT [none]." group:"cluster" expert:""`
	Keys  string   `type:"path" placeholder:"DIR" help:"This machine's folder from fossick cluster init; needed between machines." group:"cluster" predictor:"dirs"`
}

func (f *exchangeFlags) checkExchange() error {
	if f.Nats != "" && (f.Route != "" || len(f.Peers) > 0 || f.Local != "") {
		return usagef("give either --nats, for servers that run already, or --route, --peers and --local, for an embedded server")
	}
	return nil
}

// exchange connects to the agents' exchange, through --nats or a server of its own with files in the store.
func (f *exchangeFlags) exchange(ctx context.Context, a *app, crawl, dir string, id cluster.AgentID) (_ *bus.Bus, closeAll func() error, err error) {
	opt, closeServer, err := f.serve(ctx, a, crawl, dir, id)
	if err != nil {
		return nil, nil, err
	}
	waiting := "waiting for the exchange's server"
	if len(f.Peers) > 0 {
		waiting = "waiting for most of the machines " + strings.Join(f.Peers, ", ")
	}
	defer a.step(waiting)()
	b, err := bus.Open(ctx, opt)
	if err != nil {
		return nil, nil, errors.Join(err, closeServer())
	}
	return b, func() error { return errors.Join(b.Close(), closeServer()) }, nil
}

// serve returns the options to open an exchange, and starts an embedded server unless --nats is set.
func (f *exchangeFlags) serve(ctx context.Context, a *app, crawl, dir string, id cluster.AgentID) (opt bus.Options, closeServer func() error, err error) {
	opt = bus.Options{Crawl: crawl, Agent: id, URL: f.Nats, Log: a.log}
	if f.Keys != "" {
		if opt.Secrets, err = bus.ReadSecrets(f.Keys, time.Now()); err != nil {
			return opt, nil, err
		}
	}
	if f.Nats != "" {
		return opt, func() error { return nil }, nil
	}
	at := ""
	if f.Local != "" {
		at = "127.0.0.1:" + f.Local
	}
	opt.Server, err = bus.Serve(bus.ServeOptions{
		Crawl: crawl, Agent: id, Dir: filepath.Join(dir, "nats"), Clients: at, Routes: f.Route, Peers: f.Peers, Secrets: opt.Secrets, Log: a.log,
	})
	if err != nil {
		return opt, nil, err
	}
	return opt, func() error {
		f.linger(ctx, a, opt.Server)
		return opt.Server.Close()
	}, nil
}

// lingerFor is the longest time that a server outlasts its agent, so that other agents learn of the end.
const lingerFor = 30 * time.Second

func (f *exchangeFlags) linger(ctx context.Context, a *app, s *bus.Server) {
	if ctx.Err() != nil || f.Local == "" && f.Route == "" {
		return
	}
	defer a.step("telling the other agents of the end")()
	began := time.Now()
	for least := time.Second; time.Since(began) < lingerFor; {
		if f.Route != "" {
			least = 5 * time.Second // some heartbeats: this server does not know agents at others
		}
		if s.Clients() == 0 && time.Since(began) > least {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}
