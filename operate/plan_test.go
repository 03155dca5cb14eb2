package operate_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/operate"
)

func TestOperationsHaveNames(t *testing.T) {
	t.Parallel()
	for want, plan := range map[string]operate.Plan{
		`trigger "orders"`:                           {Verb: operate.VerbTrigger, Job: theJob},
		`trigger items 0-3 of "orders"`:              {Verb: operate.VerbTrigger, Job: theJob, Target: "items 0-3"},
		`trigger item 0 of "orders"`:                 {Verb: operate.VerbTrigger, Job: theJob, Target: "items 0"},
		`disable job "orders"`:                       {Verb: operate.VerbDisableJob, Job: theJob},
		`enable item 3 of "orders"`:                  {Verb: operate.VerbEnableItem, Job: theJob, Target: "item 3"},
		`disable server 10.0.0.1`:                    {Verb: operate.VerbDisableServer, Target: "server 10.0.0.1"},
		`shut down instance a of "orders"`:           {Verb: operate.VerbShutDown, Job: theJob, Target: "instance a"},
		`change settings of "orders"`:                {Verb: operate.VerbSettings, Job: theJob},
		`tidy servers of "orders"`:                   {Verb: operate.VerbTidy, Job: theJob},
		`give up item 3 of "orders"`:                 {Verb: operate.VerbGiveUp, Job: theJob, Target: "item 3"},
		`reshard "orders"`:                           {Verb: operate.VerbReshard, Job: theJob},
		`backfill fire 2026 of "orders"`:             {Verb: operate.VerbBackfill, Job: theJob, Target: "fire 2026"},
		`roll back settings to before X of "orders"`: {Verb: operate.VerbRollBack, Job: theJob, Target: "to before X"},
	} {
		require.Equal(t, want, plan.String())
	}
}

// The verbs are stored, and read by other versions.
func TestVerbs(t *testing.T) {
	t.Parallel()
	require.Equal(t, []operate.Verb{
		"trigger", "backfill", "disable job", "enable job", "disable item", "enable item", "disable server", "enable server",
		"shut down instance", "change settings", "roll back settings", "create", "remove", "give up item", "tidy servers", "reshard",
		"take over from files", "note that no file names", "declare", "update", "seed", "migrate",
	}, []operate.Verb{
		operate.VerbTrigger, operate.VerbBackfill, operate.VerbDisableJob, operate.VerbEnableJob, operate.VerbDisableItem, operate.VerbEnableItem,
		operate.VerbDisableServer, operate.VerbEnableServer, operate.VerbShutDown, operate.VerbSettings, operate.VerbRollBack, operate.VerbCreate,
		operate.VerbRemove, operate.VerbGiveUp, operate.VerbTidy, operate.VerbReshard,
		operate.VerbFiles, operate.VerbNoFiles, operate.VerbDeclare, operate.VerbUpdate, operate.VerbSeed, operate.VerbMigrate,
	})
	var declared []string
	file, err := parser.ParseFile(token.NewFileSet(), "plan.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, is := n.(*ast.ValueSpec); is && strings.HasPrefix(spec.Names[0].Name, "Verb") {
			declared = append(declared, spec.Names[0].Name)
		}
		return true
	})
	require.Len(t, operate.Verbs(), len(declared)+1, "all of %v, and the move to another registry", declared)
	require.Equal(t, operate.Verb("move"), operate.Verbs()[len(declared)])
}
