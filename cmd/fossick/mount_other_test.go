//go:build !linux

package main

import (
	"errors"
	"testing"
)

func mount(t *testing.T, size string) string {
	t.Helper()
	t.Skipf("a file system of %s is only made on Linux", size)
	return ""
}

func remount(string, bool) error { return errors.ErrUnsupported }
