package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"

	"fossick/internal/fulltest"
)

// beMain makes the test binary behave as fossick, for tests that kill it.
const beMain = "FOSSICK_TEST_BE_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(beMain) != "" {
		main()
		return
	}
	// The keys of agents on one machine are not to be among the developer's own.
	if err := os.Setenv("XDG_CACHE_HOME", filepath.Join(os.TempDir(), fmt.Sprintf("fossick-test-%d", os.Getuid()))); err != nil {
		panic(err)
	}
	// Most starts are short and of little memory, and would spend a tenth of their time on
	// collecting it. Those that be main above have their own.
	debug.SetGCPercent(400)
	// Half of what these tests do is waiting, for a server or a rest: twice as many run at
	// once as there are processors, unless -parallel says otherwise.
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"fossick": main})
}

// TestScripts runs testdata/script: the command line as users and other programs
// see it, one behaviour a file. Lines that begin with [full] run when everything is
// asked for.
func TestScripts(t *testing.T) {
	// Tests that were started by nohup would hand its deafness down to every fossick.
	hangUps := make(chan os.Signal, 1)
	signal.Notify(hangUps, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangUps) })
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: serveDemo, Condition: isFull, Cmds: map[string]func(*testscript.TestScript, bool, []string){
		"serveset": serveSetCmd, "pack": pack, "damage": damage, "losebody": loseBody, "misuse": misuse,
		"bucket": bucketCmd, "fetchobjects": fetchCmd, "sameobjects": sameObjectsCmd,
	}})
}

// misuse ARGUMENT... gives fossick a command line that it shall refuse with the exit
// code for that, before it opens anything. It runs in this process, for there are a
// hundred such lines and a start costs as much as the whole refusal thirty times.
func misuse(ts *testscript.TestScript, neg bool, args []string) {
	if code := run(context.Background(), args, ts.Stdout(), ts.Stderr()); neg || code != exitUsage {
		ts.Fatalf("fossick %s ended with %d, want %d", strings.Join(args, " "), code, exitUsage)
	}
}

// isFull knows the condition [full] of scripts.
func isFull(condition string) (bool, error) {
	if condition != "full" {
		return false, fmt.Errorf("unknown condition [%s]", condition)
	}
	return fulltest.Asked(), nil
}

// pack FILE NAME.gz|NAME.zst compresses a file.
func pack(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: pack FILE NAME.gz|NAME.zst")
	}
	body, to := []byte(ts.ReadFile(args[0])), ts.MkAbs(args[1])
	var packed bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&packed)
	if strings.HasSuffix(to, ".zst") {
		z, err := zstd.NewWriter(&packed, zstd.WithEncoderCRC(true))
		ts.Check(err)
		w = z
	}
	_, err := w.Write(body)
	ts.Check(err)
	ts.Check(w.Close())
	ts.Check(os.WriteFile(to, packed.Bytes(), 0o644))
}

// damage FILE cut N keeps the first N percent of a file; damage FILE flip N turns
// over the bits of the byte there.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: damage FILE cut|flip PERCENT")
	}
	body := []byte(ts.ReadFile(args[0]))
	percent, err := strconv.Atoi(args[2])
	ts.Check(err)
	at := len(body) * percent / 100
	switch args[1] {
	case "cut":
		body = body[:at]
	case "flip":
		body[at] ^= 0xff
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), body, 0o644))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
