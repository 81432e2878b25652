package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"fossick/crawler/urlfrontier/api"
	"fossick/internal/testkit"
)

// TestKillFrontier kills a frontier repeatedly while URLs are put. After a restart it knows every
// acknowledged URL, and returns those that it handed out and did not get back.
func TestKillFrontier(t *testing.T) {
	testkit.Only(t, "kills many processes")
	t.Parallel()
	const kills = 8
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(9, 9))
	acked := map[string]bool{} // URL → completed
	for life := range kills {
		addr, kill := startFrontier(t, dir)
		c := newFrontierClient(t, addr)
		checkAcked(t, c, acked, life)
		c.take(&api.GetParams{MaxUrlsPerQueue: 50, DelayRequestable: 3600}) // never put back
		var items []*api.URLItem
		for i := range 20_000 {
			info := &api.URLInfo{Url: fmt.Sprintf("http://h%d.test/%d/%d", i%50, life, i)}
			if items = append(items, foundURL(info)); i%5 == 0 {
				items = append(items, knownURL(&api.URLInfo{Url: info.GetUrl()}))
			}
		}
		go func() {
			time.Sleep(time.Duration(100+rng.IntN(600)) * time.Millisecond)
			kill()
		}()
		n := 0
		err := c.put(items, func(item *api.URLItem, status api.AckMessage_Status) {
			if status != api.AckMessage_OK {
				t.Errorf("life %d: %v has status %v", life, item, status)
			}
			n++
			if known := item.GetKnown(); known != nil {
				acked[known.GetInfo().GetUrl()] = true
			} else {
				acked[item.GetDiscovered().GetInfo().GetUrl()] = false
			}
		})
		t.Logf("life %d: %d of %d acknowledged, then %v", life, n, len(items), err)
		kill()
	}
	addr, kill := startFrontier(t, dir)
	defer kill()
	checkAcked(t, newFrontierClient(t, addr), acked, kills)
}

func checkAcked(t *testing.T, c frontierClient, acked map[string]bool, life int) {
	t.Helper()
	completed, waiting := 0, 0
	for url, done := range acked {
		if done {
			completed++
		} else {
			waiting++
		}
		if (completed+waiting)%97 == 0 { // in map order: a different sample each time
			item := new(api.URLItem)
			c.ask("GetURLStatus", &api.URLStatusRequest{Url: url}, item)
			if done && item.GetKnown().GetRefetchableFromDate() != 0 { // the opposite is no error: the acknowledgement was lost
				t.Errorf("life %d: %s is not completed, as it was acknowledged", life, url)
			}
		}
	}
	stats := new(api.Stats)
	c.ask("GetStats", &api.QueueWithinCrawlParams{}, stats)
	if all := stats.GetSize() + stats.GetCounts()["completed"]; all < uint64(len(acked)) || stats.GetCounts()["completed"] < uint64(completed) {
		t.Errorf("life %d: %d URLs, %d completed; %d and %d were acknowledged", life, all, stats.GetCounts()["completed"], len(acked), completed)
	}
	if stats.GetInProcess() != 0 {
		t.Errorf("life %d: %d URLs are still handed out", life, stats.GetInProcess())
	}
}

var frontierAddr = regexp.MustCompile(`frontier at (127\.0\.0\.1:\d+)`)

// startFrontier starts a process that serves the frontier in a folder, and waits until it listens.
func startFrontier(t *testing.T, dir string) (addr string, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "frontier", "--store", dir, "--topic", "banking", "--addr", "127.0.0.1:0")
	cmd.Env, cmd.Stderr = append(os.Environ(), beMain+"=1"), os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	kill = func() {
		_ = cmd.Process.Kill() // it may have ended
		<-ended
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := frontierAddr.FindStringSubmatch(lines.Text()); m != nil {
			addr = m[1]
			break
		}
	}
	go func() {
		_ = cmd.Wait() // the error is the kill
		close(ended)
	}()
	t.Cleanup(kill)
	if addr == "" {
		t.Fatal("the frontier does not say where it listens")
	}
	return addr, kill
}

// frontierClient calls a frontier as a crawler in another language does.
type frontierClient struct {
	t    *testing.T
	conn *grpc.ClientConn
}

const frontierService = "/urlfrontier.URLFrontier/"

func newFrontierClient(t *testing.T, addr string) frontierClient {
	t.Helper()
	conn := testkit.Call(grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))).Must(t)
	t.Cleanup(func() { conn.Close() })
	return frontierClient{t, conn}
}

func (c frontierClient) ask(call string, in, out any) {
	c.t.Helper()
	if err := c.conn.Invoke(c.t.Context(), frontierService+call, in, out); err != nil {
		c.t.Fatalf("%s: %v", call, err)
	}
}

// put sends URLs and calls acked for each acknowledged one, in order, until the frontier ends.
func (c frontierClient) put(items []*api.URLItem, acked func(item *api.URLItem, status api.AckMessage_Status)) error {
	s, err := c.conn.NewStream(c.t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, frontierService+"PutURLs")
	if err != nil {
		return err
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for _, item := range items {
			if s.SendMsg(item) != nil {
				return // the receiver gets the error
			}
		}
		_ = s.CloseSend() // likewise
	}()
	defer func() { <-sent }()
	for i := 0; ; i++ {
		ack := new(api.AckMessage)
		if err := s.RecvMsg(ack); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		acked(items[i], ack.GetStatus())
	}
}

func (c frontierClient) take(p *api.GetParams) (all []*api.URLInfo) {
	c.t.Helper()
	s, err := c.conn.NewStream(c.t.Context(), &grpc.StreamDesc{ServerStreams: true}, frontierService+"GetURLs")
	if err == nil {
		err = errors.Join(s.SendMsg(p), s.CloseSend())
	}
	for err == nil {
		info := new(api.URLInfo)
		if err = s.RecvMsg(info); err == nil {
			all = append(all, info)
		}
	}
	if !errors.Is(err, io.EOF) {
		c.t.Fatal(err)
	}
	return all
}

func foundURL(info *api.URLInfo) *api.URLItem {
	return &api.URLItem{Item: &api.URLItem_Discovered{Discovered: &api.DiscoveredURLItem{Info: info}}}
}

func knownURL(info *api.URLInfo) *api.URLItem {
	return &api.URLItem{Item: &api.URLItem_Known{Known: &api.KnownURLItem{Info: info}}}
}
