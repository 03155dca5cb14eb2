package logcatalog

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	root      = "../.."
	catalogue = "docs/logs.md"
)

// apart are directories whose programs log for themselves.
var apart = []string{"cmd/elasticron/internal/demo", "examples", "integration", "docs", ".git", "internal/logcatalog", "registry/registrytest", "registry/etcd/embedded"}

// levels are the methods of a logger that give a level, and the words that stand for one in other calls.
var levels = map[string]string{
	"Debug": "DEBUG", "Info": "INFO", "Warn": "WARN", "Error": "ERROR",
	"DebugContext": "DEBUG", "InfoContext": "INFO", "WarnContext": "WARN", "ErrorContext": "ERROR",
	"LevelDebug": "DEBUG", "LevelInfo": "INFO", "LevelWarn": "WARN", "LevelError": "ERROR",
}

// place is where a message is logged, and at which levels as far as the call shows that.
type place struct {
	at     string
	levels []string
}

func TestTheCatalogueOfLogLines(t *testing.T) {
	t.Parallel()
	logged, told := inSource(t), inCatalogue(t)
	require.Greater(t, len(logged), 70, "the walk over the source finds too little")
	for message, p := range logged {
		levels, ok := told[message]
		if !ok {
			t.Errorf("%s logs %q, which %s lacks. Add a row to the table of its package:\n| `%s` | %s | what it means | what to do |",
				p.at, message, catalogue, message, strings.Join(p.levels, ", "))
			continue
		}
		for _, level := range p.levels {
			if !slices.Contains(levels, level) {
				t.Errorf("%s logs %q as %s; %s says %v in its row", p.at, message, level, catalogue, levels)
			}
		}
	}
	for message := range told {
		if _, ok := logged[message]; !ok {
			t.Errorf("%s has a row of %q, which nothing logs: remove or correct it", catalogue, message)
		}
	}
}

// counted is where the scheduler lists the lines that it counts instead of logging each: by their texts, which are other
// packages'.
const counted = "scheduler/log.go"

func TestWhatIsCountedIsLogged(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, counted), nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	logged, messages := inSource(t), listed(file, "ofRuns")
	require.Greater(t, len(messages), 20, "the list in %s is not found", counted)
	for _, message := range messages {
		if _, ok := logged[message]; !ok {
			t.Errorf("%s counts %q, which nothing logs: if it was reworded, each such line is logged now", counted, message)
		}
	}
}

// listed returns the texts of a variable that is a list of them.
func listed(file *ast.File, variable string) (all []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Names[0].Name != variable || len(spec.Values) != 1 {
			return true
		}
		if list, ok := spec.Values[0].(*ast.CompositeLit); ok {
			for _, e := range list.Elts {
				all = append(all, literal(e, nil))
			}
		}
		return false
	})
	return all
}

// row is a message and its levels in the catalogue.
var row = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([A-Z, ]+) \\| .+ \\| .+ \\|$")

func inCatalogue(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, catalogue))
	require.NoError(t, err)
	all := make(map[string][]string)
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		require.NotContains(t, all, m[1], "%s has two rows of it", catalogue)
		all[m[1]] = strings.Split(m[2], ", ")
	}
	return all
}

func inSource(t *testing.T) map[string]place {
	t.Helper()
	all := make(map[string]place)
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		if d.IsDir() && slices.Contains(apart, filepath.ToSlash(name)) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		read(file, constants(file), func(message string, at token.Pos, levels []string) {
			if strings.ContainsAny(message, "=\n") { // what the program tells systemd, and what it writes to standard output
				return
			}
			p := all[message]
			p.at = name + ":" + strconv.Itoa(files.Position(at).Line)
			p.levels = append(p.levels, levels...)
			slices.Sort(p.levels)
			p.levels = slices.Compact(p.levels)
			all[message] = p
		})
		return nil
	}))
	return all
}

// passes are functions that log what they are given, and what their callers name is found there.
var passes = []string{"repeated", "tell", "Tell", "tellCount"}

// read finds the messages that a file logs.
func read(file *ast.File, named map[string]string, found func(message string, at token.Pos, levels []string)) {
	words := assigned(file)
	ast.Inspect(file, func(n ast.Node) bool {
		if line, ok := n.(*ast.CompositeLit); ok && strings.HasSuffix(text(line.Type), "repeats.Line") {
			var levels []string
			message := ""
			for _, e := range line.Elts {
				pair, _ := e.(*ast.KeyValueExpr)
				switch key := text(pair.Key); key {
				case "Level":
					levels = levelsIn(pair.Value)
				case "Message":
					message = literal(pair.Value, named)
				}
			}
			if message != "" {
				found(message, line.Pos(), levels)
			}
			return true
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || !logs(call) {
			return true
		}
		levels := levelsIn(call.Fun)
		for _, arg := range call.Args {
			levels = append(levels, levelsIn(arg)...)
			if message := literal(arg, named); message != "" {
				found(message, call.Pos(), levels)
				return true
			}
			if name := text(arg); len(words[name]) > 0 {
				for _, message := range words[name] {
					found(message, call.Pos(), nil)
				}
				return true
			}
		}
		return true
	})
}

// logs tells whether a call logs its first text.
func logs(call *ast.CallExpr) bool {
	name := text(call.Fun)
	on, method := cutLast(name)
	if slices.Contains(passes, method) {
		return true
	}
	_, level := levels[method]
	on = strings.ToLower(on[strings.LastIndex(on, ".")+1:])
	return (level || method == "Log" || method == "LogAttrs") && (on == "log" || on == "logger") || name == "slog.NewRecord"
}

func cutLast(name string) (before, last string) {
	i := strings.LastIndex(name, ".")
	if i < 0 {
		return "", name
	}
	return name[:i], name[i+1:]
}

// text is a name with what it is selected from, be that a field or what a method returns.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return text(e.X) + "." + e.Sel.Name
	case *ast.CallExpr:
		return text(e.Fun)
	default:
		return ""
	}
}

func levelsIn(e ast.Expr) []string {
	_, name := cutLast(text(e))
	if level, ok := levels[name]; ok {
		return []string{level}
	}
	return nil
}

// literal is the text of a literal or of a constant of the file; empty if it is neither.
func literal(e ast.Expr, named map[string]string) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			s, _ := strconv.Unquote(e.Value)
			return s
		}
	case *ast.Ident:
		return named[e.Name]
	}
	return ""
}

// messages are constants that hold a message and are used in other files than their own.
var messages = map[string]string{"commitRefused": "commit refused, will try again"}

// constants are those of a file.
func constants(file *ast.File) map[string]string {
	all := make(map[string]string)
	for name, message := range messages {
		all[name] = message
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == len(spec.Names) {
			for i, name := range spec.Names {
				if value := literal(spec.Values[i], nil); strings.Contains(value, " ") {
					all[name.Name] = value
				}
			}
		}
		return true
	})
	return all
}

// assigned are the texts that a file gives to variables and fields: messages that are chosen before they
// are logged.
func assigned(file *ast.File) map[string][]string {
	all := make(map[string][]string)
	ast.Inspect(file, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
			for i, to := range a.Lhs {
				if value := literal(a.Rhs[i], nil); value != "" {
					all[text(to)] = append(all[text(to)], value)
				}
			}
		}
		return true
	})
	return all
}
