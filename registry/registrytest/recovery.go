package registrytest

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func recoveryCases() []testCase {
	return []testCase{
		{name: "ViewSurvivesABrokenWatch", needs: []Ability{BreakWatch}, run: viewSurvivesABrokenWatch},
		{name: "ViewSurvivesACut", needs: []Ability{Cut}, run: viewSurvivesACut},
		{name: "ViewSurvivesCompaction", needs: []Ability{Cut, Compact}, run: viewSurvivesCompaction},
		{name: "CompactionOfWhatIsSeenDoesNoHarm", needs: []Ability{Compact}, run: compactionOfWhatIsSeen},
		{name: "ViewSurvivesARestart", needs: []Ability{Restart}, run: viewSurvivesARestart},
		{name: "NoViewBeginsWithoutTheStore", needs: []Ability{Cut}, run: noViewBeginsWithoutTheStore},
	}
}

// churn changes nodes in every way: some come, some go, some change, some are replaced.
func (e *env) churn(p *Participant, round int) {
	e.Helper()
	for i := range 10 {
		e.commit(p,
			registry.Put("/churn/counter", fmt.Sprintf("%d.%d", round, i)),
			registry.Put("/beside", fmt.Sprintf("%d.%d", round, i)),
			registry.Put(fmt.Sprintf("/churn/new/%d-%d", round, i), ""),
			registry.DeleteTree(fmt.Sprintf("/churn/new/%d-%d", round-1, i)))
		e.commit(p, registry.Delete("/churn/replaced"))
		e.commit(p, registry.Put("/churn/replaced", "always the same"))
	}
}

// follow opens views on one handle, each of something else and with a listener. One of them is narrowed.
func (e *env) follow(p *Participant) []*replay {
	e.Helper()
	e.commit(p, registry.Put("/churn/new/steady", ""))
	// First, as what is open decides how the next one is followed.
	narrow := newNarrowReplay(e, p, registry.Root, registry.Part{Folder: "/churn", Only: []string{"counter", "new"}})
	narrow.view.Subscribe(func(s registry.Step) {
		if one, other := s.Snapshot.Get("/beside").Value, s.Snapshot.Get("/churn/counter").Value; one != other {
			narrow.fault("of one transaction it shows %q and not %q", one, other)
		}
	})
	return []*replay{narrow, newReplay(e.view(p, "/churn/new")), newReplay(e.view(p, "/churn"))}
}

func requireAllAgree(e *env, p *Participant, replays []*replay) {
	e.Helper()
	for _, r := range replays {
		r.requireAgrees(e, p)
		require.Equal(e, 1, r.changes["/churn/new/steady"], "what did not change is not shown again")
	}
}

func viewSurvivesABrokenWatch(e *env) {
	p, other := e.open(), e.open()
	replays := e.follow(p)
	for round := range 4 {
		e.churn(other, round)
		p.BreakWatch()
	}
	e.churn(other, 4)
	requireAllAgree(e, other, replays)
}

func viewSurvivesACut(e *env) {
	p, other := e.open(), e.open()
	replays := e.follow(p)
	e.churn(other, 0)
	p.Cut()
	e.churn(other, 1)
	p.Heal()
	e.churn(other, 2)
	requireAllAgree(e, other, replays)
}

func viewSurvivesCompaction(e *env) {
	p, other := e.open(), e.open()
	replays := e.follow(p)
	e.churn(other, 0)
	p.Cut()
	e.churn(other, 1)
	e.store.Compact()
	e.churn(other, 2)
	p.Heal()
	e.churn(other, 3)
	requireAllAgree(e, other, replays)
}

func compactionOfWhatIsSeen(e *env) {
	p := e.open()
	replays := e.follow(p)
	for round := range 3 {
		e.churn(p, round)
		e.store.Compact()
	}
	requireAllAgree(e, p, replays)
}

func viewSurvivesARestart(e *env) {
	p, other := e.open(), e.open()
	replays := e.follow(p)
	e.churn(other, 0)
	e.store.Restart(e.ttls(0.1))
	e.churn(other, 1)
	e.store.Restart(0)
	e.churn(other, 2)
	requireAllAgree(e, other, replays)
}

func noViewBeginsWithoutTheStore(e *env) {
	p := e.open()
	p.Cut()
	_, err := p.View(e.within(0.3), registry.Root)
	require.ErrorIs(e, err, registry.ErrUnavailable)
	p.Heal()
	newReplay(e.view(p, registry.Root)).requireAgrees(e, p)
}
