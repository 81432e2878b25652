package frontier

import "time"

// Who is in use, who rests and until when: the part of the table of hosts that has the time.

// free says whether a URL of a host may be handed out, whose party is p.
func (t *hosts) free(p *party, h Host, now time.Time) bool {
	return !p.busy && p.until.IsZero() && t.rested(h, now)
}

// rested says whether a host's own rest is over.
func (t *hosts) rested(h Host, now time.Time) bool {
	q := t.own[h]
	return q == nil || !q.until.After(now)
}

// use marks a party as in use.
func (t *hosts) use(p *party) {
	p.busy = true
	t.settleParty(p)
}

// done ends the use of a host; its party rests.
func (t *hosts) done(h Host, until time.Time) {
	p := t.party(h)
	p.busy = false
	p.until = later(p.until, until)
	t.settleParty(p)
}

// rest makes a host rest, by itself.
func (t *hosts) rest(h Host, until time.Time) {
	if t.own[h] == nil {
		if until.IsZero() {
			return
		}
		if p := t.parties[t.find(h)]; p != nil && !p.until.Before(until) {
			return // it rests as long with its party
		}
	}
	t.restAlone(h, until)
}

// restInDoubt makes a host rest of which nobody knows whether it will answer then.
func (t *hosts) restInDoubt(h Host, until time.Time) {
	if !until.IsZero() {
		t.restAlone(h, until).doubt = true
	}
}

// restAlone makes a host rest in a back queue of its own.
func (t *hosts) restAlone(h Host, until time.Time) *backQueue {
	q := t.own[h]
	if q == nil {
		t.made++
		q = &backQueue{host: h, made: t.made}
		t.own[h] = q
	}
	q.until = later(q.until, until)
	t.settle(q)
	return q
}

// inDoubt says whether a host rests of which nobody knows whether it will answer then.
func (t *hosts) inDoubt(h Host) bool {
	q := t.own[h]
	return q != nil && q.doubt
}

// restAddress makes the party at an address rest.
func (t *hosts) restAddress(address string, until time.Time) {
	p := t.partyBy(t.addressKey(address))
	p.until = later(p.until, until)
	t.settleParty(p)
}

// until returns when a host's rest is over, and that of its party.
func (t *hosts) until(h Host) time.Time {
	until := t.floor
	if p := t.parties[t.find(h)]; p != nil {
		until = later(until, p.until)
	}
	if q := t.own[h]; q != nil {
		until = later(until, q.until)
	}
	return until
}

// claim marks a host as in use when it is free and rested.
func (t *hosts) claim(h Host, now time.Time) bool {
	p := t.party(h)
	free := !p.busy && !p.until.After(now) && !t.floor.After(now) && t.rested(h, now)
	p.busy = p.busy || free
	t.settleParty(p)
	return free
}

// wake returns the earliest end of a rest that brings anything.
func (t *hosts) wake() (time.Time, bool) {
	if t.ready.len() > 0 { // only the floor holds these back
		return t.floor, true
	}
	first, resting := t.nextRest()
	if !resting {
		return first, false
	}
	return later(first, t.floor), true
}

// nextRest returns the earliest end of a rest of who has something parked.
func (t *hosts) nextRest() (first time.Time, resting bool) {
	if t.restingParties.len() > 0 {
		first = t.restingParties.top().until
	}
	if t.resting.len() > 0 {
		if q := t.resting.top(); first.IsZero() || q.until.Before(first) {
			first = q.until // its party may rest longer
		}
	}
	return first, !first.IsZero()
}

// wakeAll makes ready what has rested, and forgets what has nothing parked.
func (t *hosts) wakeAll(now time.Time) {
	for _, h := range []*heap[*party]{&t.restingParties, &t.idleParties} {
		for h.len() > 0 && !h.top().until.After(now) {
			p := h.top()
			p.until = time.Time{}
			t.settleParty(p)
		}
	}
	for _, h := range []*heap[*backQueue]{&t.resting, &t.idle} {
		for h.len() > 0 && !h.top().until.After(now) {
			q := h.top()
			q.until, q.doubt = time.Time{}, false
			t.settle(q)
		}
	}
}
