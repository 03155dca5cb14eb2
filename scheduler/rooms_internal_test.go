package scheduler

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// A room owns what it knows and has no way to its runner, or to another room, but the functions that it was
// given. Splitting by embedding, or by passing the runner on under another name, is not splitting.
func TestNoRoomHoldsTheRunner(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]Option{
		"alone":           nil,
		"with Java peers": {WithInstanceID("10.0.0.1@-@4711-a"), WithJavaPeers()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := aRunner(t, options)
			r := reflect.ValueOf(whole).Elem()
			rooms := roomsOf(r)
			for _, name := range []string{"configuration", "leadership", "lost", "membership", "mending", "rounds", "hooks"} {
				require.Contains(t, rooms, name)
			}
			_, peers := rooms["peers"]
			require.Equal(t, options != nil, peers, "the empty peers know nothing, the others are a room")

			owners := map[reflect.Type]string{reflect.TypeFor[runner](): "the runner", reflect.TypeFor[Scheduler](): "the scheduler"}
			for name, room := range rooms {
				owners[room] = "the room " + name
			}
			for name, room := range rooms {
				seen := made(room)
				for owner, what := range owners {
					require.False(t, owner != room && seen[owner], "%s holds %s", name, what)
				}
			}
			for i := range r.NumField() {
				field := r.Type().Field(i)
				if ours(typeOf(r.Field(i))) {
					require.False(t, field.Anonymous, "%s is embedded", field.Name)
				}
				if rooms[field.Name] != nil {
					require.False(t, reaches(r.Field(i), whole), "the room %s reaches the runner", field.Name)
				}
			}
		})
	}
}

// A runner is found wherever a room may have put it.
func TestARunnerIsFound(t *testing.T) {
	t.Parallel()
	type inside struct{ at any }
	r := new(runner)
	for name, room := range map[string]any{
		"behind an interface": inside{r}, "in a slice": []any{1, r}, "in a map": map[string]*inside{"a": {r}}, "by itself": &r,
	} {
		require.True(t, reaches(reflect.ValueOf(room), r), name)
	}
	for name, room := range map[string]any{"another": inside{new(runner)}, "nothing": inside{}, "no pointer": 7} {
		require.False(t, reaches(reflect.ValueOf(room), r), name)
	}
}

// aRunner makes a runner with every room that a runner can have.
func aRunner(t *testing.T, options []Option) *runner {
	t.Helper()
	reg := memory.NewServer().Open("test")
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	s, err := New(reg, options...)
	require.NoError(t, err)
	once := func(o *jobOptions) error {
		o.hooks = &job.WholeRoundListener{}
		return nil
	}
	declared, err := newJobOptions([]JobOption{once})
	require.NoError(t, err)
	handler := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	return newRunner(s, job.Config{Name: "orders"}, handler, declared)
}

// roomsOf returns the rooms of a runner: what of it stands in a package below, and may ask the process for something.
func roomsOf(r reflect.Value) map[string]reflect.Type {
	rooms, ports := make(map[string]reflect.Type), reflect.TypeFor[room.Ports]()
	asks := func(t reflect.Type) bool { return t.Kind() == reflect.Interface && t.Implements(ports) }
	for i := range r.NumField() {
		t := typeOf(r.Field(i))
		if ours(t) && t.PkgPath() != ports.PkgPath() && slices.ContainsFunc(slices.Collect(maps.Keys(made(t))), asks) {
			rooms[r.Type().Field(i).Name] = t
		}
	}
	return rooms
}

// ours tells whether a type stands in a package below the scheduler.
func ours(t reflect.Type) bool { return strings.Contains(t.PkgPath(), "/scheduler/internal/") }

// made returns every type that a type is made of.
func made(t reflect.Type) map[reflect.Type]bool {
	seen := make(map[reflect.Type]bool)
	walk(t, seen)
	return seen
}

// typeOf is what a field holds, behind pointers and interfaces.
func typeOf(v reflect.Value) reflect.Type {
	if v.Kind() == reflect.Interface && !v.IsNil() {
		v = v.Elem()
	}
	t := v.Type()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// reaches tells whether a value leads to the runner, by pointers, interfaces, slices and maps. Functions hide what they
// hold.
func reaches(from reflect.Value, r *runner) bool {
	type place struct {
		of reflect.Type
		at uintptr
	}
	been := make(map[place]bool)
	var look func(v reflect.Value) bool
	look = func(v reflect.Value) bool {
		switch v.Kind() {
		case reflect.Interface:
			return look(v.Elem())
		case reflect.Pointer:
			here := place{v.Type(), v.Pointer()}
			if v.IsNil() || been[here] {
				return false
			}
			been[here] = true
			return here == place{reflect.TypeOf(r), reflect.ValueOf(r).Pointer()} || look(v.Elem())
		case reflect.Slice, reflect.Array:
			for i := range v.Len() {
				if look(v.Index(i)) {
					return true
				}
			}
		case reflect.Map:
			for each := v.MapRange(); each.Next(); {
				if look(each.Key()) || look(each.Value()) {
					return true
				}
			}
		case reflect.Struct:
			if pkg := v.Type().PkgPath(); pkg != "" && !strings.Contains(pkg, "/scheduler") {
				return false // a store or a logger, at work and unable to know a runner
			}
			for i := range v.NumField() {
				if look(v.Field(i)) {
					return true
				}
			}
		}
		return false
	}
	return look(from)
}

// walk notes every type that a type is made of. Functions and interfaces hide what they hold.
func walk(t reflect.Type, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		walk(t.Elem(), seen)
	case reflect.Map:
		walk(t.Key(), seen)
		walk(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			walk(t.Field(i).Type, seen)
		}
	}
}
