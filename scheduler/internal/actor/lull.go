package actor

// Lull posts notes of one kind to a mailbox. While an actor has nothing to do, and no such note can lead to a
// decision, they are folded into one, which is carried out before the next message of any other kind: a note then
// needs no goroutine and no memory. In which order things happen remains the same.
type Lull[T any] struct {
	box *Mailbox
	of  Notes[T]

	kept T
	any  bool // something is kept
}

// Notes are what an actor makes of the notes of a [Lull]. Useless, Fold and Keep are called while the actor rests, under the
// mailbox's lock: they may read what the actor reads, and must not post.
type Notes[T any] interface {
	// Useless tells whether a note means nothing to an actor that rests.
	Useless(note T) bool
	// Fold makes one note of two, unless they cannot be one.
	Fold(kept, next T) (both T, ok bool)
	// Keep hears of each note that is kept.
	Keep()
	// Do carries a note out: as it was posted, or the one into which those were folded that were kept.
	Do(note T, kept bool) (decide bool)
}

// NewLull makes the one Lull of a mailbox, before anything is posted there.
func NewLull[T any](box *Mailbox, of Notes[T]) *Lull[T] {
	l := &Lull[T]{box: box, of: of}
	box.lull = l
	return l
}

// Post posts a note, or keeps it. It never blocks.
func (l *Lull[T]) Post(note T) {
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	if l.box.quiet && l.of.Useless(note) {
		return
	}
	if l.box.quiet && l.keeps(note) {
		l.of.Keep()
		return
	}
	l.box.add(message{note: func() bool { return l.of.Do(note, false) }})
}

// keeps adds a note to those that are kept, if it can.
func (l *Lull[T]) keeps(note T) bool {
	if !l.any {
		l.kept, l.any = note, true
		return true
	}
	both, ok := l.of.Fold(l.kept, note)
	if ok {
		l.kept = both
	}
	return ok
}

// release implements keeper.
func (l *Lull[T]) release() (message, bool) {
	note, any := l.kept, l.any
	l.any = false
	return message{note: func() bool { return l.of.Do(note, true) }}, any
}
