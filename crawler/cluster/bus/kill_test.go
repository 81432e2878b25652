package bus

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fossick/crawler/cluster"
	"fossick/internal/testkit"
)

// process is a server in its own process, which a test can kill.
type process struct {
	Options ServeOptions
	Keys    string // folder of the keys

	command *exec.Cmd
	input   io.Closer // the process ends when this closes, so it cannot survive the test
}

// serverEnv holds a process as JSON, for a run of this test binary as a server.
const serverEnv = "FOSSICK_TEST_BUS_SERVER"

func TestMain(m *testing.M) {
	text := os.Getenv(serverEnv)
	if text == "" {
		cache, err := os.MkdirTemp("", "fossick-bus-*") // for keys of this machine
		if err == nil {
			err = os.Setenv("XDG_CACHE_HOME", cache)
		}
		if err != nil {
			panic(err)
		}
		code := m.Run()
		os.RemoveAll(cache)
		os.Exit(code)
	}
	var p process
	err := json.Unmarshal([]byte(text), &p)
	if err == nil {
		p.Options.Secrets, err = ReadSecrets(p.Keys, time.Now())
	}
	if err == nil {
		_, err = Serve(p.Options)
	}
	fmt.Println("serving", err)
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}

func (p *process) start(t *testing.T) {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	p.command = exec.Command(os.Args[0])
	p.command.Env = append(os.Environ(), serverEnv+"="+string(text))
	input, err := p.command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.input = input
	output, err := p.command.StdoutPipe()
	if err == nil {
		err = p.command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(output).ReadString('\n'); err != nil || line != "serving <nil>\n" {
		t.Fatalf("a server says %q, %v", line, err)
	}
}

func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.command.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = p.command.Wait() // reports the kill
}

// TestKill kills servers, each time the leader, while agents count by compare-and-swap. Each step
// counts once, even if its answer was lost.
func TestKill(t *testing.T) {
	testkit.Only(t, "kills servers for half a minute")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	names := []string{"a", "b", "c"}
	made := testkit.Call(Init(t.TempDir(), names, time.Now())).Must(t)
	at := []string{freeAddress(t), freeAddress(t), freeAddress(t)}
	servers := map[cluster.AgentID]*process{}
	var urls []string
	for i := range names {
		id := agentID(1000 + i)
		clients := freeAddress(t)
		p := &process{Options: ServeOptions{Crawl: "bees", Agent: id, Dir: t.TempDir(), Clients: clients, Routes: at[i], Peers: at}, Keys: made.Folders[i]}
		p.start(t)
		defer p.kill(t)
		servers[id], urls = p, append(urls, "nats://"+clients)
	}
	keys := testkit.Call(ReadSecrets(made.Folders[0], time.Now())).Must(t)
	open := func(n int) *Bus {
		return opened(t, Options{Agent: agentID(n), URL: strings.Join(urls, ","), Secrets: keys})
	}
	watcher := open(100)
	t.Logf("idle: %s", memory(servers))
	counting, stop := context.WithCancel(ctx)
	var counted atomic.Uint64
	var unsure atomic.Uint64 // swaps under way at the end
	var wait sync.WaitGroup
	for n := range 4 {
		agent := open(n)
		wait.Go(func() {
			for counting.Err() == nil {
				switch err := count(counting, agent, "count"); {
				case err == nil:
					counted.Add(1)
				case counting.Err() != nil:
					unsure.Add(1)
				default:
					t.Errorf("count: %v", err)
					return
				}
			}
		})
	}
	for range 5 {
		led := servers[leader(ctx, t, watcher)]
		begun := time.Now()
		led.kill(t)
		testkit.Must(t, count(ctx, watcher, "other"))
		t.Logf("%v after a kill -9 a value was written", time.Since(begun))
		led.start(t)
		current(ctx, t, watcher)
	}
	stop()
	wait.Wait()
	all := testkit.Call(watcher.Values(ctx)).Must(t)
	got, least := counterOf(all["count"]), counted.Load()
	if got < least || got > least+unsure.Load() {
		t.Errorf("%d steps are counted of %d, and %d under way", got, least, unsure.Load())
	}
	t.Logf("%d steps; %s", least, memory(servers))

	message := make([]byte, 1<<10)
	for sent := range 200_000 {
		testkit.Must(t, watcher.Send(ctx, agentID(sent%4), message))
	}
	if _, err := watcher.Values(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	t.Logf("after 200,000 messages that nobody reads: %s", memory(servers))
}

// memory returns the servers' resident memory, where the system reports it.
func memory(servers map[cluster.AgentID]*process) string {
	var all []string
	for _, p := range servers {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
		if err != nil {
			return "memory unknown"
		}
		for line := range strings.Lines(string(text)) {
			if size, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				all = append(all, strings.TrimSpace(size))
			}
		}
	}
	return strings.Join(all, ", ")
}
