package rounds

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

// A round that waited for long and was refused has fewer follow it, and those that are confirmed have more again.
func TestAStrideFollowsWhatIsRefused(t *testing.T) {
	t.Parallel()
	const long, short, least = longRound + 1, longRound, leastStride
	for name, test := range map[string]struct {
		before             int // zero = no bound
		confirmed, refused int
		took               time.Duration
		left               bool
		want               int
	}{
		"nothing was refused":             {0, 400, 0, long, false, 0},
		"all of it":                       {0, 0, 400, long, false, 200},
		"half of it":                      {0, 200, 200, long, false, 200},
		"less than half":                  {0, 201, 199, long, false, 0},
		"soon":                            {0, 0, 400, short, false, 0},
		"few":                             {0, 0, least, long, false, 0},
		"a few more":                      {0, 0, least + 1, long, false, least},
		"a bounded one":                   {200, 0, 200, long, true, 100},
		"few of a bounded one":            {200, 0, 100, long, false, 200},
		"as few as there are":             {least, 0, least, long, true, least},
		"a bounded one is confirmed":      {100, 100, 0, long, true, 125},
		"most of it":                      {100, 80, 20, long, true, 125},
		"not most of it":                  {100, 79, 21, long, true, 100},
		"it left nothing":                 {100, 100, 0, long, false, 100},
		"nothing of it was sent":          {100, 0, 0, long, true, 100},
		"a bounded one is confirmed soon": {least, least, 0, short, true, least + least/4},
	} {
		var s *stride
		if test.before != 0 {
			s = &stride{most: test.before}
		}
		s = s.ended(test.confirmed, test.refused, test.took, test.left)
		most := 0
		if s != nil {
			most = s.most
		}
		require.Equal(t, test.want, most, name)
		require.Equal(t, most != 0, s.full(most), name)
		require.False(t, s.full(most-1), name)
	}
}

// A stride lasts for as long as rounds are refused, and not for all of whose items it is enough.
func TestAStrideIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var none *stride
		require.False(t, none.over(100))
		s := none.ended(0, 100, longRound+1, false)
		require.False(t, s.over(51))
		require.True(t, s.over(50))
		time.Sleep(strideLasts)
		require.False(t, s.over(51))
		require.Equal(t, 62, s.ended(50, 0, longRound+1, true).most)
		again := s.ended(0, 60, longRound+1, false)
		time.Sleep(time.Nanosecond)
		require.True(t, s.over(100))
		require.False(t, again.over(100))
	})
}

// What a round left follows at once, unless it would fare as this one did: then something else tells when.
func TestWhatARoundLeftFollows(t *testing.T) {
	t.Parallel()
	conflict, full, wrong := &registry.ConflictError{}, registry.ErrNoSpace, registry.ErrInvalid
	for name, test := range map[string]struct {
		confirmed int
		refused   []error
		left      bool
		follows   int
	}{
		"nothing is left":                    {2, nil, false, 0},
		"some is":                            {2, nil, true, 1},
		"a conflict, which tells a revision": {0, []error{conflict}, true, 0},
		"another one had none":               {1, []error{conflict}, true, 1},
		"the registry is full":               {0, []error{full}, true, 0},
		"it never takes any of these":        {0, []error{wrong, wrong}, true, 1},
		"and is full":                        {0, []error{wrong, full}, true, 0},
	} {
		r, _ := jobOf(t, "me", "me")
		round := &Round{left: test.left, answers: answers{confirmed: test.confirmed}}
		for _, err := range test.refused {
			require.False(t, round.answers.refuse(err), "it is decided again")
		}
		r.strideOn(round)
		require.Equal(t, test.follows, processOf(r).again, name)
	}
}
