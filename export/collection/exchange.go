package collection

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"fossick/store"
)

// Told says what an answer told.
type Told int

// What answers tell of a page.
const (
	Gave     Told = iota // its body
	Same                 // 304: it is as it was
	Repeated             // its content, once more or at another URL
	Led                  // its address
)

// Exchange is the header of an exchange both ways, lines with their ends, as the crawl kept it.
type Exchange struct {
	Told     Told
	URL      string
	At       time.Time // in UTC
	Protocol string    // "http/1.0", "http/1.1", "h2"
	Addr     netip.Addr
	Request  []byte
	Response []byte
	Rebuilt  bool     // the lines are made of what was known: order and case are not the server's
	Cut      bool     // lines at the end are missing
	Digest   [20]byte // of Repeated, SHA-1 of the body; content is the same where bodies differ a little
}

// led has the URLs that led to pages: redirects and duplicates, by the page's URL.
type led map[store.ID][]store.ID

// ledIn reads a store's redirects and duplicates.
func ledIn(ctx context.Context, s *store.Store) (led, error) {
	to := map[store.ID]store.Elsewhere{}
	var order []store.ID
	for e, err := range s.URLs().Elsewhere() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if e.To != 0 {
			to[e.ID] = e
			order = append(order, e.ID)
		}
	}
	l := led{}
	for _, id := range order {
		if end := endOf(to, id); end != id {
			l[end] = append(l[end], id)
		}
	}
	return l, nil
}

// mostHops is above how many redirects in a row a crawl follows.
const mostHops = 20

// endOf follows a URL to a page.
func endOf(to map[store.ID]store.Elsewhere, id store.ID) store.ID {
	at := to[id].To
	for range mostHops {
		next, more := to[at]
		if !more || next.Paged {
			break
		}
		at = next.To
	}
	return at
}

// readExchanges reads what is kept of the exchanges that told of a page.
func (s *Selection) readExchanges(p *Page, one *picked) error {
	if !s.want.Exchanges {
		return nil
	}
	own, err := p.Source.Store.URLs().Exchanged(one.page.ID)
	if err != nil && !s.passes(err) {
		return err
	}
	for _, x := range own {
		switch {
		case x.Kind == store.WirePage && x.Start == one.page.At:
			gave := exchangeOf(&x)
			p.Exchange = &gave
		case x.Kind != store.WirePage && x.Kind != store.WireRedirect && x.Start > one.page.At:
			p.Others = append(p.Others, exchangeOf(&x))
		}
	}
	for _, id := range s.led[one.at][one.page.ID] {
		others, err := p.Source.Store.URLs().Exchanged(id)
		if err != nil && !errors.Is(err, store.ErrUnknown) && !s.passes(err) {
			return err
		}
		for _, x := range others {
			if (x.Kind == store.WireRepeat || x.Kind == store.WireRedirect) && s.choice.wantsURL(x.URL) {
				p.Others = append(p.Others, exchangeOf(&x))
			}
		}
	}
	return nil
}

func exchangeOf(x *store.Exchanged) Exchange {
	told := [...]Told{store.WirePage: Gave, store.WireSame: Same, store.WireRepeat: Repeated, store.WireRedirect: Led}
	return Exchange{
		Told: told[x.Kind], URL: x.URL, At: time.UnixMilli(x.Start).UTC(), Protocol: x.Protocol, Addr: x.Addr,
		Request: x.Request, Response: x.Response, Rebuilt: x.Rebuilt, Cut: x.Cut, Digest: x.Digest,
	}
}
