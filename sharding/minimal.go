package sharding

import "slices"

// MinimalMovement balances the items like [AverageAllocation], to within one, but leaves as many as
// possible where they are: no other balanced assignment moves fewer. Use it where moving an item is
// dear, for example because its data is cached, and where no Java instance shares the job.
//
// An instance that must give items up keeps its lowest ones. Asked again about its own answer, it
// moves nothing; without a current assignment it answers like AverageAllocation.
func MinimalMovement(r Request) (Assignment, error) {
	r, err := r.normal()
	if err != nil {
		return nil, err
	}
	a := NewAssignment(r.Total)
	if len(r.Instances) == 0 {
		return a, nil
	}
	s := newSeating(r.Instances)
	s.allot(r.Total, r.Current)
	s.keep(a, r.Current)
	block := r.Total / len(r.Instances)
	s.fill(a, block) // blocks first and then what is left over, as AverageAllocation does
	s.fill(a, block+1)
	return a, nil
}

// seat is an instance and its share of the items.
type seat struct {
	instance string
	held     int // how many items it owns now
	quota    int // how many it shall own
	taken    int // how many it has got so far
}

type seating struct {
	seats      []*seat // in the order of the instances
	byInstance map[string]*seat
}

func newSeating(instances []string) seating {
	s := seating{byInstance: make(map[string]*seat, len(instances))}
	for _, instance := range instances {
		next := &seat{instance: instance}
		s.seats = append(s.seats, next)
		s.byInstance[instance] = next
	}
	return s
}

// allot decides how many items each instance shall own: total/k, and one more for as many as the
// remainder allows. Those that hold the most come first, because every instance that holds more than
// total/k saves a move by it.
func (s seating) allot(total int, current Assignment) {
	for _, owner := range current {
		if owned := s.byInstance[owner]; owned != nil {
			owned.held++
		}
	}
	byHeld := slices.Clone(s.seats)
	slices.SortStableFunc(byHeld, func(a, b *seat) int { return b.held - a.held })
	for i, next := range byHeld {
		next.quota = total / len(byHeld)
		if i < total%len(byHeld) {
			next.quota++
		}
	}
}

// keep leaves items with their owners, lowest first, up to the quota.
func (s seating) keep(a, current Assignment) {
	for item, owner := range current {
		if owned := s.byInstance[owner]; owned != nil && owned.taken < owned.quota {
			a[item] = owner
			owned.taken++
		}
	}
}

// fill gives unassigned items, lowest first, to each instance in turn until it has its quota, but no
// more than limit.
func (s seating) fill(a Assignment, limit int) {
	seats := s.seats
	for item, owner := range a {
		if owner != "" {
			continue
		}
		for len(seats) > 0 && seats[0].taken >= min(seats[0].quota, limit) {
			seats = seats[1:]
		}
		if len(seats) == 0 {
			return
		}
		a[item] = seats[0].instance
		seats[0].taken++
	}
}
