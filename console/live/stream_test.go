package live

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// store is a registry in memory with jobs that nobody runs.
type store struct {
	*testing.T
	*memory.Registry
}

func newStore(t *testing.T, jobs ...string) *store {
	t.Helper()
	r := memory.NewServer().Open("test", memory.WithTTL(time.Hour))
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	s := &store{t, r}
	for _, name := range jobs {
		s.declare(name, 1)
	}
	return s
}

func (s *store) put(path, value string) {
	s.Helper()
	_, err := s.Commit(s.Context(), registry.Txn{
		Then: []registry.Write{registry.Put(path, value)}, Repeat: registry.RepeatHarmless,
	})
	require.NoError(s, err)
}

func (s *store) declare(name string, items int) {
	s.Helper()
	text, err := jobtree.EncodeConfig(job.Config{Name: name, Cron: "0 0 3 * * ?", ShardingTotalCount: items})
	require.NoError(s, err)
	s.put(jobtree.For(name).Config(), text)
}

// streaming runs a test in a bubble over a hub of a store.
func streaming(t *testing.T, test func(t *testing.T, s *store, h *Hub), jobs ...string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t, jobs...)
		test(t, s, opened(t, Config{Registry: s}))
	})
}

func TestRowsOfAWindow(t *testing.T) {
	t.Parallel()
	streaming(t, func(t *testing.T, s *store, h *Hub) {
		p := opens(t, h, anna, "topic=jobs&window=b&window=a&window=zz", "")
		defer p.close()
		first := of[JobsFrame](t, p.news(), EventJobs)
		require.Len(t, first, 1)
		require.True(t, first[0].Full)
		require.Len(t, first[0].Rows, 2)
		require.Equal(t, []string{"zz"}, first[0].Gone)
		row, _ := h.Picture().Row("a")
		require.JSONEq(t, string(row.JSON), string(first[0].Rows[0]))

		time.Sleep(10 * time.Second)
		require.Empty(t, of[JobsFrame](t, p.news(), EventJobs), "nothing has changed")
		for i := range 20 { // for five seconds
			s.declare("b", i+2)
			s.declare("c", i+2)
			time.Sleep(frameEvery)
		}
		changed := of[JobsFrame](t, p.news(), EventJobs)
		require.LessOrEqual(t, len(changed), 6, "at most once a second")
		require.GreaterOrEqual(t, len(changed), 4)
		last := changed[len(changed)-1]
		require.False(t, last.Full)
		require.Len(t, last.Rows, 1, "only what changed, and only of the window")
		var got operate.JobRow
		require.NoError(t, json.Unmarshal(last.Rows[0], &got))
		require.Equal(t, "b", got.Job)

		s.declare("zz", 1)
		time.Sleep(2 * time.Second)
		appeared := of[JobsFrame](t, p.news(), EventJobs)
		require.Empty(t, appeared[len(appeared)-1].Gone)
	}, "a", "b", "c")
}

// What a job's readers are told is all that there is to know, also of those that come later, and when it goes.
func TestAJobComesAndGoes(t *testing.T) {
	t.Parallel()
	streaming(t, func(t *testing.T, s *store, h *Hub) {
		p := opens(t, h, anna, "topic=job/new", "")
		defer p.close()
		frames := of[JobFrame](t, p.news(), "job/new")
		require.True(t, frames[0].Gone)
		s.declare("new", 3)
		time.Sleep(time.Second)
		frames = of[JobFrame](t, p.news(), "job/new")
		require.Len(t, frames, 1)
		require.True(t, frames[0].Full)
		require.False(t, frames[0].Gone)
		require.NotEmpty(t, frames[0].Row)
		_, err := s.Commit(t.Context(), registry.Txn{
			Then: []registry.Write{registry.Delete(jobtree.For("new").Config())}, Repeat: registry.RepeatHarmless,
		})
		require.NoError(t, err)
		time.Sleep(time.Second)
		frames = of[JobFrame](t, p.news(), "job/new")
		require.Len(t, frames, 1)
		require.True(t, frames[0].Gone)
	})
}

// A job that is there for less than a second is not told of, but to who comes meanwhile. That one hears that it is gone, too.
func TestAReaderComesWhileAJobIsThere(t *testing.T) {
	t.Parallel()
	streaming(t, func(t *testing.T, s *store, h *Hub) {
		some := access.Identity{Name: "zoe", Grants: []access.Grant{{Role: access.Viewer, Namespace: "shop", Jobs: "short*"}}}
		const query = "topic=jobs&window=short&topic=overview"
		early := opens(t, h, some, query, "")
		defer early.close()
		require.Equal(t, []string{"short"}, of[JobsFrame](t, early.news(), EventJobs)[0].Gone)
		s.declare("short", 1)
		time.Sleep(2 * frameEvery)
		require.Empty(t, of[JobsFrame](t, early.news(), EventJobs), "it is too early")
		late := opens(t, h, some, query, "")
		defer late.close()
		told := late.news()
		require.Len(t, of[JobsFrame](t, told, EventJobs)[0].Rows, 1)
		require.Equal(t, 1, of[Overview](t, told, EventOverview)[0].Jobs)
		_, err := s.Commit(t.Context(), registry.Txn{
			Then: []registry.Write{registry.DeleteTree(jobtree.For("short").Root())}, Repeat: registry.RepeatHarmless,
		})
		require.NoError(t, err)
		time.Sleep(2 * jobsEvery)
		for name, p := range map[string]*page{"early": early, "late": late} {
			told := p.news()
			rows, sums := of[JobsFrame](t, told, EventJobs), of[Overview](t, told, EventOverview)
			require.NotEmpty(t, rows, name)
			require.Equal(t, []string{"short"}, rows[len(rows)-1].Gone, name)
			require.NotEmpty(t, sums, name)
			require.Zero(t, sums[len(sums)-1].Jobs, name)
		}
		require.Equal(t, early.lastID(), late.lastID())
	}, "other")
}

func TestEveryReaderGetsTheSameBytes(t *testing.T) {
	t.Parallel()
	streaming(t, func(t *testing.T, s *store, h *Hub) {
		var pages []*page
		for range 3 {
			p := opens(t, h, anna, "topic=overview&topic=job/a", "")
			defer p.close()
			p.news()
			pages = append(pages, p)
		}
		s.declare("a", 5)
		time.Sleep(time.Second)
		wanted := pages[0].news()
		require.NotEmpty(t, wanted)
		for _, p := range pages[1:] {
			require.Equal(t, wanted, p.news())
		}
	}, "a")
}

// Who was cut off gets what they missed; who was away for too long, or comes from another server, gets all.
func TestAReaderComesBack(t *testing.T) {
	t.Parallel()
	streaming(t, func(t *testing.T, s *store, h *Hub) {
		stays := opens(t, h, anna, "topic=job/a&topic=job/b", "")
		defer stays.close()
		p := opens(t, h, anna, "topic=job/a&topic=job/b", "")
		s.declare("a", 2)
		time.Sleep(time.Second)
		id := p.lastID()
		p.close()
		for i := range 3 {
			s.declare("a", i+3)
			s.declare("b", i+3)
			time.Sleep(time.Second)
		}
		p = opens(t, h, anna, "topic=job/a&topic=job/b", id)
		defer p.close()
		missed := p.news()
		require.Len(t, of[JobFrame](t, missed, "job/a"), 3)
		require.Len(t, of[JobFrame](t, missed, "job/b"), 3)
		require.False(t, of[JobFrame](t, missed, "job/a")[0].Full)
		require.Equal(t, stays.lastID(), p.lastID())

		fresh := opens(t, h, anna, "topic=job/a&topic=job/c&since="+id+"&since=", "")
		defer fresh.close()
		events := fresh.news()
		require.False(t, of[JobFrame](t, events, "job/a")[0].Full, "of what the page has, only what it missed")
		require.True(t, of[JobFrame](t, events, "job/c")[0].Full)

		for _, foreign := range []string{"00000000-1", "x", h.epoch + "-99999", h.epoch + "-x"} {
			other := opens(t, h, anna, "topic=job/a", foreign)
			require.True(t, of[JobFrame](t, other.news(), "job/a")[0].Full, foreign)
			other.close()
		}
		for i := range keptFrames + 1 {
			h.mu.Lock()
			h.sent.add(nil, []byte(fmt.Sprint(i)))
			h.mu.Unlock()
		}
		late := opens(t, h, anna, "topic=job/a", id)
		defer late.close()
		require.True(t, of[JobFrame](t, late.news(), "job/a")[0].Full, "what it missed is not kept any more")
	}, "a", "b", "c")
}

// After a minute without readers a topic is forgotten, and who comes back gets all.
func TestATopicWithoutReaders(t *testing.T) {
	t.Parallel()
	streaming(t, func(t *testing.T, _ *store, h *Hub) {
		p := opens(t, h, anna, "topic=job/a", "")
		id := p.lastID()
		p.close()
		time.Sleep(idleFor / 2)
		p = opens(t, h, anna, "topic=job/a", id)
		require.Empty(t, of[JobFrame](t, p.news(), "job/a"), "nothing was missed")
		p.close()
		time.Sleep(3 * idleFor)
		h.mu.Lock()
		require.Empty(t, h.topics)
		h.mu.Unlock()
		p = opens(t, h, anna, "topic=job/a", id)
		defer p.close()
		require.True(t, of[JobFrame](t, p.news(), "job/a")[0].Full)
	}, "a")
}

// One who does not read is cut off and counted, and holds up nobody.
func TestASlowReader(t *testing.T) {
	t.Parallel()
	streaming(t, func(t *testing.T, s *store, h *Hub) {
		quick, slow := opens(t, h, anna, "topic=job/a", ""), opens(t, h, anna, "topic=job/a", "")
		defer quick.close()
		quick.news()
		slow.stall()
		for i := range 2 * waiting {
			s.declare("a", i+2)
			time.Sleep(time.Second)
			require.Len(t, of[JobFrame](t, quick.news(), "job/a"), 1)
		}
		close(slow.stalled) // as the deadline of the write does
		<-slow.over
		require.Equal(t, 1, h.cfg.Limits.Streams())
		cutOff, _ := h.Faults()
		require.Equal(t, int64(1), cutOff)
	}, "a")
}

// One to whom a single write takes too long is cut off and counted, too, however little else waits for them.
func TestAReaderToWhomOneWriteTakesTooLong(t *testing.T) {
	t.Parallel()
	streaming(t, func(t *testing.T, s *store, h *Hub) {
		slow := opens(t, h, anna, "topic=job/a", "")
		slow.stall()
		s.declare("a", 2)
		time.Sleep(time.Second)
		close(slow.stalled)
		<-slow.over
		cutOff, _ := h.Faults()
		require.Equal(t, int64(1), cutOff)
	}, "a")
}

func TestAReaderWhoMayNoLonger(t *testing.T) {
	t.Parallel()
	streaming(t, func(t *testing.T, _ *store, h *Hub) {
		who := anna
		who.Until = time.Now().Add(time.Minute)
		p := opens(t, h, who, "topic=overview", "")
		time.Sleep(59 * time.Second)
		require.Len(t, p.over, 0)
		require.Equal(t, 1, h.cfg.Limits.Streams())
		time.Sleep(commentEvery)
		<-p.over
		require.Equal(t, 0, h.cfg.Limits.Streams())
	})
}

func TestSignsOfLife(t *testing.T) {
	t.Parallel()
	streaming(t, func(t *testing.T, _ *store, h *Hub) {
		p := opens(t, h, anna, "topic=job/a", "")
		defer p.close()
		p.news()
		began := time.Now()
		time.Sleep(time.Minute)
		alive := of[Status](t, p.news(), EventAlive)
		require.InDelta(t, 12, len(alive), 1)
		for _, a := range alive {
			require.Less(t, a.Now.Sub(a.AsOf), 2*time.Second, "the registry was asked")
		}
		require.WithinDuration(t, began.Add(time.Minute), alive[len(alive)-1].Now, aliveEvery)
		p.mu.Lock()
		defer p.mu.Unlock()
		require.Equal(t, 5, strings.Count(p.text.String(), ":\n"), "a comment at once, and every 15 s")
		require.Equal(t, "text/event-stream", p.header.Get("Content-Type"))
	}, "a")
}

func TestLimitsOfStreams(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		h := opened(t, Config{Registry: newStore(t), Logger: slog.New(slog.NewTextHandler(&log, nil))})
		var pages []*page
		for range MaxStreamsOfUser {
			pages = append(pages, opens(t, h, anna, "topic=overview", ""))
		}
		over := opens(t, h, anna, "topic=overview", "")
		<-over.over
		require.Equal(t, http.StatusTooManyRequests, over.status)
		require.Equal(t, "10", over.header.Get("Retry-After"))
		require.Contains(t, over.text.String(), `"cause":"too many"`)
		ben := anna
		ben.Name = "ben"
		pages = append(pages, opens(t, h, ben, "topic=overview", ""))
		require.Equal(t, http.StatusOK, pages[len(pages)-1].status)
		h.cfg.Limits.total += MaxStreams - MaxStreamsOfUser - 1
		require.NotContains(t, log.String(), "streams are refused", "one user has too many, and is told so")
		for _, lines := range []int{1, 1, 2} { // one a minute
			full := opens(t, h, ben, "topic=overview", "")
			<-full.over
			require.Equal(t, http.StatusServiceUnavailable, full.status)
			require.Equal(t, lines, strings.Count(log.String(), "streams are refused: there are as many as there may be"))
			time.Sleep(tellEvery * 2 / 3)
		}
		h.cfg.Limits.total -= MaxStreams - MaxStreamsOfUser - 1
		for _, p := range pages {
			p.close()
		}
		require.Zero(t, h.cfg.Limits.Streams())
		require.Empty(t, h.cfg.Limits.users)
	})
}

// Who is nobody any more by the time that it is known what is asked for is sent nothing.
func TestWhoAsksTooSlowly(t *testing.T) {
	t.Parallel()
	streaming(t, func(t *testing.T, _ *store, h *Hub) {
		who := anna
		who.Until = time.Now().Add(time.Minute)
		body, write := io.Pipe()
		p := sends(t, h, who, httptest.NewRequest("POST", "/events", body))
		time.Sleep(time.Minute)
		_, err := write.Write([]byte(`{"topics":["overview"]}`))
		require.NoError(t, err)
		require.NoError(t, write.Close())
		<-p.over
		require.Equal(t, http.StatusForbidden, p.status)
	})
}

func TestWhoReadsWhat(t *testing.T) {
	t.Parallel()
	streaming(t, func(t *testing.T, _ *store, h *Hub) {
		some := access.Identity{Name: "zoe", Grants: []access.Grant{{Role: access.Viewer, Namespace: "shop", Jobs: "team-*"}}}
		nobody := access.Identity{}
		many := strings.Repeat("x&window=", MaxWindow) + "x"
		for query, row := range map[string]struct {
			who    access.Identity
			status int
			says   string
		}{
			"topic=overview":                         {nobody, 403, "nothing may be read"},
			"topic=job/a":                            {some, 403, `the job "a" of the namespace "shop" may not be read`},
			"topic=job/team-1":                       {some, 200, ""},
			"topic=jobs&window=team-1&window=a":      {some, 403, `the job "a"`},
			"topic=jobs&window=team-1&window=team-2": {some, 200, ""},
			"topic=jobs&window=team-1,a":             {some, 200, ""}, // one name

			"":                                       {anna, 400, "between 1 and 64 times"},
			strings.Repeat("topic=overview&", 65):    {anna, 400, "is 65 times"},
			"topic=overview&topic=overview":          {anna, 400, "is there twice"},
			"topic=x":                                {anna, 400, `topic "x" must be "overview", "jobs" or "job/" and a name`},
			"topic=jobs":                             {anna, 200, ""}, // nothing is to be seen yet
			"topic=jobs&window=" + many:              {anna, 400, "and is 201 times"},
			"topic=job/":                             {anna, 400, `"" is no name of a job`},
			"topic=job/a%0aevent:%20x":               {anna, 400, "is no name of a job"},
			"topic=job/a/b":                          {anna, 400, "is no name of a job"},
			"topic=overview&since=1&since=2":         {anna, 400, "since must be there once for each of the 1 topics"},
			"topic=job/" + strings.Repeat("x", 2000): {anna, 400, "is no name of a job"},
		} {
			p := opens(t, h, row.who, query, "")
			require.Equal(t, row.status, p.status, query)
			if row.status != http.StatusOK {
				<-p.over
				require.Equal(t, "application/problem+json", p.header.Get("Content-Type"))
				var said struct{ Detail, Cause string }
				require.NoError(t, json.Unmarshal(p.text.Bytes(), &said))
				require.Contains(t, said.Detail, row.says)
				require.Equal(t, map[int]string{400: "malformed", 403: "forbidden"}[row.status], said.Cause)
			}
			p.close()
		}
		mine := opens(t, h, some, "topic=overview", "")
		defer mine.close()
		require.Equal(t, 2, of[Overview](t, mine.news(), EventOverview)[0].Jobs, "only the jobs that may be read are counted")
		all := opens(t, h, anna, "topic=overview", "")
		defer all.close()
		require.Equal(t, 3, of[Overview](t, all.news(), EventOverview)[0].Jobs)
	}, "a", "team-1", "team-2")
}

// Who may read some jobs only gets their overview a second after the last one, also if the change came earlier.
func TestAnOverviewOfSomeJobs(t *testing.T) {
	t.Parallel()
	streaming(t, func(t *testing.T, s *store, h *Hub) {
		some := access.Identity{Name: "zoe", Grants: []access.Grant{{Role: access.Viewer, Namespace: "shop", Jobs: "team-*"}}}
		p := opens(t, h, some, "topic=overview", "")
		defer p.close()
		require.Equal(t, 1, of[Overview](t, p.news(), EventOverview)[0].Jobs)
		time.Sleep(frameEvery)
		s.declare("team-2", 1)
		time.Sleep(jobsEvery + 2*frameEvery)
		news := of[Overview](t, p.news(), EventOverview)
		require.NotEmpty(t, news)
		require.Equal(t, 2, news[len(news)-1].Jobs)
	}, "team-1")
}

// A job that nobody leads needs a person when that stays so: an election is over in a moment, and needs nobody.
func TestAJobThatNobodyLeadsNeedsAPerson(t *testing.T) {
	t.Parallel()
	streaming(t, func(t *testing.T, s *store, h *Hub) {
		session, err := s.Session(t.Context())
		require.NoError(t, err)
		tree := jobtree.For("a")
		write := func(then registry.Write) {
			_, err := s.Commit(t.Context(), registry.Txn{Then: []registry.Write{then}, Repeat: registry.RepeatHarmless})
			require.NoError(t, err)
		}
		write(registry.PutOwned(tree.Instance("10.0.0.1@-@x"), "", session))
		write(registry.Put(tree.ItemInstance(0), "10.0.0.2@-@gone"))
		time.Sleep(2 * frameEvery)
		p := opens(t, h, anna, "topic=overview", "")
		defer p.close()
		seen := func(passes time.Duration) (words []string) {
			time.Sleep(passes)
			for _, o := range of[Overview](t, p.news(), EventOverview) {
				for _, need := range o.Needs {
					words = append(words, need.Word)
				}
			}
			return words
		}
		for range 3 {
			require.Empty(t, seen(8*time.Second), "an election")
			write(registry.PutOwned(tree.Leader(), "10.0.0.1@-@x", session))
			require.Empty(t, seen(time.Second))
			write(registry.Delete(tree.Leader()))
		}
		require.Empty(t, seen(9*time.Second))
		require.NotEmpty(t, seen(3*time.Second))
		require.NotEmpty(t, seen(time.Minute))
		h.mu.Lock()
		needs := h.overview("*", time.Now()).Needs
		h.mu.Unlock()
		require.Len(t, needs, 1)
		require.Equal(t, string(operate.NoLeader), needs[0].Word)
		require.Equal(t, operate.NoLeader, needs[0].Reasons[0].Word, "the page shows the first of them")
		require.Equal(t, operate.OwnerGone, needs[0].Reasons[1].Word)
		s.declare("a", 2)
		seen(time.Second)
		require.Len(t, h.Picture().Rows, 1)
		require.NotNil(t, h.Picture().Rows[0].need)
		write(registry.PutOwned(tree.Leader(), "10.0.0.1@-@x", session))
		seen(time.Second)
		require.Empty(t, seen(time.Minute))
	}, "a")
}

// A reader has the time for a write for each part of it, so that a slow line takes a large frame.
func TestALargeFrameHasMoreTime(t *testing.T) {
	t.Parallel()
	line := &slowLine{header: make(http.Header)}
	s := stream{w: line, control: http.NewResponseController(line)}
	s.begin()
	large := bytes.Repeat([]byte("x"), 1<<20)
	s.write(batch{[]*frame{{text: large}, {text: []byte("small")}}, []byte("id: 1\n\n")})
	require.NoError(t, s.err)
	require.Equal(t, ":\nretry: 1000\n\n"+string(large)+"\nsmallid: 1\n\n", line.text.String())
	require.LessOrEqual(t, line.most, writePart)
}

// Signs of life do not pile up for one who has yet to take something else.
func TestSignsOfLifeDoNotPileUp(t *testing.T) {
	t.Parallel()
	streaming(t, func(t *testing.T, _ *store, h *Hub) {
		c := &client{batches: make(chan batch, waiting), gone: make(chan struct{}), slow: &h.slow}
		h.mu.Lock()
		h.clients[c] = struct{}{}
		h.mu.Unlock()
		time.Sleep(3 * waiting * aliveEvery)
		require.Len(t, c.batches, 1)
		require.Zero(t, h.slow.Load())

		<-c.batches // and in an outage
		for n := range 3 * waiting {
			h.mu.Lock()
			h.connected = false
			h.tell(time.Now().Add(time.Duration(n+1)*aliveEvery), nil)
			h.connected = true
			h.mu.Unlock()
		}
		require.Len(t, c.batches, 1)
		require.Zero(t, h.slow.Load())
	})
}

// slowLine notes how much is written within one deadline at most.
type slowLine struct {
	header       http.Header
	text         bytes.Buffer
	within, most int
}

func (l *slowLine) Header() http.Header              { return l.header }
func (l *slowLine) WriteHeader(int)                  {}
func (l *slowLine) FlushError() error                { return nil }
func (l *slowLine) SetWriteDeadline(time.Time) error { l.within = 0; return nil }
func (l *slowLine) Write(text []byte) (n int, _ error) {
	l.within += len(text)
	l.most = max(l.most, l.within)
	return l.text.Write(text)
}

// A hub that is closed lets its readers go, and takes no others.
func TestAHubIsClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t, "a")
		h, err := Open(t.Context(), Config{Registry: s, Namespace: "shop"})
		require.NoError(t, err)
		p := opens(t, h, anna, "topic=job/a", "")
		h.Close()
		<-p.over
		late := opens(t, h, anna, "topic=job/a", "")
		<-late.over
		require.NoError(t, h.Run(t.Context()))
		h.Close()
	})
	for _, cfg := range []Config{{}, {Namespace: "shop"}, {Registry: &memory.Registry{}}} {
		_, err := Open(t.Context(), cfg)
		require.ErrorIs(t, err, ErrInvalidOption)
	}
}

// A registry that ends the view ends the hub's Run, and is told.
func TestARegistryIsClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t, "a")
		h, err := Open(t.Context(), Config{Registry: s, Namespace: "shop"})
		require.NoError(t, err)
		over := make(chan error)
		go func() { over <- h.Run(t.Context()) }()
		synctest.Wait()
		require.NoError(t, s.Close(t.Context()))
		require.ErrorIs(t, <-over, registry.ErrClosed)
		require.False(t, h.Picture().Connected, "nobody follows any more")
		h.Close()
	})
	reg := memory.NewServer().Open("test")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Open(ended, Config{Registry: reg, Namespace: "shop"})
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, reg.Close(t.Context()))
}

// A registry that was emptied, or restored from a backup, answers with revisions before those that the hub has seen. Its view
// shows nothing of what is stored then.
func TestARegistryGoesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reg := &restored{Registry: newStore(t, "a", "b").Registry}
		h, err := Open(t.Context(), Config{Registry: reg, Namespace: "shop"})
		require.NoError(t, err)
		defer h.Close()
		over := make(chan error, 1)
		go func() { over <- h.Run(t.Context()) }()
		time.Sleep(10 * time.Second)
		p := opens(t, h, anna, "topic=job/a", "")
		defer p.close()
		require.Empty(t, over)
		reg.back.Store(true)
		time.Sleep(2 * checkEvery)
		require.Len(t, over, 1)
		require.EqualError(t, <-over, `follow namespace "shop": the registry has gone back to an earlier state: it is at revision 1, and was at 3`)
		require.False(t, h.Picture().Connected)
		require.Len(t, of[Status](t, p.news(), EventDisconnected), 1)
	})
}

// restored is a registry that can go back to its first revision.
type restored struct {
	*memory.Registry
	back atomic.Bool
}

func (r *restored) List(ctx context.Context, path string) ([]registry.Node, registry.Revision, error) {
	nodes, revision, err := r.Registry.List(ctx, path)
	if r.back.Load() {
		revision = 1
	}
	return nodes, revision, err
}

func TestAPictureTellsOfANewerOne(t *testing.T) {
	t.Parallel()
	streaming(t, func(t *testing.T, s *store, h *Hub) {
		before := h.Picture()
		s.declare("b", 1)
		for p := before; len(p.Rows) < 2; p = h.Picture() {
			<-p.Newer
		}
		require.Len(t, before.Rows, 1, "a picture stays as it is")
		require.True(t, h.Picture().State.Get(jobtree.For("b").Config()).Exists())
		_, is := h.Picture().Row("c")
		require.False(t, is)
	}, "a")
}

// However often a job's settings change, what is due takes no more room.
func TestWhatIsDueIsBounded(t *testing.T) {
	t.Parallel()
	streaming(t, func(t *testing.T, s *store, h *Hub) {
		session, err := s.Session(t.Context())
		require.NoError(t, err)
		_, err = s.Commit(t.Context(), registry.Txn{
			Then: []registry.Write{registry.PutOwned(jobtree.For("a").Instance("10.0.0.1@-@x"), "", session)}, Repeat: registry.RepeatHarmless,
		})
		require.NoError(t, err)
		for i := range 300 {
			text, err := jobtree.EncodeConfig(job.Config{Name: "a", Cron: fmt.Sprintf("0 %d %d * * ?", i%60, 3+i/60), ShardingTotalCount: 1})
			require.NoError(t, err)
			s.put(jobtree.For("a").Config(), text)
			time.Sleep(frameEvery)
		}
		h.mu.Lock()
		many := len(h.due)
		h.mu.Unlock()
		require.Greater(t, many, 50)
		time.Sleep(2 * time.Minute)
		h.mu.Lock()
		defer h.mu.Unlock()
		require.LessOrEqual(t, len(h.due), 66)
		require.Contains(t, h.due, due{h.jobs["a"].at, "a"})
	}, "a")
}

// A body has room for as many names as there may be, as long as they may be, and names may have commas.
func TestAStreamThatABodyAsksFor(t *testing.T) {
	t.Parallel()
	streaming(t, func(t *testing.T, _ *store, h *Hub) {
		names := []string{"a,b", "c"}
		for i := range MaxWindow - len(names) {
			names = append(names, fmt.Sprintf("%03d-%s", i, strings.Repeat("n", longestName-4)))
		}
		body, err := json.Marshal(asked{Topics: []string{EventJobs, EventJob + "a,b"}, Window: names})
		require.NoError(t, err)
		p := asks(t, h, anna, string(body))
		defer p.close()
		news := p.news()
		require.Len(t, of[JobsFrame](t, news, EventJobs)[0].Rows, 2)
		require.True(t, of[JobFrame](t, news, EventJob+"a,b")[0].Full)
		for body, says := range map[string]string{
			"": "must be JSON", "{": "must be JSON", `{"topic":"x"}`: "must be JSON", `{"topics":[]}`: "between 1 and 64 times",
			`{"topics":["jobs"],"window":["` + strings.Repeat("x", maxAsked) + `"]}`: "may have 1048576 bytes",
		} {
			refused := asks(t, h, anna, body)
			<-refused.over
			require.Equal(t, http.StatusBadRequest, refused.status)
			require.Contains(t, refused.text.String(), says)
			refused.close()
		}
	}, "a,b", "c")
}

// A job may have a name of any length, and is as live as the others. One that is gone is left out of the window, as its list
// drops it.
func TestLongNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", longestName+1)
	streaming(t, func(t *testing.T, _ *store, h *Hub) {
		body, err := json.Marshal(asked{Topics: []string{EventJobs, EventJob + long}, Window: []string{"a", long, long + "-gone"}})
		require.NoError(t, err)
		p := asks(t, h, anna, string(body))
		defer p.close()
		news := p.news()
		require.Len(t, of[JobsFrame](t, news, EventJobs)[0].Rows, 2)
		require.Empty(t, of[JobsFrame](t, news, EventJobs)[0].Gone)
		require.True(t, of[JobFrame](t, news, EventJob+long)[0].Full)
	}, "a", long)
}

// Who scrolls a list reads ever other windows: of those that nobody reads any more few are kept, and none that is read goes.
func TestTopicsThatNobodyReadsAreFew(t *testing.T) {
	t.Parallel()
	streaming(t, func(t *testing.T, s *store, h *Hub) {
		reads := opens(t, h, anna, "topic=jobs&window=a", "")
		defer reads.close()
		reads.news()
		for i := range 2 * mostIdle {
			opens(t, h, anna, fmt.Sprintf("topic=jobs&window=a&window=x%d", i), "").close()
		}
		last := opens(t, h, anna, fmt.Sprintf("topic=jobs&window=a&window=x%d", 2*mostIdle-1), "")
		defer last.close()
		h.mu.Lock()
		require.LessOrEqual(t, len(h.topics), mostIdle+2)
		kept := h.topics[topicKey{topicJobs, fmt.Sprintf("a\x00x%d", 2*mostIdle-1)}]
		h.mu.Unlock()
		require.NotNil(t, kept, "those that were read last are kept")
		s.declare("a", 3)
		time.Sleep(2 * time.Second)
		require.Len(t, of[JobsFrame](t, reads.news(), EventJobs), 1)
		time.Sleep(3 * idleFor)
		h.mu.Lock()
		defer h.mu.Unlock()
		require.Len(t, h.topics, 2, "after a while none is")
	}, "a")
}

// Whatever somebody asks for, they read only what they may, and no name of a topic breaks a frame.
func FuzzTopics(f *testing.F) {
	h := &Hub{cfg: Config{Namespace: "shop"}, epoch: "00000000"}
	h.picture.Store(&Picture{})
	who := access.Identity{Name: "zoe", Grants: []access.Grant{{Role: access.Viewer, Namespace: "shop", Jobs: "team-*"}}}
	f.Add("topic=job/team-"+strings.Repeat("a", longestName), "")
	f.Add("topic=overview&topic=job/team-1&since=&since=00000000-7", "00000000-3")
	f.Add("topic=jobs&window=team-1&window=team-2", "x")
	f.Add("topic=job/a%0aevent:x", "")
	f.Fuzz(func(t *testing.T, query, lastID string) {
		a, refused := askedOf(nil, &http.Request{Method: http.MethodGet, URL: &url.URL{RawQuery: query}})
		require.Nil(t, refused)
		topics, refused := h.topicsOf(a, lastID, who)
		if refused != nil {
			require.Contains(t, []int{http.StatusBadRequest, http.StatusForbidden}, refused.status)
			return
		}
		for _, w := range topics {
			require.NotContains(t, w.key.event(), "\n")
			switch w.key.kind {
			case topicOverview:
				require.Equal(t, "team-*", w.key.of)
			case topicJob:
				require.True(t, who.May(access.Read, "shop", w.key.of), w.key.of)
			default:
				for _, name := range w.key.names() {
					require.True(t, who.May(access.Read, "shop", name), name)
				}
			}
		}
	})
}

// A run that was given back never ran, and one that ended too long ago is not shown: readers who saw it run see it no more, and
// it is not counted.
func TestARunThatIsShownNoMore(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		away time.Duration // the registry does not answer for so long
		ends func(t *testing.T, begun jobtree.Record) jobtree.Record
		runs int
	}{
		"given back": {0, func(t *testing.T, begun jobtree.Record) jobtree.Record {
			t.Helper()
			undone, err := begun.Undo(7, time.Now())
			require.NoError(t, err)
			return undone
		}, 0},
		"given back for another one": {0, func(t *testing.T, begun jobtree.Record) jobtree.Record {
			t.Helper()
			undone, err := begun.Undo(7, time.Now())
			require.NoError(t, err)
			at := time.Now().Add(-time.Millisecond)
			again, err := undone.Begin(jobtree.Begin{Instance: "other", Session: 8, Source: job.Scheduled, Fire: at, Time: at})
			require.NoError(t, err)
			ended, err := again.End(jobtree.End{Token: 8, Time: time.Now(), Outcome: jobtree.Success})
			require.NoError(t, err)
			return ended
		}, 1},
		"ended 61 minutes ago": {62 * time.Minute, func(t *testing.T, begun jobtree.Record) jobtree.Record {
			t.Helper()
			ended, err := begun.End(jobtree.End{Token: 7, Time: time.Now().Add(-61 * time.Minute), Outcome: jobtree.Success})
			require.NoError(t, err)
			return ended
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			streaming(t, func(t *testing.T, s *store, h *Hub) {
				p := opens(t, h, anna, "topic=job/a&topic=overview", "")
				defer p.close()
				time.Sleep(time.Second)
				at := time.Now()
				begun, err := jobtree.Record{}.Begin(jobtree.Begin{Instance: "i", Session: 7, Source: job.Scheduled, Fire: at, Time: at})
				require.NoError(t, err)
				s.put(jobtree.For("a").ItemRunning(0), "")
				s.put(jobtree.For("a").ItemRecord(0), jobtree.EncodeRecord(begun))
				time.Sleep(time.Second)
				var page seen
				running := func() (all []Span) {
					for _, span := range page.spans {
						if span.Outcome == outcomeRunning {
							all = append(all, span)
						}
					}
					return all
				}
				page.take(of[JobFrame](t, p.news(), "job/a"))
				require.Len(t, running(), 1)
				time.Sleep(row.away)
				s.put(jobtree.For("a").ItemRecord(0), jobtree.EncodeRecord(row.ends(t, begun)))
				time.Sleep(time.Second)
				news := p.news()
				page.take(of[JobFrame](t, news, "job/a"))
				require.Empty(t, running())
				require.NotEmpty(t, page.Row, "what the page forgot with it is there again")
				require.Equal(t, 1, page.Total)
				overviews := of[Overview](t, news, EventOverview)
				runs := 0
				for _, m := range overviews[len(overviews)-1].Runs {
					runs += m.Runs
				}
				require.Equal(t, row.runs, runs)
				s.declare("a", 2)
				time.Sleep(time.Second)
				frames := of[JobFrame](t, p.news(), "job/a")
				require.Len(t, frames, 1)
				require.False(t, frames[0].Full, "once is enough")
			}, "a")
		})
	}
}
