package live

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// How a hub finds out whether the registry answers.
const (
	checkEvery = time.Second
	staleAfter = 3 * time.Second
	// nothing is a path at which nobody writes. To list it costs a request and brings the registry's revision.
	nothing = "/elasticron-console-asks"
)

// errWentBack ends a hub: its view waits for revisions that it has seen, and does not show what is stored.
var errWentBack = errors.New("the registry has gone back to an earlier state")

// keepChecking asks the registry for its revision, and waits for the view to show it: then everything that is shown
// was true when it asked. The error is that nothing more will be shown.
func (h *Hub) keepChecking(ctx context.Context) error {
	pause := time.NewTicker(checkEvery)
	defer pause.Stop()
	for {
		asked := time.Now()
		if err := h.check(ctx); err == nil {
			h.note(true, asked) //nolint:contextcheck // a history is read for readers, and ends with the hub
		} else if errors.Is(err, errWentBack) {
			return err
		} else if ctx.Err() == nil {
			h.note(false, time.Now()) //nolint:contextcheck // as above
		}
		select {
		case <-ctx.Done():
			return nil
		case <-pause.C:
		}
	}
}

func (h *Hub) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, staleAfter)
	defer cancel()
	seen := h.view.Snapshot().Revision() // before it asks: the answer has at least that, unless the registry lost it
	_, revision, err := h.cfg.Registry.List(ctx, nothing)
	if err != nil {
		return err
	}
	if revision < seen {
		return fmt.Errorf("%w: it is at revision %d, and was at %d", errWentBack, revision, seen)
	}
	return h.view.WaitRevision(ctx, revision)
}

// note takes down whether the registry answered. Without an answer for as long as staleAfter it counts as away.
func (h *Hub) note(answered bool, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case answered && h.connected:
		h.asOf = at
	case answered:
		h.connected = true
		h.addGap(Gap{From: h.asOf, To: at})
		h.cfg.Logger.Info("the console shows the namespace live again", "namespace", h.cfg.Namespace, "since", h.asOf)
		h.asOf = at
		h.broadcast(EventConnected, time.Now(), everyone)
		h.tell(time.Now(), h.andRead(h.takeOver(time.Now(), false)))
		h.refill()
	case h.connected && at.Sub(h.asOf) >= staleAfter:
		h.cfg.Logger.Warn("the registry does not answer, and the console shows what was", "namespace", h.cfg.Namespace, "as_of", h.asOf)
		h.lose()
	}
}

// lose says that what is shown is what was.
func (h *Hub) lose() {
	if !h.connected {
		return
	}
	h.connected = false
	h.show(time.Now(), nil)
	h.broadcast(EventDisconnected, time.Now(), everyone)
}
