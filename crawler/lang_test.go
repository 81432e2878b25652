package crawler

import (
	"slices"
	"strings"
	"testing"
)

const (
	inEnglish = "This is what the reader of the page has to know about gold: that it was found by people who are not in a hurry."
	inGerman  = "Das ist die Seite über das gold, und sie ist von den Leuten, die mit der Arbeit im Berg nicht zu schnell sind."
	inFrench  = "Le gold est sur la table et il ne veut pas que les autres soient avec lui dans cette maison qui est à nous."
)

func TestLanguagesOfACrawl(t *testing.T) {
	w := &fakeWeb{pages: map[string]string{
		"http://a.test/": html(inEnglish, "/fr", "/de", "/short") +
			`<a href="/es" hreflang="es">español</a> <a href="/en2" hreflang="en-GB">more</a>`,
		"http://a.test/fr": html(inFrench, "/fr2", "/both") + `<a hreflang=en href="/en">in English</a>` +
			`<link rel=alternate hreflang="de-AT" href="/de2"><link rel=alternate hreflang=it href="/it">`,
		"http://a.test/de":    html(inGerman, "/de3"),
		"http://a.test/short": html("gold 5", "/both"),
		"http://a.test/both":  html(inEnglish + " And both pages link here."),
		"http://a.test/en":    html(inEnglish + " In other words."),
		"http://a.test/en2":   html(inEnglish + " And more."),
		"http://a.test/de2":   html(inGerman + " Und mehr."),
		"http://a.test/de3":   html(inGerman + " Und noch mehr."),
		"http://b.test/":      html(inFrench, "/en"),
		"http://b.test/en":    html(inEnglish + " From a French start page."),
	}}
	opt := newOptions(t, w, "http://a.test/", "http://b.test/")
	opt.Scope.Langs = []string{"en", "de"}
	r := crawl(t, opt)
	asked := w.urls()
	slices.Sort(asked)
	want := strings.Fields("http://a.test/ http://a.test/both http://a.test/de http://a.test/de2 http://a.test/de3 http://a.test/en " +
		"http://a.test/en2 http://a.test/fr http://a.test/short http://b.test/ http://b.test/en")
	if !slices.Equal(asked, want) {
		t.Errorf("asked for\n%q\nwant\n%q", asked, want)
	}
	if r.Counts.Pages != 9 || r.Counts.States["wrong_type"] != 2 || r.Counts.States["ok"] != 9 {
		t.Errorf("%d pages, states %v; want 9 pages, 2 of another language", r.Counts.Pages, r.Counts.States)
	}
	for url, why := range map[string]string{
		"http://a.test/fr":  "the page's language is fr, not one of en, de: the page is not kept",
		"http://a.test/fr2": "the language of the page that links here is fr, not one of en, de",
		"http://a.test/es":  "the link says hreflang es, not one of en, de",
		"http://a.test/it":  "the link says hreflang it, not one of en, de",
		"http://b.test/":    "the page's language is fr",
	} {
		if l := life(t, opt.Store, url); l.Fate == nil || l.Page != nil || !strings.HasPrefix(l.Fate.Reason, why) {
			t.Errorf("%s: fate %+v, want the reason %q and no page", url, l.Fate, why)
		}
	}
	// The translation has the place in the queue that the French page had.
	if f := life(t, opt.Store, "http://a.test/de2").Fate; f.Score != life(t, opt.Store, "http://a.test/fr").Fate.Score {
		t.Errorf("the translation left the queue with %g", f.Score)
	}
}
