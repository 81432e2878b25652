package change

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Trial replays past visits to the predictor, as if each had been predicted, and scores the
// chances. Visits may be added in any order. The zero value works.
//
// It keeps at most mostTried visits of 24 bytes. If there are more, it keeps all visits of hosts
// drawn by the hash of their names.
type Trial struct {
	visits []tried
	least  uint64 // least hash of a kept host
	all    int
}

const mostTried = 1 << 20

type tried struct {
	url, host uint64
	at        int64 // Unix seconds times four, plus the outcome
}

func (t *Trial) Add(v Attempt) {
	if v.Outcome > permanent {
		return
	}
	t.all++
	host := mixBits(key(v.Host))
	if host < t.least {
		return
	}
	t.visits = append(t.visits, tried{key(v.URL), host, v.At.Unix()<<2 | int64(v.Outcome)})
	for len(t.visits) > mostTried && t.least < math.MaxUint64-1<<20 {
		t.least += (math.MaxUint64 - t.least) / 2
		t.visits = slices.DeleteFunc(t.visits, func(x tried) bool { return x.host < t.least })
	}
}

// mixBits mixes a key's bits (Stafford's variant 13 of MurmurHash3).
func mixBits(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Score measures chances of revisits by mean squared errors (Brier 1950); less is better.
type Score struct {
	Visits int     // visits scored
	Of     int     // all visits, including first ones and those of hosts left out
	Brier  float64 // of the predictor
	Chain  float64 // of paper E's two-state chain: SS = .9638, FF = .7426
	Last   float64 // of "as last time"
	Off    float64 // mean distance between chances and shares of successes over the bins, weighted by visits
	Bins   [10]bin
}

// bin holds the visits whose chance lay in one tenth of [0,1].
type bin struct {
	Visits, Good int
	Mean         float64 // of the chances; 0 without visits
}

func (t *Trial) Score() Score {
	s := Score{Of: t.all}
	slices.SortStableFunc(t.visits, func(a, b tried) int {
		return cmp.Or(cmp.Compare(a.at>>2, b.at>>2), cmp.Compare(a.url, b.url))
	})
	p := NewPredictor(PredictorOptions{})
	for _, v := range t.visits {
		at, o := time.Unix(v.at>>2, 0), Outcome(v.at&3)
		u, h := p.peekKeys(v.url, v.host)
		if u.last != unknown {
			s.add(p.chance(&u, &h, at), u.last, o)
		}
		p.learn(v.url, v.host, at, o)
	}
	if s.Visits == 0 {
		return s
	}
	n := float64(s.Visits)
	s.Brier, s.Chain, s.Last = s.Brier/n, s.Chain/n, s.Last/n
	for i := range s.Bins {
		b := &s.Bins[i]
		s.Off += math.Abs(b.Mean-float64(b.Good)) / n
		if b.Visits > 0 {
			b.Mean /= float64(b.Visits)
		}
	}
	return s
}

func (s *Score) add(chance float64, before, now Outcome) {
	truth := float64(index(now == OK))
	square := func(x float64) float64 { return (x - truth) * (x - truth) }
	s.Visits++
	s.Brier += square(chance)
	s.Chain += square(firstAfter(before))
	s.Last += square(float64(index(before == OK)))
	b := &s.Bins[min(int(chance*10), 9)]
	b.Visits, b.Good, b.Mean = b.Visits+1, b.Good+index(now == OK), b.Mean+chance
}
