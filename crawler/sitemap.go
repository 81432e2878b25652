package crawler

import (
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/frontier"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/internal/page"
	"fossick/store"
)

// sitemapTurns gives hosts' sitemaps their turn.
type sitemapTurns struct {
	opt      *Options
	rules    hosts.Rules
	journal  journal.Journal
	frontier *frontier.Frontier
	totals   *running
	hosts    *hosts.Table
	queue    *queue
	across   *across
	contact  *contact
	flight   *flight

	left []left // hosts with sitemaps and no URL that waits; nil until the queue is empty
}

// due says whether a sitemap of the host comes before the next of its pages. It
// may be asked once the host's robots.txt is known, which names them.
func (s *sitemapTurns) due(j *workJob) bool {
	h := j.Host
	if !s.rules.On {
		return false
	}
	if h.Maps.Record == nil {
		s.rules.Named(&h.Maps, h.Rules.Sitemaps(), j.Birth.URL, j.Queued.Score)
	}
	return h.Maps.Due()
}

// prepare makes a sitemap's job, of a host that was leased for a page; the
// URL goes back to its place. For a foreign sitemap the host where it lies must be free
// and rested, and its robots.txt holds. Others' sitemaps at this host come first. Where no
// sitemap is due after all, waits is false.
func (s *sitemapTurns) prepare(j *workJob) (sitemap *workJob, waits bool, err error) {
	h := j.Host
	for name, ok := h.Maps.NextOwner(); ok; name, ok = h.Maps.NextOwner() {
		owner, err := s.hosts.Get(name, "http://"+name+"/")
		if err != nil {
			return nil, false, err
		}
		target, pending := owner.Maps.Next()
		if !pending || page.Host(target) != h.Name {
			continue // it had its turn already
		}
		if why := s.denied(h, target); why != "" {
			s.drop(owner, why)
			continue
		}
		s.queue.Requeue(j)
		return s.job(&workJob{}, h, owner), true, nil
	}
	for s.due(j) {
		target, _ := h.Maps.Next()
		at, err := s.hosts.Get(page.Host(target), target)
		if err != nil {
			return nil, false, err
		}
		switch why := s.denied(at, target); {
		case why != "":
			s.drop(h, why)
		case at == h:
			return s.job(j, h, h), true, nil
		default:
			sitemap, err := s.prepareForeign(j, at, target)
			return sitemap, true, err
		}
	}
	return nil, false, nil
}

// denied says why a sitemap cannot be had from the host where it lies, ""
// when it can, or nobody knows yet.
func (s *sitemapTurns) denied(at *hosts.Host, target string) string {
	switch {
	case !s.across.Held(target):
		return Reason
	case at.Health.Verdict != "":
		return at.Health.Why
	case at.Resolved && s.hosts.RobotsFresh(at) && !at.Rules.Allowed(s.opt.Agent, page.Path(target)):
		return denial(at.Rules)
	}
	return ""
}

func (s *sitemapTurns) drop(owner *hosts.Host, why string) {
	s.opt.Log.Info("sitemap left out", "url", owner.Maps.Record.Pending[0].URL, "host", owner.Name, "reason", why)
	owner.Maps.Record.Drop()
}

// job makes the job for the next sitemap of owner, which lies at a host that is
// leased; j has what else the job has to know.
func (s *sitemapTurns) job(j *workJob, at, owner *hosts.Host) *workJob {
	j.task, j.Host = workSitemap, at
	j.Target, _ = owner.Maps.Next()
	j.Sitemap = &sitemapTask{Owner: owner, Room: s.rules.Begin(&owner.Maps), Parent: owner.Maps.Record.Score}
	return j
}

// prepareForeign makes the job for a foreign sitemap or, when that one is
// not ready, the job that looks its address up or fetches its robots.txt. While it
// is in use or rests the URL waits for some time, and the host's next lease, which
// would come before any that wait, goes to the sitemap.
func (s *sitemapTurns) prepareForeign(j *workJob, at *hosts.Host, target string) (*workJob, error) {
	now, owner := s.opt.Now(), j.Host
	free := s.frontier.Take(at.Party, owner.Party, now)
	s.queue.Requeue(j)
	ready := at.Resolved && s.hosts.RobotsFresh(at) && !at.Health.Probed()
	// Of one party, the lease goes over to the job; else Take has made another.
	if !free || !s.frontier.OneParty(at.Party, owner.Party) {
		wait := now.Add(minHopWait)
		if free && ready {
			wait = time.Time{}
		}
		s.hosts.HoldBack(owner, wait)
	}
	if !free {
		owner.Maps.Wait()
		at.Maps.Await(owner.Name)
		return nil, nil
	}
	return s.foreignJob(at, owner, target)
}

// foreignJob makes what comes next for a sitemap whose host is leased for it: the
// exchange itself, or what must come before.
func (s *sitemapTurns) foreignJob(at, owner *hosts.Host, target string) (*workJob, error) {
	f := &workJob{Host: at, leased: leased{Birth: store.Birth{URL: target}}, Target: target}
	switch {
	case !at.Resolved:
		f.task = address
		return f, nil
	case !s.hosts.RobotsFresh(at) || at.Health.Probed():
		return s.contact.prepare(f)
	}
	return s.job(f, at, owner), nil
}

// enter journals a part of what a sitemap names. A kill between two parts
// leaves the sitemap pending: it is fetched again, and what is known by then is
// passed over.
func (s *sitemapTurns) enter(b journal.Batch, o *outcome) error {
	if o.Sitemap.Exchange == 0 {
		if err := putExchange(s.hosts, b, o, s.hosts.RestOf(o.Host, o.Resp)); err != nil {
			return err
		}
	}
	birth := store.Birth{Via: store.ViaSitemap, Depth: 1, Exchange: o.Sitemap.Exchange, AtHost: o.Host.Name}
	before := s.totals.URLs()
	for _, f := range o.Listed.Links {
		birth.Modified = f.Modified
		if _, err := s.queue.Discover(b, birth, f, s.queue.linkOf(f)); err != nil {
			return err
		}
	}
	if err := s.across.listed(b, birth.Depth); err != nil {
		return err
	}
	o.Sitemap.Owner.Maps.Entered(int(s.totals.URLs() - before))
	if err := s.hosts.Put(b, o.Sitemap.Owner); err != nil || o.Sitemap.Owner == o.Host {
		return err
	}
	return s.hosts.Put(b, o.Host)
}

// apply takes in how the exchange for a sitemap ended. The URL for which
// the host was leased goes back to its place.
func (s *sitemapTurns) apply(b journal.Batch, o *outcome) error {
	h, r := o.Host, o.Resp
	s.totals.asked(h.Host)
	ended := hosts.Ended{State: r.State, Passing: hosts.Transient(r), Maps: o.Listed.Maps}
	if ended.Passing {
		h.Failures++
	} else {
		h.Failures = 0
	}
	if r.State == fetch.StateRedirect {
		if target, err := redirectTarget(s.opt.URLs, r); err == nil {
			ended.Target = target
		}
	}
	s.rules.End(&o.Sitemap.Owner.Maps, &h.Maps, ended)
	s.queue.Requeue(o.workJob)
	if o.Sitemap.Owner == h {
		return nil // apply writes it
	}
	return s.hosts.Put(b, o.Sitemap.Owner)
}

// left is a host that has sitemaps to be read and no URL that waits.
type left struct {
	name  string
	waits int // looks in a row at a host that was not free
}

// maxLeftWaits ends the waiting for one host, two minutes after the queue is empty.
const maxLeftWaits = 480

// maxLeftAtOnce is how many such hosts are looked at in one go.
const maxLeftAtOnce = 512

// leaseLeft hands out jobs for the sitemaps that are pending when no URL waits any
// more: their hosts' turn, which comes with their pages, will not come. It is where
// a crawl ends; the zero time says that nothing is left to do.
func (s *sitemapTurns) leaseLeft() (wake time.Time, err error) {
	if !s.rules.On || s.flight.busy > 0 && s.left == nil {
		return time.Time{}, nil
	}
	if s.left == nil {
		if err := s.findLeft(); err != nil {
			return time.Time{}, err
		}
	}
	kept := s.left[:0]
	for i, l := range s.left {
		if i >= maxLeftAtOnce {
			kept = append(kept, s.left[i:]...)
			break
		}
		more, err := s.leaseOneLeft(&l)
		if err != nil {
			return time.Time{}, err
		}
		if more {
			kept = append(kept, l)
		}
	}
	if s.left = kept; len(kept) == 0 {
		return time.Time{}, nil
	}
	return s.opt.Now().Add(minHopWait), nil
}

// findLeft asks the store which hosts have sitemaps to be read.
func (s *sitemapTurns) findLeft() error {
	s.left = []left{}
	for h, err := range s.journal.Hosts() {
		if err != nil {
			return err
		}
		if h.Sitemaps != nil && len(h.Sitemaps.Pending) > 0 {
			s.left = append(s.left, left{name: h.Name})
		}
	}
	return nil
}

// leaseOneLeft hands out the next job for a host's sitemaps if it can be had now;
// false when the host is done with.
func (s *sitemapTurns) leaseOneLeft(l *left) (more bool, err error) {
	owner, err := s.hosts.Get(l.name, "http://"+l.name+"/")
	if err != nil {
		return false, err
	}
	for owner.Maps.Pending() {
		target, ok := owner.Maps.Next()
		if !ok || !s.flight.free() {
			return true, nil
		}
		at, err := s.hosts.Get(page.Host(target), target)
		if err != nil {
			return false, err
		}
		if why := s.denied(at, target); why != "" {
			s.drop(owner, why)
			continue
		}
		if !s.frontier.Take(at.Party, s.frontier.Host(""), s.opt.Now()) {
			l.waits++
			return l.waits <= maxLeftWaits, nil
		}
		l.waits = 0
		j, err := s.foreignJob(at, owner, target)
		s.flight.start(j)
		return true, err
	}
	return false, nil
}
