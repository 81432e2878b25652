package train

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fossick/datasets"
	"fossick/models"
)

// TestStackCompared says how much a stack and a forest lose and win against linear, topic by topic
// against the rest: 600 pages train, up to 2,000 others test. It makes docs/data/stack.tsv:
//
//	FOSSICK_COMPARE=1 go test ./train -run TestStackCompared -v -timeout 2h | grep '^	' | cut -f2-
//
// ONLY=webkb,bbc takes these sets alone, BESIDE=stack leaves trees out, which take the most time,
// and DRAW=2 draws other pages.
func TestStackCompared(t *testing.T) {
	if os.Getenv("FOSSICK_COMPARE") == "" {
		t.Skip("trains on four corpora for minutes; set FOSSICK_COMPARE=1 to compare stack and trees with linear")
	}
	for _, set := range []struct {
		name, data string
		topics     []string
	}{
		{"webkb", "webkb", []string{"course", "faculty", "project", "student"}},
		{"bbc", "bbc", []string{"business", "sport", "tech"}},
		{"wikispeedia", "wikispeedia/train.jsonl.zst", []string{"Science", "History", "Geography"}},
		{"20news", "20news", []string{"sci.space", "rec.autos", "talk.politics.guns"}},
	} {
		if only := os.Getenv("ONLY"); only != "" && !slices.Contains(strings.Split(only, ","), set.name) {
			continue
		}
		var all []*datasets.Example
		for e, err := range examples(t, set.data).Examples() {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, e)
		}
		draw, _ := strconv.ParseUint(cmp.Or(os.Getenv("DRAW"), "1"), 10, 64)
		rand.New(rand.NewPCG(draw, 0x57ac)).Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
		const trained, tested = 600, 2000
		in, out := all[:trained], all[trained:min(len(all), trained+tested)]
		for _, topic := range set.topics {
			base := judgeTopic(t, models.LinearSVM, topic, in, out)
			for name := range strings.SplitSeq(cmp.Or(os.Getenv("BESIDE"), "trees,stack"), ",") {
				one := judgeTopic(t, name, topic, in, out)
				loss, f1 := base.against(one)
				fmt.Printf("\t%s\t%d\t%s\t%d of %d\t%s\t%.4f\t%.4f\t%s\t%.3f\t%.3f\t%s\t%.0f\t%.0f\n", set.name, draw, topic, base.of(), len(out), one.name,
					mean(base.losses), mean(one.losses), loss, base.f1(nil), one.f1(nil), f1, base.seconds, one.seconds)
			}
		}
	}
}

// topicTest is what a model of a topic says of test pages.
type topicTest struct {
	name        string
	losses      []float64
	truth, kept []bool
	seconds     float64
}

func judgeTopic(t *testing.T, name, topic string, in, out []*datasets.Example) *topicTest {
	opt := Options{Target: Target{Topic: topic}, Classifier: name, Seed: 1}
	start := time.Now()
	m, _, err := Train(context.Background(), stream(in), opt)
	if err != nil {
		t.Fatal(topic, err)
	}
	j := &topicTest{name: name, seconds: time.Since(start).Seconds()}
	if m.Vote != nil {
		j.name += " (" + m.Card.Settings["members"] + ")"
	}
	ask, class := asker(m), m.Class(topic)
	for _, e := range out {
		d, err := Doc(e)
		if err != nil {
			t.Fatal(err)
		}
		p, on := ask(d)[class], e.Matches(topic)
		loss := p
		if !on {
			loss = 1 - p
		}
		j.losses = append(j.losses, -math.Log(max(loss, leastProbability)))
		j.truth, j.kept = append(j.truth, on), append(j.kept, p >= m.Thresholds[class])
	}
	return j
}

func (j *topicTest) of() (n int) {
	for _, on := range j.truth {
		if on {
			n++
		}
	}
	return n
}

// f1 is that of the topic, over the pages drawn; nil: over all.
func (j *topicTest) f1(drawn []int) float64 {
	if drawn == nil {
		drawn = upTo(len(j.truth))
	}
	hits, of := 0.0, 0.0
	for _, p := range drawn {
		if j.truth[p] {
			of++
		}
		if j.kept[p] {
			of++
		}
		if j.truth[p] && j.kept[p] {
			hits += 2
		}
	}
	return hits / max(1, of)
}

// against returns the differences of log loss and F1, page by page, with 95 % intervals; that of F1
// by 1,000 draws of the pages.
func (j *topicTest) against(other *topicTest) (loss, f1 string) {
	diff, squares := make([]float64, len(j.losses)), 0.0
	for p := range diff {
		diff[p] = other.losses[p] - j.losses[p]
	}
	m := mean(diff)
	for _, d := range diff {
		squares += (d - m) * (d - m)
	}
	half := 1.96 * math.Sqrt(squares) / float64(len(diff))
	rng := rand.New(rand.NewPCG(1, 0xb007))
	var draws []float64
	for range 1000 {
		drawn := make([]int, len(diff))
		for i := range drawn {
			drawn[i] = rng.IntN(len(drawn))
		}
		draws = append(draws, other.f1(drawn)-j.f1(drawn))
	}
	slices.Sort(draws)
	return fmt.Sprintf("%+.4f (%+.4f to %+.4f)", m, m-half, m+half),
		fmt.Sprintf("%+.3f (%+.3f to %+.3f)", other.f1(nil)-j.f1(nil), draws[25], draws[974])
}
