package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fossick/crawler/cluster"
	"fossick/crawler/cluster/bus"
	"fossick/internal/testkit"
)

// box is a machine of a crawl: an agent with its own disk. The last machine's exchange
// server is a separate process; the other agents embed theirs.
type box struct {
	t      *testing.T
	net    *netLab
	number int
	disk   string // its own file system
	keys   string
	args   []string // the agent's command line
	serve  *broker  // the separate server's options; nil if the agent serves
	agent  *running
	broker *running        // the separate server
	name   cluster.AgentID // "" until the agent has printed it
	failed []string        // last lines of agents that failed
}

type running struct {
	cmd            *exec.Cmd
	stdout, stderr buffer
	stdin          interface{ Close() error }
	ended          chan struct{} // closed when the process has ended
	err            error         // of Wait, set before ended is closed
}

// buffer collects a process's output while a test reads it.
type buffer struct {
	mu  sync.Mutex
	all bytes.Buffer // guarded by mu
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

func (r *running) alive() bool {
	if r == nil {
		return false
	}
	select {
	case <-r.ended:
		return false
	default:
		return true
	}
}

// signal sends a signal; it is no error if the process has ended.
func (r *running) signal(s syscall.Signal) { _ = r.cmd.Process.Signal(s) }

func (r *running) kill() {
	if r.alive() {
		r.signal(unix.SIGKILL)
		<-r.ended
	}
}

// launch starts this test binary on the machine, in the role that environment sets.
func (b *box) launch(environment string, args ...string) *running {
	b.t.Helper()
	r := &running{cmd: b.net.command(b.number, append([]string{os.Args[0]}, args...)...), ended: make(chan struct{})}
	r.cmd.Env = append(os.Environ(), environment)
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL}
	stdin, err := r.cmd.StdinPipe()
	if err == nil {
		err = r.cmd.Start()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	r.stdin = stdin
	go func() {
		r.err = r.cmd.Wait()
		close(r.ended)
	}()
	return r
}

// start starts the server and the agent unless they run or the agent has finished.
func (b *box) start() {
	b.t.Helper()
	if b.serve != nil && !b.broker.alive() {
		text, err := json.Marshal(b.serve)
		if err != nil {
			b.t.Fatal(err)
		}
		b.broker = b.launch(beBroker + "=" + string(text))
	}
	if !b.agent.alive() && !b.finished() {
		if b.agent != nil && b.agent.err != nil && !strings.Contains(b.agent.err.Error(), "killed") {
			b.failed = append(b.failed, lastLine(b.agent.stderr.String()))
		}
		b.agent = b.launch(beMain+"=1", b.args...)
	}
}

// finished says whether the agent has ended because the crawl is over.
func (b *box) finished() bool {
	return b.agent != nil && !b.agent.alive() && b.agent.err == nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// kill kills all processes of the machine with SIGKILL.
func (b *box) kill() {
	b.agent.kill()
	if b.broker != nil {
		b.broker.kill()
	}
}

var agentSays = regexp.MustCompile(`agent ([0-9a-f]{16}) of the crawl`)

// id returns the agent's name in the exchange, "" until the agent has printed it.
func (b *box) id() cluster.AgentID {
	if m := agentSays.FindStringSubmatch(b.agent.stderr.String()); m != nil {
		b.name = cluster.AgentID(m[1])
	}
	return b.name
}

// fill takes all space that is left on the machine's disk, until free.
func (b *box) fill() (free func()) {
	b.t.Helper()
	path := filepath.Join(b.disk, "others")
	f, err := os.Create(path)
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	size := int64(0)
	for step := int64(64 << 20); step >= 4096; { // the agent takes space meanwhile
		if err := unix.Fallocate(int(f.Fd()), 0, size, step); err != nil {
			step /= 2
			continue
		}
		size += step
	}
	return func() {
		if err := os.Remove(path); err != nil {
			b.t.Fatal(err)
		}
	}
}

// The crawl's manners; the lease is the default of 10 s.
const (
	boxRest    = 500 * time.Millisecond
	boxTimeout = 3 * time.Second
	boxWorkers = 8
)

// newBoxes prepares the machines for a crawl of the web at addr.
func newBoxes(t *testing.T, net *netLab, addr string) (boxes []*box) {
	t.Helper()
	keys := filepath.Join(t.TempDir(), "keys")
	testkit.Call(bus.Init(keys, net.addrs, time.Now())).Must(t)
	var routes []string
	for _, a := range net.addrs {
		routes = append(routes, a+":7422")
	}
	for i, at := range net.addrs {
		b := &box{t: t, net: net, number: i, disk: mount(t, "600m"), keys: filepath.Join(keys, at)}
		b.args = []string{
			"agent", "--json", "--topic", "all", "--keywords", "the,of,and", "--threshold", "0", "--also", "near-duplicates",
			"--max-pages", "1000000", "--seed", "http://h0.test/0", "--seed", "http://h1.test/0", "--proxy", "http://" + addr, "--store", b.store(),
			"--delay", boxRest.String(), "--timeout", boxTimeout.String(), "--workers", fmt.Sprint(boxWorkers),
			"--contact", b.contact(), "--keys", b.keys,
		}
		if i < len(net.addrs)-1 {
			b.args = append(b.args, "--route", routes[i], "--peers", strings.Join(routes, ","), "--local", "4222")
		} else {
			b.args = append(b.args, "--nats", "nats://127.0.0.1:4222")
			b.serve = &broker{Keys: b.keys, Options: bus.ServeOptions{
				Crawl: "all", Agent: "0123456789abcdef", Dir: filepath.Join(b.disk, "broker"), Clients: "127.0.0.1:4222", Routes: routes[i], Peers: routes,
			}}
		}
		t.Cleanup(func() {
			if b.agent != nil {
				b.kill()
			}
		})
		boxes = append(boxes, b)
	}
	return boxes
}

func (b *box) store() string { return filepath.Join(b.disk, "crawl") }

// contact marks the machine's requests in the server's log.
func (b *box) contact() string { return fmt.Sprintf("box%d@faults.test", b.number) }
