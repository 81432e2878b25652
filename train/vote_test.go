package train

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"fossick/datasets"
	"fossick/internal/testkit"
	"fossick/models"
	"fossick/models/features"
)

// judgedAs returns a learner that has judged pages; sure[p] is its margin for class 0 on page p.
func judgedAs(l learner, y []int, sure []float64) *heldOut {
	h := newHeldOut(l, len(y))
	for p, v := range sure {
		h.scores[p] = []float64{v / 2, -v / 2}
	}
	h.score = accuracy(h.scores, y)
	return h
}

// erring returns right and sure margins, but wrong and less sure ones on some pages.
func erring(y []int, wrong func(p int) bool) []float64 {
	s := make([]float64, len(y))
	for p, class := range y {
		s[p] = float64(4 - 8*class)
		if wrong(p) {
			s[p] /= -4
		}
	}
	return s
}

// TestPoll: different errors outvote each other; the best one's errors, or help by chance, do not join.
func TestPoll(t *testing.T) {
	y := make([]int, 300)
	for p := range y {
		y[p] = p / 3 % 2
	}
	every := func(n, rest int) func(int) bool { return func(p int) bool { return p%n == rest } }
	best := judgedAs(linear{}, y, erring(y, every(10, 0)))
	other := judgedAs(nn{}, y, erring(y, every(10, 1)))
	third := judgedAs(newCN2(false), y, erring(y, every(10, 2)))
	same := judgedAs(bayes{}, y, erring(y, every(10, 0)))
	few := judgedAs(linear{}, y, erring(y, every(61, 0))) // wrong on five pages, on which
	six := judgedAs(nn{}, y, erring(y, every(50, 1)))     // this one is right on them
	for _, c := range []struct {
		name string
		held []*heldOut
		must bool
		want string
	}{
		{"one", []*heldOut{best}, false, "linear"},
		{"errs alike", []*heldOut{best, same}, false, "linear"},
		{"errs alike, but a vote is asked for", []*heldOut{best, same}, true, "linear, nb"},
		{"errs elsewhere", []*heldOut{best, same, other}, false, "linear, nn"},
		{"the third changes nothing", []*heldOut{best, other, third}, false, "linear, nn"},
		{"chance", []*heldOut{few, six}, false, "linear"},
	} {
		before := slices.Clone(c.held[0].scores[0])
		got := poll(c.held, y, c.must, 1)
		name := got.learner.name()
		if v, ok := got.learner.(vote); ok {
			name = v.String()
			if got.score != accuracy(got.scores, y) {
				t.Errorf("%s: accuracy %v, of its scores %v", c.name, got.score, accuracy(got.scores, y))
			}
		}
		if name != c.want {
			t.Errorf("%s: %s with %.3f, want %s", c.name, name, got.score, c.want)
		}
		if !slices.Equal(before, c.held[0].scores[0]) {
			t.Errorf("%s: the learner's own scores were changed", c.name)
		}
	}
}

// TestPollOfChance: learners that guess help each other only by chance, a few times in a hundred.
func TestPollOfChance(t *testing.T) {
	taken := 0
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 3))
		y := make([]int, 200)
		for p := range y {
			y[p] = rng.IntN(2)
		}
		var held []*heldOut
		for range 4 {
			noise := make([]float64, len(y))
			for p := range noise {
				noise[p] = rng.NormFloat64()
			}
			held = append(held, judgedAs(nn{}, y, noise))
		}
		if _, ok := poll(held, y, false, 1).learner.(vote); ok {
			taken++
		}
	}
	if taken > 10 {
		t.Errorf("%d of 100 votes of guesses were taken", taken)
	}
}

func mixed(n int, seed uint64) []*datasets.Example {
	rng := rand.New(rand.NewPCG(seed, 9))
	var set []*datasets.Example
	for i := range n {
		class := i % 2
		text := ""
		for range 12 {
			text += fmt.Sprintf("plain%c ", 'a'+rune(rng.IntN(20)))
		}
		for range 6 {
			lean := class
			if rng.IntN(3) == 0 {
				lean = 1 - class
			}
			text += fmt.Sprintf("weak%c%c ", 'a'+rune(lean), 'a'+rune(rng.IntN(10)))
		}
		set = append(set, &datasets.Example{URL: fmt.Sprintf("http://x.test/%d/%d", seed, i), Label: []string{"land", "sea"}[class], Text: text})
	}
	return set
}

// TestVoteModel: a vote's model agrees with the report, has repeatable bytes, and survives its file.
func TestVoteModel(t *testing.T) {
	for _, opt := range []Options{{Words: 25}, {}} {
		opt.Classifier, opt.Seed, opt.Explain = models.Voting, 4, true
		var files [2]bytes.Buffer
		var m *models.Model
		var rep *Report
		for i := range files {
			var err error
			if m, rep, err = Train(context.Background(), stream(mixed(160, 1)), opt); err != nil {
				t.Fatal(err)
			}
			testkit.Must(t, m.Write(&files[i]))
		}
		if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
			t.Errorf("%d words: the same training gives two models", opt.Words)
		}
		if m.Classifier != models.Voting || m.Vote == nil || len(m.Vote.Members) < 2 || m.Card.Settings["members"] == "" {
			t.Fatalf("%d words: asked for a vote, got %s of %+v", opt.Words, m.Classifier, m.Card.Settings)
		}
		if rep.Accuracy[models.Voting] == 0 || len(rep.Curve) == 0 {
			t.Errorf("%d words: accuracies %v, a learning curve of %d points", opt.Words, rep.Accuracy, len(rep.Curve))
		}
		again := testkit.Call(models.Read(&files[0])).Must(t)
		got := apply(t, m, &Options{}, stream(mixed(80, 2)))
		if read := apply(t, again, &Options{}, stream(mixed(80, 2))); read.Accuracy != got.Accuracy {
			t.Errorf("%d words: accuracy %v, once read %v", opt.Words, got.Accuracy, read.Accuracy)
		}
		if got.Accuracy < 0.75 {
			t.Errorf("%d words: %.3f of new pages right", opt.Words, got.Accuracy)
		}
	}
}

// TestBallotIsModel: a trained vote or stack and its model score alike.
func TestBallotIsModel(t *testing.T) {
	ctx, opt := context.Background(), &Options{Words: 25}
	testkit.Must(t, opt.complete())
	c := testkit.Call(gather(ctx, stream(mixed(80, 1)), opt, &Report{Accuracy: map[string]float64{}})).Must(t)
	half := models.Calibration{Scale: 0.5}
	for _, b := range []struct {
		vote
		shares []float64
	}{
		{vote{members: []voter{
			{learner: linear{}, cal: models.Calibration{Scale: 2, Offset: []float64{0.5, 0}}},
			{learner: c45{}, cal: models.Calibration{Scale: 1}},
			{learner: bayes{}, cal: half},
		}}, []float64{1. / 3, 1. / 3, 1. / 3}},
		{vote{stacked: true, members: []voter{
			{learner: forest{}, cal: models.Calibration{Scale: 2, Offset: []float64{0.5, 0}}, share: 0.5},
			{learner: linear{}, cal: models.Calibration{Scale: 1}, share: 0.375},
			{learner: newCN2(false), cal: half, share: 0.125},
		}}, []float64{0.5, 0.375, 0.125}},
	} {
		f := testkit.Call(b.fit(ctx, c, c.all(), opt.fitting())).Must(t)
		m := f.model(c, b.name(), opt)
		m.Thresholds = []float64{0.5, 0.5}
		m.Calibration.Scale = 1
		testkit.Must(t, m.Check())
		for i, share := range b.shares {
			if m.Vote.Members[i].Share != share {
				t.Errorf("%s: member %d has a share of %v, want %v", b.name(), i+1, m.Vote.Members[i].Share, share)
			}
		}
		ask, scores := asker(m), make([]float64, 2)
		for p, e := range mixed(80, 1) {
			d := testkit.Call(Doc(e)).Must(t)
			f.scores(scores, c, p)
			if got := ask(d); !(math.Abs(math.Exp(scores[0])-got[0]) <= 1e-6) {
				t.Fatalf("%s, page %d: %v in training, %v by the model", b.name(), p, math.Exp(scores[0]), got[0])
			}
		}
	}
}

// TestAutoKeepsUp: on pages that took no part in the choice, auto is at most a point below the best
// classifier. FOSSICK_AUTO=1 also tries selected words, which takes minutes, mostly in golearn.
func TestAutoKeepsUp(t *testing.T) {
	testkit.Only(t, "trains on whole corpora")
	for corpus, selected := range map[string]int{"webkb": 77, "wikispeedia": 77, "20news": 500} {
		for _, words := range []int{0, selected} {
			if words > 0 && os.Getenv("FOSSICK_AUTO") == "" {
				continue
			}
			t.Run(fmt.Sprintf("%s %d words", corpus, words), func(t *testing.T) {
				names := []string{models.LinearSVM, models.NaiveBayes, models.C45}
				if words > 0 {
					names = append(names, models.CN2, models.NN)
				}
				best, got := 0.0, map[string]float64{}
				for _, name := range names {
					got[name] = trainHalf(t, corpus, name, words, 5).Accuracy
					best = max(best, got[name])
				}
				auto := trainHalf(t, corpus, Auto, words, 5)
				t.Logf("accuracy %v; auto chooses %s %s and gets %.4f", got, auto.Classifier, auto.Card.Settings["members"], auto.Accuracy)
				if auto.Accuracy < best-0.01 {
					t.Errorf("auto gets %.4f of the test right, the best by itself %.4f", auto.Accuracy, best)
				}
			})
		}
	}
}

// TestMixture: of 100 pages one member gives .8 to the truth of 70 and .2 to that of 30, the other the
// reverse. The likelihood 70 ln(.2 + .6 w) + 30 ln(.8 − .6 w) is largest where .2 + .6 w = .7,
// so w = 5/6.
func TestMixture(t *testing.T) {
	a, b, y := &nominee{}, &nominee{}, make([]int, 100)
	for p := range y {
		high, low := []float64{0.8, 0.2}, []float64{0.2, 0.8}
		if p >= 70 {
			high, low = low, high
		}
		a.probs, b.probs = append(a.probs, high), append(b.probs, low)
	}
	if share := mixture([]*nominee{a, b}, y); !(math.Abs(share[0]-5.0/6) <= 1e-3) || !(math.Abs(share[0]+share[1]-1) <= 1e-9) {
		t.Errorf("shares %.4f; want .8333 and .1667", share)
	}
}

// TestStackTrains: on new pages a stack's model gives its members' mixture, p_c = Σ_m share_m · p_mc,
// calibrated. No member decides alone, and the stack is no worse than its worst member.
func TestStackTrains(t *testing.T) {
	m, rep, err := Train(context.Background(), stream(mixed(80, 1)), Options{Classifier: models.Stack, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if m.Classifier != models.Stack || m.Vote == nil || rep.Accuracy[models.Trees] == 0 || rep.Accuracy[models.Stack] == 0 {
		t.Fatalf("classifier %s, accuracies %v", m.Classifier, rep.Accuracy)
	}
	sum := 0.0
	var members []func(features.Doc) []float64
	for i, member := range m.Vote.Members {
		sum += member.Share
		if i > 0 && member.Share > m.Vote.Members[i-1].Share {
			t.Errorf("member %d has a larger share than the one before", i)
		}
		members = append(members, asker(member.Model))
	}
	if !(math.Abs(sum-1) <= 1e-9) || len(members) != 3 {
		t.Errorf("shares of %d members add up to %v; want 3, and 1", len(members), sum)
	}
	ask, fresh := asker(m), mixed(1000, 2)
	for _, e := range fresh {
		d := testkit.Call(Doc(e)).Must(t)
		want := make([]float64, len(m.Classes))
		for i, member := range members {
			for class, p := range member(d) {
				want[class] += m.Vote.Members[i].Share * p
			}
		}
		for class, p := range want {
			want[class] = math.Log(p)
		}
		m.Calibration.Apply(want)
		if got := ask(d); !(math.Abs(got[0]-want[0]) <= 1e-9) {
			t.Fatalf("%s: %v; the mixture of members is %v", e.URL, got, want)
		}
	}
	worst := 1.0
	for _, member := range m.Vote.Members {
		worst = min(worst, apply(t, member.Model, &Options{}, stream(fresh)).Accuracy)
	}
	if got := apply(t, m, &Options{}, stream(fresh)).Accuracy; got < worst {
		t.Errorf("%.3f of new pages right, fewer than the worst member's %.3f; %s", got, worst, m.Card.Settings["members"])
	}
}

// TestStackOfTopic: a stack's linear member equals linear alone, because log loss chooses both.
func TestStackOfTopic(t *testing.T) {
	var got [2]*models.Model
	for i, name := range []string{models.LinearSVM, models.Stack} {
		var err error
		if got[i], _, err = Train(t.Context(), stream(mixed(120, 1)), Options{Target: Target{Topic: mixed(1, 1)[0].Label}, Classifier: name, Seed: 1}); err != nil {
			t.Fatal(err)
		}
	}
	alone := got[0]
	for _, member := range got[1].Vote.Members {
		own := member.Model
		if own.Classifier != models.LinearSVM {
			continue
		}
		if !slices.Equal(own.Linear.Weights, alone.Linear.Weights) || own.Calibration.Scale != alone.Calibration.Scale || !slices.Equal(own.Calibration.Offset, alone.Calibration.Offset) {
			t.Errorf("in the stack calibrated by %v, alone by %v", own.Calibration, alone.Calibration)
		}
		return
	}
	t.Error("no linear in the stack")
}
