//go:build noui

package report

const script = ""
