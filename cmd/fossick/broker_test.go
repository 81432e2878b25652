package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"fossick/crawler/cluster/bus"
)

// beBroker gives this test binary another role: to serve an exchange, a broker as JSON, without an agent.
const beBroker = "FOSSICK_TEST_BE_BROKER"

// broker is an exchange's server in its own process.
type broker struct {
	Options bus.ServeOptions
	Keys    string // folder of the keys
}

// beBrokerAsTold serves until its standard input closes, so that it ends with the test.
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
