package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"fossick/crawler/cluster"
	"fossick/crawler/cluster/bus"
)

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

// exchange opens what the agents of a crawl share, with a server of its own unless there are
// some; its files are in the store.
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

// serve says by what exchanges are opened, and starts a server unless there are some.
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

// lingerFor is how long a server at most outlives its agent's part, for those who are yet to
// hear of the end.
const lingerFor = 30 * time.Second

// linger keeps the server up while others are connected to it, or by routes may be.
func (f *exchangeFlags) linger(ctx context.Context, a *app, s *bus.Server) {
	if ctx.Err() != nil || f.Local == "" && f.Route == "" {
		return
	}
	defer a.step("telling the other agents of the end")()
	began := time.Now()
	for least := time.Second; time.Since(began) < lingerFor; {
		if f.Route != "" {
			least = 5 * time.Second // some heartbeats: of who is connected elsewhere nothing is known here
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
