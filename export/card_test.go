package export

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

func two() CardFacts {
	share := .4
	return CardFacts{
		Fossick: "1.2.3", Choice: []string{"--kept", "--include a|b"}, Purpose: "research",
		Stores: []CardStore{
			{Settings: map[string]string{"score": "learned", "include": "a|b*"},
				Harvest: Harvest{Relevant: 40, Fetched: 100, Share: &share, CI: &[2]float64{.25, .56}},
				Recall:  &Recall{Value: .5, CI: [2]float64{.25, .75}, Method: "counting", Caution: "it guesses"}, Source: &Source{Name: "bees", info: store.Info{Topics: []string{"bees"}, Version: "1.0.0", Created: 1e9},
					counts: store.Counts{Pages: 100, Relevant: 40, URLs: 160, Skipped: 10, Lost: 1, States: map[string]uint64{"ok": 100, "robots_denied": 25}}}},
			{Source: &Source{Name: "old_store", info: store.Info{Created: time.Time{}.Unix()}}},
		},
		Left: func() Left {
			return Left{Withdrawn: 1, Refused: 2, Repeated: 3, Damaged: 4}
		},
	}
}

func cardedPages() []*Page {
	from, yes, no := &Source{Name: "bees"}, true, false
	at := func(seconds int64) time.Time { return time.Unix(1e9+seconds, 0).UTC() }
	return []*Page{
		{Source: from, Site: "b.test", Fetched: at(20), Bytes: 30, Label: "bees", Relevant: true, Kept: &yes, Language: "no", Text: "Cheap honey", Rights: []page.Statement{"robots:noai"}, Licence: "https://licence.test/by"},
		{Source: from, Site: "a.test", Fetched: at(10), Bytes: 12, Label: "bees", Kept: &no, Language: "en", Text: "Wax"},
		{Source: from, Site: "c<|>.test", Fetched: at(30), Bytes: 5, Damaged: true},
		{Source: from, Site: "b.test", Fetched: at(25), Bytes: 1, Label: "moles", Language: "en"},
	}
}

func writeCard(t testing.TB, facts CardFacts, all []*Page) shelf {
	t.Helper()
	return written(t, func(at target, _ string) (Sink, error) { return newCard(at, facts) }, "", all)
}

// TestCard compares both files with golden files; the order of pages must not matter.
func TestCard(t *testing.T) {
	backwards := cardedPages()
	slices.Reverse(backwards)
	for _, all := range [][]*Page{cardedPages(), backwards} {
		files := writeCard(t, two(), all)
		for _, name := range []string{"README.md", "card.json"} {
			golden(t, name, files[name].Bytes())
		}
	}
}

// TestNotKnown: unknown values are null and "not known", never 0 %.
func TestNotKnown(t *testing.T) {
	facts := two()
	facts.Stores, facts.Choice = facts.Stores[1:], nil
	files := writeCard(t, facts, nil)
	if text := files["README.md"].String(); strings.Contains(text, "0.00 %") || strings.Contains(text, "NaN") || !strings.Contains(text, "| kept by refine | not known |") {
		t.Errorf("a card of nothing:\n%s", text)
	}
	var got card
	testkit.Must(t, json.Unmarshal(files["card.json"].Bytes(), &got))
	c := got.Crawls[0]
	if got.Kept != nil || got.Rights != nil || got.Relevant.Share != nil || c.First != nil || c.Harvest.Share != nil || c.Harvest.CI != nil || c.Denied != nil || c.Settings != nil {
		t.Errorf("known of nothing: %+v", got)
	}
}
