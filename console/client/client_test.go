package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/console/client"
	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// open returns a client of a handler.
func open(t *testing.T, answer http.HandlerFunc) *client.Namespace {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	n, err := client.Open(client.Config{URL: server.URL + "/cron/", Namespace: "shop", Agent: "test"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close(context.Background())) })
	return n
}

func write(w http.ResponseWriter, kind string, status int, value any) {
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

// hangUp ends a connection without an answer.
func hangUp(http.ResponseWriter) { panic(http.ErrAbortHandler) }

// noJob answers a read: the server has not heard of any job.
func noJob(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet {
		write(w, "application/json", 200, wire.NodeList{Nodes: []wire.Node{}, Revision: 7})
	}
	return r.Method == http.MethodGet
}

// heard are the keys of requests, which come over one connection after the other.
type heard struct {
	mu   sync.Mutex
	keys []string
}

// note returns how many requests there were, this one too, and the key of the first.
func (h *heard) note(r *http.Request) (number int, first string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keys = append(h.keys, r.Header.Get(wire.HeaderKey))
	return len(h.keys), h.keys[0]
}

func (h *heard) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.keys)
}

// What runs code is asked for again with the state before it, so that it is not done twice if others come between.
func TestATriggerNamesTheStateBeforeIt(t *testing.T) {
	t.Parallel()
	var posts heard
	n := open(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			node := wire.Node{Path: r.URL.Query().Get("path"), Revision: 7, Created: 7}
			if node.Path == "/orders/leader/tokens" { // the job was moved here from another registry
				node.Value = `{"base":1000000}`
			} else {
				assert.Equal(t, "/orders/config", node.Path)
			}
			write(w, "application/json", 200, wire.NodeList{Revision: 48211, Nodes: []wire.Node{node}})
			return
		}
		posts.note(r)
		_, _ = io.Copy(io.Discard, r.Body)
		hangUp(w)
	})
	result, err := n.Trigger(t.Context(), "orders", operate.Trigger{}, operate.Options{})
	require.ErrorIs(t, err, registry.ErrUnknownOutcome)
	require.Equal(t, registry.Revision(1048211), result.State)
	keys := posts.all()
	require.Greater(t, len(keys), 1)
	require.Equal(t, result.ID, keys[0], "nothing was asked for under it before")
	for _, key := range keys[1:] {
		require.Equal(t, operate.Options{ID: result.ID, Since: result.State}.Key(), key)
	}
	_, err = n.Backfill(t.Context(), "orders", []time.Time{time.Now()}, operate.Trigger{}, operate.Options{ID: "night", Since: 7})
	require.ErrorIs(t, err, registry.ErrUnknownOutcome)
	all := posts.all()
	require.Equal(t, "night@7", all[len(all)-1], "what is given counts")
}

// What would have no state before it is not asked for: an outage ends while it is under way, and an answer is lost then.
func TestAnOutageOfTheRegistry(t *testing.T) {
	t.Parallel()
	n := open(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, http.MethodGet, r.Method)
		write(w, "application/problem+json", 503, wire.Problem{Status: 503, Cause: wire.CauseUnavailable, Detail: "the registry does not answer"})
	})
	_, err := n.Trigger(t.Context(), "orders", operate.Trigger{}, operate.Options{})
	require.ErrorIs(t, err, registry.ErrUnavailable)
	require.EqualError(t, err, "the registry does not answer")
	_, err = operate.ReadNamespace(t.Context(), n, time.Now())
	require.ErrorIs(t, err, registry.ErrUnavailable)
	may := wire.Problem{Status: 503, Cause: wire.CauseUnavailable, Operation: "night"}
	require.ErrorIs(t, may.Err(), registry.ErrUnknownOutcome, "which may have been done")
}

// An operation whose answer is lost is sent again under the same key.
func TestALostAnswerIsAskedForAgain(t *testing.T) {
	t.Parallel()
	var requests heard
	n := open(t, func(w http.ResponseWriter, r *http.Request) {
		number, first := requests.note(r)
		assert.Equal(t, "/cron/api/v1/namespaces/shop/jobs/a%20b/disable", r.URL.EscapedPath())
		_, _ = io.Copy(io.Discard, r.Body)
		if number < 3 {
			hangUp(w)
		}
		write(w, "application/json", 202, wire.Outcome{ID: first, Repeated: true})
	})
	result, err := n.DisableJob(t.Context(), "a b", operate.Options{})
	require.NoError(t, err)
	require.False(t, result.Repeated, "by nobody but us")
	keys := requests.all()
	require.Len(t, keys, 3)
	require.NotEmpty(t, keys[0])
	require.Equal(t, keys[0], keys[1])
	require.Equal(t, keys[0], keys[2])

	requests = heard{}
	result, err = n.DisableJob(t.Context(), "a b", operate.Options{ID: "night"})
	require.NoError(t, err)
	require.False(t, result.Repeated, "nobody else is known to have done it")
}

// A job that is not there any more when its removal is sent again, as the answer was lost, was removed.
func TestALostAnswerToARemoval(t *testing.T) {
	t.Parallel()
	for _, lost := range []int{0, 1} {
		var requests heard
		n := open(t, func(w http.ResponseWriter, r *http.Request) {
			number, _ := requests.note(r)
			_, _ = io.Copy(io.Discard, r.Body)
			if number <= lost {
				hangUp(w)
			}
			write(w, "application/problem+json", 404, wire.Problem{Status: 404, Cause: string(operate.CauseUnknownJob), Verb: operate.VerbRemove, Job: "orders", Why: "there is no such job"})
		})
		result, err := n.Remove(t.Context(), "orders", operate.Options{ID: "K"})
		cause, refused := operate.IsRefused(err)
		if lost == 0 {
			require.True(t, refused)
			require.Equal(t, operate.CauseUnknownJob, cause)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, operate.Result{ID: "K", Plan: operate.Plan{Verb: operate.VerbRemove, Job: "orders"}}, result)
	}
}

// One that never gets an answer may have been done.
func TestAnAnswerThatNeverComes(t *testing.T) {
	t.Parallel()
	n := open(t, func(w http.ResponseWriter, _ *http.Request) { hangUp(w) })
	result, err := n.DisableJob(t.Context(), "orders", operate.Options{ID: "K"})
	require.ErrorIs(t, err, registry.ErrUnknownOutcome)
	require.Equal(t, "K", result.ID)

	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	n, err = client.Open(client.Config{URL: gone.URL, Namespace: "shop"})
	require.NoError(t, err)
	_, err = n.DisableJob(t.Context(), "orders", operate.Options{})
	require.Error(t, err)
	require.NotErrorIs(t, err, registry.ErrUnknownOutcome, "nobody has heard it")
	_, _, err = n.List(t.Context(), registry.Root)
	require.ErrorContains(t, err, "refused")
}

// An operation is waited for in several requests, and what it came to is told.
func TestWaitingGoesOn(t *testing.T) {
	t.Parallel()
	asked := 0
	n := open(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet { // what the state is before
			write(w, "application/json", 200, wire.NodeList{Revision: 3})
			return
		}
		asked++
		assert.NotEmpty(t, r.URL.Query().Get("wait"))
		assert.Equal(t, asked > 1, r.URL.Query().Has("again"), "it may not be done twice")
		write(w, "application/json", 202, wire.Outcome{
			ID: "K", Revision: 7, Repeated: asked > 1, Progress: &operate.Progress{Done: asked == 4, Ready: asked, Of: 4, Text: "items"},
		})
	})
	var told []int
	result, err := n.Trigger(t.Context(), "orders", operate.Trigger{}, operate.Options{Wait: true, Progress: func(p operate.Progress) { told = append(told, p.Ready) }})
	require.NoError(t, err)
	require.False(t, result.Repeated, "it is repeated by nobody but us")
	require.Equal(t, registry.Revision(7), result.Revision)
	require.Equal(t, []int{2, 3, 4}, told)
}

func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	var asked atomic.Int32
	n := open(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 2 {
			stop(context.DeadlineExceeded)
		}
		write(w, "application/json", 202, wire.Outcome{ID: "K", Progress: &operate.Progress{Of: 2, Text: "items"}, Unconfirmed: "deadline"})
	})
	_, err := n.DisableJob(ctx, "orders", operate.Options{Wait: true})
	var unconfirmed *operate.UnconfirmedError
	require.ErrorAs(t, err, &unconfirmed)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	n = open(t, func(w http.ResponseWriter, r *http.Request) {
		if noJob(w, r) {
			return
		}
		write(w, "application/json", 202, wire.Outcome{ID: "K", Progress: &operate.Progress{Overtaken: true, Text: "called off"}, Unconfirmed: "somebody did something else meanwhile"})
	})
	_, err = n.DisableJob(t.Context(), "orders", operate.Options{Wait: true})
	require.ErrorAs(t, err, &unconfirmed)
	require.ErrorContains(t, err, "something else")
	_, err = n.Remove(t.Context(), "orders", operate.Options{})
	require.ErrorAs(t, err, &unconfirmed)
}

// awayFor has a handler give no answer to a number of requests in a row that only look, and none at last because its registry
// does not answer.
func awayFor(looks int, answer http.HandlerFunc) http.HandlerFunc {
	var asked atomic.Int32
	return func(w http.ResponseWriter, r *http.Request) {
		switch n := int(asked.Load()); {
		case !r.URL.Query().Has(wire.ParamAgain), n == looks:
			answer(w, r)
			return
		case n == looks-1:
			write(w, "application/problem+json", 503, wire.Problem{Status: 503, Cause: wire.CauseUnavailable, Detail: "the registry does not answer"})
		default:
			_, _ = io.Copy(io.Discard, r.Body)
			defer hangUp(w)
		}
		asked.Add(1)
	}
}

// Who waits for what was done outlasts a server that goes and comes back, and a registry behind it, and hears of that.
func TestWaitingOutlastsTheServer(t *testing.T) {
	t.Parallel()
	fires := []time.Time{time.Unix(0, 0).UTC(), time.Unix(60, 0).UTC()}
	for name, do := range map[string]func(*client.Namespace, operate.Options) error{
		"trigger": func(n *client.Namespace, opts operate.Options) error {
			_, err := n.Trigger(t.Context(), "orders", operate.Trigger{}, opts)
			return err
		},
		"removal": func(n *client.Namespace, opts operate.Options) error {
			_, err := n.Remove(t.Context(), "orders", opts)
			return err
		},
		"backfill": func(n *client.Namespace, opts operate.Options) error {
			r, err := n.Backfill(t.Context(), "orders", fires, operate.Trigger{}, opts)
			assert.Len(t, r.Done, 2)
			return err
		},
		"everywhere": func(n *client.Namespace, opts operate.Options) error {
			_, err := n.DisableServerEverywhere(t.Context(), "10.0.0.1", opts)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var partly atomic.Bool
			n := open(t, awayFor(3, func(w http.ResponseWriter, r *http.Request) {
				if noJob(w, r) {
					return
				}
				again := r.URL.Query().Has(wire.ParamAgain)
				out := wire.Outcome{ID: "K", Progress: &operate.Progress{Of: 2, Ready: 1, Text: "items"}, Unconfirmed: "deadline"}
				if again {
					out = wire.Outcome{ID: "K", Progress: &operate.Progress{Of: 2, Ready: 2, Done: true, Text: "items"}}
				}
				switch {
				case strings.Contains(r.URL.Path, "/servers/") && again && partly.CompareAndSwap(false, true):
					problem := wire.Problem{Status: 503, Cause: wire.CauseUnavailable, Operation: "K"}
					write(w, "application/json", 200, wire.Outcomes{ID: "K", Jobs: []wire.JobOutcome{{Job: "orders", Problem: &problem}}})
				case strings.Contains(r.URL.Path, "/servers/"):
					out.Unconfirmed = ""
					write(w, "application/json", 202, wire.Outcomes{ID: "K", Jobs: []wire.JobOutcome{{Job: "orders", Outcome: &out}}})
				case !strings.HasSuffix(r.URL.Path, "/backfill"):
					write(w, "application/json", 202, out)
				case out.Progress.Done:
					write(w, "application/json", 202, wire.Backfill{ID: "K", Done: []wire.Outcome{out}})
				default:
					write(w, "application/json", 202, wire.Backfill{ID: "K", UnderWay: &out})
				}
			}))
			var told []operate.Progress
			require.NoError(t, do(n, operate.Options{Wait: true, Progress: func(p operate.Progress) { told = append(told, p) }}))
			of, text := 2, "items (no answer, and it is asked again: the registry does not answer)"
			if name == "everywhere" { // which tells no more than that of its jobs
				of, text = 0, strings.TrimPrefix(text, "items ")
			}
			require.True(t, slices.ContainsFunc(told, func(p operate.Progress) bool { return !p.Done && p.Of == of && p.Text == text }), "%v", told)
			require.True(t, slices.ContainsFunc(told, func(p operate.Progress) bool { return strings.HasSuffix(p.Text, "asked again: EOF)") }), "%v", told)
		})
	}
}

// It ends with its context, or with an answer that no server takes back.
func TestWaitingForAServerEnds(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancelCause(t.Context())
	var ended time.Time
	opts := operate.Options{Wait: true, Progress: func(p operate.Progress) {
		if strings.Contains(p.Text, "no answer") { // which is told between two looks: one that is cut short says less
			ended = time.Now()
			end(context.DeadlineExceeded)
		}
	}}
	under := func(w http.ResponseWriter, r *http.Request) {
		if !noJob(w, r) {
			write(w, "application/json", 202, wire.Outcome{ID: "K", Progress: &operate.Progress{Of: 2, Ready: 1, Text: "items"}, Unconfirmed: "deadline"})
		}
	}
	n := open(t, awayFor(1000, under))
	result, err := n.Trigger(ctx, "orders", operate.Trigger{}, opts)
	var unconfirmed *operate.UnconfirmedError
	require.ErrorAs(t, err, &unconfirmed)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotErrorIs(t, err, registry.ErrUnknownOutcome, "it was done")
	require.ErrorContains(t, err, "items (1 of 2): context deadline exceeded, and there was no answer at last: EOF")
	require.Equal(t, "items", result.Progress.Text, "as far as is known")
	require.Less(t, time.Since(ended), 3*time.Second)

	n = open(t, awayFor(2, func(w http.ResponseWriter, r *http.Request) {
		if !r.URL.Query().Has(wire.ParamAgain) {
			under(w, r)
			return
		}
		write(w, "application/problem+json", 403, wire.Problem{Status: 403, Cause: wire.CauseForbidden, Detail: "you may not"})
	}))
	_, err = n.Trigger(t.Context(), "orders", operate.Trigger{}, operate.Options{Wait: true})
	require.ErrorAs(t, err, &unconfirmed)
	require.ErrorIs(t, err, registry.ErrDenied)
}

// A fire of a backfill after the first is begun when there is a server again, under its id and with the state before it.
// Without a state it is asked for a few times only: later operations might have the job forget the id.
func TestABackfillOutlastsTheServer(t *testing.T) {
	t.Parallel()
	fires := []time.Time{time.Unix(0, 0).UTC(), time.Unix(60, 0).UTC()}
	for _, since := range []registry.Revision{0, 7} {
		t.Run(since.String(), func(t *testing.T) {
			t.Parallel()
			var second heard
			n := open(t, func(w http.ResponseWriter, r *http.Request) {
				var body wire.BackfillRequest
				assert.NoError(t, json.NewDecoder(r.Body).Decode(&body))
				assert.False(t, r.URL.Query().Has(wire.ParamAgain), "it has not been answered")
				if r.URL.Query().Has(wire.ParamDryRun) {
					write(w, "application/json", 200, wire.Backfill{ID: "night"})
					return
				}
				done := wire.Outcome{ID: "night", Plan: operate.Plan{State: 50}, Progress: &operate.Progress{Done: true}}
				if body.Fires[0].Equal(fires[1]) {
					switch number, _ := second.note(r); number {
					case 1:
						write(w, "application/problem+json", 503, wire.Problem{Status: 503, Cause: wire.CauseUnavailable})
						return
					case 2:
						hangUp(w)
					}
				}
				write(w, "application/json", 200, wire.Backfill{ID: "night", Done: []wire.Outcome{done}})
			})
			r, err := n.Backfill(t.Context(), "orders", fires, operate.Trigger{}, operate.Options{ID: "night", Since: since})
			if since == 0 {
				require.ErrorIs(t, err, registry.ErrUnavailable)
				require.Equal(t, fires[1:], r.Left)
				return
			}
			require.NoError(t, err)
			require.Len(t, r.Done, 2)
			require.Equal(t, []string{"night@50", "night@50", "night@50"}, second.all())
		})
	}
}

// A server that does not wait is not asked again at once.
func TestAServerThatDoesNotWait(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	n := open(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		under := wire.Outcome{ID: "K", Progress: &operate.Progress{Of: 2, Text: "items"}, Unconfirmed: "at once"}
		if strings.Contains(r.URL.Path, "/servers/") {
			write(w, "application/json", 202, wire.Outcomes{ID: "K", Jobs: []wire.JobOutcome{{Job: "orders", Outcome: &under}}})
			return
		}
		if strings.HasSuffix(r.URL.Path, "/backfill") {
			write(w, "application/json", 202, wire.Backfill{ID: "K", UnderWay: &under})
			return
		}
		write(w, "application/json", 202, under)
	})
	for _, wait := range []func(ctx context.Context) error{
		func(ctx context.Context) error {
			_, err := n.DisableJob(ctx, "orders", operate.Options{Wait: true})
			return err
		},
		func(ctx context.Context) error {
			_, err := n.DisableServerEverywhere(ctx, "10.0.0.1", operate.Options{Wait: true})
			return err
		},
		func(ctx context.Context) error {
			_, err := n.Backfill(ctx, "orders", []time.Time{time.Unix(0, 0)}, operate.Trigger{}, operate.Options{ID: "K", Since: 7})
			return err
		},
	} {
		asked.Store(0)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		require.Error(t, wait(ctx))
		cancel()
		require.LessOrEqual(t, asked.Load(), int32(9))
	}
}

// What the job does not know any more may be long over, and is not done once more.
func TestWaitingForWhatIsForgotten(t *testing.T) {
	t.Parallel()
	n := open(t, func(w http.ResponseWriter, r *http.Request) {
		under := wire.Outcome{ID: "K", Revision: 7, Progress: &operate.Progress{Of: 2, Text: "items"}, Unconfirmed: "deadline"}
		problem := wire.Problem{Status: 409, Cause: string(operate.CauseOvertaken), Job: "orders"}
		several := strings.Contains(r.URL.Path, "/servers/")
		switch again := r.URL.Query().Has("again"); {
		case again && several:
			write(w, "application/json", 200, wire.Outcomes{ID: "K", Jobs: []wire.JobOutcome{{Job: "orders", Problem: &problem}}})
		case again:
			write(w, "application/problem+json", 409, problem)
		case several:
			under.Unconfirmed = ""
			write(w, "application/json", 202, wire.Outcomes{ID: "K", Jobs: []wire.JobOutcome{{Job: "orders", Outcome: &under}}})
		case strings.HasSuffix(r.URL.Path, "/backfill"):
			write(w, "application/json", 202, wire.Backfill{ID: "K", UnderWay: &under})
		default:
			write(w, "application/json", 202, under)
		}
	})
	forgotten := func(err error) {
		t.Helper()
		var unconfirmed *operate.UnconfirmedError
		require.ErrorAs(t, err, &unconfirmed)
		require.Equal(t, registry.Revision(7), unconfirmed.Result.Revision)
		cause, _ := operate.IsRefused(err)
		require.Equal(t, operate.CauseOvertaken, cause)
	}
	_, err := n.DisableJob(t.Context(), "orders", operate.Options{Wait: true})
	forgotten(err)
	_, err = n.Remove(t.Context(), "orders", operate.Options{})
	forgotten(err)
	_, err = n.Backfill(t.Context(), "orders", []time.Time{time.Unix(0, 0)}, operate.Trigger{}, operate.Options{})
	forgotten(err)
	results, err := n.DisableServerEverywhere(t.Context(), "10.0.0.1", operate.Options{Wait: true})
	require.Error(t, err)
	forgotten(results[0].Err)
}

// Whoever goes on with a backfill asks for what was asked for before as such: it is refused if the job has forgotten the id,
// and not run twice.
// But not one that was not there before it was asked for.
func TestALostAnswerToTheRemovalOfNothing(t *testing.T) {
	t.Parallel()
	asked := 0
	n := open(t, func(w http.ResponseWriter, r *http.Request) {
		if noJob(w, r) {
			return
		}
		if asked++; asked == 1 {
			hangUp(w)
		}
		write(w, "application/problem+json", 404, wire.Problem{Status: 404, Cause: string(operate.CauseUnknownJob), Verb: operate.VerbRemove, Job: "ordres", Why: "there is no such job"})
	})
	_, err := n.Remove(t.Context(), "ordres", operate.Options{})
	cause, _ := operate.IsRefused(err)
	require.Equal(t, operate.CauseUnknownJob, cause)
	require.Equal(t, 2, asked)
}

func TestABackfillThatIsGoneOnWith(t *testing.T) {
	t.Parallel()
	fires := []time.Time{time.Unix(0, 0).UTC(), time.Unix(60, 0).UTC(), time.Unix(120, 0).UTC()}
	var asked []string
	n := open(t, func(w http.ResponseWriter, r *http.Request) {
		var body wire.BackfillRequest
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&body))
		if r.URL.Query().Has(wire.ParamDryRun) {
			write(w, "application/json", 200, wire.Backfill{ID: "night", MayHaveRun: operate.MayHaveRun{Fires: 2, Last: fires[1]}})
			return
		}
		asked = append(asked, fmt.Sprintf("%d %s again=%t", body.Fires[0].Unix(), r.Header.Get(wire.HeaderKey), r.URL.Query().Has(wire.ParamAgain)))
		done := wire.Outcome{ID: "night", Plan: operate.Plan{State: registry.Revision(50 + len(asked))}, Progress: &operate.Progress{Done: true}}
		if body.Fires[0].Before(fires[2]) {
			done.Repeated, done.Came = true, fires[1]
		}
		write(w, "application/json", 200, wire.Backfill{ID: "night", Done: []wire.Outcome{done}})
	})
	r, err := n.Backfill(t.Context(), "orders", fires, operate.Trigger{}, operate.Options{ID: "night", Since: 7})
	require.NoError(t, err)
	require.Empty(t, r.Left)
	require.Equal(t, operate.MayHaveRun{Fires: 2, Last: fires[1]}, r.MayHaveRun)
	require.Equal(t, []string{"0 night@7 again=false", "60 night@51 again=true", "120 night@52 again=false"}, asked)
}

// A fire that fails stops the backfill, also under an id that was given, if the answer to this very request was lost.
func TestAFailedFireWhoseAnswerWasLost(t *testing.T) {
	t.Parallel()
	fires := []time.Time{time.Unix(0, 0).UTC(), time.Unix(60, 0).UTC()}
	asked := 0
	n := open(t, func(w http.ResponseWriter, r *http.Request) {
		if _, _ = io.Copy(io.Discard, r.Body); r.URL.Query().Has(wire.ParamDryRun) {
			write(w, "application/json", 200, wire.Backfill{ID: "night"})
			return
		}
		if asked++; asked == 1 {
			hangUp(w)
		}
		done := wire.Outcome{ID: "night", Repeated: true, Came: fires[0], Progress: &operate.Progress{Done: true}}
		write(w, "application/json", 200, wire.Backfill{ID: "night", Done: []wire.Outcome{done}, Failed: "fire 0: item 1 failed"})
	})
	r, err := n.Backfill(t.Context(), "orders", fires, operate.Trigger{}, operate.Options{ID: "night", Since: 7})
	require.EqualError(t, err, "fire 0: item 1 failed")
	require.Len(t, r.Done, 1)
	require.Equal(t, fires[1:], r.Left)
	require.Equal(t, 2, asked)
}

// A fire for which an item runs that was enabled behind it is waited for, and if that fails, the next one is not asked for.
func TestAnItemThatFailsBetweenTwoFires(t *testing.T) {
	t.Parallel()
	fires := []time.Time{time.Unix(0, 0).UTC(), time.Unix(60, 0).UTC()}
	asked := 0
	n := open(t, func(w http.ResponseWriter, r *http.Request) {
		if _, _ = io.Copy(io.Discard, r.Body); r.URL.Query().Has(wire.ParamDryRun) {
			write(w, "application/json", 200, wire.Backfill{ID: "night"})
			return
		}
		out := wire.Outcome{ID: "night", Progress: &operate.Progress{Done: asked == 0}}
		switch asked++; asked {
		case 1:
			write(w, "application/json", 200, wire.Backfill{ID: "night", Done: []wire.Outcome{out}})
		case 2:
			write(w, "application/json", 202, wire.Backfill{ID: "night", UnderWay: &out, Unconfirmed: "it takes long"})
		default:
			write(w, "application/json", 200, wire.Backfill{ID: "night", Failed: "fire 0: item 1 failed", FailedItems: []operate.ItemProgress{{Item: 1, State: operate.ItemFailed}}})
		}
	})
	r, err := n.Backfill(t.Context(), "orders", fires, operate.Trigger{}, operate.Options{ID: "night", Since: 7})
	require.EqualError(t, err, "fire 0: item 1 failed")
	require.Len(t, r.Done, 1)
	require.Equal(t, fires[1:], r.Left)
	require.Equal(t, 3, asked)
}

// A removal that was not over is gone on with, also if the job went between two requests.
func TestARemovalGoesOn(t *testing.T) {
	t.Parallel()
	asked := 0
	n := open(t, func(w http.ResponseWriter, r *http.Request) {
		if noJob(w, r) {
			return
		}
		asked++
		if asked == 1 {
			write(w, "application/json", 202, wire.Outcome{ID: "K", Progress: &operate.Progress{Of: 1, Text: "runs"}, Unconfirmed: "deadline"})
			return
		}
		write(w, "application/problem+json", 404, wire.Problem{Status: 404, Cause: string(operate.CauseUnknownJob), Verb: operate.VerbRemove, Job: "orders"})
	})
	result, err := n.Remove(t.Context(), "orders", operate.Options{})
	require.NoError(t, err)
	require.Equal(t, "K", result.ID)
}

func TestAnswersOfOthers(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Store(true) }))
	t.Cleanup(other.Close)
	for name, answer := range map[string]http.HandlerFunc{
		"a page":                      func(w http.ResponseWriter, _ *http.Request) { write(w, "text/html", 200, "x") },
		"another problem":             func(w http.ResponseWriter, _ *http.Request) { write(w, "application/problem+json", 502, "x") },
		"no JSON":                     func(w http.ResponseWriter, _ *http.Request) { write(w, "application/json", 200, "x") },
		"a way to somewhere else":     func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) },
		"a fault without explanation": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
	} {
		n := open(t, answer)
		_, _, err := n.List(t.Context(), registry.Root)
		require.ErrorContains(t, err, "server: ", name)
		_, err = n.EnableJob(t.Context(), "orders", operate.Options{})
		require.ErrorContains(t, err, "server: ", name)
	}
	require.False(t, elsewhere.Load(), "it would get the token")
}

// A proxy whose server went in the middle of an operation says so with a page of its own.
func TestAProxyWithoutItsServer(t *testing.T) {
	t.Parallel()
	for _, status := range []int{502, 503, 504} {
		var requests heard
		n := open(t, func(w http.ResponseWriter, r *http.Request) {
			number, first := requests.note(r)
			if number == 1 {
				write(w, "text/html", status, "x")
				return
			}
			write(w, "application/json", 200, wire.Outcome{ID: first, Revision: 7})
		})
		_, err := n.DisableJob(t.Context(), "orders", operate.Options{})
		require.NoError(t, err)
		keys := requests.all()
		require.Len(t, keys, 2)
		require.Equal(t, keys[0], keys[1])
	}
	n := open(t, func(w http.ResponseWriter, _ *http.Request) { write(w, "text/html", 502, "x") })
	result, err := n.DisableJob(t.Context(), "orders", operate.Options{ID: "K"})
	require.ErrorIs(t, err, registry.ErrUnknownOutcome)
	require.ErrorContains(t, err, "502")
	require.Equal(t, "K", result.ID)
}

func TestSettings(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]client.Config{
		"want one such as":       {URL: "cron.example.org", Namespace: "shop"},
		"the URL of the server:": {URL: "http://a b", Namespace: "shop"},
		"without user":           {URL: "https://u:p@cron.example.org", Namespace: "shop"},
		"the namespace is":       {URL: "https://cron.example.org"},
		"in the clear":           {URL: "http://cron.example.org", Namespace: "shop", Token: "t"},
		"more than one line":     {URL: "https://cron.example.org", Namespace: "shop", Token: "t\nx"},
	} {
		_, err := client.Open(c)
		require.ErrorIs(t, err, client.ErrInvalidOption)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "u:p")
	}
	n, err := client.Open(client.Config{URL: "http://[::1]:8080", Namespace: "shop", Token: "t"})
	require.NoError(t, err)
	_, err = n.ChangeSettings(t.Context(), "orders", operate.Settings{}, operate.Options{})
	require.ErrorIs(t, err, client.ErrInvalidOption)
}

// Outputs are those of the history, and one that is not kept is told from other faults.
func TestOutputs(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	n := open(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.EscapedPath() {
		case "/cron/api/v1/namespaces/shop/jobs/a%20b/outputs":
			assert.Equal(t, "item=3&limit=7&token=5", r.URL.Query().Encode())
			write(w, "application/json", 200, wire.OutputList{Outputs: []wire.Output{{ID: "x", Job: "a b", Item: 3, Token: 5, Start: at, Bytes: 9}}})
		case "/cron/api/v1/namespaces/shop/jobs/a%20b/outputs/x":
			write(w, "application/json", 200, wire.Output{ID: "x", Job: "a b", Item: 3, Token: 5, Start: at, Bytes: 9, Text: "text"})
		default:
			write(w, "application/problem+json", 404, wire.Problem{Status: 404, Cause: wire.CauseNotFound, Detail: "no output is kept of this"})
		}
	})
	item := 3
	want := history.Output{ID: "x", Job: "a b", Item: 3, Token: 5, Start: at, Bytes: 9}
	list, err := n.Outputs(t.Context(), history.OutputQuery{Job: "a b", Item: &item, Token: 5, Limit: 7})
	require.NoError(t, err)
	require.Equal(t, []history.Output{want}, list)
	one, err := n.Output(t.Context(), "a b", "x")
	require.NoError(t, err)
	want.Text = "text"
	require.Equal(t, want, one)
	_, err = n.Output(t.Context(), "a b", "y")
	require.ErrorIs(t, err, history.ErrNoOutput)
	_, err = n.Outputs(t.Context(), history.OutputQuery{Job: "c"})
	require.ErrorIs(t, err, registry.ErrNotFound)
}

// Who waits for news outlasts a server that goes and comes back.
func TestNewsAreWaitedFor(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	n := open(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "6", r.URL.Query().Get("after"))
		switch asked.Add(1) {
		case 1:
			w.WriteHeader(http.StatusNotModified)
		case 2:
			hangUp(w)
		default:
			write(w, "application/json", 200, wire.NodeList{Nodes: []wire.Node{{Path: "/orders/config", Value: "{}", Revision: 7}}, Revision: 7, Java: true})
		}
	})
	nodes, revision, err := n.Newer(t.Context(), 6)
	require.NoError(t, err)
	require.Equal(t, registry.Revision(7), revision)
	require.Len(t, nodes, 1)
	require.True(t, operate.MayHoldJava(n))
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	gone := open(t, func(w http.ResponseWriter, _ *http.Request) { hangUp(w) })
	_, _, err = gone.Newer(ctx, 6)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// Of what was shown goes back what is compared.
func TestWhatWasShown(t *testing.T) {
	t.Parallel()
	plan := operate.Plan{
		Verb: operate.VerbDisableJob, Job: "orders", State: 7, Config: 6, Changes: []operate.Change{{What: "disabled", Before: "false", After: "true"}},
		Moves: []operate.Move{{Item: 1}}, Warnings: []string{"w"}, Next: []time.Time{time.Now()}, Notes: []string{"n"},
	}
	require.True(t, plan.Same(plan.Compared()))
	want := &operate.Plan{Verb: plan.Verb, Job: plan.Job, Config: 6, Changes: plan.Changes, Moves: plan.Moves, Warnings: plan.Warnings}
	var one wire.Asked
	var several wire.AskedOfMany
	n := open(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/jobs/orders/disable") {
			assert.NoError(t, json.NewDecoder(r.Body).Decode(&one))
			write(w, "application/json", 200, wire.Outcome{})
			return
		}
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&several))
		write(w, "application/json", 200, wire.Outcomes{Jobs: []wire.JobOutcome{}})
	})
	_, err := n.DisableJob(t.Context(), "orders", operate.Options{Shown: &plan})
	require.NoError(t, err)
	require.Equal(t, want, one.Shown)
	_, err = n.DisableServerEverywhere(t.Context(), "10.0.0.1", operate.Options{ShownJobs: map[string]*operate.Plan{"orders": &plan}})
	require.NoError(t, err)
	require.Equal(t, wire.Plans{"orders": want}, several.Shown)
}

// Pages are of one state; when the server has forgotten that, all are read again.
func TestPages(t *testing.T) {
	t.Parallel()
	var firsts atomic.Int32
	n := open(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		revision := registry.Revision(7)
		if q.Get("behind") == "" {
			firsts.Add(1)
		}
		switch {
		case q.Get("revision") == "7":
			assert.Equal(t, "/a", q.Get("behind"))
			write(w, "application/problem+json", 410, wire.Problem{Status: 410, Cause: wire.CauseForgotten})
			return
		case firsts.Load() == 2:
			revision = 9
		}
		if q.Get("behind") == "" {
			write(w, "application/json", 200, wire.NodeList{Nodes: []wire.Node{{Path: "/a", Revision: revision}}, Revision: revision, Next: "/a"})
			return
		}
		assert.Equal(t, "9 /a", q.Get("revision")+" "+q.Get("behind"))
		assert.Empty(t, q.Get("after"))
		write(w, "application/json", 200, wire.NodeList{Nodes: []wire.Node{{Path: "/b", Revision: 8}}, Revision: revision})
	})
	nodes, revision, err := n.Newer(t.Context(), 3)
	require.NoError(t, err)
	require.Equal(t, registry.Revision(9), revision)
	require.Equal(t, []registry.Node{{Path: "/a", Revision: 9}, {Path: "/b", Revision: 8}}, nodes)
	require.Equal(t, int32(2), firsts.Load())
}

// What is read of the tree is what a registry would say.
func TestReading(t *testing.T) {
	t.Parallel()
	n := open(t, func(w http.ResponseWriter, r *http.Request) {
		all := []wire.Node{
			{Path: "/a/config", Value: "1", Revision: 3, Created: 2},
			{Path: "/a/x/y", Value: "2", Revision: 4, Owner: 9},
			{Path: "/aside/leader/x", Revision: 5},
			{Path: "/away/config", Value: `{"home":"b"}`, Revision: 5},
			{Path: "/b", Revision: 5},
		}
		switch r.URL.Query().Get("path") {
		case "/a/config":
			all = all[:1]
		case "/a":
			all = all[:2]
		case "/none", "/a/x":
			all = all[1:1]
		}
		write(w, "application/json", 200, wire.NodeList{Nodes: all, Revision: 5})
	})
	node, err := n.Get(t.Context(), "/a/config")
	require.NoError(t, err)
	require.Equal(t, registry.Node{Path: "/a/config", Value: "1", Revision: 3, Created: 2}, node)
	_, err = n.Get(t.Context(), "/none")
	require.ErrorIs(t, err, registry.ErrNotFound)
	for path, want := range map[string][]string{"/": {"a", "aside", "away", "b"}, "/a": {"config", "x"}, "/none": nil} {
		names, err := n.Children(t.Context(), path)
		require.NoError(t, err)
		require.Equal(t, want, names, path)
	}
	names, err := n.Match(t.Context(), "[a]*")
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, names, "what is left of a job is none, nor is one that has moved away")
	_, err = n.Match(t.Context(), "[")
	cause, _ := operate.IsRefused(err)
	require.Equal(t, operate.CauseInvalid, cause)
}
