package ui

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"fossick/eval/monitor"
	"fossick/internal/cli"
	"fossick/internal/page"
)

// errSilent stands for an answer that needs the agents' exchange.
var errSilent = errors.New("the exchange of the agents does not answer; ask again")

type agentsAnswer struct {
	monitor.Agents
	Self  string     `json:"self"`  // the agent of this store
	Owner *siteOwner `json:"owner"` // of what was asked for
}

type siteOwner struct {
	Site      string `json:"site"`
	Partition int    `json:"partition"`
	Agent     string `json:"agent"` // "" for none
}

// agents answers GET /agents. A crawl by one agent, or at rest, has none.
func (f *Interface) agents(r *http.Request) (any, error) {
	v := agentsAnswer{Agents: monitor.Agents{Agents: []monitor.Agent{}}}
	address, err := addressOf(r.URL.Query().Get("of"))
	if err != nil || f.crawl == nil {
		return v, err
	}
	s, done, err := f.Open(r.Context())
	if err != nil {
		return nil, err
	}
	id := s.Info().Agent
	if err := done(); err != nil {
		return nil, err
	}
	whole := f.crawl.Status(r.Context()).Whole
	switch {
	case whole == nil && id != "":
		return nil, errSilent
	case whole == nil:
		return v, nil
	}
	v.Agents, v.Self = whole.Each, cmp.Or(id, nameOf(f.dir))
	if address != "" {
		owner, part := whole.Owner(address)
		v.Owner = &siteOwner{page.Site(address), part, string(owner)}
	}
	return v, nil
}

// addressOf returns the URL of a host or URL as people type it.
func addressOf(text string) (string, error) {
	if text = strings.TrimSpace(text); text == "" {
		return "", nil
	}
	address := text
	if !strings.Contains(text, "://") {
		address = "http://" + text
	}
	address, err := page.Normalize(address)
	if err != nil || page.HostName(address) == "" {
		return "", cli.Usagef("of=%.100q: give a host as example.org, or a URL", text)
	}
	return address, nil
}
