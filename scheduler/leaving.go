package scheduler

import (
	"iter"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/executions"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// leave takes this instance out of the job, and says so when nothing of it runs any more. Others
// take over at once: what still runs here is marked as running, and stays so until its end. Where only the instance
// shows that it runs, the instance stays until then, see [runner.mustStay].
func (r *runner) leave() {
	f := r.departure.bid()
	if f.turn.Wake == nil {
		f.turn.Wake = func() { r.box.Post(func() { f.heard = true }) }
	}
	if r.attached != nil && r.applied >= r.needed && !r.s.handovers.WaitsFor(&f.turn) {
		r.handOver(f)
	}
	r.closeDrained()
}

// tellFor is for how long an instance that leaves tells what others' items missed before it hands over its own, which stand
// still meanwhile: the time in which the registry takes notes, and not that between two tries. In an overload there is much of
// that, and a store that takes little.
const tellFor = 500 * time.Millisecond

// handOver tells the others what was missed, which they need to know before they begin anything, and then that this
// instance has left, if it is this job's turn. A job that has many notes makes a part of them at a time, those of its own items
// first, and ends go between.
func (r *runner) handOver(f *farewell) {
	tells := f.noting < tellFor
	if !tells && !f.hushed {
		f.hushed = true
		r.rounds.Missed().StopTelling()
	}
	notes, over := r.rounds.Note(r.look(), r.departure.left, tells)
	part := notes[:f.parts.Of(len(notes), r.s.handovers.Part())]
	leave, stays := r.proposeLeave()
	if size := len(part) + len(leave); size > 0 {
		granted := r.s.handovers.Take(&f.turn, size)
		if granted == 0 {
			return
		}
		part = part[:f.parts.Fitting(len(part), granted-len(leave))]
	}
	defer r.s.handovers.GiveBack(&f.turn)
	before, began := r.rounds.Missed().ToNote(), time.Now()
	r.handIn(part)
	f.noting += time.Since(began)
	left := r.rounds.Missed().ToNote()
	if len(part) < len(notes) {
		f.parts.Made(left < before)
		r.rounds.Missed().ResetTries()
		r.decideAgain()
		return
	}
	switch {
	case !over && left > 0 && !r.rounds.Missed().TryNoting():
		r.alarm.Set(room.RetryAfter) // what refuses a note need not be followed by news
	case !r.departure.left || r.look().Registered():
		r.commitLeave(leave, stays)
	}
}

// closeDrained closes drained if the job was left and nothing of it runs any more.
func (r *runner) closeDrained() {
	// Its session may come back with its nodes, so a job that is left alone waits for the next one. One whose home is
	// another registry does not: nothing is asked of its instance here, which is taken out when this registry is back, and
	// its home must not wait for that.
	settled := !r.departure.alone(r.s.stop.Err() != nil) || r.state.Elsewhere()
	if (r.departure.left || r.attached == nil && settled) && !r.busy() && !r.departure.drained.Has() {
		r.departure.drained.Happen()
		r.atRest()
		if left := r.departure.whenLeft(); left != nil {
			r.s.work.Go(left)
		}
	}
}

// commitLeave deletes the instance, and the leader if that is this one, and asks for a resharding, or does it as the
// leader, in one transaction. While the instance has to stay, it hands over all else. What a former session still has goes,
// too: nobody else would take it away while the registry keeps that.
func (r *runner) commitLeave(batch room.Batch, stays bool) {
	switch {
	case stays:
	case batch == nil:
		r.departure.left = !r.leadership.Electing() // an election under way may still bring something to take back
		r.membership.NoteLeft(r.s.now())
	case r.leads() && len(r.lost.Decide(r.look(), r.accountedFor)) == 0: // as in lead; else the next one looks
		r.leadership.Bequeath(r.look(), &batch[0])
	}
	r.handIn(batch)
}

// handIn commits a part of what there is to tell, and takes in how long that takes.
func (r *runner) handIn(batch room.Batch) {
	if len(batch) == 0 {
		return
	}
	began, under := time.Now(), r.attached.Ctx
	if r.commit(batch); under.Err() == nil { // else it may have got no answer
		r.s.handovers.Answered(len(batch), time.Since(began))
	}
}

// proposeLeave proposes to leave, or to hand over all else if the instance stays; nothing if that was done.
func (r *runner) proposeLeave() (batch room.Batch, stays bool) {
	if r.mustStay() && !r.rounds.Executions().Abandoned() {
		return append(r.membership.RemoveFormer(r.look()), r.membership.AnnounceLeave(r.look())...), true
	}
	return r.membership.Leave(r.look(), r.marks()), false
}

// mustStay tells whether this instance is all that shows that something that runs here, under the present session, is
// not lost: its mark was taken away, or beside ElasticJob 3.x is one that outlives the instance, or others go by no mark.
func (r *runner) mustStay() bool {
	v := r.look()
	mistaken := r.peers.MistakesLeave(v)
	for e := range r.marked() {
		if executions.MarkGone(v, e) || v.Registered() && (mistaken || v.State.MarkOutlives(e.Item)) {
			return true
		}
	}
	return false
}

// marked yields the executions here that have a mark under the present session, or had one.
func (r *runner) marked() iter.Seq[*executions.Execution] {
	return func(yield func(*executions.Execution) bool) {
		for e := range r.rounds.Running() {
			if e.Monitored() && e.Under.Session.ID() == r.attached.Session.ID() && !yield(e) {
				return
			}
		}
	}
}

// mostMarks is how many marks a leave compares, which has a few conditions besides.
const mostMarks = registry.MaxOps - 28

// marks are the conditions that what runs here is marked when the job is left, of the first executions if there are
// many: the state may still show a mark that is gone.
func (r *runner) marks() []registry.Condition {
	var marks []registry.Condition
	for e := range r.marked() {
		if len(marks) == mostMarks {
			break
		}
		marks = append(marks, executions.Mark(r.tree, e.Item, e.Token))
	}
	return marks
}
