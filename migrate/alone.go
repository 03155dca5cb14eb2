package migrate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/guarded"
	"github.com/elasticron/elasticron/internal/jobtree"
)

// backAlone says what the way back needs next from a target that is gone for good.
func (m *mover) backAlone(s *scene) (deed, error) {
	if err := s.asSource(); err != nil {
		return deed{}, err
	}
	switch p := s.here; {
	case p.State != Drained && p.State != Confirmed:
		return deed{done: true}, nil
	case len(m.opts.Jobs) == 0: // the source does not say to which target it went, and that may be another one, which lives
		return deed{}, refusal{fmt.Errorf("it is %s since %s, perhaps by a move to another target than the lost one, which would run it, too: name it to take it back",
			p.State, p.When.Format(time.RFC3339))}
	case p.State == Confirmed && p.Config == "":
		return deed{}, refusal{errors.New("its move was confirmed by a version that kept nothing of what the source had")}
	}
	s.here.State = Drained // also a confirmed one has all that a way back needs
	s.there.ID = s.here.ID
	d, err := m.restore(s)
	if err != nil {
		return deed{}, err
	}
	notes := []string{
		"nobody has asked the target: if it runs the job none the less, both do",
		"records and checkpoints are those of when it was disabled here: what has run in the target since may be done again",
	}
	if items := slices.Sorted(maps.Keys(s.here.Lost)); len(items) > 0 && s.source.config.Failover {
		notes = append(notes, fmt.Sprintf("run again, whether the target has run them or not: lost executions of items %s", list(items)))
	}
	m.job.Notes = append(slices.Clip(m.job.Notes), notes...)
	d.text += ", with fencing tokens above the target's"
	return d, nil
}

// tokensBeyond is more than a registry counts revisions, so that a base which is larger by that is above all tokens of a target
// that cannot be asked: these began where those of the source ended.
const tokensBeyond = 1 << 48

// tokensOfReturned is where the tokens of a job start that is taken back.
func (m *mover) tokensOfReturned(s *scene) jobtree.Tokens {
	present := s.source.state.Tokens().Value
	if m.target == nil {
		return jobtree.Tokens{Base: present.Base + tokensBeyond}
	}
	return s.target.tokens(present.Base)
}

// confirmAlone says what ends a move whose source is gone for good.
func (m *mover) confirmAlone(s *scene) (deed, error) {
	switch p := s.there; {
	case p.State == "", p.State == Returned && !p.Away:
		return deed{done: true}, nil
	case p.State == Drained, p.State == Confirmed:
		return deed{}, refusal{fmt.Errorf("in the target: it is %s by a move from there, of %s: are source and target confused?", p.State, p.When.Format(time.RFC3339))}
	case len(m.opts.Jobs) == 0: // the target does not say from where it came, and a source that lives goes on and back by what is forgotten here
		return deed{}, refusal{fmt.Errorf("it is %s since %s, perhaps by a move from another source than the lost one, which could take it back no more: name it to end its move",
			p.State, p.When.Format(time.RFC3339))}
	}
	m.arrived = s.there.State == Moved || s.there.State == Confirming || s.target.enabled()
	notes := []string{"nobody has asked the source: if it runs the job none the less, both do"}
	if s.target.config.Disabled {
		notes = append(notes, "it stays disabled: enable it if it is to run")
	}
	if s.there.State == Prepared {
		notes = append(notes, "the target has not got the job's checkpoints, and fencing tokens may be below those that the source has granted")
	}
	d := deed{text: "forget the move in the target"}
	tree := s.target.state.Tree()
	var again []int
	for _, n := range slices.Sorted(maps.Keys(s.there.Lost)) { // which the source was to run
		if s.target.config.Failover && n < s.target.config.ShardingTotalCount {
			record, _ := s.target.put(tree.ItemRecord(n), s.target.lostElsewhere(n, s.there.Lost[n]))
			waits, _ := s.target.put(tree.FailoverItem(n), "")
			d.first, again = append(d.first, record, waits), append(again, n)
		}
	}
	if again != nil {
		notes = append(notes, fmt.Sprintf("run again, whether the source has run them or not: lost executions of items %s", list(again)))
	}
	m.job.Notes = notes
	step, _ := s.target.remove(tree.Move())
	d.last = []guarded.Step{step}
	m.toTarget = guarded.NewWriter(m.target, s.target.guard(tree.Move()))
	return d, nil
}
