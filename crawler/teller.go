package crawler

// teller returns the crawl's scorer where it can tell others what it learned.
func (a *Agent) teller() (Teller, bool) {
	t, ok := a.crawl.opt.Scorer.(Teller)
	return t, ok
}

// Told returns what the crawl's scorer has learned since the last time, or some of it; nil
// of one that has nothing to tell.
func (a *Agent) Told() []byte {
	if t, ok := a.teller(); ok {
		return t.Told()
	}
	return nil
}

// ToldBefore returns, in parts, what the scorer has learned until now, before Run: of pages
// of sessions before. Told goes on from there.
func (a *Agent) ToldBefore() (parts [][]byte) {
	t, ok := a.teller()
	if !ok {
		return nil
	}
	for t.Told() != nil {
	}
	parts = t.ToldSoFar()
	t.Share(a.crawl.opt.ours)
	return parts
}

// ToldSoFar returns all that Told ever has, in parts.
func (a *Agent) ToldSoFar() [][]byte {
	if t, ok := a.teller(); ok {
		return t.ToldSoFar()
	}
	return nil
}

// Hear has the crawl's scorer take in what another agent's told, once.
func (a *Agent) Hear(told []byte) error {
	t, ok := a.teller()
	if !ok {
		return nil
	}
	pages, err := t.Hear(told)
	a.across.heard(pages)
	return err
}
