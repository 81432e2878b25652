package crawler

import (
	"time"

	"fossick/internal/page"
)

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
