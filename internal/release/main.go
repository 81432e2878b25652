package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run() error {
	notices := flag.String("notices", "", "file to write the licences to")
	sbom := flag.String("sbom", "", "file to write the bill of materials to")
	version := flag.String("version", "", "version of the release")
	epoch := flag.Int64("time", 0, "time of the release, in seconds since 1970")
	flag.Parse()
	if flag.NArg() != 1 {
		return fmt.Errorf("name one binary, not %d", flag.NArg())
	}
	b, err := readBinary(flag.Arg(0))
	if err != nil {
		return err
	}
	b.version, b.time = *version, time.Unix(*epoch, 0).UTC()
	for file, write := range map[string]func() ([]byte, error){*notices: b.notices, *sbom: b.sbom} {
		if file == "" {
			continue
		}
		text, err := write()
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
