package registry_test

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Why a transaction may be sent again, or is not. More than one word: it depends on the state.
const (
	endsItself  = "ends itself"
	creation    = "RepeatCreation"
	owned       = "RepeatOwned"
	harmless    = "RepeatHarmless"
	notRepeated = "not repeated"
)

// builder is what is to be known of a function that makes transactions, or changes them.
type builder struct {
	transaction string   // as the protocol calls it, or what it is for
	words       []string // why it may be done again
	late        string   // what becomes of it when it is carried out again, much later
}

// builders are all functions of the module that make transactions, but for tests and what only tests use.
var builders = map[string]builder{
	"scheduler/internal/membership/join.go join": {"T1 join", []string{owned}, "while the session lasts, the instance is back after it " +
		"had left: its runner leaves again, or the instance is taken out"},
	"scheduler/internal/leadership/elect.go stand": {"T2 elect", []string{owned}, "needs this instance as it was created: it leads again, or resigns, or leaves"},

	"internal/resharding/plan.go planMoves": {"T3 reshard", []string{endsItself, creation}, "it writes the epoch that it compares; " +
		"the first one creates it, and who removes a job removes the configuration, which is compared, too"},
	"internal/resharding/leave.go PlanLeave": {"leave as the leader, with T3", []string{endsItself}, "it deletes the leader's node of " +
		"this term, which it compares"},
	"internal/resharding/planshared.go planShared": {"T3 reshard among Java instances", []string{endsItself, creation}, "as any resharding"},
	"internal/resharding/plan.go parts": {"T3 reshard, a part", []string{harmless}, "needs the epoch before its own: it names next owners for an " +
		"epoch that is given up, which nobody heeds and Tidy clears away"},
	"internal/resharding/tidy.go tidyTxns": {"T3 what a resharding left", []string{endsItself, harmless}, "needs the epoch, under which what it deletes has no use; an owner " +
		"takes its place only together with a note that is compared and deleted"},
	"internal/resharding/garbage.go remove": {"what stands there for no reason", []string{endsItself}, "deletes what it compares"},

	"scheduler/internal/rounds/begin.go beginTxn": {"T4 begin", []string{endsItself, creation}, "it writes the record that it compares; the first begin creates it, " +
		"and whoever removes a record has removed the job or its configuration has fewer items, and that is compared"},
	"scheduler/internal/executions/end.go End":        {"T5 end, not started, cut short", []string{endsItself}, "deletes the mark whose creation it compares"},
	"scheduler/internal/executions/end.go endTxn":     {"T5 end", []string{endsItself}, "End with the checkpoint and missed fires"},
	"scheduler/internal/executions/end.go lateEndTxn": {"T5b late end", []string{endsItself}, "writes the record that it compares"},

	"scheduler/internal/executions/hold.go Hold": {"mark an item anew", []string{owned}, "a mark of the own session under which nothing runs is " +
		"removed as soon as it is seen: see removeMark"},
	"scheduler/internal/mending/orphans.go removeMark":  {"T5 end of a bare mark", []string{endsItself}, "deletes the mark whose creation it compares"},
	"scheduler/internal/mending/orphans.go endUnmarked": {"T5b of what nobody runs", []string{endsItself}, "writes the record that it compares"},

	"failover/declare.go Declare": {"T6 declare lost", []string{endsItself}, "writes the record that it compares"},
	"failover/giveup.go GiveUp":   {"T6 give up what waits, of a job that records nothing", []string{endsItself}, "writes the record that it compares"},
	"failover/shared.go DeclareForeign": {"T6 declare a Java execution lost", []string{endsItself, creation}, "it writes the record that it " +
		"compares; the first one creates it, and that is removed with the configuration, which is compared, or of an item that has become surplus, where it is " +
		"removed again"},
	"failover/shared.go Yield": {"T6 leave an execution to Java", []string{endsItself}, "writes the record that it compares"},
	"failover/requeue.go Requeue": {"T6 requeue", []string{endsItself, creation}, "it writes the record that it compares; the first one " +
		"creates it, and whoever removes that has changed the configuration, or taken the item from the owner, which are compared"},
	"failover/claim.go Claim":                     {"T7 claim and begin", []string{endsItself}, "writes the record that it compares"},
	"scheduler/internal/rounds/claim.go claimTxn": {"T7 beside other instances", []string{endsItself}, "Claim with what others make it compare"},

	"internal/barrier/open.go Open": {"T8 open", []string{endsItself, creation}, "writes the barrier that it compares; the first round creates it, " +
		"and it is removed with the job, whose configuration is compared"},
	"internal/barrier/take.go Take":          {"T8 take the hook", []string{endsItself}, "writes the barrier that it compares"},
	"internal/barrier/settle.go Settle":      {"T8 settle", []string{endsItself}, "deletes the mark whose creation it compares"},
	"internal/barrier/settle.go settleOpen":  {"T8 settle what nobody took", []string{endsItself}, "writes the barrier that it compares"},
	"internal/barrier/settle.go DeclareLost": {"T8 settle what was lost", []string{endsItself}, "writes the barrier that it compares"},
	"internal/barrier/settle.go Disown":      {"T8 settle what nobody runs", []string{endsItself}, "deletes the mark whose creation it compares"},

	"operate/carry.go transaction": {"T11 operate", []string{endsItself, creation, notRepeated}, "writes what operators did, which it compares; the first " +
		"operation creates that, and it is removed with the job, whose configuration is compared; what creates a job is sent once"},
	"operate/remove.go deleteTree": {"T11 remove", []string{endsItself, harmless}, "deletes what operators did, or the configuration, which it compares; a part " +
		"needs the former, and the removal deletes that last"},
	"scheduler/trigger.go trigger": {"T9 trigger", []string{endsItself, creation}, "writes the request that it compares; the first one creates it, and it is " +
		"removed with the job, and so with the configuration, which is compared; Java instances are updated as they are compared"},
	"internal/byhand/rest.go rest":                   {"T9 trigger, of a Java instance", []string{endsItself}, "updates the instance that it compares"},
	"scheduler/internal/requests/requests.go Decide": {"T9 take a trigger back", []string{endsItself}, "updates the instance that it compares"},
	"scheduler/internal/executions/progress.go saveTxn": {"T10 save a checkpoint", []string{endsItself, creation}, "writes the checkpoint that it compares; " +
		"the first save creates it, and it is deleted by the end alone, with the mark that is compared"},

	"scheduler/internal/missed/notes.go Forget": {"forget missed fires", []string{endsItself}, "deletes the note that it compares"},
	"scheduler/internal/missed/notes.go note": {"note missed fires", []string{endsItself, creation}, "writes the note that it compares; the first one " +
		"creates it, and whoever deletes that has begun, which changes the record, or the configuration has fewer items: both are compared"},
	"scheduler/internal/membership/leave.go LeaveTxn":      {"leave", []string{endsItself}, "deletes the instance or the leader whose creation it compares"},
	"scheduler/internal/membership/leave.go AnnounceLeave": {"hand over", []string{endsItself}, "updates the instance that it compares"},
	"scheduler/internal/membership/leave.go giveUp":        {"leave", []string{endsItself}, "adds to one that deletes the instance what it compares itself"},
	"scheduler/internal/membership/leave.go leaves":        {"leave", []string{endsItself}, "adds to one that deletes the instance whose creation or revision it compares"},
	"scheduler/internal/membership/leave.go leaveToOthers": {"leave the job to others", []string{endsItself}, "LeaveTxn with a condition more"},
	"scheduler/internal/membership/leave.go resign":        {"resign before leaving", []string{endsItself}, "deletes the leader whose creation it compares"},
	"scheduler/latejoin.go takeOut":                        {"leave late", []string{endsItself}, "deletes the instance whose creation it compares"},
	"scheduler/internal/leadership/elect.go resign":        {"resign", []string{endsItself}, "deletes the leader whose creation it compares"},
	"scheduler/internal/javapeers/urge.go Urge": {"ask a Java leader to reshard", []string{harmless}, "needs this instance as it was created; a resharding that nobody " +
		"needs changes nothing"},
	"scheduler/internal/javapeers/java.go keepServer": {"keep the server", []string{harmless}, "needs this instance as it was created; as long as it takes part, " +
		"its server has a node, and one that is there is left alone"},
	"scheduler/internal/javapeers/java.go endResharding":         {"end a resharding of a former leader", []string{endsItself}, "deletes what it compares"},
	"scheduler/internal/javapeers/remains.go clearRemains":       {"clear a mark of Java's", []string{endsItself}, "deletes the mark that it compares"},
	"scheduler/internal/membership/join.go RemoveFormer":         {"remove what a former session left", []string{endsItself}, "deletes what it compares"},
	"scheduler/internal/membership/join.go removeFormerInstance": {"remove what a former session left, leave", []string{endsItself}, "deletes the instance that it compares"},
	"scheduler/internal/room/view.go Resign":                     {"resign", []string{endsItself}, "deletes the leader whose creation it compares"},
	"scheduler/internal/room/view.go AskForResharding": {"leave, resign", []string{endsItself}, "adds to one that deletes the instance or the leader that it compares; the " +
		"request alone is answered with nothing"},
	"scheduler/internal/mending/strays.go removeStray":   {"remove a stray node", []string{endsItself}, "deletes what it compares"},
	"scheduler/internal/executions/refusedend.go disown": {"remove a stray node", []string{endsItself}, "deletes what it compares"},
	"scheduler/internal/mending/aside.go SetAside":       {"set a record aside", []string{endsItself}, "writes the record that it compares"},
	"scheduler/internal/mending/tokens.go restoreTokens": {"restore the fencing tokens", []string{endsItself}, "writes the configuration that it compares"},
	"scheduler/update.go update":                         {"change a job", []string{endsItself}, "writes the configuration that it compares"},
	"scheduler/storeconfig.go storeConfig": {"declare a job", []string{endsItself, notRepeated}, "writes the configuration that it compares, and what it writes down with it; one " +
		"that is created is sent once"},
	"scheduler/storeconfig.go storeClass": {"declare a job that has no class yet", []string{endsItself}, "writes the job's own node, which it compares"},
	"internal/guarded/guarded.go Try": {"seed, migrate or move a job: ask whether it may be written", []string{harmless}, "its conditions contradict each " +
		"other: it is never done"},
	"internal/guarded/guarded.go commit": {"seed or migrate a job", []string{endsItself, notRepeated}, "writes what it compares; " +
		"what creates all that it writes is sent once"},

	"operate/jobfile/ahead.go takeBack": {"take back what was written of a job that somebody else created", []string{endsItself}, "writes or deletes the mark " +
		"that it compares"},

	"federation/home/claim.go tell":        {"say in the directory where a job is", []string{notRepeated}, "sent once: wants the node to be absent"},
	"federation/home/claim.go deleteWord":  {"give up a place that is kept, or a word that does not count", []string{endsItself}, "deletes what it compares"},
	"federation/home/claim.go giveUpPlace": {"give up a place of a move that its former home knows nothing of", []string{endsItself}, "writes the word that it compares"},
	"federation/home/claim.go redirect":    {"tell the directory where a job is that was removed where its word leads", []string{endsItself}, "writes the word that it compares"},
	"federation/home/unproved.go again":    {"move again what is nowhere", []string{endsItself}, "writes the word that it compares"},
	"federation/home/departure.go stop":    {"move: stop", []string{endsItself}, "writes the configuration that it compares"},
	"federation/home/shut.go close":        {"move: close", []string{endsItself}, "writes the configuration that it compares"},
	"federation/home/rename.go rename": {"move a job that is nowhere", []string{endsItself, notRepeated}, "writes the word that it compares; the first one " +
		"is sent once"},
	"federation/home/arrive.go put": {"move: keep the place", []string{endsItself, notRepeated}, "writes the word that it compares; the first one is sent once"},
	"federation/home/arrive.go noteLate": {"move: note what came late", []string{endsItself, notRepeated}, "writes the notes that it compares, and the first " +
		"ones are sent once; who has run for them has written the record, which is compared, too"},
	"federation/home/settle.go point": {"move: tell the directory", []string{endsItself, notRepeated}, "writes the word that it compares; the first one is sent once"},
	"federation/home/settle.go clean": {"move: clean", []string{endsItself, harmless}, "writes the word that it compares, and then deletes under it what has no use " +
		"there; the word is written anew when the job comes back"},

	"registry/memory/latch.go queue": {"stand in the line of a latch", []string{owned}, "a ticket of its own in the session, which nobody " +
		"waits with any more: see clearLitter"},
	"registry/memory/latch.go clearLitter": {"leave the line of a latch", []string{harmless}, "deletes a ticket that is nobody else's"},

	"cmd/elasticron/internal/demo/props.go removeAll": {"sweep the stage of the demo", []string{harmless}, "the namespace is the demo's own, of a drawn name, and is used once"},
}

// builtForTests are folders that only tests use.
var builtForTests = []string{"registry/registrytest", "internal/careless", "integration", "clustertest"}

// Every function that makes a transaction has a row that says what becomes of that when it is carried out
// once more at any later time, and gives it the words of its row and no others.
func TestEveryBuilderOfTransactionsHasBeenThoughtAbout(t *testing.T) {
	t.Parallel()
	found := buildersIn(t, "..")
	for name, words := range found {
		row, known := builders[name]
		if !known {
			t.Errorf("%s makes or changes transactions and has no row: what if one is carried out again, minutes later?", name)
			continue
		}
		var declared []string
		for _, word := range row.words {
			if strings.HasPrefix(word, "Repeat") {
				declared = append(declared, word)
			}
		}
		require.Equal(t, declared, words, "the words that %s gives its transactions", name)
	}
	for name, row := range builders {
		require.NotEmpty(t, row.transaction, name)
		require.NotEmpty(t, row.late, name)
		if _, there := found[name]; !there {
			t.Errorf("there is a row for %s, which makes no transaction", name)
		}
	}
}

// buildersIn returns the functions that make or change transactions, with the words that stand in them.
func buildersIn(t *testing.T, root string) map[string][]string {
	t.Helper()
	found := make(map[string][]string)
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (slices.Contains(builtForTests, name) || strings.HasPrefix(entry.Name(), ".") && name != "."):
			return filepath.SkipDir
		case entry.IsDir(), !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, imported := range file.Imports {
			renamed := imported.Name != nil && strings.HasSuffix(imported.Path.Value, `/elasticron/registry"`)
			require.False(t, renamed, "%s gives the registry another name, under which this test does not find it", name)
		}
		for _, declaration := range file.Decls {
			where := "outside of functions"
			if function, is := declaration.(*ast.FuncDecl); is {
				where = function.Name.Name
			}
			if builds, words := inspectBuilder(declaration); builds {
				found[filepath.ToSlash(name)+" "+where] = words
			}
		}
		return nil
	}))
	return found
}

// inspectBuilder tells whether a declaration makes or changes transactions, and which words it names: it has
// a literal or a variable of theirs, or sets one of their fields. An empty literal that is returned stands
// for none.
func inspectBuilder(declaration ast.Decl) (builds bool, words []string) {
	ast.Inspect(declaration, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			if len(n.Results) > 1 {
				for _, result := range n.Results {
					if literal, is := result.(*ast.CompositeLit); !is || len(literal.Elts) > 0 {
						builds = builds || is && isTxn(literal.Type)
						ast.Inspect(result, func(n ast.Node) bool { note(n, &builds, &words); return true })
					}
				}
				return false
			}
		default:
			note(n, &builds, &words)
		}
		return true
	})
	slices.Sort(words)
	return builds, slices.Compact(words)
}

func note(n ast.Node, builds *bool, words *[]string) {
	switch n := n.(type) {
	case *ast.CompositeLit:
		if array, is := n.Type.(*ast.ArrayType); is {
			made := func(e ast.Expr) bool { _, is := e.(*ast.CompositeLit); return is }
			*builds = *builds || isTxn(array.Elt) && slices.ContainsFunc(n.Elts, made)
		}
		*builds = *builds || isTxn(n.Type)
	case *ast.ValueSpec:
		*builds = *builds || isTxn(n.Type)
	case *ast.CallExpr:
		if made, is := n.Fun.(*ast.Ident); is && made.Name == "new" {
			*builds = *builds || isTxn(n.Args[0])
		}
	case *ast.AssignStmt:
		for _, to := range n.Lhs {
			if indexed, is := to.(*ast.IndexExpr); is {
				to = indexed.X
			}
			if field, is := to.(*ast.SelectorExpr); is && slices.Contains([]string{"If", "Then", "Repeat"}, field.Sel.Name) {
				*builds = true
			}
		}
	case *ast.SelectorExpr:
		if slices.Contains([]string{creation, owned, harmless}, n.Sel.Name) {
			*words = append(*words, n.Sel.Name)
		}
	}
}

func isTxn(e ast.Expr) bool {
	selector, is := e.(*ast.SelectorExpr)
	if !is || selector.Sel.Name != "Txn" {
		return false
	}
	from, is := selector.X.(*ast.Ident)
	return is && from.Name == "registry"
}

// What the walk must see, and what it must not.
func TestWhatMakesATransaction(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct {
		builds bool
		words  []string
	}{
		`return registry.Txn{}`:                                           {true, nil},
		`return registry.Txn{}, err`:                                      {false, nil},
		`return registry.Txn{Repeat: registry.RepeatOwned}, nil`:          {true, []string{owned}},
		`return []registry.Txn{{Repeat: registry.RepeatHarmless}}, nil`:   {true, []string{harmless}},
		`commit(registry.Txn{Repeat: registry.RepeatCreation})`:           {true, []string{creation}},
		`var txn registry.Txn; use(txn)`:                                  {true, nil},
		`txn := new(registry.Txn); use(txn)`:                              {true, nil},
		`txns := make([]registry.Txn, n); use(txns)`:                      {false, nil},
		`return all([]registry.Txn{txn}), nil`:                            {false, nil},
		`txn.Then = append(txn.Then, write)`:                              {true, nil},
		`txn.If[0] = condition`:                                           {true, nil},
		`txn.Repeat = registry.RepeatOwned`:                               {true, []string{owned}},
		`return use(txn.Then), nil`:                                       {false, nil},
		`func() { use(registry.Txn{If: conditions}) }()`:                  {true, nil},
		`use(other.Txn{})`:                                                {false, nil},
		`for range txns { batch.add(registry.Txn{}, func() { done() }) }`: {true, nil},
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() {"+body+"}", 0)
		require.NoError(t, err, body)
		builds, words := inspectBuilder(file.Decls[0])
		require.Equal(t, want.builds, builds, body)
		require.Empty(t, cmp.Compare(strings.Join(want.words, " "), strings.Join(words, " ")), body)
	}
}
