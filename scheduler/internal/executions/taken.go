package executions

import (
	"fmt"

	"github.com/elasticron/elasticron/internal/execution"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// errTaken is why the code of an execution is cancelled whose item others may run by now.
var errTaken = fmt.Errorf("%w: %w", registry.ErrSessionLost, execution.ErrTaken)

// stopTaken cancels the code of an execution that others have declared lost though its session lives. A hand has deleted
// its mark when this instance had left the job: then nothing else shows that it runs, and somebody runs it again. Code
// whose session is known to be over is cancelled with that, and told why that is over. Where both come up in one instant,
// either may be first; both causes say that the session is lost.
func (x *Executions) stopTaken(v room.View, e *Execution) {
	if !e.InCode() || !e.Monitored() || !MarkGone(v, e) {
		return
	}
	record := v.State.Record(e.Item)
	outcome, _ := record.Value.Ended(int64(e.Token))
	taken := record.Err == nil && (outcome == jobtree.Lost || record.Value.Token(record.Revision) > e.Token)
	if taken && e.Under.Session.State() != registry.SessionLost {
		e.cancel(errTaken)
	}
}
