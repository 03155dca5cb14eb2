package test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// The schema knows the members of the worker's file but for those that the chart writes.
func TestTheSchemaKnowsTheFileOfTheWorker(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../chart/values.schema.json")
	require.NoError(t, err)
	var schema map[string]any
	require.NoError(t, json.Unmarshal(text, &schema))
	members := func(of map[string]any, name string) map[string]any {
		return of[name].(map[string]any)["properties"].(map[string]any)
	}
	config := members(members(schema["properties"].(map[string]any), "worker"), "config")
	require.ElementsMatch(t, membersOf(t, "File", "registry", "grace", "listen"), keys(config))
	require.ElementsMatch(t, membersOf(t, "Jobs", "directory"), keys(members(config, "jobs")))
}

// membersOf are those of a section of the worker's file, without some. The package itself would bring all that workers need
// into the module of these tests.
func membersOf(t *testing.T, section string, without ...string) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), sources+"/worker/file.go", nil, 0)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, is := n.(*ast.TypeSpec)
		if !is || spec.Name.Name != section {
			return true
		}
		for _, field := range spec.Type.(*ast.StructType).Fields.List {
			tag, err := strconv.Unquote(field.Tag.Value)
			require.NoError(t, err)
			if name := reflect.StructTag(tag).Get("yaml"); !slices.Contains(without, name) {
				names = append(names, name)
			}
		}
		return false
	})
	require.NotEmpty(t, names, section)
	return names
}
