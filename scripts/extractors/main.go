// Extractors prints what other programs take for the main text of pages, for
// scripts/maintext to learn from and to be compared with.
//
//	go run . <pages.jsonl >texts.jsonl
//
// A line in: {"id", "url", "file"}; a line out: {"id", "trafilatura", "readability"} and
// the milliseconds of each.
package main

import (
	"bufio"
	"encoding/json"
	"io"
	"log"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	readability "codeberg.org/readeck/go-readability/v2"
	trafilatura "github.com/markusmobius/go-trafilatura"
	"golang.org/x/net/html/charset"
)

type request struct{ ID, URL, File string }

type answer struct {
	ID            string  `json:"id"`
	Trafilatura   string  `json:"trafilatura"`
	Readability   string  `json:"readability"`
	TrafilaturaMS float64 `json:"trafilatura_ms"`
	ReadabilityMS float64 `json:"readability_ms"`
}

func main() {
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	out := json.NewEncoder(os.Stdout)
	for {
		var r request
		if err := in.Decode(&r); err == io.EOF {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		body, err := os.ReadFile(r.File)
		if err != nil {
			log.Print(err)
			continue
		}
		at, _ := url.Parse(r.URL)
		if err := out.Encode(extract(r.ID, decoded(body), at)); err != nil {
			log.Fatal(err)
		}
	}
}

func extract(id, page string, at *url.URL) answer {
	a := answer{ID: id}
	start := time.Now()
	opt := trafilatura.Options{OriginalURL: at, EnableFallback: true, ExcludeComments: true}
	if r, err := trafilatura.Extract(strings.NewReader(page), opt); err == nil && r != nil {
		a.Trafilatura = r.ContentText
	}
	a.TrafilaturaMS = float64(time.Since(start).Microseconds()) / 1000
	start = time.Now()
	var text strings.Builder
	if r, err := readability.FromReader(strings.NewReader(page), at); err == nil && r.RenderText(&text) == nil {
		a.Readability = text.String()
	}
	a.ReadabilityMS = float64(time.Since(start).Microseconds()) / 1000
	return a
}

func decoded(body []byte) string {
	if utf8.Valid(body) {
		return string(body)
	}
	r, err := charset.NewReader(strings.NewReader(string(body)), "text/html")
	if err != nil {
		return strings.ToValidUTF8(string(body), "\uFFFD")
	}
	text, _ := io.ReadAll(r)
	return string(text)
}
