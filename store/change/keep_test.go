package change

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestKept: a restored predictor gives the same chances.
func TestKept(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	a, b := NewPredictor(PredictorOptions{}), NewPredictor(PredictorOptions{})
	var visits []Attempt
	for i := range 3000 {
		host := r.IntN(20)
		v := Attempt{URL: fmt.Sprint(host, "/", r.IntN(5)), Host: fmt.Sprint(host), At: start.Add(time.Duration(i) * 7 * time.Minute)}
		if r.IntN(20) < host {
			v.Outcome = Outcome(1 + r.IntN(2))
		}
		a.Learn(v)
		visits = append(visits, v)
	}
	if err := b.Restore(a.Kept()); err != nil {
		t.Fatal(err)
	}
	flawless := 0
	for host := range 20 {
		name := fmt.Sprint(host)
		kept := a.KeptHost(name)
		if a.Flawless(name) != (kept == nil) {
			t.Errorf("host %d is flawless: %v, but %d bytes are kept", host, a.Flawless(name), len(kept))
		}
		if kept == nil {
			flawless++
			continue
		}
		if len(kept) > 90 {
			t.Errorf("host %d takes %d bytes", host, len(kept))
		}
		if err := b.RestoreHost(name, kept); err != nil {
			t.Fatal(err)
		}
		at := start.Add(time.Duration(r.IntN(1000)) * time.Hour)
		for page := range 5 {
			url := fmt.Sprint(host, "/", page)
			var own []Attempt
			for _, v := range visits {
				if v.URL == url {
					own = append(own, v)
				}
			}
			want := a.Chance(url, name, at)
			if x, y := a.ChanceOf(own, name, at), b.ChanceOf(own, name, at); x != want || y != want {
				t.Errorf("%s: chances %g and %g, want %g", url, x, y, want)
			}
		}
	}
	if flawless != 1 { // host 0
		t.Errorf("%d hosts are flawless", flawless)
	}
}

// TestChanceAfter: a visit not yet learned counts for its URL and its host.
func TestChanceAfter(t *testing.T) {
	p := NewPredictor(PredictorOptions{})
	failed := Attempt{"u", "h", start, transient}
	before, soon := p.Chance("u", "h", start), start.Add(time.Minute)
	after := p.ChanceAfter(failed, soon)
	if after >= before || p.Chance("u", "h", start) != before || after != p.ChanceOf([]Attempt{failed}, "h", soon) && after > .6 {
		t.Errorf("%g, then %g", before, after)
	}
}

func TestOutcomeOf(t *testing.T) {
	for _, c := range []struct {
		state string
		code  int
		want  Outcome
		told  bool
	}{
		{"ok", 200, OK, true}, {"not_modified", 304, OK, true}, {"duplicate", 200, OK, true}, {"redirect", 301, OK, true},
		{"code", 503, transient, true}, {"code", 429, transient, true}, {"code", 404, permanent, true}, {"code", 410, permanent, true},
		{"too_large", 200, permanent, true}, {"connect_timeout", 0, transient, true}, {"no_ip", 0, transient, true},
		{"robots_denied", 0, OK, false}, {"trap", 0, OK, false},
	} {
		if o, told := OutcomeOf(c.state, c.code); told != c.told || told && o != c.want {
			t.Errorf("%s %d: %d, %v", c.state, c.code, o, told)
		}
	}
}

// FuzzRestore: any bytes are refused or round-trip, and chances stay in [0,1].
func FuzzRestore(f *testing.F) {
	p := NewPredictor(PredictorOptions{})
	p.Learn(Attempt{"u", "h", start, transient})
	f.Add(p.KeptHost("h"), p.Kept())
	f.Add([]byte{}, []byte{1})
	f.Fuzz(func(t *testing.T, host, all []byte) {
		p := NewPredictor(PredictorOptions{})
		for _, err := range []error{p.RestoreHost("h", host), p.Restore(all)} {
			if err != nil && !errors.Is(err, errKept) {
				t.Fatal(err)
			}
		}
		if c := p.Chance("u", "h", start); !(c > 0 && c < 1) {
			t.Fatalf("chance %g", c)
		}
	})
}
