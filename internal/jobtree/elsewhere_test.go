package jobtree_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// The text is stored, and other versions read it.
func TestTheTextOfWhereAJobIs(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	for text, e := range map[string]jobtree.Elsewhere{
		`{"home":"b"}`:                            {Home: "b"},
		`{"home":"b","firstToken":12001}`:         {Home: "b", FirstToken: 12001},
		`{"home":"a","move":"X","arriving":true}`: {Home: "a", Move: "X", Arriving: true},
		`{"home":"b","move":"X","kept":7,"since":"2026-11-02T10:00:00Z","config":"{}"}`: {Home: "b", Move: "X", Kept: 7, Since: since, Config: "{}"},
	} {
		require.Equal(t, text, jobtree.EncodeElsewhere(e))
		node := registry.Node{Path: "/orders/config", Value: text, Revision: 3}
		read, is := jobtree.DecodeElsewhere(node)
		require.True(t, is)
		require.Equal(t, e, read)
		_, err := jobtree.DecodeConfig(node)
		var elsewhere *jobtree.ElsewhereError
		require.ErrorAs(t, err, &elsewhere)
		require.Equal(t, e, elsewhere.Elsewhere)
		require.ErrorContains(t, err, `/orders/config: the job`)
		require.ErrorContains(t, err, `registry "`+e.Home+`"`)
		require.NotContains(t, jobtree.Mask(node.Path, text), "{}", "a configuration that moves is not shown")
	}
	for _, text := range []string{"", "{}", `{"home":""}`, `{"home":7}`, `{"home":"b"`, `{"jobName":"home"}`} {
		_, is := jobtree.DecodeElsewhere(registry.Node{Value: text})
		require.False(t, is, text)
	}
	text, err := jobtree.EncodeConfig(job.Config{Name: "home", Cron: "@daily", ShardingTotalCount: 1})
	require.NoError(t, err)
	_, is := jobtree.DecodeElsewhere(registry.Node{Value: text})
	require.False(t, is)
}

func TestWhetherAJobHasArrived(t *testing.T) {
	t.Parallel()
	place := registry.Node{Value: jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: "a", Move: "X", Arriving: true}), Revision: 7}
	for name, test := range map[string]struct {
		kept    registry.Revision
		move    string
		node    registry.Node
		by, has bool
	}{
		"nothing is kept":           {0, "X", registry.Node{}, false, false},
		"the place is kept":         {0, "X", place, true, false},
		"for another move":          {0, "Y", place, false, false},
		"it is noted":               {7, "X", place, true, false},
		"it was kept once more":     {6, "X", place, false, false},
		"the job is there":          {7, "X", registry.Node{Value: `{"jobName":"x"}`, Revision: 9}, false, true},
		"the place or it is gone":   {7, "X", registry.Node{}, false, false},
		"it was stored anew":        {7, "X", registry.Node{Value: `{"jobName":"x"}`, Created: 9, Revision: 9}, false, false},
		"it is older than the move": {7, "X", registry.Node{Value: `{"jobName":"x"}`, Created: 3, Revision: 5}, false, false},
		"it was there, and went on": {7, "X", registry.Node{Value: `{"home":"c"}`, Created: 3, Revision: 9}, false, true},
	} {
		e := jobtree.Elsewhere{Home: "b", Move: test.move, Kept: test.kept, Config: "{}"}
		require.Equal(t, test.by, e.KeptBy(test.node), name)
		require.Equal(t, test.has, e.Arrived(test.node), name)
		require.Equal(t, test.kept != 0 && !test.by && !test.has, e.Unproved(test.node), name)
	}
}

func TestARecordThatMoves(t *testing.T) {
	t.Parallel()
	ran, err := jobtree.DecodeRecord(registry.Node{Value: `{"state":"waiting","lastFire":"2026-11-02T10:00:00Z","trigger":900,"reruns":1,"counts":{"success":3},` +
		`"current":{"instance":"i","session":"5","source":"manual","trigger":900,"token":40,"base":100,"begin":"2026-11-02T10:00:00Z","outcome":"lost","failover":true},` +
		`"previous":{"instance":"h","session":"4","source":"scheduled","token":30,"base":100,"begin":"2026-11-02T09:00:00Z","outcome":"success"}}`, Revision: 8})
	require.NoError(t, err)
	moved := ran.Moved()
	require.Equal(t, registry.Revision(900), ran.Trigger, "the record that was asked stays as it is")
	read, err := jobtree.DecodeRecord(registry.Node{Value: jobtree.EncodeRecord(moved), Revision: 2})
	require.NoError(t, err)
	require.Zero(t, read.Trigger)
	require.Equal(t, int64(3), read.Counts.Success)
	require.Equal(t, ran.LastFire, read.LastFire)
	for shown, e := range map[int64]func() jobtree.Execution{
		140: func() jobtree.Execution { return *read.Current },
		130: func() jobtree.Execution { e, _ := read.Previous(); return e },
	} {
		require.Equal(t, shown, e().Base+e().Token, "the token that the code was given")
		require.Zero(t, e().Token)
		require.Zero(t, e().Session)
	}
	require.True(t, read.Current.ByHand())
	_, known := read.Ended(40)
	require.False(t, known, "an execution of the other registry may have this revision")
	next, err := read.Claim(jobtree.Claim{Instance: "j", Session: 9, Time: time.Now(), Base: 500})
	require.NoError(t, err)
	require.Equal(t, 2, next.Reruns)
}
