package zkcompat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/google/uuid"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/internal/remote"
)

// What Curator calls its contenders.
const (
	latchProtection = "_c_"
	latchName       = "latch-"
)

// errLatchTaken is why a callback's context ends whose node another client deleted.
var errLatchTaken = errors.New("another client deleted the node that holds the latch")

// Latch implements [registry.Latcher] as Curator's LeaderLatch does: contenders are the ephemeral
// znodes "<path>/_c_<uuid>-latch-<sequence>", served in the order of their sequences, so that Java peers
// stand in the same line. Each call of the handle stands there by itself. A watch tells a holder when its znode is removed.
func (r *Registry) Latch(ctx context.Context, path string, fn func(ctx context.Context) error) error {
	var fault error // of fn, which is returned as it is
	if err := r.latch(ctx, path, func(ctx context.Context) { fault = fn(ctx) }); err != nil {
		return r.opError(registry.OpLatch, path, err)
	}
	return fault
}

func (r *Registry) latch(ctx context.Context, path string, fn func(ctx context.Context)) error {
	if err := registry.CheckPath(path); err != nil {
		return err
	}
	if r.life.Err() != nil {
		return registry.ErrClosed
	}
	ctx, cancel := r.alive(ctx)
	defer cancel()
	session, err := r.keeper.current(ctx)
	if err != nil {
		return err
	}
	c := &contender{r: r, session: session, folder: r.ns.znode(path), id: uuid.NewString()}
	bound, stop := c.bound(ctx)
	defer stop()
	defer c.leave(ctx)
	if err := c.win(bound); err != nil {
		return c.reason(ctx, err)
	}
	held, cancelHeld := context.WithCancelCause(bound)
	defer cancelHeld(nil)
	r.errands.start(func() { c.guard(held, cancelHeld) })
	fn(held)
	return nil
}

// contender is one call that wants a latch.
type contender struct {
	r       *Registry
	session *registry.Session
	folder  string // the latch's znode
	id      string
	link    *link
	own     string // its znode; empty while there is none
	name    string // of the znode that was asked for, without its sequence

	// entering is closed when the last request to create the znode is over; nil if there was none.
	entering <-chan struct{}

	// made are the ancestors that it had to make, if that of the whole tree was among them: the tree had been removed.
	made []string
}

// bound returns a context that ends with the session too.
func (c *contender) bound(ctx context.Context) (context.Context, func()) {
	bound, cancel := context.WithCancelCause(ctx)
	over := make(chan struct{})
	c.r.errands.start(func() {
		select {
		case <-c.session.Done():
			cancel(c.session.Err())
		case <-over:
		}
	})
	return bound, func() { close(over); cancel(nil) }
}

// reason tells why the latch was not had.
func (c *contender) reason(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return remote.GivenUp(ctx, registry.ErrUnavailable, nil)
	case c.session.Err() != nil:
		return c.session.Err()
	default:
		return err
	}
}

// win returns when no other contender stands before this one.
func (c *contender) win(ctx context.Context) error {
	for failed := 0; ctx.Err() == nil; {
		before, err := c.stand(ctx)
		switch {
		case err == nil && before == "":
			return nil
		case err == nil:
			err = c.waitFor(ctx, before)
			failed = 0
		}
		if refused := refusal(err); refused != nil {
			return refused
		}
		if err != nil {
			failed++
			remote.Sleep(ctx, remote.Backoff(failed))
		}
	}
	return context.Cause(ctx)
}

// stand puts the contender into the line, unless it is there, and returns who stands before it.
func (c *contender) stand(ctx context.Context) (before string, err error) {
	l, err := c.r.keeper.usable(ctx)
	if err != nil {
		return "", err
	}
	if id, _ := l.granted(); registry.SessionID(id) != c.session.ID() {
		return "", fmt.Errorf("%w: it ended while the latch was waited for", registry.ErrSessionLost)
	}
	c.link = l
	line, err := c.line(ctx)
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(line, func(name string) bool { return strings.HasPrefix(name, latchProtection+c.id) })
	if at < 0 {
		return c.enter(ctx)
	}
	c.own = childOf(c.folder, line[at])
	if at == 0 {
		return "", nil
	}
	return childOf(c.folder, line[at-1]), nil
}

// enter creates the contender's znode. After a lost answer it may be there already; the line shows it.
func (c *contender) enter(ctx context.Context) (before string, err error) {
	note := func(znode string) {
		path := c.r.ns.path(znode)
		if top := path != registry.Root && parentOf(path) == registry.Root; top || len(c.made) > 0 {
			c.made = append(c.made, znode)
		}
	}
	name := childOf(c.folder, latchProtection+c.id+"-"+latchName)
	claim, err := c.link.claimEphemerals(ctx, func() (*ephemeralClaim, error) {
		return c.link.ephemerals.claim([]string{name}, nil, sequenceDigits)
	})
	if err != nil { // until others of this session have let go of theirs
		return "", err
	}
	if err := c.r.makeParents(ctx, c.link, childOf(c.folder, "any"), note); err != nil {
		claim.settle(fateUndone)
		return "", err
	}
	c.own, c.name = name, name // from now on there is something to clean up
	_, c.entering, err = askFor(ctx, c.link, func(k *zk.Conn) (string, error) {
		own, err := k.Create(name, []byte{}, zk.FlagEphemeral|zk.FlagSequence, c.r.acl)
		claim.settle(fateOf(err))
		return own, err
	})
	if c.entering == nil { // it was not sent
		claim.settle(fateUndone)
	}
	if errors.Is(err, zk.ErrNoNode) {
		c.r.parents.forget() // the latch's own node was removed
	}
	if err != nil {
		return "", err
	}
	return c.stand(ctx)
}

// line returns the names of all contenders in their order.
func (c *contender) line(ctx context.Context) ([]string, error) {
	if err := c.link.sync(ctx); err != nil {
		return nil, err
	}
	names, err := c.r.childrenOf(ctx, c.link, c.folder)
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(sequence(a), sequence(b)), cmp.Compare(a, b)) })
	return names, err
}

// sequence returns what contenders are sorted by: the text after the last "latch-".
func sequence(name string) string {
	if at := strings.LastIndex(name, latchName); at >= 0 {
		return name[at+len(latchName):]
	}
	return name
}

// waitFor returns when a znode has changed or is gone, and when the connection broke.
func (c *contender) waitFor(ctx context.Context, path string) error {
	changed, err := ask(ctx, c.link, func(k *zk.Conn) (<-chan zk.Event, error) {
		_, _, changed, err := k.GetW(path)
		return changed, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	select {
	case <-changed:
	case <-ctx.Done():
	case <-c.link.quit.Done():
	}
	return nil
}

// guard ends the callback's context when the contender's znode is gone, which no peer of ours does.
func (c *contender) guard(ctx context.Context, cancel context.CancelCauseFunc) {
	for ctx.Err() == nil {
		if err := c.waitFor(ctx, c.own); err != nil {
			remote.Sleep(ctx, remote.MaxBackoff)
			continue
		}
		if ctx.Err() != nil {
			return
		}
		z, err := c.r.fetch(ctx, c.link, c.own)
		if err == nil && !z.there {
			cancel(fmt.Errorf("%w: latch %q: %w", registry.ErrConflict, c.r.ns.path(c.folder), errLatchTaken))
			return
		}
	}
}

// leave lets the next one have the latch. It waits for the server's answer until ctx ends; the deletion
// is tried on after that for as long as the server keeps the session.
func (c *contender) leave(ctx context.Context) {
	if c.own == "" {
		return
	}
	gone := make(chan struct{})
	started := c.r.errands.start(func() { //nolint:contextcheck // it goes on after the call
		defer close(gone)
		c.withdraw()
	})
	if !started {
		return // the session ends with the handle
	}
	select {
	case <-gone:
	case <-ctx.Done():
	}
}

// withdraw deletes the contender's znode, whatever its name came to be. The request to create it may not have been sent
// yet: whoever looked for the znode before would find none, and leave one that stands in the line for ever.
func (c *contender) withdraw() {
	ctx, cancel := c.r.alive(c.link.quit)
	defer cancel()
	if c.entering != nil {
		select {
		case <-c.entering:
		case <-ctx.Done():
			return
		}
	}
	for failed := 0; ctx.Err() == nil; failed++ {
		remote.Sleep(ctx, remote.Backoff(failed))
		if c.link.await(ctx) != nil {
			return
		}
		line, err := c.line(ctx)
		if err != nil {
			continue
		}
		left := 0
		for _, name := range line {
			if !strings.HasPrefix(name, latchProtection+c.id) {
				continue
			}
			_, err := ask(ctx, c.link, func(k *zk.Conn) (struct{}, error) {
				return struct{}{}, k.Delete(childOf(c.folder, name), -1)
			})
			if err != nil && !errors.Is(err, zk.ErrNoNode) {
				left++
				c.r.log.Debug("latch is let go again", slog.String("znode", name), slog.Any("error", err))
			}
		}
		if left == 0 {
			c.link.ephemerals.drop(c.name)
			c.unmake(ctx)
			return
		}
	}
}

// unmake takes the ancestors away again that the contender made of a tree that somebody had removed in that moment.
// Nobody who removes a job expects its tree to be there afterwards, and a Java instance of ElasticJob 3.x takes an empty
// one for another job. What somebody else has used meanwhile stays: it has children, or has been written.
func (c *contender) unmake(ctx context.Context) {
	if len(c.made) == 0 {
		return
	}
	c.r.parents.forget()
	for _, znode := range slices.Backward(c.made) {
		_, err := ask(ctx, c.link, func(k *zk.Conn) (struct{}, error) { return struct{}{}, k.Delete(znode, 0) })
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			c.r.log.Debug("the folder of a latch stays", slog.String("znode", znode), slog.Any("error", err))
			return
		}
	}
}
