package crawler

import (
	"fmt"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
	"fossick/internal/page"
)

// reservationsDue says whether a host is to be asked for its tdmrep.json before the page at
// url: where the crawl's purpose heeds it and robots.txt allows it, once a day.
func (k *contact) reservationsDue(h *hosts.Host, url string) bool {
	return k.opt.Purpose.Mines() && !k.hosts.ReservedFresh(h) && h.Rules.Allowed(k.opt.Agent, page.Path(page.TDMRepURL(url)))
}

// tdmrepJob has a job fetch tdmrep.json before its page.
func tdmrepJob(j *workJob) *workJob {
	j.task, j.Target = tdmRep, page.TDMRepURL(j.Birth.URL)
	return j
}

// applyTDMRep takes in an answer for tdmrep.json. The URL that waited for it goes back to
// its place. What was known holds on for a day where the host could not tell.
func (k *contact) applyTDMRep(o *outcome) error {
	h, r := o.Host, o.Resp
	k.totals.asked(h.Host)
	k.queue.Requeue(o.workJob)
	h.TDMAt = k.opt.Now().UnixMilli()
	if hosts.Transient(r) {
		h.Failures++
		return nil
	}
	h.Failures, h.TDM, h.Reserved = 0, nil, fetch.Reservations{}
	if r.State != fetch.StateOK {
		return nil
	}
	var err error
	if h.Reserved, err = fetch.ParseReservations(r.Body); err != nil {
		o.Note = err.Error()
	}
	if h.TDM, err = h.Reserved.MarshalText(); err != nil {
		return fmt.Errorf("host %s: tdmrep.json: %w", h.Name, err)
	}
	return nil
}
