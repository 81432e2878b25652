package frontier

// The URLs of a crawl by a mix of orderings wait in several orders at once. Each order
// is a frontier of its own over the same URLs, with the same hosts in use and at rest: a
// priority in one says nothing of another. What is taken by one order is gone for all.

// Order returns one of the orders, from 0: to change priorities in it alone, by Set, Raise,
// Renew or Reprioritise. All else goes to the frontier itself.
func (f *Frontier) Order(i int) *Frontier {
	if i == 0 {
		return f
	}
	return f.also[i-1]
}

// Turn says by which order Next goes from now on.
func (f *Frontier) Turn(i int) { f.turn = f.Order(i) }

// taken takes note in the other orders of what one has given. Its entries there are
// passed over when they come up: as the URL may wait again by then, it counts as copied.
func (f *Frontier) taken(it Item) {
	for i := range 1 + len(f.also) {
		if o := f.Order(i); o != f.turn {
			o.urls.take(it.ID)
			o.urls.copied.add(it.ID)
			o.hosts.use(o.hosts.party(it.Host))
		}
	}
}
