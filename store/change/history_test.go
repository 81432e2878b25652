package change

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
)

// twoDays is the time between paper E's crawls, in milliseconds.
const twoDays = 2 * 24 * 3600 * 1000

func TestHistory(t *testing.T) {
	visits := []Visit{
		{At: 1.7e12, Took: 200, Rest: 2000, State: "not_modified", Code: 304},
		{At: 1.7e12 + twoDays, Took: 900, Rest: 9000, State: "ok", Code: 200, Change: Text, Modified: 1.7e9 + 5},
		{At: 1.7e12 + 2*twoDays, Took: 900, Rest: 9000, State: "ok", Code: 200, Change: Content},
		{At: 1.7e12 + 2*twoDays, State: "code", Code: 503, Rest: 2000, RetryAfter: 120_000, Own: 120_000},
		{At: 1.7e12 + 3*twoDays, State: "redirect", Code: 301, To: 77},
		{At: 1.7e12 + 4*twoDays, State: "connect_timeout", Took: 30_000, Rest: 300_000},
		{At: 1.7e12 + 5*twoDays, State: "ok", Code: 206, Change: Unsure},
		{At: 1.7e12 + 5*twoDays + 999, State: "ok", Code: 200, Change: Content, Modified: 1.7e9 + 5*twoDays/1000}, // in the same second
		{At: 1.7e12 + 6*twoDays, State: "ok"},                                                                     // a missing code is not the usual one
	}
	var h History
	var err error
	for _, v := range visits {
		if h, err = h.Append(v); err != nil {
			t.Fatalf("%+v: %v", v, err)
		}
	}
	got, err := h.Visits(nil)
	if err != nil || !reflect.DeepEqual(got, visits) || h.Len() != len(visits) {
		t.Errorf("%+v, %v\nwant %+v", got, err, visits)
	}
	for end := range len(h) {
		if some, err := h[:end].Visits(nil); len(some) > len(visits) || err != nil && !errors.Is(err, errDamaged) {
			t.Errorf("the first %d bytes: %d visits, %v", end, len(some), err)
		}
	}
}

func TestHistoryRefuses(t *testing.T) {
	h, err := History(nil).Append(Visit{At: 5000, State: "ok"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		visit Visit
		want  error
	}{
		"an earlier one":    {Visit{At: 4999, State: "ok"}, errNoRoom},
		"an unknown state":  {Visit{At: 5001, State: "asleep"}, ErrUnfit},
		"before 1970":       {Visit{At: -1, State: "ok"}, ErrUnfit},
		"a negative rest":   {Visit{At: 5001, State: "ok", Rest: -1}, ErrUnfit},
		"a change to come":  {Visit{At: 5001, State: "ok", Modified: 6}, ErrUnfit},
		"an unknown change": {Visit{At: 5001, State: "ok", Change: 9}, ErrUnfit},
	} {
		if got, err := h.Append(c.visit); !errors.Is(err, c.want) || !bytes.Equal(got, h) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
	for h.Len() < Most {
		if h, err = h.Append(Visit{At: 6000, State: "ok"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.Append(Visit{At: 7000, State: "ok"}); !errors.Is(err, errNoRoom) {
		t.Errorf("%v of a full history, want %v", err, errNoRoom)
	}
}

// TestHistorySize: with a public crawl's rests, a visit takes little more than ten bytes.
func TestHistorySize(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 19))
	total, n := 0, 1000
	for range n {
		var h History
		at := int64(1.7e12)
		for range 10 {
			at += twoDays + rng.Int64N(3_600_000)
			took := 50 + rng.Int64N(2000)
			v := Visit{At: at, Took: took, Rest: max(2000, 10*took), State: "not_modified", Code: 304}
			if rng.IntN(3) == 0 {
				v.State, v.Code, v.Change = "ok", 200, Text
			}
			h, _ = h.Append(v)
		}
		total += len(h)
	}
	if each := float64(total) / float64(10*n); each > 10.5 {
		t.Errorf("%.2f bytes a visit, want at most 10.5", each)
	}
}

// FuzzHistory: any bytes are refused, or decode and encode to the same bytes.
func FuzzHistory(f *testing.F) {
	h, _ := History(nil).Append(Visit{At: 1.7e12, Took: 9, Rest: 2000, State: "ok", Code: 200, Change: Text})
	h, _ = h.Append(Visit{At: 1.7e12 + twoDays, State: "code", Code: 404, To: 5, RetryAfter: 7, Own: 8, Modified: 1.7e9})
	f.Add([]byte(h))
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{0xff}, 40))
	f.Fuzz(func(t *testing.T, b []byte) {
		visits, err := History(b).Visits(nil)
		var again History
		for _, v := range visits {
			if v.At < 0 {
				t.Fatalf("%+v", v)
			}
			var bad error
			if again, bad = again.Append(v); bad != nil {
				t.Fatalf("%+v was read and cannot be written: %v", v, bad)
			}
		}
		if err == nil && len(visits) > 0 && !bytes.Equal(again, b) {
			t.Errorf("% x is written as % x", b, []byte(again))
		}
	})
}
