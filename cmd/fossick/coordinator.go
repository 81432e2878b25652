package main

// coordinatorCmd is an agent that wants the coordinator's role.
type coordinatorCmd struct{ agentCmd }

func (coordinatorCmd) Help() string {
	return `Starts an agent, as fossick agent does, that also distributes sites and budget among the agents. One agent always has this role; this one takes it over when it starts, and again when it comes back. Use it to keep the role on a machine that is always on.

Examples:
  fossick coordinator --topic banking --contact you@example.org \
      --max-pages 1M --keys keys/alpha --route alpha:7422 --peers beta:7422
  fossick coordinator --topic banking --contact you@example.org \
      --nats nats://127.0.0.1:4222`
}

// MoreHelp implements help.More.
func (coordinatorCmd) MoreHelp() string { return "" }

// Run is that of an agent.
func (c *coordinatorCmd) Run(a *app) error {
	c.prefers = true
	return c.agentCmd.Run(a)
}
