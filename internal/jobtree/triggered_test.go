package jobtree_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

func triggeredText(tb testing.TB, t jobtree.Triggered) string {
	tb.Helper()
	text, err := jobtree.EncodeTriggered(t)
	require.NoError(tb, err)
	return text
}

func TestTriggeredText(t *testing.T) {
	t.Parallel()
	require.Equal(t, `{"until":"2026-01-02T13:00:00Z"}`, triggeredText(t, jobtree.Triggered{Until: at(60)}))
	require.Equal(t, `{"items":"0-2,7","total":9,"parameter":"a\u003d1","fire":"2026-01-02T12:05:00Z","until":"2026-01-02T13:00:00Z"}`,
		triggeredText(t, jobtree.Triggered{Items: []int{0, 1, 2, 7}, Total: 9, Parameter: "a=1", Fire: at(5), Until: at(60)}))

	all := make([]int, 3_800)
	for n := range all {
		all[n] = n
	}
	require.Less(t, len(triggeredText(t, jobtree.Triggered{Items: all, Until: at(60)})), 100, "runs are short")
}

func TestTriggeredIsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfNDistinct(rapid.IntRange(0, 300), 0, 40, rapid.ID[int]).Draw(t, "items")
		slices.Sort(items)
		want := jobtree.Triggered{
			Items: items, Total: rapid.IntRange(0, 300).Draw(t, "total"), Parameter: rapid.StringN(-1, -1, jobtree.MaxTriggerParameter).Draw(t, "parameter"),
			Until: at(rapid.IntRange(0, 1e8).Draw(t, "until")), Each: rapid.Bool().Draw(t, "each"),
		}
		if len(items) == 0 {
			want.Items = nil
		}
		if rapid.Bool().Draw(t, "of a fire") {
			want.Fire = at(rapid.IntRange(0, 1e8).Draw(t, "fire"))
		}
		text, err := jobtree.EncodeTriggered(want)
		require.NoError(t, err)
		got, err := jobtree.DecodeTriggered(node("/o/triggered", text))
		require.NoError(t, err)
		require.Equal(t, want, got)
		for n := range 301 {
			require.Equal(t, len(items) == 0 || slices.Contains(items, n), got.Asks(n))
		}
		require.False(t, got.Over(want.Until))
		require.True(t, got.Over(want.Until.Add(1)))
	})
}

func TestTriggeredThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	until := at(60)
	for want, trigger := range map[string]jobtree.Triggered{
		`items is "", must name items`:                       {Items: []int{}, Until: until},
		`items is "-1", must be numbers from 0 to 99999`:     {Items: []int{-1}, Until: until},
		`items is "100000", must be numbers from 0 to 99999`: {Items: []int{job.MaxShardingTotalCount}, Until: until},
		`items is "3", must be ascending, each number once`:  {Items: []int{3, 3}, Until: until},
		`parameter is "\xff", must be valid UTF-8`:           {Parameter: "\xff", Until: until},
		`parameter is "2049 bytes", must have at most 2048`:  {Parameter: strings.Repeat("x", 2_049), Until: until},
		`fire is `:  {Fire: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC), Until: until},
		`until is `: {},
	} {
		_, err := jobtree.EncodeTriggered(trigger)
		require.ErrorIs(t, err, jobtree.ErrInvalidValue)
		require.ErrorContains(t, err, want)
	}
}

func TestTriggeredThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		``:                                 `/o/triggered: value is "", must be a JSON object`,
		`TRIGGER`:                          `must be a JSON object`,
		`{}`:                               `until is "", must be there`,
		`{"until":"soon"}`:                 `until is "\"soon\"", must be a time`,
		`{"items":"","until":%q}`:          `must name items`,
		`{"items":[0,1],"until":%q}`:       `items is "[0,1]", must be a string`,
		`{"items":"1-0","until":%q}`:       `must be ascending item numbers such as "0-9,12"`,
		`{"items":"1,1","until":%q}`:       `must be ascending item numbers`,
		`{"items":"-1","until":%q}`:        `must be ascending item numbers`,
		`{"items":"0-1000000","until":%q}`: `must be ascending item numbers`,
		`{"total":-1,"until":%q}`:          `total is "-1", must be a whole number`,
		`{"parameter":7,"until":%q}`:       `parameter is "7", must be a string`,
		`{"parameter":"` + strings.Repeat("x", 2_049) + `","until":%q}`: `must have at most 2048 bytes`,
		`{"fire":"x","until":%q}`: `fire is "\"x\"", must be a time`,
	} {
		if strings.Contains(value, "%q") {
			value = fmt.Sprintf(value, "2026-01-02T13:00:00Z")
		}
		got, err := jobtree.DecodeTriggered(node("/o/triggered", value))
		require.ErrorIs(t, err, jobtree.ErrInvalidValue, value)
		require.ErrorContains(t, err, want)
		require.Zero(t, got)
	}
	got, err := jobtree.DecodeTriggered(node("/o/triggered", `{"later":{"x":1},"until":"2026-01-02T14:00:00+01:00"}`))
	require.NoError(t, err)
	require.Equal(t, jobtree.Triggered{Until: at(60)}, got)
}

func FuzzDecodeTriggered(f *testing.F) {
	f.Add(`{"items":"0-2,7","parameter":"a=1","fire":"2026-01-02T12:05:00Z","until":"2026-01-02T13:00:00Z"}`)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := jobtree.DecodeTriggered(node("/x", text))
		if err != nil {
			return
		}
		again, err := jobtree.DecodeTriggered(node("/x", triggeredText(t, got)))
		require.NoError(t, err)
		require.Equal(t, got, again)
	})
}

func TestStateShowsWhatWasTriggered(t *testing.T) {
	t.Parallel()
	tree, s := jobtree.For("orders"), newStore()
	state := jobtree.NewState("orders")
	require.Zero(t, state.Triggered())

	want := jobtree.Triggered{Items: []int{1}, Until: at(60)}
	revision := s.put(tree.Triggered(), triggeredText(t, want), 0)
	require.Equal(t, jobtree.Touched{Triggered: true}, state.Apply(s.step()))
	require.Equal(t, jobtree.Stored[jobtree.Triggered]{Value: want, Revision: revision}, state.Triggered())

	s.put(tree.Triggered(), "TRIGGER", 0)
	state.Apply(s.step())
	require.ErrorContains(t, state.Triggered().Err, "/orders/triggered: ")

	s.remove(tree.Triggered())
	require.Equal(t, jobtree.Touched{Triggered: true}, state.Apply(s.step()))
	require.Zero(t, state.Triggered())
}

// What operators did is no affair of those who run the job.
func TestStatePassesOverWhatOperatorsDid(t *testing.T) {
	t.Parallel()
	s := newStore()
	s.put(jobtree.For("orders").Operated(), "anything", 0)
	state := jobtree.NewState("orders")
	require.Zero(t, state.Apply(s.step()))
	require.Equal(t, jobtree.StateOf("orders", registry.NewSnapshot(s.revision, nil)), state)
}

func TestAShutdownIsAValueOfTheInstance(t *testing.T) {
	t.Parallel()
	tree, s := jobtree.For("orders"), newStore()
	s.put(tree.Instance("10.0.0.1@-@7"), jobtree.InstanceShutdown, 0x1f)
	mine := jobtree.StateOf("orders", s.snapshot()).Instance("10.0.0.1@-@7")
	require.True(t, mine.Shutdown)
	require.False(t, mine.Triggered)
}

// An instance that leaves may own nothing, whoever says so. A Java instance does not heed the value, and goes on.
func TestWhoMayOwnItems(t *testing.T) {
	t.Parallel()
	const java, other = "10.0.0.1@-@7", "10.0.0.2@-@7-x"
	tree := jobtree.For("orders")
	owners := func(share bool, set func(s *store)) (may []string) {
		s := newStore()
		for _, id := range []string{java, other} {
			s.put(tree.Instance(id), jobtree.InstanceIdle, 0x1f)
		}
		set(s)
		state := jobtree.NewState("orders")
		if share {
			state.ShareWithJava()
		}
		state.Apply(registry.Step{Snapshot: s.snapshot(), Changes: s.snapshot().Since(registry.Snapshot{})})
		for _, i := range state.Instances {
			if state.MayOwn(i) {
				may = append(may, i.ID)
			}
		}
		return may
	}
	tell := func(id string) func(s *store) {
		return func(s *store) { s.put(tree.Instance(id), jobtree.InstanceShutdown, 0x1f) }
	}
	require.Equal(t, []string{java, other}, owners(false, func(*store) {}))
	require.Equal(t, []string{java}, owners(false, func(s *store) { s.put(tree.Server("10.0.0.2"), "DISABLED", 0) }))
	require.Equal(t, []string{java}, owners(false, tell(other)))
	require.Equal(t, []string{other}, owners(false, tell(java)), "among its own kind an id of that form is no Java instance")
	require.Equal(t, []string{java}, owners(true, tell(other)))
	require.Equal(t, []string{java, other}, owners(true, tell(java)))
}

// A rerun runs for the request for which the lost execution ran.
func TestARerunTakesParameterAndFireFromTheRecord(t *testing.T) {
	t.Parallel()
	begin := byHand(20)
	begin.Parameter, begin.Fire = "2026-01", at(-60)
	began := must(t)(jobtree.Record{LastFire: at(0)}.Begin(begin))
	require.Equal(t, at(0), began.LastFire, "the schedule is left alone")
	require.Equal(t, registry.Revision(20), began.Trigger)
	require.Zero(t, began.Current.Lateness())

	text := jobtree.EncodeRecord(began)
	require.Contains(t, text, `"fire":"2026-01-02T11:00:00Z","trigger":20,"parameter":"2026-01"`)
	read, err := jobtree.DecodeRecord(recordNode(text))
	require.NoError(t, err)
	require.Equal(t, began, read)

	waiting := must(t)(read.DeclareLost(21, at(1), 0))
	rerun := must(t)(waiting.Claim(jobtree.Claim{Instance: "10.0.0.2@-@9", Session: 0x2f, Time: at(2)}))
	require.Equal(t, job.Failover, rerun.Current.Source)
	require.Equal(t, at(-60), rerun.Current.Fire)
	require.Equal(t, "2026-01", rerun.Current.Parameter)
	require.Equal(t, registry.Revision(20), rerun.Current.Trigger)
	require.Equal(t, at(0), rerun.LastFire)

	next := must(t)(must(t)(rerun.End(success(30))).Begin(scheduled(5)))
	require.Zero(t, next.Current.Trigger)
	require.Empty(t, next.Current.Parameter)
}

// An item that waits while failover is off may begin for a request. If that is taken back, it is still the lost
// execution that it waits for, and not the request.
func TestABeginByHandThatIsTakenBackIsNotRunAgain(t *testing.T) {
	t.Parallel()
	waiting := must(t)(must(t)(jobtree.Record{}.Begin(scheduled(0))).DeclareLost(17, at(1), 0))
	require.Equal(t, waiting.Current, waiting.Owed())
	begin := byHand(20)
	begin.Failover, begin.Parameter = false, "x"
	undone := must(t)(must(t)(waiting.Begin(begin)).Undo(21, at(2)))
	require.Equal(t, jobtree.ItemWaiting, undone.State)
	require.Equal(t, waiting.Current.Fire, undone.Owed().Fire)
	claim := jobtree.Claim{Instance: "10.0.0.2@-@9", Session: 0x2f, Time: at(3)}
	rerun := must(t)(undone.Claim(claim))
	require.Equal(t, at(0), rerun.Current.Fire)
	require.Zero(t, rerun.Current.Trigger)
	require.Empty(t, rerun.Current.Parameter)
	again := must(t)(must(t)(rerun.Undo(22, at(4))).Claim(claim))
	require.Equal(t, at(0), again.Current.Fire)
	require.Nil(t, again.Owed(), "it runs")
}

// What became of a request, the record tells.
func TestAnswersToARequest(t *testing.T) {
	t.Parallel()
	ask := func(r jobtree.Record, id registry.Revision) jobtree.Record {
		begin := byHand(id)
		return must(t)(r.Begin(begin))
	}
	idle := must(t)(must(t)(jobtree.Record{}.Begin(scheduled(0))).End(success(10)))
	runs := ask(idle, 20)
	ended := must(t)(runs.End(success(21)))
	lost := must(t)(runs.DeclareLost(21, at(1), 0))
	rerun := must(t)(lost.Claim(jobtree.Claim{Instance: "10.0.0.2@-@9", Session: 0x2f, Time: at(2)}))
	returned := must(t)(runs.Undo(21, at(1)))
	rerunReturned := must(t)(rerun.Undo(22, at(2)))
	later := must(t)(must(t)(ended.Begin(scheduled(5))).End(success(30)))
	for name, test := range map[string]struct {
		record jobtree.Record
		answer jobtree.Answer
		token  int64 // of the execution; 0 = none is known, or it has none yet
	}{
		"none":                       {jobtree.Record{}, jobtree.Unanswered, 0},
		"not yet":                    {idle, jobtree.Unanswered, 0},
		"it runs":                    {runs, jobtree.Answering, 0},
		"it ran":                     {ended, jobtree.Answered, 21},
		"it is lost":                 {lost, jobtree.Answering, 21},
		"it runs again":              {rerun, jobtree.Answering, 0},
		"it ran again":               {must(t)(rerun.End(success(23))), jobtree.Answered, 23},
		"its begin is taken back":    {returned, jobtree.Unanswered, 0},
		"its rerun is taken back":    {rerunReturned, jobtree.Answering, 22},
		"it has run once more":       {later, jobtree.Answered, 21},
		"it has run twice more":      {must(t)(later.Begin(scheduled(6))), jobtree.Answered, 0},
		"a later request runs":       {ask(ended, 40), jobtree.Answered, 21},
		"a later request came first": {ask(jobtree.Record{}, 40), jobtree.Passed, 0},
		"two around it":              {ask(must(t)(ask(idle, 15).End(success(16))), 40), jobtree.Passed, 0},
		"perhaps, before a fire":     {ask(idle, 40), jobtree.Answered, 0},
	} {
		answer, e := test.record.AnswerTo(20)
		require.Equal(t, test.answer, answer, name)
		require.Equal(t, test.token != 0 || answer == jobtree.Answering, e != nil, name)
		if e != nil {
			require.Equal(t, test.token, e.Token, name)
		}
	}
}

func TestWhatIsPending(t *testing.T) {
	t.Parallel()
	tree, s := jobtree.For("orders"), newStore()
	s.put(tree.Config(), configText(t, 4), 0)
	pending := func(now int) []int { return jobtree.StateOf("orders", s.snapshot()).Pending(at(now)) }
	require.Empty(t, pending(0))
	id := s.put(tree.Triggered(), triggeredText(t, jobtree.Triggered{Items: []int{0, 2, 3, 9}, Until: at(60)}), 0)
	require.Equal(t, []int{0, 2, 3}, pending(0), "there is no item 9")
	s.put(tree.ItemDisabled(2), "", 0)
	require.Equal(t, []int{0, 3}, pending(0))
	s.put(tree.ItemRecord(0), jobtree.EncodeRecord(must(t)(jobtree.Record{}.Begin(byHand(id)))), 0)
	require.Equal(t, []int{3}, pending(60))
	require.Empty(t, pending(61), "it is over")
	s.put(tree.Config(), configText(t, 4), 0)
	require.Empty(t, pending(0), "an item without a record, that may have come with the configuration")
	s.put(tree.Triggered(), "TRIGGER", 0)
	require.Empty(t, pending(0))
}

// A request is not for items that have come to the job since it was made.
func TestWhichItemsARequestReaches(t *testing.T) {
	t.Parallel()
	const request = 10
	for name, test := range map[string]struct {
		asked  int // items that the job had
		total  int
		config registry.Revision
		record registry.Revision
		want   bool
	}{
		"nothing has changed":                       {3, 3, 9, 0, true},
		"and it has run since for a fire":           {3, 3, 9, 12, true},
		"a text was changed":                        {3, 3, 11, 0, true},
		"and it has run since for a fire, too":      {3, 3, 11, 12, true},
		"the count was changed":                     {3, 4, 11, 0, false},
		"it had run before":                         {3, 4, 11, 9, true},
		"its record was written with the request":   {3, 4, 11, 10, true},
		"it has run since for a fire":               {3, 4, 11, 12, false},
		"how many there were is unknown":            {0, 3, 11, 0, false},
		"and it had run before":                     {0, 3, 11, 9, true},
		"and how many there are cannot be read":     {0, 0, 11, 0, false},
		"how many there were is unknown, no change": {0, 3, 9, 0, true},
	} {
		require.Equal(t, test.want, jobtree.Triggered{Total: test.asked}.Reaches(request, test.total, test.config, test.record), name)
	}
}
