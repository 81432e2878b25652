package page

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
)

func TestRefuses(t *testing.T) {
	for said, want := range map[Statement][]Purpose{
		"robots.txt: content-signal search=yes, ai-train=no":     {ForTraining},
		"robots.txt: content-signal search=yes,ai-train=yes":     nil,
		"robots.txt: content-signal SEARCH=No":                   {ForSearch},
		"robots.txt: content-signal ai-input=no":                 nil,
		"header: content-usage train-ai=n, search=y":             {ForTraining},
		"header: content-usage bots=n":                           purposes(),
		"header: content-usage train-ai=?0":                      {ForTraining},
		"robots.txt: user-agent google-extended":                 {ForTraining},
		"robots.txt: user-agent applebot-extended":               {ForTraining},
		"robots.txt: user-agent otherbot":                        nil,
		"meta: robots noai, noimageai":                           {ForTraining},
		"header: x-robots-tag noimageai":                         nil,
		"meta: robots noarchive":                                 {ForArchive},
		"meta: tdm-reservation 1":                                {ForTraining, ForResearch},
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
	want := []Statement{"header: content-usage train-ai=n", "header: content-usage search=y", "header: tdm-reservation 1"}
	if got := RightsInHeader(h); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// An owner refuses the training of models on a page.
func ExampleRefusal() {
	said := []Statement{Said("robots.txt", "Content-Signal", "search=yes,  ai-train=no"), Said("link", "license", "https://creativecommons.org/licenses/by/4.0/")}
	fmt.Println(Refusal(said, ForTraining))
	fmt.Println(Refusal(said, ForSearch) == "", Licence(said))
	// Output:
	// robots.txt: content-signal search=yes, ai-train=no
	// true https://creativecommons.org/licenses/by/4.0/
}
