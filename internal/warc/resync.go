package warc

// resync goes to the next record behind damage; io.EOF when there is none.
func (r *Reader) resync() error {
	lost, s := r.lost, r.s
	r.lost = nil
	if lost.member {
		s.r, s.w, s.open = 0, 0, false
		return s.m.find(lost.offset)
	}
	if lost.back >= 0 && !s.packed && s.in.back(lost.back) {
		s.r, s.w, s.out, s.open = 0, 0, lost.back, true
	}
	return s.seek()
}
