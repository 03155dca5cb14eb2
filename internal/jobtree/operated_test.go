package jobtree_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

func operatedNode(text string) registry.Node {
	return registry.Node{Path: "/orders/operated", Value: text, Revision: 1}
}

func anOperation() *rapid.Generator[jobtree.Operation] {
	words := rapid.StringMatching(`[a-z "<\\é/{}\[\],:]{0,12}`)
	return rapid.Custom(func(t *rapid.T) jobtree.Operation {
		return jobtree.Operation{
			ID:   rapid.StringMatching(`[A-Z0-9]{4}`).Draw(t, "id"),
			Verb: words.Draw(t, "verb"), Target: words.Draw(t, "target"), Who: words.Draw(t, "who"), How: words.Draw(t, "how"),
			When:   time.Unix(rapid.Int64Range(1, 4e9).Draw(t, "when"), 0).UTC(),
			Reason: words.Draw(t, "reason"), Changed: words.Draw(t, "changed"),
			Before:  strings.Repeat(words.Draw(t, "before"), rapid.SampledFrom([]int{0, 1, 300}).Draw(t, "times")),
			Cut:     rapid.Bool().Draw(t, "cut"),
			Asked:   rapid.StringMatching(`([0-9a-f]{16})?`).Draw(t, "asked"),
			Begun:   rapid.Bool().Draw(t, "begun"),
			Unknown: rapid.SampledFrom([]string{"", `"later":{"a":[1,2]}`, `"x":1,"y":"}"`}).Draw(t, "unknown"),
		}
	})
}

func TestOperationsAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := jobtree.Operated{
			Operations:      rapid.SliceOfN(anOperation(), 1, 4).Draw(t, "operations"),
			Removing:        rapid.SampledFrom([]string{"", "AB12"}).Draw(t, "removing"),
			DisabledServers: rapid.SampledFrom([][]string{nil, {}, {"10.0.0.1"}, {"10.0.0.1", "10.0.0.2"}}).Draw(t, "servers"),
			Files: rapid.SampledFrom([]*jobtree.Files{
				nil,
				{},
				{Owner: "shop", Version: 1 << 60, Digest: "ab", Unknown: `"later":1`},
				{Owner: "shop", Gone: true, Disabled: true},
				{Owner: "shop", Version: 3, Digest: "ab", Heard: time.Unix(1767225600, 5e6).UTC(), Past: []string{"cd", "ef"}},
			}).Draw(t, "files"),
			Unknown: rapid.SampledFrom([]string{"", `"later":[{"a":"]"}]`, `"format":1`}).Draw(t, "unknown"),
		}
		read, err := jobtree.DecodeOperated(operatedNode(jobtree.EncodeOperated(o)))
		require.NoError(t, err)
		require.Equal(t, o, read)
	})
}

func TestTheOldestOperationsGoFirst(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var o jobtree.Operated
		var all []jobtree.Operation
		for _, op := range rapid.SliceOfN(anOperation(), 1, 40).Draw(t, "operations") {
			all, o = append(all, op), o.With(op)
			require.LessOrEqual(t, len(jobtree.EncodeOperated(o)), jobtree.MaxOperatedText)
			require.LessOrEqual(t, len(o.Operations), jobtree.MaxOperations)
			require.Equal(t, all[len(all)-len(o.Operations):], o.Operations, "the newest ones, unchanged")
			if dropped := len(all) - len(o.Operations); dropped > 0 && len(o.Operations) < jobtree.MaxOperations {
				one := o
				one.Operations = all[dropped-1:]
				require.Greater(t, len(jobtree.EncodeOperated(one)), jobtree.MaxOperatedText, "one more would have had room")
			}
		}
	})
}

// Parts of one operation count as one, as far as there is room.
func TestPartsOfAnOperationCountAsOne(t *testing.T) {
	t.Parallel()
	var o jobtree.Operated
	with := func(id string) { o = o.With(jobtree.Operation{ID: id, Target: strings.Repeat("x", 100)}) }
	for i := range jobtree.MaxOperations {
		with(fmt.Sprintf("%c", 'A'+i))
	}
	with("FILE")
	for i := range 40 {
		with(jobtree.PartID("FILE", i))
	}
	require.Len(t, o.Operations, jobtree.MaxOperations+40)
	require.Equal(t, "B", o.Operations[0].ID)
	for i := range jobtree.MaxOperations - 1 {
		with(fmt.Sprintf("%c", 'a'+i))
	}
	require.Equal(t, "FILE", o.Operations[0].ID)
	with("-1") // which is part of nothing
	require.Len(t, o.Operations, jobtree.MaxOperations)
	for i := range 1_000 {
		with(jobtree.PartID("LONG", i))
	}
	require.LessOrEqual(t, len(jobtree.EncodeOperated(o)), jobtree.MaxOperatedText)
}

// Declarations that follow each other push out nothing that people did, and the first of them tells what was before.
func TestOfManyDeclarationsFewAreKept(t *testing.T) {
	t.Parallel()
	o := jobtree.Operated{}.With(jobtree.Operation{ID: "A", Verb: "disable item"})
	declared := func(from, to int) (ids []string) {
		for i := from; i <= to; i++ {
			o = o.With(jobtree.Operation{ID: fmt.Sprintf("declared@%d", i), Verb: jobtree.VerbDeclare})
		}
		for _, op := range o.Operations {
			ids = append(ids, op.ID)
		}
		return ids
	}
	require.Equal(t, []string{"A", "declared@1", "declared@2", "declared@3", "declared@4"}, declared(1, 4))
	require.Equal(t, []string{"A", "declared@1", "declared@38", "declared@39", "declared@40"}, declared(5, 40))
	o = o.With(jobtree.Operation{ID: "B", Verb: "disable item"})
	require.Equal(t, []string{"A", "declared@1", "declared@38", "declared@39", "declared@40", "B", "declared@41"}, declared(41, 41))
}

func TestATextThatIsTooLongIsNotKept(t *testing.T) {
	t.Parallel()
	o := jobtree.Operated{Removing: "AB"}.With(jobtree.Operation{ID: "1", Before: strings.Repeat("x", jobtree.MaxOperatedText)})
	require.Equal(t, []jobtree.Operation{{ID: "1", Cut: true}}, o.Operations)
	require.Equal(t, "AB", o.Removing)
}

func TestWithChangesNothingElse(t *testing.T) {
	t.Parallel()
	o := jobtree.Operated{Operations: make([]jobtree.Operation, 1, 4), DisabledServers: []string{"10.0.0.1"}}
	one, two := o.With(jobtree.Operation{ID: "1"}), o.With(jobtree.Operation{ID: "2"})
	require.Equal(t, "1", one.Operations[1].ID)
	require.Equal(t, "2", two.Operations[1].ID)
}

func TestOperationsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:                             "must be a JSON object",
		`[]`:                           "must be a JSON object",
		`{"operations":{}}`:            "operations",
		`{"operations":[1]}`:           "operations.0",
		`{"operations":[{},{"id":7}]}`: "operations.1.id",
		`{"operations":[{"when":""}]}`: "operations.0.when",
		`{"removing":1}`:               "removing",
		`{"disabledServers":[7]}`:      "disabledServers",
		`{"disabledServers":""}`:       "disabledServers",
		`{"format":"x"}`:               "format",
	} {
		_, err := jobtree.DecodeOperated(operatedNode(text))
		require.ErrorIs(t, err, jobtree.ErrInvalidValue, text)
		require.ErrorContains(t, err, want, text)
		require.ErrorContains(t, err, "/orders/operated", text)
		require.NotErrorIs(t, err, jobtree.ErrNewerFormat, text)
	}
	_, err := jobtree.DecodeOperated(operatedNode(`{"format":2,"operations":7}`))
	require.ErrorIs(t, err, jobtree.ErrNewerFormat)
}

// The text is stored, and other versions read it.
func TestTheTextOfOperations(t *testing.T) {
	t.Parallel()
	require.Equal(t, `{}`, jobtree.EncodeOperated(jobtree.Operated{}))
	when := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	o := jobtree.Operated{
		Operations: []jobtree.Operation{
			{ID: "A", Verb: "disable", Target: "item 3", Who: "anna", How: "cli", When: when, Reason: "bad table", Changed: "item 3 disabled"},
			{ID: "B", Verb: "settings", Before: `{"cron":"x"}`, Unknown: `"later":true`},
			{ID: "C", Cut: true},
		},
		Removing: "B", DisabledServers: []string{}, Unknown: `"more":[1]`,
	}
	require.Equal(t, `{"operations":[`+
		`{"id":"A","verb":"disable","target":"item 3","who":"anna","how":"cli","when":"2026-11-02T10:00:00Z","reason":"bad table","changed":"item 3 disabled"},`+
		`{"id":"B","verb":"settings","before":"{\"cron\":\"x\"}","later":true},`+
		`{"id":"C","cut":true}],"removing":"B","disabledServers":[],"more":[1]}`, jobtree.EncodeOperated(o))
	found, is := o.Find("B")
	require.True(t, is)
	require.Equal(t, o.Operations[1], found)
	_, is = o.Find("D")
	require.False(t, is)
}

func TestConfigurationsThatWereAreShownWithoutTheirSecrets(t *testing.T) {
	t.Parallel()
	o := jobtree.Operated{Operations: []jobtree.Operation{{ID: "A", Before: `{"cron":"x","props":{"email.password":"geheim"}}`}}}
	shown := jobtree.MaskOperated(o)
	require.NotContains(t, jobtree.EncodeOperated(shown), "geheim")
	require.Contains(t, shown.Operations[0].Before, `"cron":"x"`)
	require.Contains(t, o.Operations[0].Before, "geheim", "the original stays")
}

func FuzzDecodeOperated(f *testing.F) {
	f.Add(`{"operations":[{"id":"A","verb":"disable","when":"2026-11-02T10:00:00Z","before":"{\"cron\":\"x\"}","later":{"a":"]"}}],"removing":"yes"}`)
	f.Add(`{ "disabledServers" : [ "10.0.0.1" , "" ] , "format":1, "operations":[ ] }`)
	f.Add(`{"operations":[{},{"cut":true}],"x":[[{}]]}`)
	f.Fuzz(func(t *testing.T, text string) {
		o, err := jobtree.DecodeOperated(operatedNode(text))
		if err != nil {
			require.ErrorIs(t, err, jobtree.ErrInvalidValue)
			return
		}
		again, err := jobtree.DecodeOperated(operatedNode(jobtree.EncodeOperated(o)))
		require.NoError(t, err)
		require.Equal(t, o, again)
	})
}

// A text that cannot be kept anyway costs the operations before it nothing.
func TestATextThatIsTooLongLeavesTheOthers(t *testing.T) {
	t.Parallel()
	var o jobtree.Operated
	for _, id := range []string{"1", "2", "3"} {
		o = o.With(jobtree.Operation{ID: id, Before: `{"cron":"x"}`})
	}
	o = o.With(jobtree.Operation{ID: "4", Before: strings.Repeat("x", jobtree.MaxOperatedText)})
	require.Len(t, o.Operations, 4)
	require.Equal(t, jobtree.Operation{ID: "4", Cut: true}, o.Operations[3])
	require.NotEmpty(t, o.Operations[0].Before)
}

// The node quotes configurations, so its faults do not quote the node.
func TestFaultsOfOperationsTellNoSecrets(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"operations":[{"before":"geheim"`,
		`["geheim"]`,
		`{"operations":{"before":"geheim"}}`,
		`{"operations":[{"before":["geheim"]}]}`,
		`{"operations":["geheim"]}`,
		`{"removing":{"x":"geheim"}}`,
	} {
		_, err := jobtree.DecodeOperated(operatedNode(text))
		require.ErrorIs(t, err, jobtree.ErrInvalidValue, text)
		require.NotContains(t, err.Error(), "geheim", text)
	}
}

// Whether more was done than to ask for runs is told by what is not as it was.
func TestWhatWasOnlyAsked(t *testing.T) {
	t.Parallel()
	const at = 100 // where the node was with the earlier list
	op := func(id, verb string, after registry.Revision) jobtree.Operation {
		return jobtree.Operation{ID: id, Verb: verb, After: after, When: time.Unix(int64(after), 0)}
	}
	list := func(all ...jobtree.Operation) (o jobtree.Operated) {
		for _, op := range all {
			o = o.With(op)
		}
		return o
	}
	disabled, asked, began := op("1", "disable item", 80), op("2", "trigger", 90), op("3", "backfill", 95)
	before := list(disabled, asked)
	long := before
	for i := range registry.Revision(jobtree.MaxOperations) {
		long = long.With(op(fmt.Sprint("later ", i), jobtree.VerbTrigger, at+1+i))
	}
	part, whole := op("4", "seed", 95), op("4", "seed", 95)
	part.Changed, whole.Changed = "item 1 enabled -> disabled", "item 1 enabled -> disabled; item 2 enabled -> disabled"
	for name, test := range map[string]struct {
		since, now jobtree.Operated
		want       bool
	}{
		"a request":                    {before, list(disabled, asked, op("5", "trigger", at)), true},
		"requests":                     {before, list(disabled, asked, op("5", "backfill", at), op("6", "trigger", 101)), true},
		"an item":                      {before, list(disabled, asked, op("5", "enable item", at)), false},
		"an item before a request":     {before, list(disabled, asked, op("5", "enable item", at), op("6", "trigger", 101)), false},
		"what is not kept any more":    {before, long, false},
		"the first one":                {jobtree.Operated{}, list(op("1", "trigger", 80)), false},
		"a list that was cleared":      {before, jobtree.Operated{}, false},
		"nothing that it tells":        {before, before, false},
		"a backfill's next fire":       {list(disabled, began), list(disabled, op("3", "backfill", at)), true},
		"an item amid a backfill":      {list(disabled, began), list(disabled, op("5", "enable item", at), op("3", "backfill", 101)), false},
		"a backfill and nothing else":  {list(began), list(op("3", "backfill", at)), true},
		"two fires of a backfill":      {list(began), list(op("3", "backfill", 101)), false}, // something may have come between
		"another part of an operation": {list(disabled, part), list(disabled, whole), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, test.now.OnlyAsked(test.since, at))
		})
	}
}
