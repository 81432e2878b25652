package models

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"fossick/models/features"
)

// marksMost is how many marks of training pages a card keeps: the smallest. They are a
// sample drawn by the pages' own hashes. Of other pages, those that the sample would have
// drawn are looked up in it.
const marksMost = 1024

// Mark is a page's text as a number; pages of the same text have the same.
func Mark(d features.Doc) uint64 {
	h := sha256.New()
	h.Write([]byte(d.Title))
	h.Write([]byte{0})
	h.Write([]byte(d.Text))
	return binary.LittleEndian.Uint64(h.Sum(nil))
}

// KeepMarks returns what a card keeps of the marks of all training pages. It changes
// their order.
func KeepMarks(all []uint64) []uint64 {
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.Clone(all[:min(len(all), marksMost)])
}

// Trained says whether the model was trained on a page with this mark, and
// whether the card can tell. It can tell of a set's pages as large a share as
// of its training pages, and of all where these were fewer than MarksMost.
func (c *Card) Trained(mark uint64) (trained, known bool) {
	n := len(c.Marks)
	if n == 0 || n >= marksMost && mark > c.Marks[n-1] {
		return false, false
	}
	_, trained = slices.BinarySearch(c.Marks, mark)
	return trained, true
}
