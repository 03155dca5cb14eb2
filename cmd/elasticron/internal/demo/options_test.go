package demo_test

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/demo"
)

func usable() demo.Options {
	o := demo.Defaults()
	o.Command, o.Out = []string{"true"}, io.Discard
	return o
}

func TestOptions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*demo.Options)
		want   []string // parts of the error; none = allowed
	}{
		{"defaults", func(*demo.Options) {}, nil},
		{"slow rounds", func(o *demo.Options) { o.Every = 3 * time.Second }, nil},
		{"as many processes as items", func(o *demo.Options) { o.Items, o.Processes = 5, 5 }, nil},
		{"one process", func(o *demo.Options) { o.Processes = 1 }, []string{"processes is 1, want 2 to 32"}},
		{"one item", func(o *demo.Options) { o.Items, o.Processes = 1, 2 }, []string{"items is 1, want 2 to 1000", "2 processes for 1 items"}},
		{"few rounds", func(o *demo.Options) { o.Rounds = 2 }, []string{"rounds is 2, want 0 or at least 3"}},
		{"odd period", func(o *demo.Options) { o.Every = 1500 * time.Millisecond }, []string{"every is 1.5s, want whole seconds"}},
		{"negative period", func(o *demo.Options) { o.Every = -time.Second }, []string{"every is -1s"}},
		{"no command", func(o *demo.Options) { o.Command = nil }, []string{"command and output"}},
		{
			"all faults at once", func(o *demo.Options) { o.Items, o.Rounds = 0, -1 },
			[]string{"items is 0", "rounds is -1", "3 processes for 0 items"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := usable()
			tt.change(&o)
			err := o.Check()
			if tt.want == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, demo.ErrInvalidOption)
			for _, part := range tt.want {
				require.ErrorContains(t, err, part)
			}
		})
	}
}
