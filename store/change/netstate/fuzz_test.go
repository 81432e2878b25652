package netstate

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// FuzzPredictor: whatever was visited when, with clocks set back and years between, chances
// are chances, and the same visits make the same ones.
func FuzzPredictor(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 1, 1, 10, 0, 2, 1, 200})
	f.Add([]byte{7, 3, 255, 255, 7, 3, 0, 0, 7, 0, 128, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		a, b := New(Options{URLs: 4, Hosts: 2}), New(Options{URLs: 4, Hosts: 2})
		at := start
		for ; len(data) >= 4; data = data[4:] {
			at = at.Add(time.Duration(int8(data[2])) * time.Duration(1+int(data[3])*int(data[3])) * time.Minute)
			v := Visit{URL: fmt.Sprint(data[0] % 32), Host: fmt.Sprint(data[0] % 8), At: at, Outcome: Outcome(data[1] % 5)}
			c := a.Chance(v.URL, v.Host, v.At)
			if !(c > 0 && c < 1) || math.IsNaN(c) || c != b.Chance(v.URL, v.Host, v.At) {
				t.Fatalf("%+v: chance %g", v, c)
			}
			a.Learn(v)
			b.Learn(v)
		}
	})
}

// TestFirstChances: before anything is learned they are about paper E's, and a failing host
// makes a URL of it worse.
func TestFirstChances(t *testing.T) {
	p := New(Options{})
	if c := p.Chance("u", "h", start); math.Abs(c-newcome) > .08 {
		t.Errorf("of a new URL %.3f, want about %.3f", c, newcome)
	}
	day := 48 * time.Hour
	p.Learn(Visit{"ok", "h", start, OK})
	p.Learn(Visit{"bad", "g", start, Transient})
	good, bad := p.Chance("ok", "h", start.Add(day)), p.Chance("bad", "g", start.Add(day))
	if good < .9 || bad > .5 {
		t.Errorf("after a success %.3f, after a failure %.3f; want about %.3f and %.3f", good, bad, firstSS, 1-firstFF)
	}
	if other := p.Chance("new", "g", start.Add(time.Minute)); other >= p.Chance("new", "h", start.Add(time.Minute)) {
		t.Errorf("a new URL of a host that failed has %.3f", other)
	}
}

// TestBounded: a predictor forgets URLs and hosts beyond its bounds.
func TestBounded(t *testing.T) {
	p := New(Options{URLs: 50, Hosts: 10})
	for i := range 1000 {
		p.Learn(Visit{fmt.Sprint("u", i), fmt.Sprint("h", i), start.Add(time.Duration(i) * time.Second), OK})
	}
	n, m := 0, 0
	for range p.urls.All() {
		n++
	}
	for range p.hosts.All() {
		m++
	}
	if n < 50 || n > 100 || m < 10 || m > 20 {
		t.Errorf("%d URLs and %d hosts are remembered", n, m)
	}
}

// BenchmarkPredictor: a chance, and what is learned of the visit.
func BenchmarkPredictor(b *testing.B) {
	p := New(Options{})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		v := Visit{"http://a.test/some/page", "a.test:80", start.Add(time.Duration(i) * time.Minute), Outcome(i % 2)}
		p.Chance(v.URL, v.Host, v.At)
		p.Learn(v)
	}
}
