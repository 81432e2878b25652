package eval

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestVersus: a has 1 2 3 4, b has 3 4 5, on topic are 2 3 5 and a page that neither found.
func TestVersus(t *testing.T) {
	four := 4
	v := versus([]string{"a", "b"}, [][]string{{"1", "2", "3", "4"}, {"3", "4", "5"}}, [][]string{{"2", "3"}, {"3", "5"}}, &four)
	got, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"union":5,"union_relevant":3,"common":2,"common_relevant":1,"topic_overlap":0.3333333333333333,"recall":0.75,"only":[{"store":"a","pages":2,"relevant":1},{"store":"b","pages":1,"relevant":1}]}`
	if string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
	half, ci := 0.5, interval95{.1, .9}
	r := Result{Figures: Figures{Store: "a"}, Versus: v, Stores: []Figures{{Store: "a", Fetched: 4, Relevant: 2, Harvest: &half, HarvestCI: &ci, Recall: &half}, {Store: "b"}}}
	text := strings.Join(Sentences(r), "\n")
	for _, line := range []string{
		"a: 4 pages, 2 on topic (50 %, 95 % interval 10–90 %), 50 % of the truth found.\nb: no page fetched yet.\nTogether: 5 pages, 3 on topic, 75 % of the truth.\n",
		"Both have 2 pages, 1 on topic (33 % of the on-topic pages of either); only a has 2 pages, 1 on topic; only b has 1 page, 1 on topic.\nThe first crawl, a:\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("%s\nlacks %s", text, line)
		}
	}
}

func TestVersusOfThree(t *testing.T) {
	urls := [][]string{{"1", "2"}, {"2", "3"}, {"2", "4"}}
	r := Result{Versus: versus([]string{"a", "b", "c"}, urls, urls, nil), Stores: []Figures{{Store: "a"}, {Store: "b"}, {Store: "c"}}}
	want := "All have 1 page, 1 on topic (25 % of the on-topic pages of any); only a has 1 page, 1 on topic;"
	if text := strings.Join(Sentences(r), "\n"); !strings.Contains(text, want) {
		t.Errorf("%s\nlacks %s", text, want)
	}
}
