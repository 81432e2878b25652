package crawler

import (
	"errors"
	"fmt"

	"fossick/internal/page"
	"fossick/internal/wire"
)

// label is what a person says of a URL at one agent, as the others have to know it: with the
// words of the page, as they do not have it.
type label struct {
	URL     string `cbor:"1,keyasint" most:"2083"`
	OnTopic bool   `cbor:"2,keyasint,omitempty"`
	Topic   int    `cbor:"3,keyasint,omitempty"` // as in mark
	At      int64  `cbor:"4,keyasint"`           // Unix milliseconds
	Fetched bool   `cbor:"5,keyasint,omitempty"` // the rest is the page's

	Title       string `cbor:"6,keyasint,omitempty" most:"16384"`
	Description string `cbor:"7,keyasint,omitempty" most:"16384"`
	Headings    string `cbor:"8,keyasint,omitempty" most:"16384"`
	Text        string `cbor:"9,keyasint,omitempty" most:"16384"`
	Lang        string `cbor:"10,keyasint,omitempty"`
}

// labelBytes bounds each part of a page that goes along with a label.
const labelBytes = 16 << 10

// labelOf is a label of a page, nil while it was not fetched.
func labelOf(url string, onTopic bool, topic int, at int64, p *page.Page) *label {
	l := &label{URL: url, OnTopic: onTopic, Topic: topic, At: at}
	if p != nil {
		l.Fetched = true
		l.Title, l.Description, l.Headings, l.Text, l.Lang = p.Title, p.Description, p.Headings, p.Text, p.Lang
		for _, part := range []*string{&l.Title, &l.Description, &l.Headings, &l.Text} {
			*part = (*part)[:min(len(*part), labelBytes)]
		}
	}
	return l
}

// page is the page that was labelled, without links; nil of a URL that waits.
func (l *label) page() *page.Page {
	if !l.Fetched {
		return nil
	}
	return &page.Page{URL: l.URL, Title: l.Title, Description: l.Description, Headings: l.Headings, Text: l.Text, Lang: l.Lang}
}

// pack returns a label as bytes, 64 KiB and some at most.
func (l *label) pack() []byte {
	return wire.Encode(l)
}

var errLabel = errors.New("a label that cannot be read")

// unpackLabel is the inverse of Pack.
func unpackLabel(data []byte) (*label, error) {
	l := &label{}
	if err := decoder.Unmarshal(data, l); err != nil {
		return nil, fmt.Errorf("%w: %w", errLabel, err)
	}
	if !normal(l.URL) || l.Topic < 0 {
		return nil, fmt.Errorf("%w: of %.100q, topic %d", errLabel, l.URL, l.Topic)
	}
	return l, nil
}
