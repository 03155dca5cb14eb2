package room_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// permitting is what commits that may not all be done. It notes what was sent, and what is to be decided again.
type permitting struct {
	asked
	denials room.Denials
	denied  func(path string) bool
	sent    []string
	refused []error
}

func (p *permitting) Denials() *room.Denials { return &p.denials }

func (p *permitting) Refused(_ string, err error) { p.refused = append(p.refused, err) }

func (p *permitting) CommitAll(_ context.Context, txns []registry.Txn) []registry.Outcome {
	outcomes := make([]registry.Outcome, len(txns))
	for i, txn := range txns {
		path := txn.Then[0].Path
		p.sent = append(p.sent, path)
		if p.denied(path) {
			outcomes[i].Err = fmt.Errorf("%w: %s", registry.ErrDenied, path)
		}
	}
	return outcomes
}

// commit commits a batch of one step that writes so many paths, and returns what was sent, and what was refused.
func (p *permitting) commit(t *testing.T, paths int) (sent []string, refused []error) {
	t.Helper()
	p.sent, p.refused = nil, nil
	var batch room.Batch
	for i := range paths {
		batch.Add("begin", registry.Txn{Then: []registry.Write{registry.Put(fmt.Sprintf("/%d", i), "")}}, nil)
	}
	room.Commit(p, &room.Attachment{Ctx: t.Context()}, batch)
	return p.sent, p.refused
}

func all(string) bool  { return true }
func none(string) bool { return false }

// What is held back is refused like what was denied, and so decided again.
func TestWhatWasDeniedIsHeldBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &permitting{denied: all}
		sent, refused := p.commit(t, 10)
		require.Len(t, sent, 10)
		require.Len(t, refused, 10)
		sent, refused = p.commit(t, 11)
		require.Equal(t, []string{"/10"}, sent, "which was not denied yet")
		require.Len(t, refused, 11)
		for _, err := range refused {
			require.ErrorIs(t, err, registry.ErrDenied)
			require.LessOrEqual(t, room.RetryIn(err), room.RetryAfter)
		}
	})
}

// Some are tried at a time, in turn, and more and more seldom.
func TestWhatWasDeniedIsTriedInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &permitting{denied: all}
		p.commit(t, 10)
		tried, tries := make(map[string]int), 0
		for begun := time.Now(); time.Since(begun) < 10*time.Minute; time.Sleep(100 * time.Millisecond) {
			sent, _ := p.commit(t, 10)
			require.LessOrEqual(t, len(sent), 4)
			for _, path := range sent {
				tried[path]++
				tries++
			}
		}
		require.Len(t, tried, 10)
		require.LessOrEqual(t, tries, 4*(6+10*60/22))
		require.GreaterOrEqual(t, tries, 4*10*60/31)
	})
}

// Once one is let through, so are all; others of the same step, which were never denied, say nothing of that.
func TestWhatWasDeniedIsLetGoTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &permitting{denied: all}
		p.commit(t, 10)
		p.denied = none
		sent, _ := p.commit(t, 12)
		require.Equal(t, []string{"/10", "/11"}, sent)
		require.NotZero(t, p.denials.Held("begin", "/3"))
		require.Zero(t, p.denials.Held("begin", "/11"))
		require.Zero(t, p.denials.Held("end", "/3"))
		time.Sleep(room.RetryAfter)
		sent, refused := p.commit(t, 10)
		require.Len(t, sent, 10, "a few first, and then all others at once")
		require.Empty(t, refused, "nobody has denied them")
		require.Zero(t, p.denials.Held("begin", "/3"))
	})
}

// Some may be permitted again and others not, as the items up to a number. Those do not have all others tried before them.
func TestWhatIsPermittedInPartIsSoonLetGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &permitting{denied: all}
		p.commit(t, 600)
		p.denied = func(path string) bool { return len(path) < len("/300") || path < "/300" }
		begun := time.Now()
		for p.denials.Held("begin", "/599") > 0 || len(p.sent) <= 4 {
			time.Sleep(room.RetryAfter)
			p.commit(t, 600)
		}
		require.Less(t, time.Since(begun), 10*time.Minute)
	})
}

func TestWhatWasDeniedIsForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &permitting{denied: all}
		p.commit(t, 10)
		p.denials.Clear()
		sent, _ := p.commit(t, 10)
		require.Len(t, sent, 10)
		p.denials.Answered("begin", "/3", &registry.ConflictError{})
		require.Zero(t, p.denials.Held("begin", "/3"), "its answer may be another one now")
		require.NotZero(t, p.denials.Held("begin", "/4"))
	})
}

// What was done of one step shows that what writes the same first may be done of another.
func TestWhatIsDoneElsewhereIsNotHeldBack(t *testing.T) {
	t.Parallel()
	var d room.Denials
	d.Answered("end", "/3", registry.ErrDenied)
	d.Answered("end", "/4", registry.ErrDenied)
	d.Answered("begin", "/3", registry.ErrDenied)
	d.Answered("clear", "/5", nil)
	require.NotZero(t, d.Held("end", "/3"))
	d.Answered("claim", "/3", nil)
	require.Zero(t, d.Held("end", "/3"))
	require.Zero(t, d.Held("begin", "/3"))
	require.NotZero(t, d.Held("end", "/4"), "of which nothing is known")
}

// Who has no time to wait has nothing held back.
func TestNothingIsHeldBackWithoutDenials(t *testing.T) {
	t.Parallel()
	var d *room.Denials
	d.Answered("begin", "/1", registry.ErrDenied)
	d.Clear()
	require.Zero(t, d.Held("begin", "/1"))
}
