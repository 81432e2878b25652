package train

import (
	"bytes"
	"strings"
	"testing"

	"fossick/classify"
	"fossick/datasets"
	"fossick/models"
)

func builtin(t *testing.T, name string) *classify.Classifier {
	t.Helper()
	topic, err := models.BuiltinTopic(name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := classify.New(topic.Model)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestVerdicts labels rows by the words of their topic, one of them with a wrong truth, and
// compares a model with itself.
func TestVerdicts(t *testing.T) {
	c := builtin(t, "banking")
	v := NewVerdicts("a", c)
	if err := v.Against("b", c); err != nil {
		t.Fatal(err)
	}
	loans := "The bank has a loan or a mortgage for those who have been with it for years: interest is at a low rate, and the savings on the account are its credit, not only a deposit"
	for _, e := range []datasets.Example{
		{URL: "http://a.test/1", Label: "banking", Text: loans, Title: loans},
		{URL: "http://a.test/2", Label: "football", Text: loans, Title: loans},
	} {
		d, err := Doc(&e)
		if err != nil {
			t.Fatal(err)
		}
		v.Row(&e, d)
	}
	r, err := v.Result(10)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Results) != 2 || r.Results[0].Label != "banking" || *r.Accuracy != 0.5 || len(r.Worst) != 1 || r.Worst[0].URL != "http://a.test/2" {
		t.Errorf("%+v, accuracy %v, worst %+v", r.Results, *r.Accuracy, r.Worst)
	}
	if r.McNemar.AOnly != 0 || r.McNemar.BOnly != 0 || *r.AccuracyB != 0.5 {
		t.Errorf("against itself: %+v, %v", r.McNemar, *r.AccuracyB)
	}
	var text bytes.Buffer
	if v.Print(&text, r); !strings.Contains(text.String(), "Accuracy 50.0 %") || !strings.Contains(text.String(), "The most confident of 1 mistakes:") {
		t.Errorf("as text: %s", text.String())
	}
	if err := NewVerdicts("a", c).Against("b", builtin(t, "science")); err == nil {
		t.Error("models of different classes were compared")
	}
}

// TestCompareCounts: of six rows both models have two right, the first one more, the second two
// more. So the second has 4 of 6, and P of one against two is 1.
func TestCompareCounts(t *testing.T) {
	v := &Verdicts{
		truth:     []int{0, 0, 0, 0, 0, 0},
		predicted: []int{0, 0, 0, 1, 1, 1},
		rival:     &rival{right: []bool{true, true, false, true, true, false}},
		texts:     map[uint64]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true},
	}
	var r Verdict
	if err := v.compare(&r); err != nil {
		t.Fatal(err)
	}
	if *r.AccuracyB != 4./6 || r.McNemar.AOnly != 1 || r.McNemar.BOnly != 2 || r.McNemar.P == nil || *r.McNemar.P != 1 || r.McNemar.Method != "exact" {
		t.Errorf("accuracy %v, %+v", *r.AccuracyB, *r.McNemar)
	}
	v.texts = map[uint64]bool{1: true, 2: true} // the rows are copies of two pages
	if err := v.compare(&r); err != nil || r.McNemar.P != nil {
		t.Errorf("of two different pages: %+v, %v", *r.McNemar, err)
	}
}

// TestTopic: the label asked for, else the fallback, else an error with the labels.
func TestTopic(t *testing.T) {
	c := builtin(t, "banking")
	for _, tt := range []struct{ asked, fallback, want string }{
		{"banking", "", "banking"}, {"", "banking", "banking"}, {"bankng", "banking", ""}, {"", "bees", ""},
	} {
		topic, err := NewTopic(c, "m", tt.asked, tt.fallback)
		if tt.want == "" {
			if err == nil || !strings.Contains(err.Error(), "banking") {
				t.Errorf("%+v: %v, want the labels", tt, err)
			}
			continue
		}
		if err != nil || topic.Name != tt.want || topic.Cut != c.Model().Threshold(tt.want) {
			t.Errorf("%+v: %+v, %v", tt, topic, err)
		}
	}
	topic, err := NewTopic(c, "m", "banking", "")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"The bank has a loan or a mortgage for those who have been with it for years: interest is at a low rate, and the savings on the account are its credit, not only a deposit": true, "the cat sat on the mat": false} {
		d, err := Doc(&datasets.Example{Title: text, Text: text})
		if err != nil {
			t.Fatal(err)
		}
		if topic.Relevant(d) != want {
			t.Errorf("%s: on topic %v, want %v", text, !want, want)
		}
	}
}
