package tally

// Latest returns the result of an item, and whether there is one. A judge does not ask: it counts what Put accepts.
func (s *Store) Latest(item int) (Result, bool) {
	r, ok := s.latest[item]
	return r, ok
}
