package fetch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gocolly/colly/v2"
)

// A clone of a Colly collector makes one exchange at a time; clones are
// pooled. Clones of one collector share the HTTP client and nothing that grows
// or blocks. Each has its own context, by which an exchange is cancelled. Each
// has its own callbacks, which find their exchange without a lock.
type clone struct {
	collector *colly.Collector
	ctx       *colly.Context // Colly wants one; ours stays empty
	ex        *exchange      // the exchange under way
	ahead     *bufio.Reader  // for its body
}

// newCollector returns the collector that clones are made of. Of Colly's
// services only the exchange itself is used. Robots, visited URLs, limits,
// redirects, charsets and time limits are the crawler's and ours; docs/fetch.md
// says what each would do wrong here.
func newCollector(rt http.RoundTripper) *colly.Collector {
	// Init, not NewCollector: that one would obey COLLY_* in the environment.
	c := new(colly.Collector)
	c.Init()
	c.IgnoreRobotsTxt = true
	c.AllowURLRevisit = true
	c.ParseHTTPErrorResponse = true          // answer.judge says which status is an error
	c.MaxBodySize = 0                        // bodyReader refuses where this would cut
	c.SetClient(&http.Client{Transport: rt}) // without its own jar and time limit
	return c
}

func newClone(base *colly.Collector) *clone {
	l := &clone{collector: base.Clone(), ctx: colly.NewContext(), ahead: bufio.NewReaderSize(nil, aheadBytes)}
	l.collector.OnRequest(func(r *colly.Request) {
		// What is sent is what was asked for, to the letter: robots.txt was
		// consulted about that, not about Colly's spelling.
		*r.URL = *l.ex.url
	})
	l.collector.OnResponseHeaders(func(r *colly.Response) {
		ex := l.ex
		ex.answer.status, ex.answer.header = r.StatusCode, *r.Headers
		types := ex.f.wanted
		if len(ex.req.Accept) > 0 {
			types = ex.req.Accept
		}
		wanted := ex.answer.judge(&ex.req, types)
		if wanted && ex.req.Stream != nil {
			ex.req.Stream(ex.answer.reader)
		}
		if !wanted || ex.req.Stream != nil {
			r.Request.Abort() // closes the body, read or not
		}
	})
	l.collector.OnResponse(func(r *colly.Response) { l.ex.answer.body = r.Body })
	return l
}

// run makes the exchange on the caller's goroutine: URL and header go through
// OnRequest to gate, the answer comes through OnResponseHeaders, where it is
// judged, to OnResponse.
func (l *clone) run(ctx context.Context, ex *exchange) (err error) {
	l.ex, ex.ahead = ex, l.ahead
	l.collector.Context = ctx
	defer func() {
		l.ex, l.collector.Context = nil, context.Background()
		l.ahead.Reset(nil)
		ex.answer.giveBack()
		// URLs and bytes come from strangers and pass through parsers that are
		// not ours: a panic there must cost this exchange and nothing else.
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: panic in the exchange: %v", ex.url, p)
		}
	}()
	err = l.collector.Request(http.MethodGet, ex.url.String(), nil, l.ctx, ex.requestHeader())
	if errors.Is(err, colly.ErrAbortedAfterHeaders) {
		return ex.answer.reader.failed() // as we told it to
	}
	return err
}
