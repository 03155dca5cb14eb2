package operate_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

func shopFiles(version int64) operate.Files { return operate.Files{Owner: "shop", Version: version} }

// take has files of a version say a text.
func (g *ground) take(version int64, text string) error {
	g.Helper()
	return errOf(g.op.TakeFiles(g.Context(), theJob, text, shopFiles(version), silent()))
}

func (g *ground) leaveFiles(version int64, gone operate.Gone) error {
	g.Helper()
	return errOf(g.op.LeaveFiles(g.Context(), theJob, shopFiles(version), gone, silent()))
}

func cron(spec string) func(*job.Config) { return func(c *job.Config) { c.Cron = spec } }

func TestFilesMakeAJob(t *testing.T) {
	t.Parallel()
	g := bareGround(t)
	require.NoError(t, g.take(3, g.text(nil)))
	require.Equal(t, g.text(nil), g.value(nodes.Config()))
	g.refused(operate.CauseAlready, g.take(3, g.text(nil)))
	require.Equal(t, "shop", g.operated().Files.Owner)

	g.refused(operate.CauseFiles, g.take(2, g.text(daily1)))
	refusal := g.refused(operate.CauseFiles, g.take(3, g.text(daily1)))
	require.Contains(t, refusal.Error(), "other files of the same version were faster (version 3)")
	require.Contains(t, refusal.Error(), "by anna")
	require.NoError(t, g.take(4, g.text(daily1)))
	require.Equal(t, g.text(daily1), g.value(nodes.Config()))

	g.refused(operate.CauseFiles, errOf(g.op.TakeFiles(t.Context(), theJob, g.text(nil), operate.Files{Owner: "else", Version: 9}, silent())))
	_, err := g.op.TakeFiles(t.Context(), theJob, g.text(nil), operate.Files{Owner: "shop"}, silent())
	require.ErrorIs(t, err, operate.ErrInvalidOption)
}

// A job that is there becomes one of the files, and fewer items are no slip there.
func TestFilesTakeAJobOver(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	require.NoError(t, g.take(1, g.text(nil)), "it is marked")
	g.refused(operate.CauseAlready, g.take(1, g.text(nil)))
	require.NoError(t, g.take(2, g.text(func(c *job.Config) { c.ShardingTotalCount = 2 })))
	require.Equal(t, 2, g.tree().Config.Value.ShardingTotalCount)
	g.refused(operate.CauseInvalid, g.take(3, g.text(func(c *job.Config) { c.Class = "another" })))
}

// What an operator changes in the settings is put right, by any process that has the files that were heard last.
func TestFilesKeepTheirSettings(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	require.NoError(t, g.take(5, g.text(nil)))
	changed, err := g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Change: daily}, silent())
	require.NoError(t, err)
	require.Len(t, changed.Warnings, 1)
	require.Contains(t, changed.Warnings[0], `the files of "shop" own these settings`)
	back, err := g.op.RollBack(t.Context(), theJob, changed.ID, operate.Options{DryRun: true})
	require.NoError(t, err)
	require.Empty(t, back.Warnings, "it is what the files say")
	g.refused(operate.CauseFiles, g.take(4, g.text(cron("0 0 1 * * ?"))))
	require.NoError(t, g.take(4, g.text(nil)), "older files that say the same")
	require.Equal(t, g.text(nil), g.value(nodes.Config()))
	require.Equal(t, int64(5), g.operated().Files.Version, "which make nothing older")
	back, err = g.op.RollBack(t.Context(), theJob, g.operated().Operations[len(g.operated().Operations)-1].ID, operate.Options{DryRun: true})
	require.NoError(t, err)
	require.Contains(t, back.Warnings, changed.Warnings[0])
	require.NoError(t, g.leaveFiles(6, operate.GoneKeep))
	changed, err = g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Change: daily}, operate.Options{DryRun: true})
	require.NoError(t, err)
	require.Empty(t, changed.Warnings, "they name it no more")
}

// Whether a job is disabled is up to operators.
func TestFilesLeaveDisabledAlone(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	require.NoError(t, g.take(1, g.text(nil)))
	require.NoError(t, errOf(g.op.DisableJob(t.Context(), theJob, silent())))
	g.refused(operate.CauseAlready, g.take(1, g.text(nil)))
	require.NoError(t, g.take(2, g.text(daily1)))
	require.True(t, g.tree().Config.Value.Disabled)
	require.Equal(t, "0 0 3 * * ?", g.tree().Config.Value.Cron)
	require.NoError(t, g.leaveFiles(3, operate.GoneDisable))
	require.NoError(t, g.take(4, g.text(daily1)))
	require.True(t, g.tree().Config.Value.Disabled, "it was not the files that disabled it")
	require.NoError(t, errOf(g.op.EnableJob(t.Context(), theJob, silent())))
	g.refused(operate.CauseAlready, g.take(4, g.text(func(c *job.Config) { daily1(c); c.Disabled = true })))
}

// What has been replaced comes back only by a change that came later, and what was made of the newest counts at once.
func TestFilesThatWereReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := bareGround(t)
		take := func(changed time.Time, text, before string) error {
			files := operate.Files{Owner: "shop", Version: changed.UnixNano(), ByTime: true, Before: before}
			return errOf(g.op.TakeFiles(g.Context(), theJob, text, files, silent()))
		}
		began, first, second, third := time.Now(), g.text(nil), g.text(daily1), g.text(cron("0 0 1 * * ?"))
		require.NoError(t, take(began.Add(-time.Hour), first, ""))
		time.Sleep(time.Minute)
		g.refused(operate.CauseFiles, take(began.Add(-2*time.Hour), second, ""))
		require.NoError(t, take(began.Add(-2*time.Hour), second, first), "it was made of what is there")
		require.Equal(t, began.Add(-time.Hour).UnixNano(), g.operated().Files.Version, "which makes nothing older")
		refusal := g.refused(operate.CauseFiles, take(began.Add(time.Second), first, ""))
		require.Contains(t, refusal.Error(), "files that have replaced these decide")
		lacks := operate.Files{Owner: "shop", Version: began.Add(time.Second).UnixNano(), ByTime: true}
		refusal = g.refused(operate.CauseFiles, errOf(g.op.LeaveFiles(g.Context(), theJob, lacks, operate.GoneKeep, silent())))
		require.Contains(t, refusal.Error(), "files that name it decide, and these were not changed since")
		require.NoError(t, take(began.Add(2*time.Second), third, ""), "that is new")
		g.refused(operate.CauseFiles, take(began.Add(3*time.Second), second, first))
		time.Sleep(time.Minute)
		require.NoError(t, take(time.Now(), first, ""), "it was changed since")
		g.refused(operate.CauseFiles, take(time.Now().Add(-time.Second), third, ""))
		require.NoError(t, errOf(g.op.TakeFiles(g.Context(), theJob, third, operate.Files{Owner: "shop", Version: time.Now().UnixNano() + 1}, silent())),
			"a version that somebody has given decides alone")

		time.Sleep(time.Minute)
		g.refused(operate.CauseFiles, errOf(g.op.LeaveFiles(g.Context(), theJob, operate.Files{Owner: "shop", Version: began.UnixNano(), ByTime: true, Before: first}, operate.GoneKeep, silent())))
		require.NoError(t, errOf(g.op.LeaveFiles(g.Context(), theJob, operate.Files{Owner: "shop", Version: began.UnixNano(), ByTime: true, Before: third}, operate.GoneKeep, silent())))
		g.refused(operate.CauseFiles, take(time.Now().Add(-30*time.Second), third, third))
		time.Sleep(time.Minute)
		for n := range 20 {
			require.NoError(t, take(time.Now().Add(time.Duration(n)*time.Millisecond), g.text(cron(fmt.Sprintf("%d 0 1 * * ?", n))), ""))
		}
		require.Len(t, g.operated().Files.Past, 8)
	})
}

// Who gives the first version is heard, whatever time the files have that were heard before.
func TestTheFirstVersion(t *testing.T) {
	t.Parallel()
	g := bareGround(t)
	timed := operate.Files{Owner: "shop", Version: time.Now().UnixNano(), ByTime: true}
	require.NoError(t, errOf(g.op.TakeFiles(t.Context(), theJob, g.text(nil), timed, silent())))
	require.NoError(t, g.take(1, g.text(daily1)))
	require.Equal(t, int64(1), g.operated().Files.Version)
	timed.Version += int64(time.Hour)
	g.refused(operate.CauseFiles, errOf(g.op.TakeFiles(t.Context(), theJob, g.text(nil), timed, silent())))
	g.refused(operate.CauseFiles, errOf(g.op.LeaveFiles(t.Context(), theJob, timed, operate.GoneKeep, silent())))
	require.NoError(t, g.leaveFiles(2, operate.GoneKeep))
}

// Of versions that somebody gives, the highest decides, also over files of which the highest was made.
func TestALowerVersionThatIsChanged(t *testing.T) {
	t.Parallel()
	g := bareGround(t)
	text, lower := g.text(nil), shopFiles(5)
	require.NoError(t, g.take(6, text))
	lower.Before = text // the files of the lower version said the same
	g.refused(operate.CauseFiles, errOf(g.op.TakeFiles(t.Context(), theJob, g.text(daily1), lower, silent())))
	g.refused(operate.CauseFiles, errOf(g.op.LeaveFiles(t.Context(), theJob, lower, operate.GoneKeep, silent())))
	require.Equal(t, int64(6), g.operated().Files.Version)
}

func TestFilesThatNameAJobNoMore(t *testing.T) {
	t.Parallel()
	disabled := func(g *ground) bool { return g.tree().Config.Value.Disabled }
	g := newGround(t)
	g.refused(operate.CauseFiles, g.leaveFiles(1, operate.GoneDisable))
	require.NoError(t, g.take(5, g.text(nil)))
	g.refused(operate.CauseFiles, g.leaveFiles(5, operate.GoneDisable))
	g.refused(operate.CauseFiles, g.leaveFiles(4, operate.GoneRemove))
	require.NoError(t, g.leaveFiles(6, operate.GoneKeep))
	require.False(t, disabled(g))
	g.refused(operate.CauseAlready, g.leaveFiles(7, operate.GoneDisable))
	g.refused(operate.CauseFiles, g.take(5, g.text(nil)))
	require.NoError(t, g.take(7, g.text(nil)), "they name it again")

	require.NoError(t, g.leaveFiles(8, operate.GoneDisable))
	require.True(t, disabled(g))
	require.NoError(t, g.take(9, g.text(nil)))
	require.False(t, disabled(g), "it was disabled for that reason alone")

	require.NoError(t, g.leaveFiles(10, operate.GoneDisable))
	require.NoError(t, errOf(g.op.EnableJob(t.Context(), theJob, silent())))
	require.NoError(t, errOf(g.op.DisableJob(t.Context(), theJob, silent())))
	require.NoError(t, g.take(11, g.text(daily1)))
	require.True(t, disabled(g), "an operator has disabled it since")

	require.NoError(t, g.leaveFiles(12, operate.GoneKeep))
	require.NoError(t, errOf(g.op.TakeFiles(t.Context(), theJob, g.text(nil), operate.Files{Owner: "else", Version: 1}, silent())), "others may have it now")
	require.True(t, disabled(g), "an operator's decision stays")
}

// Files of another owner undo what was done because those before named the job no more.
func TestFilesOfTheNextOwner(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	require.NoError(t, g.take(5, g.text(nil)))
	require.NoError(t, g.leaveFiles(6, operate.GoneDisable))
	require.True(t, g.tree().Config.Value.Disabled)
	require.NoError(t, errOf(g.op.TakeFiles(t.Context(), theJob, g.text(nil), operate.Files{Owner: "else", Version: 1}, silent())))
	require.False(t, g.tree().Config.Value.Disabled)
	require.Equal(t, "else", g.operated().Files.Owner)
}

// What files have disabled is an operator's from when one disables it, too.
func TestAnOperatorDisablesWhatFilesHaveDisabled(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	require.NoError(t, g.take(1, g.text(nil)))
	require.NoError(t, g.leaveFiles(2, operate.GoneDisable))
	r, err := g.op.DisableJob(t.Context(), theJob, because("the table is locked"))
	require.NoError(t, err)
	require.Equal(t, []operate.Change{{What: "disabled when its files name it again", Before: "false", After: "true"}}, r.Changes)
	require.Contains(t, g.refused(operate.CauseAlready, errOf(g.op.DisableJob(t.Context(), theJob, silent()))).Error(), "the table is locked")
	require.NoError(t, g.take(3, g.text(daily1)))
	require.True(t, g.tree().Config.Value.Disabled)
}

// An operator's removal of a job that no file named is not for files to call off, which would leave the job disabled: they
// make it anew when it is gone.
func TestFilesComeBackDuringAnOperatorsRemoval(t *testing.T) {
	t.Parallel()
	for _, gone := range []operate.Gone{operate.GoneKeep, operate.GoneDisable, operate.GoneRemove} {
		synctest.Test(t, func(t *testing.T) {
			g := newGround(t)
			require.NoError(t, g.take(1, g.text(nil)))
			g.begin()
			upTo, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_ = errOf(g.op.LeaveFiles(upTo, theJob, shopFiles(2), gone, silent())) // a removal waits for what runs
			go func() {
				time.Sleep(time.Second)
				before := g.all()
				refusal := g.refused(operate.CausePending, g.take(3, g.text(nil)))
				require.Contains(t, refusal.Error(), "by anna")
				require.Equal(t, before, g.all())
				g.do(registry.Delete(nodes.ItemRunning(1)))
			}()
			_, err := g.op.Remove(t.Context(), theJob, forced())
			require.NoError(t, err)
			require.Empty(t, g.all())
			require.NoError(t, g.take(3, g.text(nil)))
			require.False(t, g.tree().Config.Value.Disabled)
		})
	}
}

// halfRemoved has a removal stop halfway, as an item runs until nobody waits any more.
func (g *ground) halfRemoved(remove func(ctx context.Context) error) {
	g.Helper()
	g.begin()
	ctx, cancel := context.WithTimeout(g.Context(), time.Minute)
	defer cancel()
	var unconfirmed *operate.UnconfirmedError
	require.ErrorAs(g, remove(ctx), &unconfirmed)
}

// Who enables the job calls off an operator's removal, and files that have come back take the job.
func TestFilesTakeAJobWhoseRemovalWasCalledOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		require.NoError(t, g.take(1, g.text(nil)))
		require.NoError(t, g.leaveFiles(2, operate.GoneDisable))
		g.halfRemoved(func(ctx context.Context) error { return errOf(g.op.Remove(ctx, theJob, forced())) })
		g.refused(operate.CausePending, g.take(3, g.text(nil)))
		require.NoError(t, errOf(g.op.EnableJob(t.Context(), theJob, silent())))
		require.NoError(t, g.take(3, g.text(nil)))
		require.False(t, g.tree().Config.Value.Disabled)
	})
}

// Files of another owner call off a removal that has stopped halfway.
func TestTheNextOwnerCallsOffARemoval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		require.NoError(t, g.take(1, g.text(nil)))
		g.halfRemoved(func(ctx context.Context) error {
			return errOf(g.op.LeaveFiles(ctx, theJob, shopFiles(2), operate.GoneRemove, silent()))
		})
		require.NoError(t, errOf(g.op.TakeFiles(t.Context(), theJob, g.text(nil), operate.Files{Owner: "else", Version: 1}, silent())))
		require.Empty(t, g.operated().Removing)
		require.False(t, g.tree().Config.Value.Disabled)
	})
}

func TestAJobThatNoFileNamesIsRemoved(t *testing.T) {
	t.Parallel()
	g := newGround(t) // with instances that live
	require.NoError(t, g.take(1, g.text(nil)))
	require.NoError(t, g.leaveFiles(2, operate.GoneRemove))
	require.False(t, g.node(nodes.Config()).Exists())
}

// A removal that stops halfway is gone on with, or called off by newer files.
func TestAnUnfinishedRemovalByFiles(t *testing.T) {
	t.Parallel()
	for _, back := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			g := newGround(t)
			require.NoError(t, g.take(1, g.text(nil)))
			g.begin()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := g.op.LeaveFiles(ctx, theJob, shopFiles(2), operate.GoneRemove, silent())
			var unconfirmed *operate.UnconfirmedError
			require.ErrorAs(t, err, &unconfirmed)
			require.NotEmpty(t, g.operated().Removing)
			require.True(t, g.tree().Config.Value.Disabled)
			g.refused(operate.CauseFiles, g.take(1, g.text(nil)))
			if back {
				require.NoError(t, g.take(3, g.text(nil)))
				require.Empty(t, g.operated().Removing)
				require.False(t, g.tree().Config.Value.Disabled)
				return
			}
			g.do(registry.Delete(nodes.ItemRunning(1)))
			g.refused(operate.CauseAlready, g.leaveFiles(2, operate.GoneDisable))
			require.NoError(t, errOf(g.op.Remove(t.Context(), theJob, operate.Options{Force: true})), "by whoever goes on with it")
			require.False(t, g.node(nodes.Config()).Exists())
		})
	}
}

// Who says again and again that files do not name a job goes on with its removal, and writes nothing: what was done to the job
// before stays on its list.
func TestARemovalByFilesIsWrittenDownOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		require.NoError(t, g.take(1, g.text(nil)))
		g.begin()
		leave := func(version int64) (operate.Result, error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			return g.op.LeaveFiles(ctx, theJob, shopFiles(version), operate.GoneRemove, silent())
		}
		var unconfirmed *operate.UnconfirmedError
		_, err := leave(2)
		require.ErrorAs(t, err, &unconfirmed)
		before := g.all()
		for _, version := range []int64{2, 3} {
			_, err = leave(version)
			require.ErrorAs(t, err, &unconfirmed)
			require.Equal(t, "items still run", unconfirmed.Result.Progress.Text)
			require.Equal(t, before, g.all())
		}
		_, err = g.op.LeaveFiles(t.Context(), theJob, shopFiles(3), operate.GoneRemove, operate.Options{DryRun: true})
		g.refused(operate.CauseAlready, err)
		g.refused(operate.CauseFiles, errOf(leave(1)))
		config := g.value(nodes.Config())
		g.do(registry.Delete(nodes.ItemRunning(1)))
		r, err := leave(3)
		require.NoError(t, err)
		require.Equal(t, config, r.Before)
		require.False(t, g.node(nodes.Operated()).Exists())
	})
}

// Processes with whatever versions of files come to an end: each tries again and again, and soon nobody writes.
func TestFilesOfManyVersionsComeToAnEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := bareGround(t)
		type process struct {
			version int64
			byTime  bool
			text    string // empty: they do not name the job
			gone    operate.Gone
		}
		processes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) process {
			return process{
				version: rapid.Int64Range(1, 4).Draw(t, "version"),
				byTime:  rapid.Bool().Draw(t, "by time"),
				text:    rapid.SampledFrom([]string{"", g.text(nil), g.text(daily1), g.text(cron("0 0 1 * * ?"))}).Draw(t, "text"),
				gone:    rapid.SampledFrom([]operate.Gone{operate.GoneKeep, operate.GoneDisable}).Draw(t, "gone"),
			}
		}), 1, 5).Draw(t, "processes")
		writes := 0
		for _, at := range rapid.SliceOfN(rapid.IntRange(0, len(processes)-1), 1, 60).Draw(t, "turns") {
			p := processes[at]
			var err error
			files := operate.Files{Owner: "shop", Version: p.version, ByTime: p.byTime}
			if p.text == "" {
				err = errOf(g.op.LeaveFiles(g.Context(), theJob, files, p.gone, silent()))
			} else {
				err = errOf(g.op.TakeFiles(g.Context(), theJob, p.text, files, silent()))
			}
			if err == nil {
				writes++
				if p.text != "" {
					require.True(t, operate.AsFilesHaveIt(registry.NewSnapshot(1, g.all()), theJob, p.text, "shop"))
				}
				continue
			}
			if cause, _ := operate.IsRefused(err); p.text != "" {
				require.Equal(t, cause == operate.CauseAlready, operate.AsFilesHaveIt(registry.NewSnapshot(1, g.all()), theJob, p.text, "shop"), err)
			}
			_, refused := operate.IsRefused(err)
			require.True(t, refused, err)
		}
		require.LessOrEqual(t, writes, 2*len(processes))
	})
}

// A removal by files that stops when the configuration is deleted cannot be called off. Files that name the job again bring it
// to its end and create the job, but not those that are not heard.
func TestFilesTakeBackHalfARemoval(t *testing.T) {
	t.Parallel()
	half := func(t *testing.T) *ground {
		g := deserted(t)
		require.NoError(t, g.take(1, g.text(nil)))
		for n := range 130 {
			g.do(registry.Put(nodes.Offset(n), "x"))
		}
		g.store.noTrees = 2
		ctx, cancel := context.WithCancel(t.Context())
		a := attempt{after: 4} // behind the mark, the tree, the configuration and a part
		a.ahead(g, func(txn registry.Txn) registry.Txn { cancel(); return txn })
		_, err := g.op.LeaveFiles(ctx, theJob, shopFiles(2), operate.GoneRemove, silent())
		require.Error(t, err)
		require.False(t, g.node(nodes.Config()).Exists())
		require.NotEmpty(t, g.operated().Removing)
		require.True(t, g.node(nodes.Offset(0)).Exists())
		return g
	}
	g := half(t)
	before := g.all()
	g.refused(operate.CauseFiles, g.take(1, g.text(nil)))
	_, err := g.op.TakeFiles(t.Context(), theJob, g.text(nil), shopFiles(3), operate.Options{DryRun: true})
	g.refused(operate.CausePending, err)
	require.Equal(t, before, g.all())
	require.NoError(t, g.take(3, g.text(cron("0 0 1 * * ?"))))
	require.Equal(t, "0 0 1 * * ?", g.tree().Config.Value.Cron)
	require.Empty(t, g.operated().Removing)
	require.Equal(t, int64(3), g.operated().Files.Version)
	require.False(t, g.node(nodes.Offset(0)).Exists(), "it is a new job")
	g.refused(operate.CauseAlready, g.take(3, g.text(cron("0 0 1 * * ?"))))

	g = half(t)
	require.NoError(t, errOf(g.op.TakeFiles(t.Context(), theJob, g.text(nil), operate.Files{Owner: "else", Version: 1}, silent())), "the next owner's")
	require.Equal(t, "else", g.operated().Files.Owner)
}
