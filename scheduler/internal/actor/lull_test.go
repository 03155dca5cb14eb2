package actor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// lulled is an office with notes that a lull may keep. A note is its name; one in capitals asks for what runs
// after messages, one with a "!" cannot be folded, and "-" means nothing to who rests.
type lulled struct {
	*office
	notes *Lull[string]
	quiet bool
	kept  int
}

func newLulled() *lulled {
	l := &lulled{office: newOffice()}
	l.Of = l
	l.notes = NewLull(&l.Mailbox, Notes[string](l))
	return l
}

func (l *lulled) Quiet() bool { return l.quiet }

func (*lulled) Useless(note string) bool { return note == "-" }

func (*lulled) Fold(kept, next string) (string, bool) {
	return kept + next, !strings.Contains(next, "!")
}

func (l *lulled) Keep() { l.kept++ }

func (l *lulled) Do(note string, kept bool) bool {
	l.message(fmt.Sprintf("%s:%t", note, kept))()
	return strings.ToUpper(note) == note
}

// What runs after messages runs after a batch with one that asks for it, and after no other.
func TestANoteAsksOnlyIfItMust(t *testing.T) {
	t.Parallel()
	l := newLulled()
	l.notes.Post("a")
	require.Equal(t, []string{"a:false"}, l.idle())
	l.notes.Post("B")
	require.Equal(t, []string{"B:false", "|"}, l.idle())
	letGo := l.hold()
	l.Post(l.message("c"))
	l.notes.Post("d")
	letGo()
	require.Equal(t, []string{"|", "c", "d:false", "|"}, l.idle(), "another message of the batch asks")
	letGo = l.hold()
	l.notes.Post("e")
	l.notes.Post("f")
	letGo()
	require.Equal(t, []string{"|", "e:false", "f:false"}, l.idle())
	require.Zero(t, l.kept)
}

// In a lull notes are folded into one, without a goroutine, until something else comes. It is carried out before that.
func TestALullKeepsNotes(t *testing.T) {
	t.Parallel()
	l := newLulled()
	l.quiet = true
	l.notes.Post("a") // nobody has rested before
	require.Equal(t, []string{"a:false"}, l.idle())
	started := l.started
	for _, note := range []string{"b", "-", "c", "d", "-"} {
		l.notes.Post(note)
	}
	require.Empty(t, l.idle())
	require.Equal(t, []int{started, 3}, []int{l.started, l.kept})
	l.Post(l.message("e"))
	require.Equal(t, []string{"bcd:true", "e", "|"}, l.idle())
	l.Post(l.message("f"))
	require.Equal(t, []string{"f", "|"}, l.idle(), "nothing was kept")
	l.notes.Post("g")
	l.notes.Post("h!")
	require.Equal(t, []string{"g:true", "h!:false"}, l.idle(), "what cannot be folded comes after what was kept")
	require.Equal(t, 4, l.kept)
}

// While somebody works, and when the actor says that something may come of a note, none is kept.
func TestNotesAreKeptOnlyInALull(t *testing.T) {
	t.Parallel()
	l := newLulled()
	l.quiet = true
	letGo := l.hold()
	l.notes.Post("a")
	l.Post(func() { l.quiet = false })
	letGo()
	require.Equal(t, []string{"|", "a:false", "|"}, l.idle())
	l.notes.Post("b")
	require.Equal(t, []string{"b:false"}, l.idle())
	require.Zero(t, l.kept)
}

// A closed mailbox keeps nothing, and carries nothing out that it has kept.
func TestAClosedMailboxForgetsItsLull(t *testing.T) {
	t.Parallel()
	l := newLulled()
	l.quiet = true
	l.notes.Post("a")
	l.idle()
	l.notes.Post("b")
	l.Close()
	l.notes.Post("c")
	require.False(t, l.Post(l.message("d")))
	require.Empty(t, l.idle())
	require.Equal(t, 1, l.kept)
}

// keeping folds notes into the first one.
type keeping struct{ *lulled }

func (keeping) Fold(kept, _ string) (string, bool) { return kept, true }

// A note that is kept costs no memory.
func TestAKeptNoteAllocatesNothing(t *testing.T) { // not parallel: it counts what the process allocates
	l := newLulled()
	l.notes.of = keeping{l}
	l.quiet = true
	l.notes.Post("a")
	l.idle()
	require.Zero(t, testing.AllocsPerRun(100, func() { l.notes.Post("b") }))
	l.Post(l.message("c"))
	require.Equal(t, []string{"b:true", "c", "|"}, l.idle())
}
