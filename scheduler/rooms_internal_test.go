package scheduler

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
)

// rooms are the fields of a runner that are rooms.
var rooms = []string{"configuration", "leadership", "lost", "membership", "mending", "peers", "rounds", "whole"}

// A room owns what it knows and has no way to its runner, or to another room, but the functions that it was
// given. Splitting by embedding, or by passing the runner on under another name, is not splitting.
func TestNoRoomHoldsTheRunner(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("test")
	defer func() { require.NoError(t, reg.Close(context.Background())) }()
	s, err := New(reg)
	require.NoError(t, err)
	once := func(o *jobOptions) error {
		o.hooks = &job.WholeRoundListener{}
		return nil
	}
	declared, err := newJobOptions([]JobOption{once})
	require.NoError(t, err)
	handler := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	r := reflect.ValueOf(newRunner(s, job.Config{Name: "orders"}, handler, declared)).Elem()

	owners := map[reflect.Type]string{reflect.TypeFor[runner](): "the runner", reflect.TypeFor[Scheduler](): "the scheduler"}
	for _, name := range rooms {
		owners[typeOf(r.FieldByName(name))] = "the room " + name
	}
	for _, name := range rooms {
		field := r.FieldByName(name)
		require.True(t, field.IsValid(), name)
		require.False(t, field.IsNil(), name)
		mine := typeOf(field)
		require.True(t, strings.Contains(mine.PkgPath(), "/scheduler/internal/"), "%s stands in %s", name, mine.PkgPath())
		seen := make(map[reflect.Type]bool)
		walk(mine, seen)
		for owner, what := range owners {
			if owner != mine {
				require.False(t, seen[owner], "%s holds %s", name, what)
			}
		}
	}
	for i := range r.NumField() {
		if field := r.Type().Field(i); strings.Contains(typeOf(r.Field(i)).PkgPath(), "/scheduler/internal/") {
			require.False(t, field.Anonymous, "%s is embedded", field.Name)
		}
	}
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
