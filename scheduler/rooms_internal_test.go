package scheduler

import (
	"context"
	"reflect"
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
			r := reflect.ValueOf(aRunner(t, options)).Elem()
			rooms := roomsOf(r)
			require.Contains(t, rooms, "rounds")
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
				if field := r.Type().Field(i); ours(typeOf(r.Field(i))) {
					require.False(t, field.Anonymous, "%s is embedded", field.Name)
				}
			}
		})
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
	for i := range r.NumField() {
		t := typeOf(r.Field(i))
		if ours(t) && t.PkgPath() != ports.PkgPath() && made(t)[ports] {
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
