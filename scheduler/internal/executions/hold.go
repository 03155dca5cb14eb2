package executions

import (
	"log/slog"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Hold proposes to mark executions anew of which the tree shows nothing any more: neither the mark nor the record, as
// after somebody deleted the whole tree by hand. If the job is stored again while they run, whoever gets their items
// would take them for items that have never run, and begin them. The new mark keeps everybody from that. It ends no
// execution: it goes when the code has returned, see mending.Orphans, or with the session.
//
// What has returned and only waits to hear how its end went is not marked: it needs nobody kept away. That end may
// have been recorded, which a removal waits for, and its answer lost. A mark would then bring nodes of a removed job
// back, and keep the item from whoever creates the job again for as long as the answer takes.
//
// Beside ElasticJob 3.x nothing is marked before the job is stored again: the node of the job itself, which comes with
// the mark and stays when that goes, would be empty, and each of its instances takes that for a job of another class.
func (x *Executions) Hold(v room.View) (batch room.Batch) {
	if x.unheld.Empty() || !v.Attached.Connected() { // as a rule nothing is to be held, and to read the session's clock costs
		return nil
	}
	var stored []registry.Condition
	if v.State.Layout() == jobtree.ElasticJob3 {
		if !v.State.Config.Exists() {
			return nil
		}
		stored = append(stored, registry.Present(v.Tree.Config()))
	}
	_, items := x.unheld.TakeNoted()
	for _, item := range items {
		e, node := x.rounds.Of(item), v.State.Item(item)
		if e == nil || !e.Monitored() || e.returned || e.Under != v.Attached || !MarkGone(v, e) || node.Running.Exists() || node.Record.Exists() {
			continue
		}
		batch = append(batch, room.Proposal{
			Step: "hold an item",
			Txn: registry.Txn{
				If:     append([]registry.Condition{registry.Absent(v.Tree.ItemRunning(e.Item)), registry.Absent(v.Tree.ItemRecord(e.Item))}, stored...),
				Then:   []registry.Write{registry.PutOwned(v.Tree.ItemRunning(e.Item), v.Instance, v.Attached.Session)},
				Repeat: registry.RepeatOwned,
			},
			Done: func(registry.Outcome) {
				x.ports.Tell(slog.LevelWarn, "the job's tree was deleted while the item runs: nobody else begins it before it has ended", nil,
					room.KeyItem, e.Item, room.KeyToken, e.Context.Token)
			},
			Refused: func(error) bool { x.unheld.Add(e.Item); return false },
		})
	}
	return batch
}
