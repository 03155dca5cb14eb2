package handover

// Parts are those in which a job that is left makes its notes, before all that are left are made together. The zero value is
// that of a job that has not begun to.
type Parts struct {
	left  int
	begun bool // it is known how many there are
}

// Of returns how many of so many notes are to be made now, if a part has such a size. Until the job is left its items may
// miss more fires, and so have to be noted once more: there are as many parts as the notes need that there are at first, and
// what comes meanwhile is made together, so that a leave comes to its end.
func (p *Parts) Of(notes, size int) int {
	if !p.begun {
		p.begun, p.left = true, notes/(firstWindow/2)
		if p.left > 0 && size == firstPart {
			p.left++
		}
	}
	if p.left == 0 {
		return notes
	}
	return min(notes, size)
}

// Fitting returns how many notes of a part are made if there is room for so many. Those that are made together are not cut:
// while a job waits for its turn more fires may come, and its leave would never come to its end.
func (p *Parts) Fitting(notes, room int) int {
	if p.left == 0 {
		return notes
	}
	return min(notes, max(1, room))
}

// Made notes that a part was committed. If nothing of it was done, the others are not held up by it again.
func (p *Parts) Made(done bool) {
	p.left--
	if !done || p.left < 0 {
		p.left = 0
	}
}
