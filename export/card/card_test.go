package card_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fossick/export/card"
	"fossick/export/collection"
	"fossick/export/exporttest"
	"fossick/internal/rights"
)

var update = flag.Bool("update", false, "write the golden files anew")

// two are the facts of two crawls, of which little is known of the second.
func two() card.Facts {
	share := .4
	return card.Facts{
		Fossick: "1.2.3", Choice: []string{"--kept", "--include a|b"}, Purpose: "research",
		Stores: []card.Store{
			{Name: "bees", Settings: map[string]string{"score": "learned", "include": "a|b*"},
				Harvest: card.Harvest{Relevant: 40, Fetched: 100, Share: &share, CI: &[2]float64{.25, .56}},
				Recall:  &card.Recall{Value: .5, CI: [2]float64{.25, .75}, Method: "counting", Caution: "it guesses"}, Crawl: collection.Crawl{
					Topics: []string{"bees"}, Version: "1.0.0", Made: time.Unix(1e9, 0).UTC(), Pages: 100, Relevant: 40, URLs: 160, Skipped: 10, Lost: 1,
					States: map[string]uint64{"ok": 100, "robots_denied": 25},
				}},
			{Name: "old_store"},
		},
		Left: func() collection.Left {
			return collection.Left{Withdrawn: 1, Refused: 2, Repeated: 3, Damaged: 4}
		},
	}
}

func pages() []*collection.Page {
	from, yes, no := &collection.Source{Name: "bees"}, true, false
	at := func(seconds int64) time.Time { return time.Unix(1e9+seconds, 0).UTC() }
	return []*collection.Page{
		{Source: from, Site: "b.test", Fetched: at(20), Bytes: 30, Label: "bees", Relevant: true, Kept: &yes, Language: "no", Text: "Cheap honey", Rights: []rights.Statement{"robots:noai"}, Licence: "https://licence.test/by"},
		{Source: from, Site: "a.test", Fetched: at(10), Bytes: 12, Label: "bees", Kept: &no, Language: "en", Text: "Wax"},
		{Source: from, Site: "c<|>.test", Fetched: at(30), Bytes: 5, Damaged: true},
		{Source: from, Site: "b.test", Fetched: at(25), Bytes: 1, Label: "moles", Language: "en"},
	}
}

func write(t testing.TB, facts card.Facts, all []*collection.Page) exporttest.Shelf {
	t.Helper()
	files := exporttest.Shelf{}
	s, err := card.New(files, facts)
	exporttest.Write(t, s, err, all)
	return files
}

// TestGolden compares both files with those that were read through. The order of pages does
// not matter.
func TestGolden(t *testing.T) {
	backwards := pages()
	slices.Reverse(backwards)
	for _, all := range [][]*collection.Page{pages(), backwards} {
		files := write(t, two(), all)
		for _, name := range []string{"README.md", "card.json"} {
			golden := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(golden, files[name].Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(files[name].Bytes(), want) {
				t.Errorf("%s has changed; go test -update writes it anew:\n%s", name, files[name])
			}
		}
	}
}

// TestNotKnown has nothing to tell: that is null and "not known", never 0 %.
func TestNotKnown(t *testing.T) {
	facts := two()
	facts.Stores, facts.Choice = facts.Stores[1:], nil
	files := write(t, facts, nil)
	if text := files["README.md"].String(); strings.Contains(text, "0.00 %") || strings.Contains(text, "NaN") || !strings.Contains(text, "| kept by refine | not known |") {
		t.Errorf("a card of nothing:\n%s", text)
	}
	var got card.Card
	if err := json.Unmarshal(files["card.json"].Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	c := got.Crawls[0]
	if got.Kept != nil || got.Rights != nil || got.Relevant.Share != nil || c.First != nil || c.Harvest.Share != nil || c.Harvest.CI != nil || c.Denied != nil || c.Settings != nil {
		t.Errorf("known of nothing: %+v", got)
	}
}

// A card of one page, which no crawl found relevant.
func Example() {
	files := exporttest.Shelf{}
	s, err := card.New(files, card.Facts{
		Fossick: "1.2.3", Left: func() collection.Left { return collection.Left{} },
		Stores: []card.Store{{Name: "bees", Harvest: card.Harvest{Fetched: 1, Share: new(float64), CI: &[2]float64{0, .7935}}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	ctx := context.Background()
	fmt.Println(s.Write(ctx, &collection.Page{Source: &collection.Source{Name: "bees"}, Site: "bees.test"}), s.Finish(ctx))
	for line := range strings.Lines(files["README.md"].String()) {
		if strings.Contains(line, "harvest,") || strings.Contains(line, "robots.txt") {
			fmt.Print(line)
		}
	}
	// Output:
	// <nil> <nil>
	// | harvest, estimated by the crawl's own judgement | 0.00 % (95 % interval 0.00 % to 79.35 %): 0 relevant of 1 fetched |
	// | of finished URLs, denied by robots.txt | not known |
}
