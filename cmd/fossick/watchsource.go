package main

import (
	"iter"

	"fossick/change"
	"fossick/change/tables"
	"fossick/maintext"
	"fossick/page"
	"fossick/store"
	"fossick/webstats"
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
func watchedPages(s *store.Store) iter.Seq2[*tables.Page, error] {
	return func(yield func(*tables.Page, error) bool) {
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
		var p tables.Page
		for k, err := range s.URLs().Watched() {
			if err != nil {
				yield(nil, err)
				return
			}
			if forgotten.Has(k.URL) {
				continue
			}
			p = tables.Page{URL: k.URL, Seed: k.Via == store.ViaSeed, Depth: k.Depth, Kind: kinds.of(k.Fate.Page), Visits: visitsSince(p.Visits[:0], k.Visits)}
			if !yield(&p, nil) {
				return
			}
		}
	}
}

// visitsSince appends the visits of a page to dst, from the one that stored it on.
func visitsSince(dst []change.Visit, all []store.Visit) []change.Visit {
	for i := range all {
		v := &all[i]
		if len(dst) == 0 && v.State != "ok" {
			continue
		}
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
