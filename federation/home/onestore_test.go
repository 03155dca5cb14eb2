package home_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation/home"
)

// Two names lead to one store, as when somebody has copied the endpoints of one and forgot to change them. What is said of a
// job in one of them leads back to itself. Nobody asks the store for ever, and nothing is changed of what others have
// said who see two.
func TestTwoNamesOfOneStore(t *testing.T) {
	t.Parallel()
	const store = "dir"
	w := newWorld(t)
	d, err := home.New(store, []string{store, "a", "copy"}, func(_ context.Context, name string) (home.Store, error) {
		if name == "copy" {
			name = store
		}
		return w.handles[name], nil
	})
	require.NoError(t, err)
	rule := func(string) string { return "copy" }
	for range 2 {
		_, err = d.Claim(t.Context(), "orders", rule)
		require.ErrorIs(t, err, home.ErrInvalidOption)
		require.ErrorContains(t, err, "registries dir and copy are one store")
		require.Equal(t, at("copy"), w.nodes(store)[orders.Config()])
	}
	_, err = d.Find(t.Context(), "orders")
	require.ErrorContains(t, err, "registries dir and copy are one store")
	_, err = d.Move(t.Context(), "orders", "a", home.MoveOptions{})
	require.ErrorContains(t, err, "registries dir and copy are one store")
	require.Equal(t, at("copy"), w.nodes(store)[orders.Config()])

	// Nor is a job lost that somebody moves from one of the names to the other.
	w.store("a")
	d, err = home.New("a", []string{"a", "copy"}, func(context.Context, string) (home.Store, error) { return w.handles["a"], nil })
	require.NoError(t, err)
	before := w.nodes("a")
	_, err = d.Move(t.Context(), "orders", "copy", home.MoveOptions{})
	require.ErrorContains(t, err, "registries a and copy are one store")
	require.Equal(t, before[orders.Config()], w.nodes("a")[orders.Config()])

	// Where the directory says nothing, it is not in two registries, of which somebody would remove it from one: that is the only one.
	d, err = home.New("b", []string{"a", "b", "copy"}, func(_ context.Context, name string) (home.Store, error) {
		if name == "copy" {
			name = "a"
		}
		return w.handles[name], nil
	})
	require.NoError(t, err)
	_, err = d.Find(t.Context(), "orders")
	require.ErrorIs(t, err, home.ErrInvalidOption)
	require.ErrorContains(t, err, "registries a and copy are one store")
}
