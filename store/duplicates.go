package store

// dropPage takes a stored page out for good, as another agent has stored a page with its
// content: sameAs is that one's URL. The number is given to no other page, so the record
// stays, with what says which content it was: a page of this store that has it too is a
// duplicate as before. How the URL ends by now is the caller's to put down, and the counts.
func dropPage(b *Batch, p *Page, sameAs string) error {
	if err := b.dropNear(p.Number, p.Signature); err != nil {
		return err
	}
	for _, kind := range []byte{keyBody, keyLabel} {
		if err := b.delete(numKey(kind, p.Number)); err != nil {
			return err
		}
	}
	if err := b.dropRank(p.Number); err != nil {
		return err
	}
	if err := b.dropWires(p.ID); err != nil {
		return err
	}
	return b.PutPageRecord(&Page{
		Number: p.Number, ID: p.ID, URL: p.URL, Checksum: p.Checksum, Depth: p.Depth, At: p.At, Relevant: p.Relevant, SameAs: sameAs,
	})
}

// storedPage returns the stored page of a URL, and the URL's fate; ErrUnknown where it has none.
func storedPage(b *Batch, id ID) (*Page, Fate, error) {
	f, err := b.Fate(id)
	if err == nil && !f.hasPage() {
		err = ErrUnknown
	}
	if err != nil {
		return nil, f, err
	}
	p := &Page{}
	err = get(b.txn, numKey(keyPage, f.Page), p)
	p.Number = f.Page
	return p, f, err
}
