package page

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestRefuses(t *testing.T) {
	for said, want := range map[Statement][]Purpose{
		"robots.txt: content-signal search=yes, ai-train=no":     {ForTraining},
		"robots.txt: content-signal search=yes,ai-train=yes":     nil,
		"robots.txt: content-signal SEARCH=No":                   {ForSearch},
		"robots.txt: content-signal ai-input=no":                 {ForAnswer},
		"header: content-usage train-ai=n, ai-use=n, search=y":   {ForAnswer, ForTraining},
		"header: content-usage train-ai;allow=n, train-ai=y":     nil,
		"header: content-usage train-ai=n, train-ai=y":           nil, // the last one counts
		`header: content-usage x="train-ai=n, search=n"`:         nil,
		"header: content-usage train-ai, search=n;why=\"x\"":     {ForSearch},
		"header: content-usage Train-AI=n, Search=y":             {ForTraining}, // no dictionary, but meant
		"header: content-usage ai-use=n, x=\"cut":                {ForAnswer},
		"header: content-usage train-ai=(n y), search=1":         nil,
		"header: content-usage train-ai=n, search=y":             {ForTraining},
		"header: content-usage bots=n":                           purposes(),
		"header: content-usage train-ai=?0":                      {ForTraining},
		"robots.txt: user-agent google-extended":                 {ForAnswer, ForTraining},
		"robots.txt: user-agent applebot-extended":               {ForTraining},
		"robots.txt: user-agent otherbot":                        nil,
		"meta: robots noai, noimageai":                           {ForTraining},
		"header: x-robots-tag noimageai":                         nil,
		"meta: robots noarchive":                                 {ForArchive},
		"meta: tdm-reservation 1":                                {ForAnswer, ForTraining, ForResearch},
		"header: tdm-reservation 0":                              nil,
		"header: tdm-policy https://a.test/policy.json":          nil,
		"link: license https://creativecommons.org/licenses/by/": nil,
		"": nil, "nonsense": nil, "robots.txt: content-signal": nil, "robots.txt: content-signal =no,,;no": nil,
	} {
		var got []Purpose
		for _, p := range purposes() {
			if said.refuses(p) {
				got = append(got, p)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q refuses %v, want %v", said, got, want)
		}
	}
	if s := Refusal([]Statement{"meta: robots noai"}, ""); s != "" {
		t.Errorf("without a purpose %q refuses", s)
	}
}

func TestOfHeader(t *testing.T) {
	h := http.Header{}
	h.Add("tdm-reservation", " 1 ")
	h.Add("Content-Usage", "train-ai=n")
	h.Add("content-usage", "search=y")
	h.Add("X-Robots-Tag", "noai")
	h.Add("Link", `</style.css>; rel=preload, </rsl.xml>; rel="license"; type="application/rsl+xml"`)
	want := []Statement{"header: content-usage train-ai=n", "header: content-usage search=y", "header: tdm-reservation 1", "header: license https://a.test/rsl.xml"}
	if got := RightsInHeader(h, "https://a.test/b/c"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLicences(t *testing.T) {
	for field, want := range map[string][]string{
		`<https://l.test/rsl.xml>; rel="license"; type="application/rsl+xml"`:  {"https://l.test/rsl.xml"},
		`<a,b;c.xml> ; REL = License`:                                          {"https://a.test/b/a,b;c.xml"},
		`<1>; title="x, <2>; rel=license"; rel="next", <3>;rel="next license"`: {"https://a.test/b/3"},
		`<1>; title="\", <2>; rel=license"`:                                    nil,
		`<1>; rel=next; rel=license`:                                           nil,
		`<1>; rev=license`:                                                     nil,
		`<mailto:x>; rel=license, <%zz>; rel=license`:                          nil,
		`<1>; rel=license, <2>; rel=license`:                                   {"https://a.test/b/1", "https://a.test/b/2"},
		"":                                                                     nil, "<": nil, "<1": nil, "<1>": nil, `<1>;rel="license`: {"https://a.test/b/1"}, `<1>;rel=`: nil,
	} {
		if got := licences(field, "https://a.test/b/c"); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", field, got, want)
		}
	}
}

func TestTerms(t *testing.T) {
	for _, c := range []struct {
		said           []Statement
		licence, usage string
	}{
		{nil, "", ""},
		{[]Statement{"robots.txt: license https://a.test/rsl.xml"}, "https://a.test/rsl.xml", ""},
		{[]Statement{"robots.txt: license 1", "header: license 2", "link: license 3", "data: license 4"}, "3", ""},
		{[]Statement{"robots.txt: license 1", "header: license 2"}, "2", ""},
		{[]Statement{"robots.txt: content-signal search=yes, ai-train=no"}, "", "train-ai=n, search=y"},
		{[]Statement{"robots.txt: content-usage train-ai=y, ai-use=y", "header: x-robots-tag noai"}, "", "train-ai=n, ai-use=y"},
		{[]Statement{"header: content-usage train-ai=y", "meta: tdm-reservation 1"}, "", "train-ai=n, ai-use=n"},
		{[]Statement{"header: content-usage bots=n"}, "", "train-ai=n, ai-use=n, search=n"},
		{[]Statement{"meta: robots noarchive"}, "", ""},
	} {
		licence, usage := Terms(c.said)
		if licence != c.licence || usage != c.usage {
			t.Errorf("%q: %q, %q, want %q, %q", c.said, licence, usage, c.licence, c.usage)
		}
	}
}

// FuzzRights: no statement panics; what it refuses is not also allowed; a licence is an address that stands
// in the field.
func FuzzRights(f *testing.F) {
	f.Add("content-usage", "train-ai=n, search=y;x=\"a\"", `<https://l.test/>; rel="license"`)
	f.Add("content-signal", "ai-input=no,,=", `<a>;rel=license,<`)
	f.Fuzz(func(t *testing.T, name, value, link string) {
		said := []Statement{Said("header", name, value)}
		_, usage := Terms(said)
		for _, p := range purposes() {
			category := map[Purpose]string{ForSearch: "search", ForAnswer: "ai-use", ForTraining: "train-ai"}[p]
			if refused := Refusal(said, p) != ""; category != "" && refused != strings.Contains(usage, category+"=n") {
				t.Errorf("%q: refuses %s: %v, usage %q", said, p, refused, usage)
			}
		}
		for _, licence := range licences(link, "https://a.test/b/c") {
			if u, err := url.Parse(licence); err != nil || u.Host == "" {
				t.Errorf("%q: licence %q", link, licence)
			}
		}
	})
}

// An owner refuses the training of models on a page.
func ExampleRefusal() {
	said := []Statement{Said("robots.txt", "Content-Signal", "search=yes,  ai-train=no"), Said("link", "license", "https://creativecommons.org/licenses/by/4.0/")}
	fmt.Println(Refusal(said, ForTraining))
	fmt.Println(Refusal(said, ForSearch) == "")
	fmt.Println(Terms(said))
	// Output:
	// robots.txt: content-signal search=yes, ai-train=no
	// true
	// https://creativecommons.org/licenses/by/4.0/ train-ai=n, search=y
}
