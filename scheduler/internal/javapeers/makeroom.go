package javapeers

import (
	"time"

	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// wishPatience is how long it takes until what runs makes room for another assignment that is wanted. Whoever comes and goes
// again within that costs nobody a run, nor does a Java instance that connects anew.
const wishPatience = time.Second

// making is what is known of when what runs here is to make room. An item that runs is not moved, and code that goes on until
// it is asked to end, such as a stream, would keep its item for good.
type making struct {
	lookAtRuns bool      // what others are to have of this instance's items may have changed
	heedAt     time.Time // from when on it is heeded
}

// stands tells whether what others are to have is to be heeded.
func (m *making) stands() bool { return !time.Now().Before(m.heedAt) }

// noteChange takes in that another assignment may be wanted.
func (m *making) noteChange() {
	if m.lookAtRuns = true; m.stands() {
		m.heedAt = time.Now().Add(wishPatience)
	}
}

// RoomsChange implements [peers.Executors].
func (s *java) RoomsChange() bool {
	s.askAnew()
	if s.lookAtRuns && !s.stands() {
		s.ports.Wake(time.Until(s.heedAt))
		return false
	}
	changes := s.lookAtRuns
	s.lookAtRuns = false
	return changes
}

// MakesRoom implements [peers.Executors].
func (s *java) MakesRoom(v room.View, item int) bool {
	return s.stands() && s.mayGo(v, item) && s.toGo(v, item)
}
