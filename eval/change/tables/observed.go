package tables

import "fossick/store/change"

// msPerDay is a day in milliseconds.
const msPerDay = 24 * 3600 * 1000

// sums are what is added up of pages.
type sums struct {
	pages    int64   // that were seen twice or more
	looks    int64   // at them after the first: each shows a change or none
	days     float64 // between first and last look
	contents int64   // looks that found the content changed
	texts    int64   // of these, the main text too, as far as anybody knows
	changed  int64   // pages whose main text did at least once
	each     float64 // of these, the days of observation by changes, added up
	longest  float64 // the longest of them
	pace     pace    // of those whose rate was asked for
}

func (s *sums) add(x *sums) {
	s.pages += x.pages
	s.looks += x.looks
	s.days += x.days
	s.contents += x.contents
	s.texts += x.texts
	s.changed += x.changed
	s.each += x.each
	s.longest = max(s.longest, x.longest)
	s.pace.join(&x.pace)
}

// observed is what a page's visits say of its changes: only a visit that found the page says
// whether it had changed since the last one that did. looked is told of each.
func observed(p *Page, looked func(at int64, changed bool)) (s sums) {
	first, last := p.Visits[0].At, p.Visits[0].At
	for i := range p.Visits[1:] {
		v := &p.Visits[1+i]
		if !change.Downloaded(v.State) || v.State == "duplicate" {
			continue // of a page that repeats another by now nobody kept what it said before
		}
		last = v.At
		s.looks++
		if v.Change.Changed() {
			s.contents++
		}
		text := v.Change == change.Text || v.Change == change.Unsure
		s.texts += one(text)
		looked(v.At, text)
	}
	if s.looks == 0 {
		return s
	}
	s.pages, s.days = 1, float64(last-first)/msPerDay
	if s.texts > 0 {
		s.changed = 1
		s.each = s.days / float64(s.texts)
		s.longest = s.each
	}
	return s
}

// fate is what became of a page.
type fate struct{ gone, moved, back bool }

func fateOf(p *Page) (f fate) {
	away := false
	for i := range p.Visits {
		v := &p.Visits[i]
		switch {
		case gone(v) || moved(v):
			away = true
		case away && change.Downloaded(v.State):
			f.back, away = true, false
		}
	}
	if v := &p.Visits[len(p.Visits)-1]; away {
		f.gone, f.moved = gone(v), moved(v)
	}
	return f
}
