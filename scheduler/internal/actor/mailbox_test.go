package actor

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// office is a mailbox with its goroutines, and a list of what it did.
type office struct {
	Mailbox
	goroutines sync.WaitGroup
	after      func()

	mu      sync.Mutex
	started int
	done    []string
}

func newOffice() *office {
	o := &office{}
	o.Of, o.after = o, o.message("|")
	return o
}

func (o *office) Start(work func()) {
	o.note(func() { o.started++ })
	o.goroutines.Go(work)
}

func (o *office) After() { o.after() }

func (*office) Quiet() bool { panic("there is no lull") }

func (o *office) note(what func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	what()
}

// message is one that is noted when it is carried out.
func (o *office) message(name string) func() {
	return func() { o.note(func() { o.done = append(o.done, name) }) }
}

// idle waits until no goroutine is left, and returns what was done since the last time.
func (o *office) idle() []string {
	o.goroutines.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	done := o.done
	o.done = nil
	return done
}

// hold posts a message that waits for the returned function.
func (o *office) hold() (letGo func()) {
	begun, gate := make(chan struct{}), make(chan struct{})
	o.Post(func() { close(begun); <-gate })
	<-begun
	return func() { close(gate) }
}

// Messages are carried out in the order in which they came; those that came while others were
// carried out are one batch, and the work that follows a batch is done once for it.
func TestMessagesAreCarriedOutInBatches(t *testing.T) {
	t.Parallel()
	o := newOffice()
	letGo := o.hold()
	for _, name := range []string{"a", "b", "c"} {
		o.Post(o.message(name))
	}
	letGo()
	require.Equal(t, []string{"|", "a", "b", "c", "|"}, o.idle())
	require.Equal(t, 1, o.started)
}

func TestAMessagePostsAnother(t *testing.T) {
	t.Parallel()
	o := newOffice()
	letGo := o.hold()
	o.Post(func() { o.message("a")(); o.Post(o.message("c")) })
	o.Post(o.message("b"))
	letGo()
	require.Equal(t, []string{"|", "a", "b", "|", "c", "|"}, o.idle())
}

// What follows a batch may ask for another look, and gets it in a batch of its own.
func TestWhatFollowsABatchPosts(t *testing.T) {
	t.Parallel()
	o := newOffice()
	once := sync.Once{}
	o.after = func() {
		o.message("|")()
		once.Do(func() { o.Post(o.message("again")) })
	}
	o.Post(o.message("a"))
	require.Equal(t, []string{"a", "|", "again", "|"}, o.idle())
	require.Equal(t, 1, o.started)
}

// There is a goroutine while there is something to do, and none otherwise.
func TestAnIdleMailboxCostsNoGoroutine(t *testing.T) {
	t.Parallel()
	o := newOffice()
	for n := range 5 {
		o.Post(o.message("a"))
		require.Equal(t, []string{"a", "|"}, o.idle()) // which returns only without a goroutine
		require.Equal(t, n+1, o.started)
	}
}

func TestAClosedMailboxDropsItsMessages(t *testing.T) {
	t.Parallel()
	o := newOffice()
	letGo := o.hold()
	o.Post(o.message("too late"))
	o.Close()
	o.Close()
	o.Post(o.message("later"))
	letGo()
	require.Equal(t, []string{"|"}, o.idle(), "what was begun is finished")
	o.Post(o.message("much later"))
	require.Empty(t, o.idle())
	require.Equal(t, 1, o.started)
}

// Who waits for a message hears that it was dropped: behind the one that closes the mailbox, in the same batch or in the
// queue, and afterwards.
func TestWhatIsDroppedIsHeardOf(t *testing.T) {
	t.Parallel()
	o := newOffice()
	post := func(name string) { o.PostElse(o.message(name), o.message("no "+name)) }
	letGo := o.hold()
	post("a")
	o.Post(func() { post("queued"); o.Close() })
	post("b")
	letGo()
	require.Equal(t, []string{"|", "a", "no queued", "no b", "|"}, o.idle())
	post("c")
	require.Equal(t, []string{"no c"}, o.idle())
}

// One message at a time, each sender's in their order, whoever posts and whenever.
func TestManySenders(t *testing.T) {
	t.Parallel()
	const senders, each = 8, 200
	o := newOffice()
	o.after = func() {}
	var next [senders]int // no lock: messages must not overlap
	var wrong []string
	var posting sync.WaitGroup
	for sender := range senders {
		posting.Go(func() {
			for n := range each {
				o.Post(func() {
					if next[sender] != n {
						wrong = append(wrong, fmt.Sprintf("sender %d: %d instead of %d", sender, n, next[sender]))
					}
					next[sender]++
				})
			}
		})
	}
	posting.Wait()
	o.idle()
	require.Empty(t, wrong)
	for sender := range senders {
		require.Equal(t, each, next[sender])
	}
}

// What a batch costs that needs as much stack as a decision does, on a goroutine of its own.
func BenchmarkDeepBatch(b *testing.B) {
	var working sync.WaitGroup
	box := Mailbox{Of: Plain(working.Go)}
	b.ReportAllocs()
	for b.Loop() {
		box.Post(func() { deep(40) })
		working.Wait()
	}
}

// deep calls itself with a frame of some 128 bytes each time.
func deep(n int) (sum int) {
	var frame [12]int
	for i := range frame {
		frame[i] = n * i
	}
	if n > 0 {
		sum = deep(n - 1)
	}
	return sum + frame[n%len(frame)]
}
