package zkcompat_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

// put commits one write.
func put(t *testing.T, r registry.Committer, writes ...registry.Write) registry.Revision {
	t.Helper()
	revision, err := r.Commit(t.Context(), registry.Txn{Then: writes, Repeat: registry.RepeatHarmless})
	require.NoError(t, err)
	return revision
}

func TestEmptyLeavesOfJavaAreNodesAndItsParentsAreNot(t *testing.T) {
	t.Parallel()
	r, peer := open(t), java(t)
	base := "/" + namespaceOf(t)
	for _, path := range []string{"", "/job", "/job/servers", "/job/servers/10.0.0.1", "/job/leader", "/job/leader/sharding", "/job/leader/sharding/necessary"} {
		_, err := peer.Create(base+path, []byte{}, 0, zk.WorldACL(zk.PermAll))
		require.NoError(t, err)
	}
	view, err := r.View(t.Context(), "/job")
	require.NoError(t, err)
	var found []string
	for n := range view.Snapshot().All() {
		found = append(found, n.Path)
	}
	require.Equal(t, []string{"/job/leader/sharding/necessary", "/job/servers/10.0.0.1"}, found)
	_, err = r.Get(t.Context(), "/job/servers")
	require.ErrorIs(t, err, registry.ErrNotFound)

	require.NoError(t, peer.Delete(base+"/job/leader/sharding/necessary", -1))
	s, err := view.WaitFor(t.Context(), func(s registry.Snapshot) bool { return s.Len() == 1 })
	require.NoError(t, err)
	require.True(t, s.Get("/job/servers/10.0.0.1").Exists())
	names, err := r.Children(t.Context(), "/job")
	require.NoError(t, err)
	require.Equal(t, []string{"servers"}, names)
}

// A parent that Java made shows as a node until its child comes; the view must then take it back.
func TestAParentOfJavaVanishesWithItsFirstChild(t *testing.T) {
	t.Parallel()
	r, peer := open(t), java(t)
	base := "/" + namespaceOf(t)
	view, err := r.View(t.Context(), registry.Root)
	require.NoError(t, err)
	create(t, peer, base) // nobody has written in the namespace before
	_, err = peer.Create(base+"/parent", []byte{}, 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	_, err = view.WaitFor(t.Context(), func(s registry.Snapshot) bool { return s.Get("/parent").Exists() })
	require.NoError(t, err)
	_, err = peer.Create(base+"/parent/child", []byte{}, 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	s, err := view.WaitFor(t.Context(), func(s registry.Snapshot) bool { return s.Get("/parent/child").Exists() })
	require.NoError(t, err)
	require.False(t, s.Get("/parent").Exists())
}

// Newer clients of Java create parents as containers, which the server removes when they are empty.
func TestContainersAreParents(t *testing.T) {
	t.Parallel()
	r, peer := open(t), java(t)
	create(t, peer, "/"+namespaceOf(t))
	_, err := peer.CreateContainer("/"+namespaceOf(t)+"/latch", []byte{}, 4, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	require.NoError(t, r.Latch(t.Context(), "/latch", func(context.Context) error { return nil }))
	_, err = r.Get(t.Context(), "/latch")
	require.ErrorIs(t, err, registry.ErrNotFound)
	put(t, r, registry.Put("/latch/node", ""))
}

func TestCreatedNodesHaveVersionOne(t *testing.T) {
	t.Parallel()
	r, peer := open(t), java(t)
	session, err := r.Session(t.Context())
	require.NoError(t, err)
	put(t, r, registry.Put("/plain", "v"), registry.PutOwned("/a/owned", "", session))
	for path, owner := range map[string]int64{"/plain": 0, "/a/owned": int64(session.ID())} {
		_, stat, err := peer.Get("/" + namespaceOf(t) + path)
		require.NoError(t, err)
		require.Equal(t, int32(1), stat.Version, path)
		require.Equal(t, stat.Czxid, stat.Mzxid, path)
		require.Equal(t, owner, stat.EphemeralOwner, path)
	}
	data, stat, err := peer.Get("/" + namespaceOf(t) + "/a")
	require.NoError(t, err)
	require.Empty(t, data)
	require.Zero(t, stat.EphemeralOwner)
}

// What must be absent is created and deleted within the multi: nothing of it is left, and no value is
// anything but itself.
func TestNothingStrangeIsLeftForPeers(t *testing.T) {
	t.Parallel()
	r, peer := open(t), java(t)
	_, err := r.Commit(t.Context(), registry.Txn{
		If:   []registry.Condition{registry.Absent("/job/sharding/0/disabled"), registry.Absent("/other/deep/down")},
		Then: []registry.Write{registry.Put("/job/sharding/0/record", "value"), registry.Delete("/job/misfire")},
	})
	require.NoError(t, err)
	_, err = r.ServerTime(t.Context())
	require.NoError(t, err)
	base := "/" + namespaceOf(t)
	names, _, err := peer.Children(base)
	require.NoError(t, err)
	require.Equal(t, []string{"job"}, names)
	names, _, err = peer.Children(base + "/job/sharding/0")
	require.NoError(t, err)
	require.Equal(t, []string{"record"}, names)
	data, _, err := peer.Get(base + "/job/sharding/0/record")
	require.NoError(t, err)
	require.Equal(t, "value", string(data))
}

// Somebody removes the whole namespace from a handle that goes on.
func TestServerTimeWithoutTheNamespace(t *testing.T) {
	t.Parallel()
	r, peer := open(t), java(t)
	put(t, r, registry.Put("/a", ""))
	base := "/" + namespaceOf(t)
	require.NoError(t, peer.Delete(base+"/a", -1))
	require.NoError(t, peer.Delete(base, -1))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := r.ServerTime(ctx)
	require.NoError(t, err)
	there, _, err := peer.Exists(base)
	require.NoError(t, err)
	require.False(t, there, "the question makes none")
}

func TestALatchStandsInJavasLine(t *testing.T) {
	t.Parallel()
	r, peer := open(t), java(t)
	create(t, peer, "/"+namespaceOf(t))
	folder := "/" + namespaceOf(t) + "/latch"
	_, err := peer.Create(folder, []byte{}, 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	first, err := peer.Create(folder+"/_c_d858577f-7013-4292-9db9-d3f7a6ad8793-latch-", []byte{},
		zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	inside := make(chan struct{})
	letGo := make(chan struct{})
	done := make(chan error, 1) // of the one call
	go func() {
		done <- r.Latch(t.Context(), "/latch", func(context.Context) error {
			close(inside)
			<-letGo
			return nil
		})
	}()
	view, err := r.View(t.Context(), "/latch")
	require.NoError(t, err)
	s, err := view.WaitFor(t.Context(), func(s registry.Snapshot) bool { return s.Len() == 2 })
	require.NoError(t, err)
	select {
	case <-inside:
		t.Fatal("the latch is had while Java holds it")
	default:
	}
	pattern := regexp.MustCompile(`^/latch/_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-latch-\d{10}$`)
	for n := range s.All() {
		require.Regexp(t, pattern, n.Path)
		require.True(t, n.Ephemeral())
		require.Empty(t, n.Value)
	}
	require.NoError(t, peer.Delete(first, -1))
	<-inside

	names, _, err := peer.Children(folder)
	require.NoError(t, err)
	require.Len(t, names, 1)
	close(letGo)
	require.NoError(t, <-done)
	names, _, err = peer.Children(folder)
	require.NoError(t, err)
	require.Empty(t, names)
}

// A latch of a tree that is not there leaves none behind, but for what others have made of it meanwhile.
func TestALatchOfATreeThatWasRemovedLeavesNone(t *testing.T) {
	t.Parallel()
	r, peer := open(t), java(t)
	base := "/" + namespaceOf(t)
	for job, test := range map[string]struct {
		use   func(t *testing.T, root string)
		stays bool
	}{
		"nobody":  {func(*testing.T, string) {}, false},
		"a child": {func(t *testing.T, root string) { t.Helper(); create(t, peer, root+"/config") }, true},
		"a writer": {func(t *testing.T, root string) {
			t.Helper()
			_, err := peer.Set(root, []byte("class"), -1)
			require.NoError(t, err)
		}, true},
	} {
		require.NoError(t, r.Latch(t.Context(), "/"+job+"/leader/election/latch", func(context.Context) error {
			there, _, err := peer.Exists(base + "/" + job + "/leader/election/latch")
			require.NoError(t, err)
			require.True(t, there)
			test.use(t, base+"/"+job)
			return nil
		}))
		there, _, err := peer.Exists(base + "/" + job)
		require.NoError(t, err)
		require.Equal(t, test.stays, there, job)
	}

	create(t, peer, base+"/orders")
	for range 2 {
		require.NoError(t, r.Latch(t.Context(), "/orders/leader/election/latch", func(context.Context) error { return nil }))
		there, _, err := peer.Exists(base + "/orders/leader/election/latch")
		require.NoError(t, err)
		require.True(t, there, "the tree was there")
	}
	require.NoError(t, r.Latch(t.Context(), "/nobody/leader/election/latch", func(context.Context) error { return nil }), "once more")
}

func create(t *testing.T, peer *zk.Conn, znode string) {
	t.Helper()
	_, err := peer.Create(znode, []byte{}, 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
}

func TestALatchWhoseNodeIsDeletedIsLost(t *testing.T) {
	t.Parallel()
	r, peer := open(t), java(t)
	folder := "/" + namespaceOf(t) + "/latch"
	err := r.Latch(t.Context(), "/latch", func(ctx context.Context) error {
		names, _, err := peer.Children(folder)
		require.NoError(t, err)
		require.Len(t, names, 1)
		require.True(t, strings.HasPrefix(names[0], "_c_"))
		require.NoError(t, peer.Delete(folder+"/"+names[0], -1))
		<-ctx.Done()
		return context.Cause(ctx)
	})
	require.ErrorContains(t, err, "another client deleted the node")
}

// Another client takes away, under us, what transactions and views rely on.
func TestWhatAnotherClientDeletesIsFoundOut(t *testing.T) {
	t.Parallel()
	r, peer := open(t, steadily), java(t)
	base := "/" + namespaceOf(t)
	view, err := r.View(t.Context(), "/job")
	require.NoError(t, err)
	session, err := r.Session(t.Context())
	require.NoError(t, err)
	revision := put(t, r, registry.Put("/job/config", "1"), registry.PutOwned("/job/instances/me", "", session))
	require.NoError(t, view.WaitRevision(t.Context(), revision))
	for _, path := range []string{"/job/instances/me", "/job/instances", "/job/config", "/job", ""} {
		require.NoError(t, peer.Delete(base+path, -1))
	}
	_, err = r.Commit(t.Context(), registry.Txn{
		If:   []registry.Condition{registry.Unchanged("/job/config", revision)},
		Then: []registry.Write{registry.Put("/job/more", "")},
	})
	require.ErrorIs(t, err, registry.ErrConflict)
	_, err = view.WaitFor(t.Context(), func(s registry.Snapshot) bool { return s.Len() == 0 })
	require.NoError(t, err)

	put(t, r, registry.PutOwned("/job/instances/me", "", session))
	s, err := view.WaitFor(t.Context(), func(s registry.Snapshot) bool { return s.Len() == 1 })
	require.NoError(t, err, "the view follows a subtree that was deleted and made again")
	require.Equal(t, session.ID(), s.Get("/job/instances/me").Session)
}

func TestChildrenOfOwnedNodesAreUnsupported(t *testing.T) {
	t.Parallel()
	r := open(t, steadily)
	session, err := r.Session(t.Context())
	require.NoError(t, err)
	put(t, r, registry.PutOwned("/owned", "", session), registry.Put("/parent/child", ""))
	for _, writes := range [][]registry.Write{
		{registry.Put("/owned/child", "")},
		{registry.PutOwned("/parent", "", session)},
		{registry.PutOwned("/new", "", session), registry.Put("/new/child", "")},
	} {
		_, err = r.Commit(t.Context(), registry.Txn{Then: writes})
		require.ErrorIs(t, err, registry.ErrUnsupported)
		require.ErrorContains(t, err, "ephemeral nodes have none")
	}
}

func TestTooLargeIsRefusedBeforeTheServerHangsUp(t *testing.T) {
	t.Parallel()
	r := open(t, steadily)
	before, err := r.Session(t.Context())
	require.NoError(t, err)
	_, err = r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/a", strings.Repeat("x", 1<<20))}})
	require.ErrorIs(t, err, registry.ErrTooLarge)
	require.Equal(t, registry.SessionConnected, before.State())
	most := 1<<20 - 5000
	put(t, r, registry.Put("/a", strings.Repeat("x", most)))
	n, err := r.Get(t.Context(), "/a")
	require.NoError(t, err)
	require.Len(t, n.Value, most)
}

// ElasticJob 3.x reads the name of a job's class from the job's own znode, also where something below it was there first.
func TestTheClassOfAJobThatHadOnlyChildren(t *testing.T) {
	t.Parallel()
	r, peer := open(t, steadily), java(t)
	put(t, r, registry.Put("/job/servers/10.0.0.1", "DISABLED"))
	view, err := r.View(t.Context(), "/job")
	require.NoError(t, err)
	for _, class := range []string{"com.acme.OrderJob", "com.acme.Outer$Other"} {
		put(t, r, registry.Put("/job", class), registry.Put("/job/config", "cron: 0 * * * * ?"))
		data, _, err := peer.Get("/" + namespaceOf(t) + "/job")
		require.NoError(t, err)
		require.Equal(t, class, string(data))
		n, err := r.Get(t.Context(), "/job")
		require.NoError(t, err)
		require.Equal(t, class, n.Value)
		s, err := view.WaitFor(t.Context(), func(s registry.Snapshot) bool { return s.Get("/job").Value == class })
		require.NoError(t, err)
		require.Equal(t, n, s.Get("/job"), "as the view says")
	}
}
