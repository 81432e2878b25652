package main

// coordinatorCmd is an agent that wants the coordinator's role.
type coordinatorCmd struct{ agentCmd }

func (coordinatorCmd) Help() string {
	return `An agent as fossick agent starts it, which also spreads sites and budget over the others. One of the agents always does that, whoever it is; this one takes the role from them, and again when it comes back. So it can be kept to a machine that is there all the time.

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
