package warc

// resync goes to the next record behind damage; io.EOF when there is none.
func (r *Reader) resync() error {
	lost, s := r.lost, r.s
	r.lost = nil
	if lost.member {
		s.r, s.w, s.open = 0, 0, false
		if err := s.m.find(lost.offset); err != nil {
			return err
		}
		return nil
	}
	if lost.back >= 0 && !s.packed && s.in.seek != nil {
		if err := s.in.back(lost.back); err != nil {
			return err
		}
		s.r, s.w, s.out, s.open = 0, 0, lost.back, true
	}
	return s.seek()
}
