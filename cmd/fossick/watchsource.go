package main

import (
	"iter"
	"slices"

	"fossick/eval/webstats"
	"fossick/internal/maintext"
	"fossick/internal/page"
	"fossick/store"
	"fossick/store/change"
)

// mainTextOf is a page's main text; all that it says where nothing looks like one, as on a
// list of links. It is "" of what is no text.
func mainTextOf(body []byte, contentType, url string) string {
	decoded, plain, err := page.Decode(body, contentType)
	if err != nil {
		return ""
	}
	if plain {
		return string(decoded)
	}
	text := maintext.Extract(decoded).Text()
	if text == "" {
		if p, err := page.Parse(body, page.ParseOptions{URL: url, ContentType: contentType}); err == nil {
			text = p.Text
		}
	}
	return text
}

// watchedPages yields a store's pages with their visits, but for those that were forgotten:
// they are not asked for, and would count as failures. Of what links a page has it keeps a
// byte a page in memory.
func watchedPages(s *store.Store) iter.Seq2[*webstats.Watched, error] {
	return func(yield func(*webstats.Watched, error) bool) {
		kinds, err := linkKindsOf(s)
		if err != nil {
			yield(nil, err)
			return
		}
		forgotten, err := store.ForgetsOf(s)
		if err != nil {
			yield(nil, err)
			return
		}
		var p webstats.Watched
		for k, err := range s.URLs().Watched() {
			if err != nil {
				yield(nil, err)
				return
			}
			if forgotten.Has(k.URL) {
				continue
			}
			p = webstats.Watched{URL: k.URL, Seed: k.Via == store.ViaSeed, Depth: k.Depth, Kind: kinds.of(k.Fate.Page), Visits: visitsSince(p.Visits[:0], k.Visits), Tried: p.Tried[:0]}
			if p.Seed {
				p.Tried = appendVisits(p.Tried, k.Visits[:len(k.Visits)-len(p.Visits)])
			}
			if !yield(&p, nil) {
				return
			}
		}
	}
}

// neverStored yields the start pages that rounds asked for and never got. One that leads
// elsewhere has its page there.
func neverStored(s *store.Store, rounds []webstats.Round) iter.Seq2[*webstats.Watched, error] {
	return func(yield func(*webstats.Watched, error) bool) {
		if len(rounds) == 0 {
			return
		}
		forgotten, err := store.ForgetsOf(s)
		if err != nil {
			yield(nil, err)
			return
		}
		var p webstats.Watched
		for k, err := range s.URLs().AskedAgain() {
			if err != nil {
				yield(nil, err)
				return
			}
			if k.Via != store.ViaSeed || k.Fate.HasPage() || k.Fate.State == "redirect" || k.Fate.At < rounds[0].Began || forgotten.Has(k.URL) {
				continue
			}
			first := change.Visit{At: k.At, State: k.Fate.State} // where nobody could be asked there is no other
			p = webstats.Watched{URL: k.URL, Seed: true, Tried: appendVisits(append(p.Tried[:0], first), k.Visits)}
			if !yield(&p, nil) {
				return
			}
		}
	}
}

// both yields one stream after the other.
func both(a, b iter.Seq2[*webstats.Watched, error]) iter.Seq2[*webstats.Watched, error] {
	return func(yield func(*webstats.Watched, error) bool) {
		for p, err := range a {
			if !yield(p, err) {
				return
			}
		}
		b(yield)
	}
}

// newPages counts the pages of a stream that were stored since the first round began.
func newPages(pages iter.Seq2[*webstats.Watched, error], rounds []webstats.Round, n *int64) iter.Seq2[*webstats.Watched, error] {
	return func(yield func(*webstats.Watched, error) bool) {
		for p, err := range pages {
			if err == nil && len(rounds) > 0 && len(p.Visits) > 0 && p.Visits[0].At >= rounds[0].Began {
				*n++
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

// visitsSince appends the visits of a page to dst, from the one that stored it on.
func visitsSince(dst []change.Visit, all []store.Visit) []change.Visit {
	stored := slices.IndexFunc(all, func(v store.Visit) bool { return v.State == "ok" })
	if stored < 0 {
		return dst
	}
	return appendVisits(dst, all[stored:])
}

func appendVisits(dst []change.Visit, all []store.Visit) []change.Visit {
	for i := range all {
		v := &all[i]
		kind := v.Change
		if len(v.Was) > 0 { // noted by an earlier build
			kind = change.Unsure
		}
		dst = append(dst, change.Visit{At: v.Start, Took: v.Millis, State: v.State, Code: v.Code, Change: kind, To: uint64(v.Location), Modified: v.Modified})
	}
	return dst
}

// linkKinds are pages' link kinds, by number.
type linkKinds struct {
	names []string
	of8   []uint8 // index into names, by page number
}

func linkKindsOf(s *store.Store) (*linkKinds, error) {
	k := &linkKinds{}
	places := map[string]uint8{}
	for p, err := range s.Pages() {
		if err != nil {
			return nil, err
		}
		name := webstats.LinkKind(p.Charset, p.LinkKinds)
		place, ok := places[name]
		if !ok {
			place = uint8(len(k.names)) // there are nine names
			places[name], k.names = place, append(k.names, name)
		}
		for uint64(len(k.of8)) <= p.Number {
			k.of8 = append(k.of8, 0)
		}
		k.of8[p.Number] = place
	}
	return k, nil
}

func (k *linkKinds) of(number uint64) string {
	if number >= uint64(len(k.of8)) {
		return ""
	}
	return k.names[k.of8[number]]
}
