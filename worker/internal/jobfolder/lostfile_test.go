package jobfolder_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/worker/internal/jobfolder"
)

// One of two workers of an owner loses a file that the other one still has: what becomes of the job is so for both, and the
// other one says why, and what to do.
func TestAFileThatOneOfTwoWorkersLoses(t *testing.T) {
	t.Parallel()
	for gone, becomes := range map[operate.Gone]string{operate.GoneDisable: "disabled @daily", operate.GoneRemove: "", operate.GoneKeep: "@daily"} {
		inBubble(t, func(s *stage) {
			source := jobfolder.Source{Gone: gone}
			files := map[string]string{"a.yaml": daily("a", "@daily"), "x.yaml": daily("x", "@daily")}
			one := s.follow(source, files)
			time.Sleep(time.Minute)
			two := s.follow(source, files) // which has the newest ones
			time.Sleep(time.Minute)
			require.Equal(t, jobfolder.State{Read: true}, two.State())

			one.write(map[string]string{"x.yaml": ""})
			time.Sleep(2 * time.Minute)
			require.Equal(t, becomes, s.cron("x"))
			require.Equal(t, jobfolder.State{Read: true}, one.State())
			require.Len(t, two.State().Notes, 1)
			note := two.State().Notes[0]
			require.Contains(t, note, `"x"`)
			switch gone {
			case operate.GoneDisable:
				require.Contains(t, note, "decide; other files do not name it, so it is disabled (version ")
				require.Regexp(t, "; if it is to be, have all files of this owner name it, and touch its file here; else take it out here$", note)
			case operate.GoneKeep:
				require.Contains(t, note, "decide; other files do not name it (version ")
			case operate.GoneRemove:
				require.Contains(t, note, "was removed, by somebody or because other files of this owner do not name it, and comes back when")
			}

			time.Sleep(time.Minute)
			two.write(map[string]string{"x.yaml": daily("x", "@daily")}) // a new time
			time.Sleep(5 * time.Minute)
			if gone == operate.GoneRemove {
				require.Empty(t, s.cron("x"))
				two.write(map[string]string{"x.yaml": daily("x", "@hourly")})
				time.Sleep(5 * time.Minute)
				require.Equal(t, "@hourly", s.cron("x"))
			} else {
				require.Equal(t, "@daily", s.cron("x"))
			}
			require.Equal(t, jobfolder.State{Read: true}, two.State())
		})
	}
}
