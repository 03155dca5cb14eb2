package jobfolder_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/worker/internal/jobfolder"
)

// mount makes the folder as Kubernetes has it of a ConfigMap, as of now: each file is a link by ..data, and all are written anew.
func (f *folder) mount(files map[string]string) {
	f.Helper()
	at := time.Now()
	now := fmt.Sprintf("..%d", at.UnixNano())
	require.NoError(f, os.Mkdir(filepath.Join(f.dir, now), 0o700))
	for name, text := range files {
		path := filepath.Join(f.dir, now, name)
		require.NoError(f, os.WriteFile(path, []byte(text), 0o600))
		require.NoError(f, os.Chtimes(path, at, at))
		if _, err := os.Lstat(filepath.Join(f.dir, name)); err != nil {
			require.NoError(f, os.Symlink(filepath.Join("..data", name), filepath.Join(f.dir, name)))
		}
	}
	require.NoError(f, os.Symlink(now, filepath.Join(f.dir, "..data_tmp")))
	require.NoError(f, os.Rename(filepath.Join(f.dir, "..data_tmp"), filepath.Join(f.dir, "..data")))
	entries, err := os.ReadDir(f.dir)
	require.NoError(f, err)
	for _, entry := range entries {
		if _, is := files[entry.Name()]; !is && !strings.HasPrefix(entry.Name(), ".") {
			require.NoError(f, os.Remove(filepath.Join(f.dir, entry.Name())))
		}
	}
	f.touch(at)
}

// followMounted starts a worker with a ConfigMap that was mounted just now, and returns when it has compared it.
func (s *stage) followMounted(source jobfolder.Source, files map[string]string) *folder {
	s.Helper()
	f := &folder{stage: s, dir: s.TempDir()}
	f.mount(files)
	return s.followAt(f.dir, source)
}

// A pod that starts has all files of its ConfigMap written anew, however old they are. That is no change of them.
func TestAnOldConfigMapInANewPod(t *testing.T) {
	t.Parallel()
	for _, missing := range []operate.Gone{operate.GoneDisable, operate.GoneRemove} {
		inBubble(t, func(s *stage) {
			source := jobfolder.Source{Gone: missing}
			v1 := map[string]string{"jobs.yaml": daily("orders", "@daily")}
			v2 := map[string]string{"jobs.yaml": daily("orders", "@hourly") + daily("extra", "@daily")}
			a, b := s.followMounted(source, v1), s.followMounted(source, v1)
			time.Sleep(time.Minute)
			a.mount(v2)
			time.Sleep(time.Minute)
			require.Equal(t, "@hourly", s.cron("orders"))
			require.Equal(t, "@daily", s.cron("extra"))

			late := s.followMounted(source, v1)
			time.Sleep(5 * time.Minute)
			require.Equal(t, "@hourly", s.cron("orders"))
			require.Equal(t, "@daily", s.cron("extra"))
			require.Equal(t, jobfolder.State{Read: true}, a.State())
			require.Len(t, late.State().Notes, 2)
			require.Contains(t, late.State().Notes[0], "files that have replaced these decide, and the time of a mount does not tell whether these were changed since")
			require.Contains(t, late.State().Notes[1], "files that name it decide, and the time of a mount does not tell whether these were changed since")
			before := s.revision()

			// A change of one job says nothing of the others of the ConfigMap, though all of it is written anew.
			b.mount(map[string]string{"jobs.yaml": daily("orders", "@daily") + daily("other", "@daily")})
			time.Sleep(5 * time.Minute)
			require.Equal(t, "@hourly", s.cron("orders"))
			require.Equal(t, "@daily", s.cron("other"))
			require.Equal(t, "@daily", s.cron("extra"))
			require.Greater(t, s.revision(), before)

			late.mount(v2)
			time.Sleep(time.Minute)
			require.Len(t, late.State().Notes, 1, "of the other job")
		})
	}
}

// What changed once in a ConfigMap is not newer when another job of it changes, though all of it is written anew.
func TestAChangeOfAConfigMapIsOfItsJobs(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		of := func(cron, others string) map[string]string {
			return map[string]string{"jobs.yaml": daily("orders", cron) + others}
		}
		a, b := s.followMounted(jobfolder.Source{}, of("@daily", "")), s.followMounted(jobfolder.Source{}, of("@daily", ""))
		time.Sleep(time.Minute)
		a.mount(of("@hourly", ""))
		b.mount(of("@hourly", ""))
		time.Sleep(time.Minute)
		a.mount(of("@weekly", ""))
		time.Sleep(time.Minute)
		require.Equal(t, "@weekly", s.cron("orders"))
		b.mount(of("@hourly", daily("other", "@daily")))
		time.Sleep(time.Minute)
		require.Equal(t, "@daily", s.cron("other"))
		require.Equal(t, "@weekly", s.cron("orders"))
		require.Equal(t, jobfolder.State{Read: true}, a.State())
		require.Len(t, b.State().Notes, 1)
	})
}

// A pod that finds a job which others have let go of is told of what it can do: nobody touches a file of a ConfigMap.
func TestAPodThatNamesWhatOthersHaveLetGoOf(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		source := jobfolder.Source{Gone: operate.GoneDisable}
		of := func(extra string) map[string]string {
			return map[string]string{"jobs.yaml": daily("orders", "@daily") + extra}
		}
		old := s.followMounted(source, of(daily("extra", "@daily")))
		time.Sleep(time.Minute)
		old.mount(of(""))
		time.Sleep(2 * time.Minute)
		require.Equal(t, "disabled @daily", s.cron("extra"))
		old.stop()
		late := s.followMounted(source, of(daily("extra", "@daily")))
		require.Equal(t, "disabled @daily", s.cron("extra"))
		require.Len(t, late.State().Notes, 1)
		require.Contains(t, late.State().Notes[0], "; if it is to be, have all files of this owner name it, and change what they say of it; else take it out here")
		late.mount(of(daily("extra", "@hourly")))
		time.Sleep(5 * time.Second)
		require.Equal(t, "@hourly", s.cron("extra"))
		require.Equal(t, jobfolder.State{Read: true}, late.State())
	})
}

// What a worker sees change in its ConfigMap counts, also if it goes back to what was there before.
func TestAConfigMapThatChanges(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		source := jobfolder.Source{Gone: operate.GoneRemove}
		v1 := map[string]string{"jobs.yaml": daily("orders", "@daily")}
		v2 := map[string]string{"jobs.yaml": daily("orders", "@hourly") + daily("extra", "@daily")}
		f := s.followMounted(source, v1)
		for range 3 {
			f.mount(v2)
			time.Sleep(2 * time.Minute)
			require.Equal(t, "@hourly", s.cron("orders"))
			require.Equal(t, "@daily", s.cron("extra"))
			f.mount(v1)
			time.Sleep(2 * time.Minute)
			require.Equal(t, "@daily", s.cron("orders"))
			require.Empty(t, s.cron("extra"))
			require.Equal(t, jobfolder.State{Read: true}, f.State())
		}
		s.followMounted(source, map[string]string{"jobs.yaml": daily("orders", "@weekly")})
		require.Equal(t, "@weekly", s.cron("orders"), "what nobody has heard yet is new")
	})
}

// Who gives a version has said what is newer.
func TestAConfigMapWithAVersion(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		s.followMounted(jobfolder.Source{Gone: operate.GoneDisable, Version: 1}, map[string]string{"jobs.yaml": daily("orders", "@daily") + daily("extra", "@daily")})
		s.followMounted(jobfolder.Source{Gone: operate.GoneDisable, Version: 2}, map[string]string{"jobs.yaml": daily("orders", "@hourly")})
		s.followMounted(jobfolder.Source{Gone: operate.GoneDisable, Version: 3}, map[string]string{"jobs.yaml": daily("orders", "@daily")})
		time.Sleep(5 * time.Minute)
		require.Equal(t, "@daily", s.cron("orders"))
		require.Equal(t, "disabled @daily", s.cron("extra"))
	})
}

// A pod with the new files, which it has found there, ends a removal that an old one began when it saw the files change, also if
// that one has ended meanwhile: else the job would stay disabled for good.
func TestAPodEndsTheRemovalThatAnOtherOneBegan(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		source := jobfolder.Source{Gone: operate.GoneRemove}
		v1 := map[string]string{"jobs.yaml": daily("orders", "@daily") + daily("extra", "@daily")}
		v2 := map[string]string{"jobs.yaml": daily("orders", "@daily")}
		old := s.followMounted(source, v1)
		time.Sleep(time.Hour)
		end := s.runs("extra")
		young := s.followMounted(source, v2)
		time.Sleep(time.Minute)
		old.mount(v2)
		time.Sleep(2 * time.Minute)
		require.Equal(t, "disabled @daily", s.cron("extra"))
		still := jobfolder.State{Read: true, Notes: []string{`job "extra" is not removed yet: items still run`}}
		require.Equal(t, still, old.State())
		require.Equal(t, still, young.State())
		old.stop()
		end()
		time.Sleep(time.Minute)
		require.Empty(t, s.cron("extra"))
		require.Equal(t, jobfolder.State{Read: true}, young.State())
	})
}
