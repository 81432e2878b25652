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

	"fossick/crawler/cluster"
	"fossick/crawler/cluster/bus"
	"fossick/internal/printable"
	"fossick/store"
)

// withAgents say with which agents, each on its own machine, a verb does what is of all.
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

// meet has the agent of a store take part in a task, with the same settings at all. ready is
// called while the others may come; the work with all there, and again when they begin anew.
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
		Settings: printable.Sprintf("%s, %d agents", settings, f.Agents),
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

// agentOf returns the agent whose store it is. Another graph goes by a name made of where it
// is, so that it has the same one when it comes back.
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

// awaited are the agents that the crawl has had, unless their number is given. The exchange
// knows them as long as it has its values.
func (f *withAgents) awaited(a *app, opt bus.Options, store string, id cluster.AgentID) (named []cluster.AgentID, err error) {
	ctx, stop := a.ctx, func() {}
	if f.Nats != "" { // else the others' servers may come later
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
		return nil, fmt.Errorf("what the exchange has of crawl %q under %s cannot be read, so its agents are not known; give all of them --agents N", f.Crawl, strings.Join(s.Unreadable, ", "))
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

// standingTold says who is missing, when that changes.
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
		text = printable.Sprintf("%d of %d agents are here; run the same command at agent %s", s.Here, s.Wanted, missing)
	default:
		text = printable.Sprintf("%d of %d agents are here; run the same command at the others", s.Here, s.Wanted)
	}
	if text != t.last && text != "" {
		t.a.say("%s", text)
	}
	t.last = text
}
