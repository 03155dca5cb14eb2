package jobfolder_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/worker/internal/jobfolder"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stage is a registry with workers' folders.
type stage struct {
	*testing.T
	server   *memory.Server
	registry *memory.Registry
	operator *operate.Operator
}

func inBubble(t *testing.T, test func(*stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{T: t, server: memory.NewServer()}
		s.registry = s.open()
		s.operator = s.operates(s.registry, "anna")
		test(s)
	})
}

func (s *stage) open() *memory.Registry {
	r := s.server.Open("shop")
	s.Cleanup(func() { require.NoError(s, r.Close(context.Background())) })
	return r
}

func (s *stage) operates(reg operate.Store, who string) *operate.Operator {
	o, err := operate.New(reg, operate.By(who, "test"))
	require.NoError(s, err)
	return o
}

// folder is that of one worker.
type folder struct {
	*stage
	dir string
	*jobfolder.Follower
	reg  *memory.Registry
	stop func()
}

// follow starts a worker with files, and returns when it has compared them.
func (s *stage) follow(source jobfolder.Source, files map[string]string) *folder {
	s.Helper()
	f := s.begin(source, files)
	time.Sleep(2 * time.Second)
	synctest.Wait()
	return f
}

// begin starts a worker with files.
func (s *stage) begin(source jobfolder.Source, files map[string]string) *folder {
	s.Helper()
	return s.beginBehind(source, files, func(reg *memory.Registry) operate.Store { return reg })
}

// beginBehind is begin with something between the operator and the registry.
func (s *stage) beginBehind(source jobfolder.Source, files map[string]string, behind func(*memory.Registry) operate.Store) *folder {
	s.Helper()
	f := &folder{stage: s, dir: s.TempDir()}
	f.write(files)
	f.run(source, behind)
	return f
}

// followAt starts a worker with a folder that is there, and returns when it has compared it.
func (s *stage) followAt(dir string, source jobfolder.Source) *folder {
	s.Helper()
	f := &folder{stage: s, dir: dir}
	f.run(source, func(reg *memory.Registry) operate.Store { return reg })
	time.Sleep(2 * time.Second)
	synctest.Wait()
	return f
}

// run starts the worker of a folder.
func (f *folder) run(source jobfolder.Source, behind func(*memory.Registry) operate.Store) {
	f.Helper()
	s := f.stage
	f.reg, source.Directory = s.open(), f.dir
	if source.Owner == "" {
		source.Owner = "shop"
	}
	f.Follower = jobfolder.New(f.reg, s.operates(behind(f.reg), "worker"), source, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(s.Context())
	done := make(chan struct{})
	go func() { defer close(done); f.Run(ctx) }()
	f.stop = func() { cancel(); <-done }
	s.Cleanup(f.stop)
	// No file is written at the very moment at which a folder is looked at, which is every second: that of several
	// workers not either.
	time.Sleep(300 * time.Millisecond)
	synctest.Wait()
}

// write writes files, as of now by the clock of the bubble; an empty text removes one.
func (f *folder) write(files map[string]string) {
	f.Helper()
	f.writeAsOf(time.Now(), files)
}

// writeAsOf is write with another time of the change.
func (f *folder) writeAsOf(at time.Time, files map[string]string) {
	f.Helper()
	for name, text := range files {
		path := filepath.Join(f.dir, name)
		if text == "" {
			require.NoError(f, os.Remove(path))
			continue
		}
		require.NoError(f, os.WriteFile(path, []byte(text), 0o600))
		require.NoError(f, os.Chtimes(path, at, at))
	}
	f.touch(at)
}

// touch changes the time of the folder.
func (f *folder) touch(at time.Time) { require.NoError(f, os.Chtimes(f.dir, at, at)) }

func daily(name, cron string) string {
	return name + ": {config: {cron: '" + cron + "', shardingTotalCount: 2, jobType: SCRIPT, scriptCommandLine: /opt/x}}\n"
}

// cron is that of a job; empty if it is not there.
func (s *stage) cron(name string) string {
	s.Helper()
	synctest.Wait()
	n, err := s.registry.Get(s.Context(), jobtree.For(name).Config())
	if err != nil {
		require.ErrorIs(s, err, registry.ErrNotFound)
		return ""
	}
	cfg, err := jobtree.DecodeConfig(n)
	require.NoError(s, err)
	if cfg.Disabled {
		return "disabled " + cfg.Cron
	}
	return cfg.Cron
}

func (s *stage) revision() registry.Revision {
	s.Helper()
	_, revision, err := s.registry.List(s.Context(), registry.Root)
	require.NoError(s, err)
	return revision
}

func TestJobsComeFromFiles(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		f := s.follow(jobfolder.Source{Gone: operate.GoneDisable}, map[string]string{"a.yaml": daily("a", "@daily"), "b.yml": daily("b", "@daily"), "README": "no jobs", ".c.yaml": "["})
		require.Equal(t, "@daily", s.cron("a"))
		require.Equal(t, "@daily", s.cron("b"))
		require.Equal(t, jobfolder.State{Read: true}, f.State())

		time.Sleep(time.Minute)
		f.write(map[string]string{"a.yaml": daily("a", "@hourly")})
		time.Sleep(3 * time.Second)
		require.Equal(t, "@hourly", s.cron("a"), "a change counts soon")
		before := s.revision()
		time.Sleep(10 * time.Minute)
		require.Equal(t, before, s.revision(), "and then nothing is written")

		f.write(map[string]string{"b.yml": ""})
		time.Sleep(20 * time.Second)
		require.Equal(t, "@daily", s.cron("b"), "a file may be gone for a moment")
		time.Sleep(time.Minute)
		require.Equal(t, "disabled @daily", s.cron("b"))
		f.write(map[string]string{"b.yml": daily("b", "@weekly")})
		time.Sleep(3 * time.Second)
		require.Equal(t, "@weekly", s.cron("b"), "it is back, and runs")
	})
}

// What is wrong in one file changes nothing, and is told.
func TestABadFile(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		f := s.follow(jobfolder.Source{Gone: operate.GoneRemove}, map[string]string{"a.yaml": daily("a", "@daily"), "b.yaml": daily("b", "@daily")})
		before := s.revision()
		for name, bad := range map[string]string{
			"nonsense":             "a: [",
			"a wrong cron":         daily("a", "whenever"),
			"a job twice":          daily("b", "@hourly"),
			"what operators do":    daily("a", "@hourly") + "  servers: {10.0.0.1: DISABLED}\n",
			"an unknown member":    "a: {config: {cron: '@daily', shardingTotalCount: 2, crno: x}}",
			"what is not a job's ": "a: {leader: x}",
		} {
			time.Sleep(time.Second)
			f.write(map[string]string{"a.yaml": bad, "c.yaml": daily("c", "@daily")})
			time.Sleep(2 * time.Minute)
			require.NotEmpty(t, f.State().Faults, name)
			require.Contains(t, f.State().Faults[0], f.dir, name)
			require.Equal(t, before, s.revision(), name)
		}
		f.write(map[string]string{"a.yaml": daily("a", "@hourly"), "c.yaml": ""})
		time.Sleep(3 * time.Second)
		require.Empty(t, f.State().Faults)
		require.Equal(t, "@hourly", s.cron("a"))

		require.NoError(t, os.RemoveAll(f.dir))
		time.Sleep(2 * time.Minute)
		require.NotEmpty(t, f.State().Faults)
		require.Equal(t, "@hourly", s.cron("a"), "a folder that is gone is no empty one")
	})
}

// A file that something writes every second keeps all of them from being read, which is told after half a minute, until they
// have stood still.
func TestAFolderThatNeverStandsStill(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		files := map[string]string{"a.yaml": daily("a", "@daily"), "b.yaml": daily("b", "@daily")}
		f := s.begin(jobfolder.Source{Gone: operate.GoneDisable}, files)
		write := func(seconds int) {
			for range seconds {
				f.write(files)
				time.Sleep(time.Second)
			}
		}
		notes := []string{"the files of the folder change again and again: none is read until all have stayed the same for a second"}
		write(29)
		require.Empty(t, f.State())
		write(120)
		require.Equal(t, jobfolder.State{Notes: notes}, f.State())
		time.Sleep(2 * time.Second)
		require.Equal(t, jobfolder.State{Read: true}, f.State())
		require.Equal(t, "@daily", s.cron("a"))

		files["a.yaml"] = daily("a", "@hourly")
		write(40)
		require.Equal(t, jobfolder.State{Read: true, Notes: notes}, f.State())
		require.Equal(t, "@daily", s.cron("a"))
		time.Sleep(2 * time.Second)
		require.Equal(t, jobfolder.State{Read: true}, f.State())
		require.Equal(t, "@hourly", s.cron("a"))
	})
}

// That files change again and again is told no more when they have stood still, also if nothing comes of what was read.
func TestAFolderThatStandsStillWithAFault(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		files := map[string]string{"a.yaml": "a: ["}
		f := s.begin(jobfolder.Source{Gone: operate.GoneDisable}, files)
		for range 2 {
			for range 40 {
				f.write(files)
				time.Sleep(time.Second)
			}
			require.Len(t, f.State().Notes, 1)
			time.Sleep(2 * time.Second)
			require.Len(t, f.State().Faults, 1)
			require.Empty(t, f.State().Notes)
		}
	})
}

// A comparison that the registry breaks off tells nothing of the jobs behind.
func TestAComparisonThatBreaksOff(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		written := s.open()
		f := &folder{stage: s, dir: s.TempDir(), reg: s.registry}
		f.write(map[string]string{"a.yaml": daily("a", "@daily"), "b.yaml": daily("b", "@daily")})
		written.Cut()
		f.Follower = jobfolder.New(f.reg, s.operates(written, "worker"), jobfolder.Source{Directory: f.dir, Owner: "shop", Gone: operate.GoneRemove}, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(s.Context())
		done := make(chan struct{})
		go func() { defer close(done); f.Run(ctx) }()
		s.Cleanup(func() { cancel(); <-done })
		time.Sleep(3 * time.Minute)
		require.False(t, f.State().Read)
		written.Heal()
		time.Sleep(3 * time.Minute)
		require.True(t, f.State().Read)
		require.Equal(t, "@daily", s.cron("b"))
	})
}

// Two workers with the same files, and then with others: the newer ones count, and soon nobody writes.
func TestWorkersDoNotFight(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		files := map[string]string{"a.yaml": daily("a", "@daily"), "b.yaml": daily("b", "@daily")}
		one := s.follow(jobfolder.Source{Gone: operate.GoneDisable}, files)
		time.Sleep(time.Second)
		two := s.follow(jobfolder.Source{Gone: operate.GoneDisable}, files)
		time.Sleep(5 * time.Minute)
		require.Equal(t, jobfolder.State{Read: true}, one.State())
		require.Equal(t, jobfolder.State{Read: true}, two.State())
		before := s.revision()
		time.Sleep(5 * time.Minute)
		require.Equal(t, before, s.revision())

		two.write(map[string]string{"a.yaml": daily("a", "@hourly"), "b.yaml": ""})
		time.Sleep(5 * time.Minute)
		require.Equal(t, "@hourly", s.cron("a"))
		require.Equal(t, "disabled @daily", s.cron("b"))
		before = s.revision()
		time.Sleep(5 * time.Minute)
		require.Equal(t, before, s.revision(), "the worker with the old files gives in")
		require.Contains(t, one.State().Notes[0], "files of a later version decide")
		require.Regexp(t, "; bring the newest files here, or give these a higher version$", one.State().Notes[0])
		require.Empty(t, one.State().Faults)

		one.write(map[string]string{"a.yaml": daily("a", "@hourly"), "b.yaml": ""})
		time.Sleep(time.Minute)
		require.Equal(t, jobfolder.State{Read: true}, one.State())

		other := s.follow(jobfolder.Source{Owner: "other"}, map[string]string{"x.yaml": daily("a", "@weekly")})
		require.Equal(t, "@hourly", s.cron("a"))
		require.Contains(t, other.State().Notes[0], `the job is one of the files of "shop"`)
	})
}

// Copies of one folder have several times, and what happens to a folder says nothing of what is in it.
func TestCopiesOfAFolder(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		const step = time.Minute
		time.Sleep(10 * step)
		began := time.Now()
		old, fresh := map[string]string{"a.yaml": daily("a", "@daily")}, map[string]string{"a.yaml": daily("a", "@hourly"), "b.yaml": daily("b", "@daily")}
		source := jobfolder.Source{Gone: operate.GoneDisable}
		copied := s.follow(source, old) // later than the other was written, and heard first
		original := s.begin(source, nil)
		original.writeAsOf(began.Add(-5*step), old)
		time.Sleep(time.Minute)
		require.Equal(t, jobfolder.State{Read: true}, original.State())

		original.writeAsOf(began.Add(-step), fresh) // as rsync and tar do: older than the copy
		time.Sleep(time.Minute)
		require.Equal(t, "@hourly", s.cron("a"), "it was made of what is there")
		require.Equal(t, "@daily", s.cron("b"))
		require.Contains(t, copied.State().Notes[0], "files that have replaced these decide")

		time.Sleep(time.Minute)
		copied.touch(time.Now())
		time.Sleep(90 * time.Second)
		require.Equal(t, "@hourly", s.cron("a"), "nothing in it was changed")
		require.Equal(t, "@daily", s.cron("b"), "it has never been there")

		late := s.begin(source, nil) // an old image that starts now
		late.writeAsOf(began.Add(-step/2), old)
		late.touch(began.Add(-4 * step))
		time.Sleep(90 * time.Second)
		require.Equal(t, "@hourly", s.cron("a"))
		require.Equal(t, "@daily", s.cron("b"))
		before := s.revision()
		time.Sleep(90 * time.Second)
		require.Equal(t, before, s.revision(), "nobody writes")

		copied.write(map[string]string{"a.yaml": daily("a", "@daily")}) // with the text of before, now
		time.Sleep(time.Minute)
		require.Equal(t, "@daily", s.cron("a"), "who goes back means it")
		require.NotEmpty(t, original.State().Notes)
		before = s.revision()
		time.Sleep(90 * time.Second)
		require.Equal(t, before, s.revision(), "nobody writes")
	})
}

// A file that goes takes its jobs with it, whatever the time of the folder says.
func TestAFileThatGoes(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		time.Sleep(10 * time.Minute)
		f := s.follow(jobfolder.Source{Gone: operate.GoneDisable}, map[string]string{"a.yaml": daily("a", "@daily"), "b.yaml": daily("b", "@daily")})
		f.writeAsOf(time.Now().Add(-5*time.Minute), map[string]string{"b.yaml": ""})
		time.Sleep(2 * time.Minute)
		require.Equal(t, "disabled @daily", s.cron("b"))
		f.write(map[string]string{"b.yaml": daily("b", "@daily")})
		time.Sleep(time.Minute)
		require.Equal(t, "@daily", s.cron("b"), "the same file is back")
	})
}

// A folder that is empty for a while, as one whose mount is away, takes its jobs with it, and they are back with the same
// files, as old as they are. Whoever has another copy of them, and has not seen them go, is not heard with it. What another one
// has let go of since stays so.
func TestAFolderThatIsAwayForAWhile(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		time.Sleep(10 * time.Minute)
		files := map[string]string{"a.yaml": daily("a", "@daily"), "b.yaml": daily("b", "@daily")}
		none := map[string]string{"a.yaml": "", "b.yaml": ""}
		source := jobfolder.Source{Gone: operate.GoneDisable}
		f := s.follow(source, files)
		written := time.Now()
		for range 2 {
			time.Sleep(time.Minute)
			f.write(none)
			time.Sleep(2 * time.Minute)
			require.Equal(t, "disabled @daily", s.cron("a"))
			require.Equal(t, "disabled @daily", s.cron("b"))
			copied := s.begin(source, nil)
			copied.writeAsOf(written, files)
			time.Sleep(time.Minute)
			require.Equal(t, "disabled @daily", s.cron("a"), "a copy that came later knows nothing")

			f.writeAsOf(written, files)
			time.Sleep(time.Minute)
			require.Equal(t, "@daily", s.cron("a"))
			require.Equal(t, "@daily", s.cron("b"))
			require.Equal(t, jobfolder.State{Read: true}, f.State())
			copied.Follow(jobfolder.Source{Directory: s.TempDir(), Owner: "other"})
		}

		time.Sleep(time.Minute)
		f.write(none)
		time.Sleep(2 * time.Minute)
		newer := s.follow(source, files)
		require.Equal(t, "@daily", s.cron("a"), "new files name it")
		newer.write(map[string]string{"a.yaml": ""})
		time.Sleep(2 * time.Minute)
		require.Equal(t, "disabled @daily", s.cron("a"))
		f.writeAsOf(written, files)
		time.Sleep(time.Minute)
		require.Equal(t, "disabled @daily", s.cron("a"), "somebody else has decided since")
		require.Equal(t, "@daily", s.cron("b"))
	})
}

// So it is while a removal waits for what runs, and when nothing is left of the job.
func TestAFolderThatIsBackDuringARemoval(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		time.Sleep(10 * time.Minute)
		files := map[string]string{"a.yaml": daily("a", "@daily")}
		f := s.follow(jobfolder.Source{Gone: operate.GoneRemove}, files)
		written := time.Now()
		time.Sleep(time.Minute)
		end := s.runs("a")
		f.write(map[string]string{"a.yaml": ""})
		time.Sleep(3 * time.Minute)
		require.Equal(t, "disabled @daily", s.cron("a"), "its removal waits")
		f.writeAsOf(written, files)
		time.Sleep(time.Minute)
		require.Equal(t, "@daily", s.cron("a"))
		end()
		time.Sleep(2 * time.Minute)
		require.Equal(t, "@daily", s.cron("a"))

		f.write(map[string]string{"a.yaml": ""})
		time.Sleep(3 * time.Minute)
		require.Empty(t, s.cron("a"))
		f.writeAsOf(written, files)
		time.Sleep(time.Minute)
		require.Equal(t, "@daily", s.cron("a"))
		require.Equal(t, jobfolder.State{Read: true}, f.State())
	})
}

// A link stays in the folder when what it leads to goes: that takes no job away.
func TestALinkThatLeadsNowhere(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		f := s.begin(jobfolder.Source{Gone: operate.GoneRemove}, map[string]string{"a.yaml": daily("a", "@daily")})
		elsewhere := filepath.Join(s.TempDir(), "b")
		write := func() {
			require.NoError(s, os.WriteFile(elsewhere, []byte(daily("b", "@daily")), 0o600))
			require.NoError(s, os.Chtimes(elsewhere, time.Now(), time.Now()))
		}
		write()
		require.NoError(s, os.Symlink(elsewhere, f.dir+"/b.yaml"))
		f.touch(time.Now())
		time.Sleep(3 * time.Second)
		require.Equal(t, "@daily", s.cron("b"))

		require.NoError(s, os.Remove(elsewhere))
		time.Sleep(5 * time.Minute)
		require.Equal(t, "@daily", s.cron("b"))
		require.Len(t, f.State().Faults, 1)
		require.Contains(t, f.State().Faults[0], f.dir+"/b.yaml is a link that leads nowhere")

		write()
		time.Sleep(time.Minute)
		require.Equal(t, jobfolder.State{Read: true}, f.State())
		require.NoError(s, os.Remove(f.dir+"/b.yaml"))
		f.touch(time.Now())
		time.Sleep(5 * time.Minute)
		require.Empty(t, s.cron("b"), "the link itself is gone")
	})
}

// A folder that has no job when the worker starts was just made, or is not mounted yet: the jobs of its owner stay.
func TestAnEmptyFolder(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		s.follow(jobfolder.Source{Gone: operate.GoneRemove}, map[string]string{"a.yaml": daily("a", "@daily"), "b.yaml": daily("b", "@daily")})
		time.Sleep(10 * time.Minute)
		late := s.follow(jobfolder.Source{Gone: operate.GoneRemove}, nil)
		time.Sleep(10 * time.Minute)
		require.Equal(t, "@daily", s.cron("a"))
		require.Len(t, late.State().Notes, 1)
		require.Contains(t, late.State().Notes[0], "the folder has no job since the worker follows it")
		late.write(map[string]string{"a.yaml": daily("a", "@hourly")})
		time.Sleep(10 * time.Minute)
		require.Equal(t, "@hourly", s.cron("a"))
		require.Empty(t, s.cron("b"), "the folder has jobs now, and this is none of them")
	})
}

// So it is with another folder, or another owner, of which a running worker is told: what the former one said is nothing that
// these files have said. With another value of missing alone, they are the same files.
func TestAnotherFolder(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.yaml": daily("a", "@daily"), "b.yaml": daily("b", "@daily")}
	for name, test := range map[string]struct {
		told   func(s *stage, f *folder) jobfolder.Source
		stays  string
		leaves []string
	}{
		"an empty folder": {
			told: func(s *stage, _ *folder) jobfolder.Source {
				return jobfolder.Source{Directory: s.TempDir(), Owner: "shop", Gone: operate.GoneRemove}
			},
			stays: `so the 2 jobs of "shop" in the registry stay`,
		},
		"an empty folder of another owner": {
			told: func(s *stage, f *folder) jobfolder.Source {
				s.follow(jobfolder.Source{Owner: "bakery"}, map[string]string{"c.yaml": daily("c", "@daily")})
				time.Sleep(time.Minute)
				f.write(map[string]string{"a.yaml": "", "b.yaml": ""})
				return jobfolder.Source{Directory: f.dir, Owner: "bakery", Gone: operate.GoneRemove}
			},
			stays: `so the 1 jobs of "bakery" in the registry stay`,
		},
		"the same folder, emptied": {
			told: func(_ *stage, f *folder) jobfolder.Source {
				f.write(map[string]string{"a.yaml": "", "b.yaml": ""})
				return jobfolder.Source{Directory: f.dir, Owner: "shop", Gone: operate.GoneRemove}
			},
			leaves: []string{"a", "b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(s *stage) {
				f := s.follow(jobfolder.Source{Gone: operate.GoneKeep}, files)
				time.Sleep(10 * time.Minute)
				f.Follow(test.told(s, f))
				time.Sleep(3 * time.Minute)
				for _, job := range []string{"a", "b"} {
					if slices.Contains(test.leaves, job) {
						require.Empty(s, s.cron(job))
					} else {
						require.Equal(s, "@daily", s.cron(job))
					}
				}
				if test.stays == "" {
					require.Equal(s, jobfolder.State{Read: true}, f.State())
					return
				}
				require.Len(s, f.State().Notes, 1)
				require.Contains(s, f.State().Notes[0], test.stays)
			})
		})
	}
}

// An old copy in another folder was not made of what the former folder said last, and brings back what an operator has removed,
// as with a start.
func TestAnOldCopyInAnotherFolder(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		time.Sleep(10 * time.Minute)
		f := s.follow(jobfolder.Source{}, map[string]string{"a.yaml": daily("a", "@hourly"), "b.yaml": daily("b", "@hourly")})
		other := &folder{stage: s, dir: s.TempDir()}
		other.writeAsOf(time.Now().Add(-5*time.Minute), map[string]string{"a.yaml": daily("a", "@hourly"), "b.yaml": daily("b", "@hourly")})
		time.Sleep(time.Minute)
		f.write(map[string]string{"a.yaml": daily("a", "@daily")})
		time.Sleep(time.Minute)
		require.Equal(t, "@daily", s.cron("a"))
		_, err := s.operator.Remove(s.Context(), "b", operate.Options{Force: true})
		require.NoError(t, err)
		time.Sleep(time.Minute)
		require.Empty(t, s.cron("b"))

		f.Follow(jobfolder.Source{Directory: other.dir, Owner: "shop"})
		time.Sleep(2 * time.Minute)
		require.Equal(t, "@daily", s.cron("a"))
		require.Equal(t, "@hourly", s.cron("b"))
		require.Len(t, f.State().Notes, 1)
		require.Contains(t, f.State().Notes[0], "files of a later version decide")
	})
}

// What is written while the worker starts, or while it is told to read again, counts when it stands still.
func TestHalfAFile(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		f := s.begin(jobfolder.Source{}, map[string]string{"a.yaml": daily("a", "@daily")})
		for _, cron := range []string{"@weekly", "@hourly"} {
			time.Sleep(600 * time.Millisecond)
			require.Empty(t, s.cron("a"), "it is still written")
			require.False(t, f.State().Read)
			f.write(map[string]string{"a.yaml": daily("a", cron)})
		}
		time.Sleep(3 * time.Second)
		require.Equal(t, "@hourly", s.cron("a"))

		f.write(map[string]string{"a.yaml": daily("a", "@weekly")})
		for _, cron := range []string{"@daily", "@yearly"} {
			f.Follow(jobfolder.Source{Directory: f.dir, Owner: "shop"})
			time.Sleep(600 * time.Millisecond)
			require.Equal(t, "@hourly", s.cron("a"), "it is still written")
			f.write(map[string]string{"a.yaml": daily("a", cron)})
		}
		time.Sleep(3 * time.Second)
		require.Equal(t, "@yearly", s.cron("a"))
	})
}

func TestOperatorsAndFiles(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		f := s.follow(jobfolder.Source{Gone: operate.GoneRemove, Version: 1}, map[string]string{"a.yaml": daily("a", "@daily") + daily("b", "@daily")})
		_, err := s.operator.DisableJob(s.Context(), "a", operate.Options{})
		require.NoError(t, err)
		time.Sleep(5 * time.Minute)
		require.Equal(t, "disabled @daily", s.cron("a"), "which is up to operators")

		text := s.config("b", "@yearly")
		_, err = s.operator.ChangeSettings(s.Context(), "b", operate.Settings{Text: text}, operate.Options{})
		require.NoError(t, err)
		time.Sleep(time.Minute)
		require.Equal(t, "@daily", s.cron("b"), "settings are those of the files")

		_, err = s.operator.Remove(s.Context(), "b", operate.Options{})
		require.NoError(t, err)
		time.Sleep(5 * time.Minute)
		require.Empty(t, s.cron("b"), "what was removed stays so, until the next start")
		require.Contains(t, f.State().Notes[0], `job "b" was removed`)
		f.write(map[string]string{"a.yaml": daily("a", "@daily")})
		time.Sleep(4 * time.Second)
		f.write(map[string]string{"a.yaml": daily("a", "@daily") + daily("b", "@daily")})
		time.Sleep(time.Minute)
		require.Empty(t, s.cron("b"), "nor does it come back with a file that was away for a moment")
		f.write(map[string]string{"a.yaml": daily("a", "@daily") + daily("b", "@hourly")})
		time.Sleep(time.Minute)
		require.Equal(t, "@hourly", s.cron("b"))

		f.Follow(jobfolder.Source{Directory: f.dir, Owner: "shop", Version: 2, Gone: operate.GoneRemove})
		synctest.Wait() // it has been read
		f.write(map[string]string{"a.yaml": daily("a", "@daily")})
		time.Sleep(2 * time.Minute)
		require.Empty(t, s.cron("b"))
	})
}

// runs has an item of a job run until it is told to end.
func (s *stage) runs(name string) (end func()) {
	s.Helper()
	session, err := s.registry.Session(s.Context())
	require.NoError(s, err)
	running := jobtree.For(name).ItemRunning(0)
	commit := func(w registry.Write) {
		_, err := s.registry.Commit(s.Context(), registry.Txn{Then: []registry.Write{w}})
		require.NoError(s, err)
	}
	commit(registry.PutOwned(running, "x", session))
	return func() { commit(registry.Delete(running)) }
}

// Removals wait for what runs, and nothing waits for them: neither other removals, nor what changes in the folder.
func TestRemovalsHoldUpNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		names := []string{"a", "b", "c", "d", "e", "f"}
		files, gone := map[string]string{"y.yaml": daily("y", "@daily")}, make(map[string]string)
		for _, name := range names {
			files[name+".yaml"], gone[name+".yaml"] = daily(name, "@daily"), ""
		}
		f := s.follow(jobfolder.Source{Gone: operate.GoneRemove}, files)
		var end []func()
		for _, name := range names {
			end = append(end, s.runs(name))
		}
		f.write(gone)
		time.Sleep(63 * time.Second)
		for _, name := range names {
			require.Equal(t, "disabled @daily", s.cron(name))
		}
		f.write(map[string]string{"y.yaml": daily("y", "@hourly")})
		time.Sleep(3 * time.Second)
		require.Equal(t, "@hourly", s.cron("y"))
		require.Contains(t, f.State().Notes, `job "a" is not removed yet: items still run`)

		before := s.revision()
		time.Sleep(time.Hour)
		require.Equal(t, before, s.revision(), "and nothing is written while they wait")
		f.write(map[string]string{"b.yaml": daily("b", "@daily")})
		time.Sleep(3 * time.Second)
		require.Equal(t, "@daily", s.cron("b"), "its file is back")
		for _, ends := range end {
			ends()
		}
		time.Sleep(31 * time.Second)
		require.Empty(t, s.cron("a")+s.cron("c")+s.cron("d")+s.cron("e")+s.cron("f"))
		require.Equal(t, "@daily", s.cron("b"))
		require.Equal(t, jobfolder.State{Read: true}, f.State())
	})
}

// Of two workers one removes a job whose file is at neither. The file comes back to one before the other, be it the one that
// has removed it or not, and the job comes back with it, and stays.
func TestAFileComesBackToOneOfTwoWorkers(t *testing.T) {
	t.Parallel()
	for _, gone := range []operate.Gone{operate.GoneRemove, operate.GoneKeep} {
		for _, running := range []bool{false, true} {
			for first := range 2 {
				t.Run(fmt.Sprint(gone, " running ", running, " first ", first), func(t *testing.T) {
					t.Parallel()
					inBubble(t, func(s *stage) {
						files := map[string]string{"a.yaml": daily("a", "@daily"), "y.yaml": daily("y", "@daily")}
						source := jobfolder.Source{Gone: gone}
						both := []*folder{s.follow(source, files), s.follow(source, files)}
						end := func() {}
						if running {
							end = s.runs("a")
						}
						for _, f := range both {
							f.write(map[string]string{"a.yaml": ""})
						}
						time.Sleep(3 * time.Minute)
						end()
						time.Sleep(time.Hour)
						if gone == operate.GoneRemove {
							require.Empty(t, s.cron("a"))
						}
						both[first].write(map[string]string{"a.yaml": daily("a", "@daily")})
						for range 40 {
							time.Sleep(3 * time.Second)
							require.Equal(t, "@daily", s.cron("a"))
						}
						both[1-first].write(map[string]string{"a.yaml": daily("a", "@daily")})
						time.Sleep(2 * time.Minute)
						require.Equal(t, "@daily", s.cron("a"))
					})
				})
			}
		}
	}
}

// hooked is a registry at which something happens before the first commit that is about a job.
type hooked struct {
	operate.Store
	job  string
	hook atomic.Pointer[func()]
}

func (h *hooked) happens(hook func()) { h.hook.Store(&hook) }

func (h *hooked) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	about := slices.ContainsFunc(txn.Then, func(w registry.Write) bool { return w.Path == jobtree.For(h.job).Operated() })
	if about {
		if hook := h.hook.Swap(nil); hook != nil {
			(*hook)()
		}
	}
	return h.Store.Commit(ctx, txn)
}

// What the folder and the settings were when a comparison began removes no job any more once they say something else.
func TestARemovalThatIsNotWantedAnyMore(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		happens func(*folder, jobfolder.Source)
		want    string
	}{
		"the file is back":    {func(f *folder, _ jobfolder.Source) { f.write(map[string]string{"z.yaml": daily("z", "@hourly")}) }, "@hourly"},
		"the settings say so": {func(f *folder, s jobfolder.Source) { s.Gone = operate.GoneKeep; f.Follow(s) }, "@daily"},
		"another folder": {func(f *folder, s jobfolder.Source) {
			s.Directory, s.Version = f.TempDir(), 2
			require.NoError(f, os.WriteFile(s.Directory+"/z.yaml", []byte(daily("z", "@weekly")), 0o600))
			f.Follow(s)
		}, "@weekly"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(s *stage) {
				h := &hooked{job: "a"}
				source := jobfolder.Source{Gone: operate.GoneRemove, Owner: "shop", Version: 1}
				f := s.beginBehind(source, map[string]string{
					"a.yaml": daily("a", "@daily"), "y.yaml": daily("y", "@daily"), "z.yaml": daily("z", "@daily"),
				}, func(reg *memory.Registry) operate.Store { h.Store = reg; return h })
				time.Sleep(2 * time.Second)
				made := s.created("z")
				source.Directory = f.dir
				f.write(map[string]string{"a.yaml": "", "z.yaml": ""})
				time.Sleep(10 * time.Second)
				h.happens(func() { test.happens(f, source) })
				time.Sleep(5 * time.Minute)
				require.Nil(t, h.hook.Load())
				require.Equal(t, test.want, s.cron("z"))
				require.Equal(t, made, s.created("z"), "it is the same job")
			})
		})
	}
}

// Files that change while a comparison is slow count with the next one, and what was there in between was not missing all the
// time.
func TestASlowComparison(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		h := &hooked{job: "a"}
		f := s.beginBehind(jobfolder.Source{Gone: operate.GoneRemove}, map[string]string{
			"a.yaml": daily("a", "@daily"), "y.yaml": daily("y", "@daily"), "z.yaml": daily("z", "@daily"),
		}, func(reg *memory.Registry) operate.Store { h.Store = reg; return h })
		time.Sleep(10 * time.Second)
		f.write(map[string]string{"z.yaml": ""})
		time.Sleep(20 * time.Second)
		f.write(map[string]string{"a.yaml": daily("a", "@hourly"), "y.yaml": daily("y", "@hourly"), "z.yaml": daily("z", "@daily")})
		h.happens(func() {
			f.write(map[string]string{"y.yaml": daily("y", "@weekly"), "z.yaml": ""})
			time.Sleep(time.Second)
			h.happens(func() { s.Error("a is as its file has it") })
		})
		time.Sleep(3 * time.Second)
		require.Equal(t, "@hourly", s.cron("a"))
		require.Equal(t, "@daily", s.cron("y"), "what the file said is not taken any more")
		time.Sleep(3 * time.Second)
		require.Equal(t, "@weekly", s.cron("y"))
		time.Sleep(10 * time.Second)
		f.write(map[string]string{"y.yaml": daily("y", "@yearly")})
		time.Sleep(3 * time.Second)
		require.Equal(t, "@yearly", s.cron("y"))
		require.Equal(t, "@daily", s.cron("z"), "it was there half a minute ago")
	})
}

// created is the revision that made a job.
func (s *stage) created(name string) registry.Revision {
	s.Helper()
	synctest.Wait()
	n, err := s.registry.Get(s.Context(), jobtree.For(name).Config())
	require.NoError(s, err)
	return n.Created
}

func (s *stage) config(name, cron string) string {
	s.Helper()
	n, err := s.registry.Get(s.Context(), jobtree.For(name).Config())
	require.NoError(s, err)
	cfg, err := jobtree.DecodeConfig(n)
	require.NoError(s, err)
	cfg.Cron = cron
	text, err := jobtree.EncodeConfig(cfg)
	require.NoError(s, err)
	return text
}

// Files of a clock that goes wrong would count for ever.
func TestFilesOfTheFuture(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/a.yaml", []byte(daily("a", "@daily")), 0o600))
	at := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(dir+"/a.yaml", at, at))
	var reader jobfolder.Reader
	_, err := reader.Read(t.Context(), dir, 0, time.Now())
	require.ErrorIs(t, err, jobfolder.ErrFolder)
	require.ErrorContains(t, err, "which is in the future")
	set, err := reader.Read(t.Context(), dir, 7, time.Now())
	require.NoError(t, err)
	require.Equal(t, int64(7), set.Version)
}

// A file that is far too large for one of jobs, by mistake or as a log that lies in the wrong folder, costs no memory.
func TestALargeFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, size := range map[string]int64{"a.yaml": 1 << 40, "b.yaml": 1<<20 + 1, "c.yaml": 1 << 20} {
		require.NoError(t, os.WriteFile(dir+"/"+name, nil, 0o600))
		require.NoError(t, os.Truncate(dir+"/"+name, size)) // without a block on the disk
	}
	var reader jobfolder.Reader
	_, err := reader.Read(t.Context(), dir, 0, time.Now())
	require.ErrorIs(t, err, jobfolder.ErrFolder)
	require.ErrorContains(t, err, dir+"/a.yaml has 1099511627776 bytes: want at most 1 MiB in one file of jobs")
	require.ErrorContains(t, err, dir+"/b.yaml has 1048577 bytes")
	require.NotContains(t, err.Error(), "c.yaml has")
	stopped, cancel := context.WithCancelCause(t.Context())
	over := errors.New("the worker stops")
	cancel(over)
	_, err = reader.Read(stopped, dir, 0, time.Now())
	require.ErrorIs(t, err, over)
}

// Workers read their files twice a minute. What has not changed is not taken apart again, whether it is right or wrong; what
// has is, whatever size and time it has.
func TestFilesAreTakenApartOnce(t *testing.T) {
	dir := t.TempDir()
	at := time.Now().Add(-time.Hour)
	write := func(cron string) {
		var jobs strings.Builder
		for i := range 200 {
			jobs.WriteString(daily(fmt.Sprintf("a%03d", i), cron))
		}
		require.NoError(t, os.WriteFile(dir+"/a.yaml", []byte(jobs.String()), 0o600))
		require.NoError(t, os.Chtimes(dir+"/a.yaml", at, at))
	}
	for _, test := range []struct{ cron, fault string }{{"@daily", ""}, {"@hourl", "@hourl"}} {
		write(test.cron)
		var reader jobfolder.Reader
		var errs []error
		read := func() {
			set, err := reader.Read(t.Context(), dir, 0, time.Now())
			if err == nil {
				require.Len(t, set.Jobs, 200)
			}
			errs = append(errs, err)
		}
		first := testing.AllocsPerRun(1, func() { reader = jobfolder.Reader{}; read() })
		again := testing.AllocsPerRun(3, read)
		require.Less(t, again, first/10, "%v", test)
		for _, err := range errs {
			if test.fault == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, test.fault)
			}
		}
		write("@weekl")
		_, err := reader.Read(t.Context(), dir, 0, time.Now())
		require.ErrorContains(t, err, "@weekl")
		require.NoError(t, os.Remove(dir+"/a.yaml"))
		set, err := reader.Read(t.Context(), dir, 0, time.Now())
		require.NoError(t, err)
		require.Empty(t, set.Jobs)
	}
}

// A member of the registry that stands still carries a creation out when the job has been created by the next comparison, named
// by no file any more and removed. The worker lets go of it once more, whatever else is in its folder.
func TestACreationThatComesAfterTheRemoval(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		other map[string]string
	}{
		{"alone", map[string]string{}},
		{"beside another", map[string]string{"b.yaml": daily("b", "@daily")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(s *stage) {
				time.Sleep(10 * time.Minute)
				f := s.follow(jobfolder.Source{Gone: operate.GoneRemove}, test.other)
				time.Sleep(time.Minute)
				f.reg.HoldBack(1, 20*time.Minute)
				f.write(map[string]string{"a.yaml": daily("a", "@daily")})
				time.Sleep(3 * time.Minute)
				require.Equal(t, "@daily", s.cron("a"))
				made := s.created("a")
				f.write(map[string]string{"a.yaml": ""})
				time.Sleep(5 * time.Minute)
				require.Empty(t, s.cron("a"))
				time.Sleep(12*time.Minute + 10*time.Second)
				require.Greater(t, s.created("a"), made, "it is back")
				time.Sleep(2 * time.Minute)
				require.Empty(t, s.cron("a"))
				require.Equal(t, jobfolder.State{Read: true}, f.State())
			})
		})
	}
}

// What is in a folder that has had no job since the worker started says nothing of the jobs of others, though one of them comes
// late from this worker.
func TestACreationThatComesLateToAnEmptyFolder(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		first := s.follow(jobfolder.Source{}, map[string]string{"b.yaml": daily("b", "@daily")})
		first.Follow(jobfolder.Source{Directory: s.TempDir(), Owner: "other"})
		time.Sleep(10 * time.Minute)
		f := s.follow(jobfolder.Source{Gone: operate.GoneRemove}, nil)
		f.reg.HoldBack(1, 20*time.Minute)
		f.write(map[string]string{"a.yaml": daily("a", "@daily")})
		time.Sleep(20 * time.Second)
		require.Empty(t, s.cron("a"))
		f.write(map[string]string{"a.yaml": ""})
		time.Sleep(30 * time.Minute)
		require.Empty(t, s.cron("a"))
		require.Equal(t, "@daily", s.cron("b"))
	})
}

// silent is a registry that does one commit, and answers nothing any more.
type silent struct {
	operate.Store
	next atomic.Bool
}

func (s *silent) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	revision, err := s.Store.Commit(ctx, txn)
	if err == nil && s.next.CompareAndSwap(true, false) {
		<-ctx.Done()
		return 0, fmt.Errorf("%w: %w", registry.ErrUnknownOutcome, context.Cause(ctx))
	}
	return revision, err
}

// A folder that comes back as it was counts at once, too, if the registry has not answered that it was gone.
func TestAFolderThatWasAwayWhenAnAnswerWasLost(t *testing.T) {
	t.Parallel()
	inBubble(t, func(s *stage) {
		time.Sleep(10 * time.Minute)
		files := map[string]string{"a.yaml": daily("a", "@daily")}
		var reg silent
		f := s.beginBehind(jobfolder.Source{Gone: operate.GoneDisable}, files, func(store *memory.Registry) operate.Store {
			reg.Store = store
			return &reg
		})
		time.Sleep(3 * time.Second)
		written := time.Now()
		time.Sleep(time.Minute)
		reg.next.Store(true)
		f.write(map[string]string{"a.yaml": ""})
		time.Sleep(3 * time.Minute)
		require.Equal(t, "disabled @daily", s.cron("a"))
		f.writeAsOf(written, files)
		time.Sleep(time.Minute)
		require.Equal(t, "@daily", s.cron("a"))
		require.Equal(t, jobfolder.State{Read: true}, f.State())
	})
}
