package cluster

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestInOrder: over a lossy, doubling, reordering connection frames arrive once and in order,
// within the window.
func TestInOrder(t *testing.T) {
	const window, count = 8, 300
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		sent, now := sentFrames{resend: time.Second}, time.Unix(0, 0)
		var taken takenFrames[string]
		type onWay struct {
			number uint64 // 0: an answer
			text   string
			ack    uint64
		}
		var way []onWay
		put := func(w onWay) {
			for range r.IntN(3) {
				way = append(way, w)
			}
		}
		var got []string
		for steps := 0; len(got) < count || len(sent.frames) > 0; steps++ {
			if steps > 1_000_000 {
				t.Fatalf("seed %d: %d of %d came", seed, len(got), count)
			}
			now = now.Add(100 * time.Millisecond)
			if n := sent.next(); n <= count && len(sent.frames) < window {
				text := fmt.Sprint("frame ", n)
				sent.add(now, []byte(text))
				put(onWay{number: n, text: text})
			}
			frames, _ := sent.again(now)
			for i, b := range frames {
				put(onWay{number: sent.acked + 1 + uint64(i), text: string(b)})
			}
			if len(way) == 0 {
				continue
			}
			i := r.IntN(len(way))
			w := way[i]
			way[i] = way[len(way)-1]
			if way = way[:len(way)-1]; w.number == 0 {
				sent.ack(now, w.ack)
				continue
			}
			taken.put(w.number, w.text, window)
			for text, ok := taken.next(); ok; text, ok = taken.next() {
				got = append(got, text)
				taken.take()
			}
			if len(taken.ahead) > window {
				t.Fatalf("seed %d: %d frames ahead", seed, len(taken.ahead))
			}
			put(onWay{ack: taken.last})
		}
		for i, text := range got {
			if want := fmt.Sprint("frame ", i+1); text != want {
				t.Fatalf("seed %d: %q came as number %d", seed, text, i+1)
			}
		}
	}
}
