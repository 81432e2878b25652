package collection

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"

	"fossick/store"
)

// Fingerprint tells one moment of a store from others: equal ones have the same pages with
// the same links and labels, of the same crawl. It reads each record of a page, and no body.
func (s *Source) Fingerprint(ctx context.Context, looked func()) (string, error) {
	h := sha256.New()
	counts, err := json.Marshal(s.counts)
	if err != nil {
		return "", err
	}
	var b []byte
	put := func(numbers []uint64, texts ...string) {
		b = b[:0]
		for _, n := range numbers {
			b = binary.AppendUvarint(b, n)
		}
		for _, t := range texts {
			b = append(binary.AppendUvarint(b, uint64(len(t))), t...)
		}
		h.Write(b)
	}
	put([]uint64{uint64(s.info.Created)}, s.info.Topic, string(s.info.Settings), string(counts))
	n := 0
	for p, err := range s.Store.Pages() {
		if s.partial && errors.Is(err, store.ErrDamaged) {
			break // what is behind is not told apart
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return "", err
		}
		put(numbersOf(p), p.URL, p.Label, p.Title, p.Lang, string(p.Checksum))
		put([]uint64{uint64(len(p.Rights))}, p.Rights...)
		n++
		looked()
	}
	put([]uint64{uint64(n)})
	for l, err := range s.Store.Labels() {
		if s.partial && errors.Is(err, store.ErrDamaged) {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return "", err
		}
		put([]uint64{l.Page, math.Float64bits(l.Score)}, l.Label.Label, l.Model)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// numbersOf are the numbers of a page's record that others see.
func numbersOf(p *store.Page) []uint64 {
	flags := uint64(0)
	if p.Withdrawn {
		flags |= 1
	}
	if p.Relevant {
		flags |= 2
	}
	all := []uint64{p.Number, uint64(p.ID), uint64(p.At), uint64(p.Bytes), math.Float64bits(p.Score), flags, uint64(len(p.Links))}
	for _, id := range p.Links {
		all = append(all, uint64(id))
	}
	return all
}
