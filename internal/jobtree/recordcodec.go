package jobtree

import (
	"fmt"

	"github.com/elasticron/elasticron/registry"
)

// recordFormat is the newest format of records that this version reads. A version that writes records
// which older ones would misread says so in the member "format". Of format 1, which says nothing, are those in
// which each execution says all of itself; they mean the same in format 2.
const recordFormat = 2

// EncodeRecord returns the text of a record node: compact JSON, times in UTC, sessions in
// hexadecimal as the stores' tools print them, zero values left out. An execution leaves out a source of "scheduled",
// the outcome "success" once it has ended, and the instance if the one after it ran there; as a rule it has "late" and
// "took", in milliseconds, in place of its fire and its end.
func EncodeRecord(r Record) string {
	w := writers.Get().(*writer)
	defer writers.Put(w)
	w.text = append(w.text[:0], '{')
	if r.Current != nil || r.previous != "" {
		w.number("format", recordFormat)
	}
	w.string("state", string(r.state()))
	w.instant("lastFire", r.LastFire)
	w.count("trigger", int64(r.Trigger))
	w.count("reruns", int64(r.Reruns))
	if r.Counts != (Counts{}) {
		w.object("counts", r.Counts.write)
	}
	if r.Before != nil {
		w.object("before", r.Before.write)
	}
	if r.Current != nil {
		w.object("current", func(w *writer) { r.Current.write(w, "") })
	}
	w.raw("previous", r.previous)
	return string(append(w.text, '}'))
}

// DecodeRecord reads a record node. Members that it does not know are left out, and are gone when the
// record is written again: the members belong together, and a part that a newer version keeps in
// step with the others must not survive their change.
func DecodeRecord(n registry.Node) (Record, error) { return decodeRecord(n, new(Execution)) }

// decodeRecord is [DecodeRecord]. The current execution, if it can be, is put where current points to.
func decodeRecord(n registry.Node, current *Execution) (Record, error) {
	var plain Record
	if !plain.readPlain(n.Value, current) {
		*current = Execution{}
		return decodeAnyRecord(n)
	}
	if err := plain.checkComplete(); err != nil {
		return Record{}, at(n.Path, err)
	}
	return plain, nil
}

// decodeAnyRecord is [DecodeRecord] for any text.
func decodeAnyRecord(n registry.Node) (Record, error) {
	o, err := parseObject(n.Value)
	if err != nil {
		return Record{}, at(n.Path, err)
	}
	var rec Record
	var r reader
	for m := range o.members() {
		if m.name == "format" && r.count(m) > recordFormat {
			return Record{}, at(n.Path, &ValueError{
				Field: m.name, Value: m.value, kind: ErrNewerFormat,
				Reason: fmt.Sprintf("which a newer version wrote; this one reads records up to format %d", recordFormat),
			})
		}
		rec.readMember(&r, m)
	}
	if r.err == nil {
		r.err = rec.checkComplete()
	}
	if r.err != nil {
		return Record{}, at(n.Path, r.err)
	}
	return rec, nil
}

func (r *Record) readMember(in *reader, m member) {
	switch m.name {
	case "state":
		r.State = word(in, m, ItemIdle, ItemRunning, ItemWaiting, ItemInterrupted)
	case "lastFire":
		r.LastFire = in.instant(m)
	case "trigger":
		r.Trigger = registry.Revision(in.count(m))
	case "reruns":
		r.Reruns = int(in.count(m))
	case "counts":
		in.within(m, r.Counts.read)
	case "before":
		r.Before = &Before{State: ItemIdle}
		in.within(m, r.Before.read)
	case "current":
		r.Current = new(Execution)
		in.within(m, r.Current.read)
	case "previous":
		in.object(m)
		r.previous = m.value
	}
}

// checkComplete asks of a record for what its state rests on. Without it nobody could end the
// execution or run it again, so better find out now.
func (r *Record) checkComplete() error {
	switch {
	case r.State == "":
		return &ValueError{Field: "state", Reason: "must be there"}
	case (r.State == ItemRunning || r.State == ItemWaiting) && r.Current == nil:
		return &ValueError{Field: "current", Reason: "must be there in state " + string(r.State)}
	case r.State == ItemRunning && r.Before == nil:
		return &ValueError{Field: "before", Reason: "must be there in state running"}
	case r.State != ItemRunning:
		r.Before = nil
	}
	return nil
}

func (c *Counts) write(w *writer) {
	w.count("success", c.Success)
	w.count("failure", c.Failure)
	w.count("interrupted", c.Interrupted)
	w.count("lost", c.Lost)
}

func (c *Counts) read(r *reader, o object) {
	for m := range o.members() {
		switch m.name {
		case "success":
			c.Success = r.count(m)
		case "failure":
			c.Failure = r.count(m)
		case "interrupted":
			c.Interrupted = r.count(m)
		case "lost":
			c.Lost = r.count(m)
		}
	}
}

func (b *Before) write(w *writer) {
	if b.State != ItemIdle { // as it is read where it is missing, and was nearly always
		w.string("state", string(b.State))
	}
	w.instant("lastFire", b.LastFire)
	w.count("trigger", int64(b.Trigger))
	w.count("reruns", int64(b.Reruns))
}

func (b *Before) read(r *reader, o object) {
	for m := range o.members() {
		switch m.name {
		case "state":
			b.State = word(r, m, ItemIdle, ItemWaiting, ItemInterrupted)
		case "lastFire":
			b.LastFire = r.instant(m)
		case "trigger":
			b.Trigger = registry.Revision(r.count(m))
		case "reruns":
			b.Reruns = int(r.count(m))
		}
	}
}
