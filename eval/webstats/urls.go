package webstats

import (
	"context"
	"errors"
	"strings"
)

// deepest is the last depth with a row of its own; what lies deeper is counted there too.
const deepest = 50

// outcome counts a state.
type outcome struct {
	urls, seeds int64 // that were tried
	exchanges   int64
}

// depthCount counts a depth.
type depthCount struct {
	known, requested, downloaded, stored int64
	found                                int64 // URLs that links of its pages named first
}

// copyCount counts URLs whose answer had a page: with content of its own, that of another
// one, nearly that.
type copyCount struct{ own, same, near int64 }

// urlCounts is what the stream of URLs adds up to.
type urlCounts struct {
	places                        places
	states                        map[string]int64 // all that ended
	seeds                         map[string]int64
	outcomes                      map[string]*outcome
	unasked                       map[string]int64
	codes                         map[int]int64
	protocols                     map[string]int64
	schemes                       map[string]*depthCount
	depths                        [deepest + 1]depthCount
	copies                        copyCount
	seedLength, pathLength, time  spread
	gotPath                       spread        // lengths of the paths of what was downloaded
	seedLabels                    map[int]int64 // start pages by the labels of their host's name; 0 are addresses
	parties                       parties
	servers, tops, seconds, sites *groups
	forecast                      forecast
}

func newURLCounts(dir string) *urlCounts {
	return &urlCounts{
		places: places{}, states: map[string]int64{}, seeds: map[string]int64{}, outcomes: map[string]*outcome{},
		unasked: map[string]int64{}, codes: map[int]int64{}, protocols: map[string]int64{}, schemes: map[string]*depthCount{},
		seedLabels: map[int]int64{}, servers: newGroups(dir), tops: newGroups(dir), seconds: newGroups(dir), sites: newGroups(dir),
	}
}

func (c *urlCounts) close() error {
	return errors.Join(c.servers.close(), c.tops.close(), c.seconds.close(), c.sites.close())
}

// add counts a URL.
func (c *urlCounts) add(u *URL) {
	scheme, host, path := divide(u.URL)
	requested, downloaded, stored := u.requested(), u.downloaded(), u.State == stateOK
	c.state(u, requested)
	c.forecast.add(u)
	if u.Seed {
		c.seedLength.add(int64(len(host) + len(path) + min(1, len(path))))
		c.seedLabels[c.places.of(u.URL).labels]++
	}
	if requested {
		c.pathLength.add(int64(len(path)))
	}
	if downloaded {
		c.gotPath.add(int64(len(path)))
	}
	c.parties.add(u, downloaded)
	d := &c.depths[min(max(u.Depth, 0), deepest)]
	s := c.schemes[scheme]
	if s == nil {
		s = &depthCount{}
		c.schemes[strings.Clone(scheme)] = s
	}
	for _, n := range []*depthCount{d, s} {
		n.add(requested, downloaded, stored)
	}
	if u.Linked {
		c.depths[min(max(u.Depth-1, 0), deepest)].found++
	}
	t := c.exchanges(u)
	t[nKnown], t[nRequested], t[nDownloaded] = 1, one(requested), one(downloaded)
	at := c.places.of(u.URL)
	c.tops.add(at.top, &t)
	c.seconds.add(at.second, &t)
	c.sites.add(at.site, &t)
}

// state counts what became of a URL.
func (c *urlCounts) state(u *URL, requested bool) {
	if u.State != "" && u.State != stateNone {
		c.states[u.State]++
		if u.Seed {
			c.seeds[u.State]++
		}
	}
	switch {
	case u.State == stateDuplicate && u.Near:
		c.copies.near++
	case u.State == stateDuplicate:
		c.copies.same++
	case u.State == stateOK:
		c.copies.own++
	}
	if !requested {
		c.unasked[unaskedAs(u.State)]++
	}
	if !u.tried() {
		return
	}
	state := u.State
	if state == "" || state == stateNone { // it waits for another try
		state = u.Exchanges[len(u.Exchanges)-1].State
	}
	o := c.outcome(state)
	o.urls++
	o.seeds += one(u.Seed)
}

func (c *urlCounts) outcome(state string) *outcome {
	o := c.outcomes[state]
	if o == nil {
		o = &outcome{}
		c.outcomes[state] = o
	}
	return o
}

// exchanges counts those of a URL, and returns what of them is added up by place.
func (c *urlCounts) exchanges(u *URL) (t tally) {
	for _, x := range u.Exchanges {
		c.outcome(x.State).exchanges++
		if x.Code == 0 {
			continue
		}
		c.codes[x.Code]++
		c.time.add(x.Millis)
		t[nAnswers]++
		t[nMillis] += x.Millis
	}
	for _, h := range u.Headers {
		c.protocols[h.Protocol]++
		c.servers.count(serverOf(h.Response), nAnswers)
	}
	return t
}

func (d *depthCount) add(requested, downloaded, stored bool) {
	d.known++
	d.requested += one(requested)
	d.downloaded += one(downloaded)
	d.stored += one(stored)
}

// count walks a source's URLs.
func (c *urlCounts) count(ctx context.Context, from Source, done func(int)) error {
	n := 0
	for u, err := range from.URLs() {
		if n++; n%progressStep == 0 && err == nil {
			err = ctx.Err()
			done(progressStep)
		}
		if err != nil {
			return err
		}
		c.add(u)
	}
	done(n % progressStep)
	c.parties.settle()
	return nil
}

// progressStep is how many records lie between two looks at the context.
const progressStep = 256

func one(is bool) int64 {
	if is {
		return 1
	}
	return 0
}
