package hosts

import (
	"time"

	"fossick/crawler/fetch"
	"fossick/store"
)

// Miss is a failure that was counted and may turn out to have been nobody's.
type Miss struct {
	Host   string   // name:port
	URL    string   // any of the host
	ID     store.ID // of the URL it was counted for; 0 when for the host alone
	Queued store.Queued
	Silent bool // counted as an exchange without an answer
	Page   bool // counted as a visit of the URL
	First  bool // counted as a failure of the first contact
	Ended  bool // no failure: the URL ended by the verdict on its host

	at time.Time // begin of the exchange
}

// Exchange is one that is over, as its host and our network are judged by it.
type Exchange struct {
	Response *fetch.Response
	Robots   string // URL of the host's robots.txt
	Probe    bool   // it was made to test the network of this machine
	Miss     Miss   // what it counts as if it failed
}

// miss is what x counts as.
func (x *Exchange) miss() Miss {
	m := x.Miss
	m.at, m.Silent = x.Response.Start, Silent(x.Response)
	if m.Page && m.ID != 0 {
		m.Queued.Visits++
	}
	return m
}
