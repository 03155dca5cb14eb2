package repeats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// page is what was logged, without the times of the lines.
type page struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *page) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(p, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == Since || a.Key == Until {
			return slog.Attr{}
		}
		return a
	}}))
}

// take returns the lines since the last time.
func (p *page) take() []string {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	text := strings.TrimSuffix(p.text.String(), "\n")
	p.text.Reset()
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// known returns how many causes are kept.
func (l *Log) known() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.causes)
}

func TestARepetitionIsCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p page
		l := New(p.logger(), time.Minute+500*time.Millisecond) // never at the moment of a line
		refused := Line{Level: slog.LevelWarn, Message: "refused", Cause: "full", Attrs: []any{"error", "no space"}}
		for n := range 90 { // for 90 seconds
			refused.Job = fmt.Sprintf("job-%d", n%2)
			l.Tell(refused)
			time.Sleep(time.Second)
		}
		require.Equal(t, []string{
			`level=WARN msg=refused job=job-0 error="no space"`,
			`level=WARN msg=refused error="no space" jobs="job-1, job-0" times=60`,
		}, p.take())
		time.Sleep(32 * time.Second)
		require.Equal(t, []string{`level=WARN msg=refused error="no space" jobs="job-1, job-0" times=29`}, p.take())
		time.Sleep(61 * time.Second)
		require.Equal(t, []string{`level=INFO msg="not repeated any more" what=refused times=90`}, p.take())
		require.Zero(t, l.known())

		l.Tell(refused)
		require.Len(t, p.take(), 1, "after it was over, it is new")
		time.Sleep(time.Hour)
		require.Empty(t, p.take(), "what happened once needs no end")
		require.Zero(t, l.known())
	})
}

func TestCausesAreToldApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p page
		l := New(p.logger(), time.Minute)
		for range 3 {
			l.Tell(Line{Level: slog.LevelWarn, Message: "refused", Cause: "full"})
			l.Tell(Line{Level: slog.LevelWarn, Message: "refused", Cause: "away"})
			l.Tell(Line{Level: slog.LevelInfo, Message: "seen", Cause: "full"})
			l.Tell(Line{Level: slog.LevelDebug, Message: "detail"})
		}
		require.Len(t, p.take(), 3)
		l.Close()
		require.ElementsMatch(t, []string{
			"level=WARN msg=refused times=2", "level=WARN msg=refused times=2", "level=INFO msg=seen times=2",
		}, p.take(), "a stop loses no count")
		time.Sleep(time.Hour)
		require.Empty(t, p.take())
		l.Tell(Line{Level: slog.LevelWarn, Message: "refused", Cause: "full"})
		require.Len(t, p.take(), 1, "last words are logged as they come")
	})
}

// However many causes and jobs there are, little of them is kept.
func TestManyCauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p page
		l := New(p.logger(), time.Minute)
		for n := range 10_000 {
			l.Tell(Line{Level: slog.LevelWarn, Message: "refused", Cause: fmt.Sprint(n), Job: fmt.Sprint(n)})
		}
		require.Len(t, p.take(), maxCauses+1)
		require.Equal(t, maxCauses+1, l.known())
		time.Sleep(61 * time.Second)
		lines := p.take()
		require.Len(t, lines, 1)
		require.Contains(t, lines[0], "265, 266 and others\" times=9743")
		time.Sleep(time.Hour)
		require.Zero(t, l.known())
	})
}

// Causes that one message has are told apart when they are over, too.
func TestWhatIsOverNamesItsCause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p page
		log := New(p.logger(), time.Minute)
		defer log.Close()
		for n := range 2 {
			for _, asked := range []string{"keep-alive", "session"} {
				log.Tell(Line{Level: slog.LevelWarn, Message: "no answer", Cause: asked, Tells: []any{"asked", asked}, Attrs: []any{"try", n}})
			}
		}
		require.Equal(t, []string{"level=WARN msg=\"no answer\" asked=keep-alive try=0", "level=WARN msg=\"no answer\" asked=session try=0"}, p.take())
		time.Sleep(time.Minute + time.Second)
		require.ElementsMatch(t, []string{
			"level=WARN msg=\"no answer\" asked=keep-alive try=1 times=1", "level=WARN msg=\"no answer\" asked=session try=1 times=1",
		}, p.take())
		time.Sleep(time.Minute)
		require.ElementsMatch(t, []string{
			"level=INFO msg=\"not repeated any more\" what=\"no answer\" times=2 asked=keep-alive",
			"level=INFO msg=\"not repeated any more\" what=\"no answer\" times=2 asked=session",
		}, p.take())
	})
}

// Who reads a count sees when what it counts happened, which is before the line was written.
func TestACountTellsWhenItHappened(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		counts := New(slog.New(slog.NewJSONHandler(&text, nil)), time.Minute)
		begin := time.Now()
		for range 3 {
			counts.Tell(Line{Level: slog.LevelWarn, Message: "lost"})
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		counts.Close()
		lines := strings.Split(strings.TrimSpace(text.String()), "\n")
		require.Greater(t, len(lines), 1)
		var line struct{ Time, Since, Until time.Time }
		require.NoError(t, json.Unmarshal([]byte(lines[1]), &line))
		require.Equal(t, []time.Duration{time.Minute, 0, 2 * time.Second}, []time.Duration{line.Time.Sub(begin), line.Since.Sub(begin), line.Until.Sub(begin)})
	})
}
