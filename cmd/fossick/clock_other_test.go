//go:build !linux || !amd64

package main

import "errors"

func wrongClock(string) error {
	return errors.New("only Linux on amd64 has wrong clocks for tests")
}
