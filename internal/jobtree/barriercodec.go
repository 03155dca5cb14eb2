package jobtree

import "github.com/elasticron/elasticron/registry"

// EncodeBarrier returns the text of a barrier node: compact JSON, times in UTC, zero values left out,
// items as in "0-9,12".
func EncodeBarrier(b Barrier) string {
	w := writer{text: []byte{'{'}}
	w.instant("fire", b.Fire)
	w.count("trigger", int64(b.Trigger))
	w.flag("manual", b.Manual)
	w.string("items", encodeItems(b.Items))
	w.instant("opened", b.Opened)
	w.string("done", b.Done)
	w.string("outcome", string(b.Outcome))
	w.string("error", b.Error)
	w.instant("ended", b.Ended)
	if b.Previous != nil {
		w.object("previous", b.Previous.write)
	}
	return string(append(w.text, '}'))
}

// DecodeBarrier reads a barrier node. The empty text, which Java leaves in its place, is a barrier
// that was never opened. Members that it does not know are left out.
func DecodeBarrier(n registry.Node) (Barrier, error) {
	if n.Value == "" {
		return Barrier{}, nil
	}
	o, err := parseObject(n.Value)
	if err != nil {
		return Barrier{}, at(n.Path, err)
	}
	var b Barrier
	var r reader
	for m := range o.members() {
		b.readMember(&r, m)
	}
	if r.err != nil {
		return Barrier{}, at(n.Path, r.err)
	}
	return b, nil
}

func (b *Barrier) readMember(in *reader, m member) {
	switch m.name {
	case "fire":
		b.Fire = in.instant(m)
	case "trigger":
		b.Trigger = registry.Revision(in.count(m))
	case "manual":
		b.Manual = in.flag(m)
	case "items":
		b.Items = in.items(m)
	case "opened":
		b.Opened = in.instant(m)
	case "done":
		b.Done = in.text(m)
	case "outcome":
		b.Outcome = BarrierOutcome(in.text(m))
	case "error":
		b.Error = in.text(m)
	case "ended":
		b.Ended = in.instant(m)
	case "previous":
		b.Previous = new(SettledBarrier)
		in.within(m, b.Previous.read)
	}
}

func (s *SettledBarrier) write(w *writer) {
	w.instant("fire", s.Key.Fire)
	w.count("trigger", int64(s.Key.Trigger))
	w.string("done", s.Done)
	w.string("outcome", string(s.Outcome))
	w.string("error", s.Error)
}

func (s *SettledBarrier) read(r *reader, o object) {
	for m := range o.members() {
		switch m.name {
		case "fire":
			s.Key.Fire = r.instant(m)
		case "trigger":
			s.Key.Trigger = registry.Revision(r.count(m))
		case "done":
			s.Done = r.text(m)
		case "outcome":
			s.Outcome = BarrierOutcome(r.text(m))
		case "error":
			s.Error = r.text(m)
		}
	}
}
