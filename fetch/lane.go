package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gocolly/colly/v2"
)

// A lane is a Colly collector that makes one exchange at a time; lanes are
// pooled. Clones of one collector share the HTTP client and nothing that grows
// or blocks; each has its own context, which is how an exchange is cancelled,
// and its own callbacks, which is how they find their exchange without a lock.
type lane struct {
	collector *colly.Collector
	ctx       *colly.Context // Colly wants one; ours stays empty
	ex        *exchange      // the exchange under way
	buffer    []byte         // for its body
}

// newCollector returns the collector that lanes are cloned from. Of Colly's
// services only the exchange itself is used: robots, visited URLs, limits,
// redirects, charsets and time limits are the crawler's and ours (see
// docs/fetch.md for what each would do wrong here).
func newCollector(rt http.RoundTripper) *colly.Collector {
	// Init, not NewCollector: that one would obey COLLY_* in the environment.
	c := new(colly.Collector)
	c.Init()
	c.IgnoreRobotsTxt = true
	c.AllowURLRevisit = true
	c.SetClient(&http.Client{
		Transport:     rt,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	return c
}

func newLane(base *colly.Collector) *lane {
	l := &lane{collector: base.Clone(), ctx: colly.NewContext()}
	l.collector.OnResponseHeaders(func(r *colly.Response) {
		// The body is read here, where its limits are. Colly would read it with
		// io.ReadAll, in pieces from 512 bytes up: a third of a fast exchange.
		if l.ex.judgeHeader() {
			l.ex.body, l.ex.bodyErr = l.ex.reader.deliver()
		}
		r.Request.Abort() // closes the body, read or not
	})
	return l
}

// run makes the exchange on the caller's goroutine.
func (l *lane) run(ctx context.Context, ex *exchange) (err error) {
	l.ex, ex.buffer = ex, l.buffer
	l.collector.Context = ctx
	defer func() {
		l.ex, l.collector.Context = nil, context.Background()
		if ex.reader != nil && cap(ex.reader.data) <= maxBuffer {
			l.buffer = ex.reader.data[:0] // it may have grown
		}
		// URLs and bytes come from strangers and pass through parsers that are
		// not ours: a panic there must cost this exchange and nothing else.
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: panic in the exchange: %v", ex.url, p)
		}
	}()
	// Colly gets the origin only; gate puts the URL in that was asked for. Colly
	// would parse path and query again, respell them, and take its time.
	origin := ex.url.Scheme + "://" + ex.url.Host + "/"
	err = l.collector.Request(http.MethodGet, origin, nil, l.ctx, ex.requestHeader())
	if errors.Is(err, colly.ErrAbortedAfterHeaders) {
		return ex.bodyErr // as we told it to
	}
	return err
}
