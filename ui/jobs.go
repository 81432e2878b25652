package ui

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"fossick/internal/cli"
)

// Bounds of commands.
const (
	mostJobs = 4                // at the same time; a crawl takes up to 512 MB
	mostSaid = 16 << 10         // bytes of output that are kept of each
	mostKept = 100              // that ended and are still listed
	stopTime = 60 * time.Second // for a crawl to end after an interrupt
)

// jobs are the commands that the page started. It is safe for concurrent use.
type jobs struct {
	mu     sync.Mutex // guards the fields below
	all    []*job     // in order of their start
	last   int        // number of the latest
	closed bool
}

// job is a command in a process of its own. A goroutine waits for the process, and closes done.
type job struct {
	id   int
	kind string
	line string
	dir  string // its store; "" if it has none
	at   time.Time
	cmd  *exec.Cmd
	done chan struct{}

	mu       sync.Mutex // guards the fields below
	said     []byte     // the last of its output
	state    string     // running, stopping, done, stopped or failed
	web      string     // address that serve printed
	stopping bool
}

type jobInfo struct {
	ID    int       `json:"id"`
	Kind  string    `json:"kind"`
	Line  string    `json:"line"`
	Dir   string    `json:"dir"`
	State string    `json:"state"`
	Text  string    `json:"text"`  // the last of its output
	Store *int      `json:"store"` // index in /api/stores; null before there is one
	Began time.Time `json:"began"`
}

// Write keeps the end of the command's output.
func (j *job) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.said = append(j.said, b...)
	if m := webAddress.FindSubmatch(j.said); j.kind == "web" && m != nil {
		j.web = string(m[1])
	}
	if over := len(j.said) - mostSaid; over > 0 {
		j.said = slices.Delete(j.said, 0, over)
	}
	return len(b), nil
}

func (j *job) info() jobInfo {
	j.mu.Lock()
	defer j.mu.Unlock()
	return jobInfo{ID: j.id, Kind: j.kind, Line: j.line, Dir: j.dir, State: j.state, Text: strings.ToValidUTF8(string(j.said), "\ufffd"), Began: j.at}
}

func (j *job) running() bool {
	select {
	case <-j.done:
		return false
	default:
		return true
	}
}

// start runs a command. The demo's web counts apart: it is started once.
func (all *jobs) start(program, kind string, args []string, dir string) (*job, error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	n := 0
	for _, j := range all.all {
		switch {
		case !j.running():
		case kind == "web" && j.kind == "web":
			return j, nil
		case dir != "" && j.dir == dir:
			return nil, cli.Usagef("%s is in use by: %s", dir, j.line)
		case j.kind != "web":
			n++
		}
	}
	switch {
	case all.closed:
		return nil, cli.Usagef("fossick ui is ending; start it again")
	case n >= mostJobs && kind != "web":
		return nil, cli.Usagef("%d commands run, and more would slow each other down; stop one, or wait until one ends", n)
	}
	all.last++
	j := &job{id: all.last, kind: kind, line: line(args), dir: dir, at: time.Now().UTC(), done: make(chan struct{}), state: "running"}
	j.cmd = exec.Command(program, args...)
	j.cmd.Stdout, j.cmd.Stderr, j.cmd.WaitDelay = j, j, time.Second
	j.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C in the terminal is for the server, which passes it on once
	j.cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "FOSSICK_UI_PASSWORD=") })
	j.cmd.Env = append(j.cmd.Env, cli.WithParent+"=1")
	if _, err := j.cmd.StdinPipe(); err != nil { // nothing is written: the system closes it when this process ends
		return nil, err
	}
	if err := j.cmd.Start(); err != nil {
		return nil, err
	}
	all.all = append(all.all, j)
	if len(all.all) > mostKept {
		if i := slices.IndexFunc(all.all, func(j *job) bool { return !j.running() }); i >= 0 {
			all.all = slices.Delete(all.all, i, i+1)
		}
	}
	go j.wait()
	return j, nil
}

// interrupted is the exit code of a command that was interrupted.
const interrupted = 130

func (j *job) wait() {
	err := j.cmd.Wait()
	var exit *exec.ExitError
	j.mu.Lock()
	switch {
	case err == nil:
		j.state = "done"
	case errors.As(err, &exit) && (exit.ExitCode() == interrupted || j.stopping):
		j.state = "stopped"
	default:
		j.state = "failed"
	}
	j.web = ""
	j.mu.Unlock()
	close(j.done)
}

// stop interrupts a command, as Ctrl-C does; a second interrupt would lose what it finishes.
func (j *job) stop() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.stopping || j.state != "running" {
		return
	}
	j.stopping, j.state = true, "stopping"
	_ = j.cmd.Process.Signal(os.Interrupt) // it may just have ended
}

// list returns the commands, the latest first.
func (all *jobs) list() []*job {
	all.mu.Lock()
	defer all.mu.Unlock()
	list := slices.Clone(all.all)
	slices.Reverse(list)
	return list
}

func (all *jobs) of(id int) *job {
	for _, j := range all.list() {
		if j.id == id {
			return j
		}
	}
	return nil
}

// web returns the address of the demo's web; "" while it does not run.
func (all *jobs) web() string {
	for _, j := range all.list() {
		j.mu.Lock()
		addr := j.web
		j.mu.Unlock()
		if addr != "" {
			return addr
		}
	}
	return ""
}

// end stops all commands: crawls first, which may still ask the demo's web. One that does not end in
// time is killed. ended gets each store whose crawl was stopped.
func (all *jobs) end(within time.Duration, ended func(dir string)) {
	all.mu.Lock()
	all.closed = true
	all.mu.Unlock()
	for _, web := range []bool{false, true} {
		var stopped []*job
		for _, j := range all.list() {
			if j.running() && (j.kind == "web") == web {
				j.stop()
				stopped = append(stopped, j)
			}
		}
		late := time.After(within)
		for _, j := range stopped {
			select {
			case <-j.done:
			case <-late:
				late = time.After(0)
				_ = syscall.Kill(-j.cmd.Process.Pid, syscall.SIGKILL) // it may just have ended
				<-j.done
			}
			if (j.kind == "crawl" || j.kind == "resume") && j.info().State != "done" {
				ended(j.dir)
			}
		}
	}
}
