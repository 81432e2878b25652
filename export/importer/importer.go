package importer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"

	"fossick/crawler"
	"fossick/crawler/fetch"
	"fossick/datasets"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/store"
)

// ErrNoPages reports a source without pages that could be stored.
var ErrNoPages = errors.New("it has no page with a URL; give a web archive, saved pages, a table or a corpus with URLs")

// ErrOther reports a store that is not an import of the same source.
var ErrOther = errors.New("is the store of another import or crawl; give another folder with --store")

// Options of an import.
type Options struct {
	Source   string // the set's name, kept in the store
	Version  string // fossick's
	Log      *slog.Logger
	Progress func(pages uint64)
}

// Result is what came of an import.
type Result struct {
	Pages      uint64 // in the store
	Duplicates uint64 // rows with the content of a page before
	Left       int    // rows without a URL that could be one, with that of a row before or of robots.txt
	Refused    uint64 // pages that ask not to be kept, or are none
}

// kept marks a store as an import.
type kept struct {
	Imported string `json:"imported"`
}

// open makes the store of an import, or opens that of one of the same source which was cut
// off. Errors: ErrOther.
func open(ctx context.Context, dir string, opt Options) (*store.Store, error) {
	text, err := json.Marshal(kept{opt.Source})
	if err != nil {
		return nil, err
	}
	s, err := store.Create(dir, store.Info{Version: opt.Version, Topic: "", Settings: text})
	if !errors.Is(err, store.ErrExists) {
		return s, err
	}
	if s, err = store.OpenWhenFree(ctx, dir); err != nil {
		return nil, err
	}
	var had kept
	if err := json.Unmarshal(s.Info().Settings, &had); err != nil || had.Imported != opt.Source {
		return nil, errors.Join(fmt.Errorf("%s %w", dir, ErrOther), s.Close())
	}
	return s, nil
}

// Run imports the rows of a set, which is read twice, into the store in dir. Cut off, it goes
// on where it ended. Errors: ErrNoPages, ErrOther, and those of the set; a set that cannot be
// read leaves no store.
func Run(ctx context.Context, set iter.Seq2[*datasets.Example, error], dir string, opt Options) (r Result, err error) {
	urls, left, err := addresses(ctx, set)
	if err != nil {
		return r, err
	}
	if len(urls) == 0 {
		return r, ErrNoPages
	}
	s, err := open(ctx, dir, opt)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	order, err := orders.OrderingByName("relevance")
	if err != nil {
		return r, err
	}
	web := newWeb(set)
	defer web.close()
	engine, err := crawler.New(crawler.Options{
		Store: s, Fetcher: web, Scorer: &labels{web: web}, Ordering: order, URLs: standard, Seeds: urls,
		Threshold: 0.5, // which no link has
		Workers:   1, Delay: crawler.Delay{Off: true}, Patience: 1, FollowTraps: true, KeepNear: true, Log: opt.Log,
		Progress: func(p crawler.Progress) { opt.Progress(p.Counts.Pages) },
	})
	if err != nil {
		return r, err
	}
	done, err := engine.Run(ctx)
	if err := errors.Join(err, web.err); err != nil {
		return r, err
	}
	if done.Stopped == crawler.StopInterrupted {
		return r, ctx.Err()
	}
	counts, err := s.Counts()
	if err != nil {
		return r, err
	}
	r = Result{Pages: counts.Pages, Duplicates: counts.States[string(fetch.StateDuplicate)], Left: left}
	r.Refused = uint64(len(urls)) - r.Pages - r.Duplicates
	return r, nil
}

var standard = page.NewNormalizer(page.DefaultDrop())

// addresses are the URLs of the rows in normal form, each once, in order.
func addresses(ctx context.Context, set iter.Seq2[*datasets.Example, error]) (urls []string, left int, err error) {
	had := map[uint64]bool{}
	for e, err := range set {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, 0, err
		}
		url, err := standard.Normalize(e.URL)
		if err != nil || had[page.Key(url)] || url == page.RobotsURL(url) {
			left++
			continue
		}
		had[page.Key(url)] = true
		urls = append(urls, url)
	}
	return urls, left, nil
}
