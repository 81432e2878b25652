package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"fossick/crawler/cluster/bus"
)

// Environment of test binaries that are other processes.
const (
	beBroker = "FOSSICK_TEST_BE_BROKER" // a broker, in JSON: an exchange's server without an agent
	theClock = "FOSSICK_TEST_CLOCK"     // a file for wrongClock
)

// broker is a server of an exchange in a process of its own.
type broker struct {
	Options bus.ServeOptions
	Keys    string // its folder
}

// beBrokerAsTold serves until its standard input ends, so that it does not outlive the test.
func beBrokerAsTold(text string) {
	var b broker
	err := json.Unmarshal([]byte(text), &b)
	if err == nil {
		b.Options.Secrets, err = bus.ReadSecrets(b.Keys, time.Now())
	}
	if err == nil {
		_, err = bus.Serve(b.Options)
	}
	fmt.Fprintln(os.Stderr, "serving", err)
	if err == nil {
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
	os.Exit(1)
}
