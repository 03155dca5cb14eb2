package migrate

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/elasticron/elasticron/internal/guarded"
	"github.com/elasticron/elasticron/internal/jobtree"
)

// back says what the way back to the source needs next.
func (m *mover) back(s *scene) (deed, error) {
	if err := cmp.Or(s.asSource(), s.asTarget()); err != nil {
		return deed{}, err
	}
	switch s.there.State {
	case "":
		if s.here.State == Confirmed {
			return deed{}, refusal{errors.New("its move was confirmed: move it the other way instead")}
		}
		return deed{}, refusal{errors.New("it is not being moved to this target")}
	case Confirmed:
		return deed{}, refusal{errors.New("it was moved from this target to another registry, which was confirmed: it is not being moved to this target")}
	case Returned:
		if err := s.elsewhere(); err != nil { // a target that was restored from a backup knows nothing of a later move
			return deed{}, err
		}
		if !s.target.enabled() {
			return deed{done: true}, nil
		}
	case Confirming:
		return deed{}, refusal{errors.New("its move is being confirmed: finish that, and move it the other way instead")}
	}
	if err := s.elsewhere(); err != nil { // before anything is stopped that nobody would run then
		return deed{}, err
	}
	if s.there.State != Returning || s.target.enabled() { // again, by somebody who did not know
		return m.stop(s, Returning)
	}
	if s.here.promises(s.there.ID, Returned) {
		p := s.there
		p.State, p.Away, p.Lost, p.Started = Returned, true, nil, false
		return deed{text: "note in the target that the job has returned", last: []guarded.Step{m.pledge(s.target.jobNodes, p)}}, nil
	}
	if s.target.busy() != nil || !m.settled(s, false) {
		return deed{
			wait: (*original).busy, again: (*original).enabled, settle: m.settle(s, false),
			text: "wait until nothing of it runs in the target" + m.quietFor(s, false), rest: []string{enableSource},
		}, nil
	}
	if d, needed := m.takeLost(s, false); needed {
		return d, nil
	}
	return m.restore(s)
}

const enableSource = "give the source's job and its servers the settings back that they had"

// stop disables the job in the target. state is how far the move is then.
func (m *mover) stop(s *scene, state MoveState) (deed, error) {
	text, err := s.target.withDisabled(true)
	if err != nil {
		return deed{}, refusal{err}
	}
	p := s.there
	p.State, p.Away = state, false
	put, _ := s.target.put(s.target.state.Tree().Config(), text)
	d := deed{text: "disable the job in the target", last: []guarded.Step{put, m.pledge(s.target.jobNodes, p)}}
	if state == Prepared {
		d.rest = m.plan(s)
	} else {
		d.rest = []string{"wait until nothing of it runs in the target" + m.quietFor(s, false), enableSource}
	}
	return d, nil
}

// restore gives the source back what it had, some servers at a time and the settings last.
func (m *mover) restore(s *scene) (deed, error) {
	tree, p := s.source.state.Tree(), s.here
	d := deed{toSource: true, text: enableSource}
	config := s.source.nodes[tree.Config()].Value
	text := config
	if p.State == Drained {
		var err error
		if text, err = m.formerText(s); err != nil {
			return deed{}, err
		}
	} else {
		p = pledge{}
	}
	if p.State == Drained {
		p.Servers = s.formerServers()
	}
	more := false
	for _, ip := range slices.Sorted(maps.Keys(p.Servers)) {
		node, was := s.source.nodes[tree.Server(ip)], p.Servers[ip]
		if was != nil && *was == jobtree.EncodeServer(true) {
			continue // as it was
		}
		if len(d.last) == perStep {
			more = true
			break
		}
		delete(p.Servers, ip)
		if node.Value != jobtree.EncodeServer(true) {
			continue // somebody decided otherwise
		}
		step, _ := s.source.remove(node.Path)
		if was != nil {
			step, _ = s.source.put(node.Path, *was)
		}
		d.last = append(d.last, step)
	}
	if more {
		put, _ := s.source.put(tree.Config(), config) // so that a late copy of this comes to nothing
		d.last = append(d.last, put, m.pledge(s.source.jobNodes, p))
		return d, nil
	}
	lost := p.Lost
	if s.there.Started {
		lost = s.there.Lost
	}
	again := make(map[int]string) // those that get another record so
	for n, record := range lost {
		steps, recorded := m.runAgain(s, n, record)
		if d.first = append(d.first, steps...); recorded {
			again[n] = record
		}
	}
	d.first = append(d.first, ranElsewhere(s.source, s.target, again)...)
	if s.there.Started { // else nothing has run there, and what it has of checkpoints is older
		checkpoints, _ := checkpointsOf(s.source.jobNodes, s.target.jobNodes)
		d.first = append(d.first, checkpoints...)
	}
	if start := m.tokensOfReturned(s); start != s.source.state.Tokens().Value {
		step, _ := s.source.put(tree.Tokens(), jobtree.EncodeTokens(start))
		d.last = append(d.last, step)
	}
	put, _ := s.source.put(tree.Config(), text)
	d.last = append(d.last, put, m.pledge(s.source.jobNodes, pledge{ID: s.there.ID, State: Returned}))
	m.toSource = guarded.NewWriter(m.source, s.source.guard(tree.Move()))
	return d, nil
}

// formerText is the config that the source had. What somebody else has changed there meanwhile stays.
func (m *mover) formerText(s *scene) (string, error) {
	before, err := m.former(s)
	if err != nil {
		return "", err
	}
	left, err := before.withDisabled(true)
	if err == nil && s.source.nodes[s.source.state.Tree().Config()].Value == left {
		return s.here.Config, nil
	}
	text, err := s.source.withDisabled(before.config.Disabled)
	if err != nil {
		return "", refusal{err}
	}
	return text, nil
}

// runAgain has the source run an item again that the target has lost. Java goes by the item alone; instances of this
// library, where there are any records of them, by the record.
func (m *mover) runAgain(s *scene, item int, record string) (steps []guarded.Step, recorded bool) {
	tree := s.source.state.Tree()
	if !s.source.config.Failover || item >= s.source.config.ShardingTotalCount {
		return nil, false
	}
	waits, _ := s.source.put(tree.FailoverItem(item), "")
	steps = []guarded.Step{waits}
	for path := range s.source.nodes {
		if name, ok := jobtree.Parse(path); ok && name.Kind == jobtree.KindItemRecord {
			step, _ := s.source.put(tree.ItemRecord(item), s.source.lostElsewhere(item, record))
			return append(steps, step), true
		}
	}
	return steps, false
}

// confirm says what ends a move. The target says first that there is no way back, as it says first that there is one.
func (m *mover) confirm(s *scene) (deed, error) {
	if err := s.takenBackAlone(); err != nil {
		return deed{}, err
	}
	switch {
	case s.there.State == "" && s.here.State == Confirmed:
		return m.stayed(s)
	case s.there.State != Moved && s.there.State != Confirming:
		return deed{}, refusal{errors.New("it is not moved, so there is nothing to confirm")}
	case s.here.promises(s.there.ID, Confirmed):
		step, _ := s.target.remove(s.target.state.Tree().Move())
		return deed{text: "forget the move in the target", last: []guarded.Step{step}}, nil
	}
	if _, needed, err := m.drain(s); err != nil || needed {
		return deed{}, refusal{errors.Join(errors.New("something of it is enabled again in the source: move it once more"), err)}
	}
	if s.there.State == Moved {
		p := s.there
		p.State = Confirming
		return deed{
			text: "give up the way back", last: []guarded.Step{m.pledge(s.target.jobNodes, p)},
			rest: []string{"confirm the move in the source", "forget it in the target"},
		}, nil
	}
	config := s.source.nodes[s.source.state.Tree().Config()]
	put, _ := s.source.put(config.Path, config.Value) // so that a late copy of this comes to nothing
	return deed{
		toSource: true, text: "confirm the move in the source",
		last: []guarded.Step{put, m.pledge(s.source.jobNodes, pledge{
			ID: s.there.ID, State: Confirmed, Config: s.here.Config, Servers: s.formerServers(), Since: s.here.Since, Java: s.here.Java,
		})},
	}, nil
}
