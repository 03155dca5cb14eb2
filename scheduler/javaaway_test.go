package scheduler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// startAway starts an instance of ours whose session is over five seconds after it was cut off.
func (c *cluster) startAway(id string, beside scheduler.Option, cfg job.Config) *instance {
	c.t.Helper()
	return c.startFor(5*time.Second, id, beside, cfg)
}

// startFor starts an instance of ours whose session lasts for so long after it was cut off.
func (c *cluster) startFor(ttl time.Duration, id string, beside scheduler.Option, cfg job.Config) *instance {
	c.t.Helper()
	reg := c.server.Open("test", memory.WithTTL(ttl))
	s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID(id)), beside)
	require.NoError(c.t, err)
	require.NoError(c.t, errOf(s.Add(c.t.Context(), cfg, c.record(id, nil))))
	i := c.run(s, reg)
	<-i.Ready()
	return i
}

// everyTen is a job of six items that fires every ten seconds.
func everyTen() job.Config {
	cfg := sharedJob(6)
	cfg.Cron = "0/10 * * * * ?"
	return cfg
}

// A process of ours is cut off until its session is over, and its items go to others. What a Java instance has run by then is
// not run again when the process is back: it neither notes that as missed nor begins for it by itself. What came before the
// session was over, nobody else can have run.
func TestWhatJavaRanWhileAProcessOfOursWasAway(t *testing.T) {
	t.Parallel()
	lite := func(c *cluster) { c.javaJoins(javaID) }
	all := everyTen()
	all.Cron, all.Misfire = "0/3 * * * * ?", job.MisfireAll
	for name, test := range map[string]struct {
		beside scheduler.Option
		joins  func(c *cluster)
		cfg    job.Config
		made   []string // of item 2, of fires while it was away
	}{
		"2.1.5":         {scheduler.WithJavaPeers(), lite, everyTen(), nil},
		"3.x":           {scheduler.WithElasticJob3Peers(), func(c *cluster) { c.elasticJob3Joins(javaID) }, everyTen(), nil},
		"several fires": {scheduler.WithJavaPeers(), lite, all, []string{"item 2 fire 15s misfire on b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				c.startAway("a", test.beside, test.cfg)
				b := c.startAway("b", test.beside, test.cfg)
				test.joins(c)
				sleepUntil(8 * time.Second)
				owner := func() string { return c.node(orders.ItemInstance(2)).Value }
				require.Equal(t, fullID("b"), owner())
				sleepUntil(13 * time.Second)
				c.take()
				b.registry.Cut()
				for owner() == fullID("b") {
					time.Sleep(10 * time.Millisecond)
				}
				require.Equal(t, javaID, owner())
				sleepUntil(20500 * time.Millisecond) // Java runs item 2 for second 20, or for 18
				b.registry.Heal()
				sleepUntil(29 * time.Second)
				require.Equal(t, fullID("b"), owner())
				var made []string
				for _, r := range c.take() {
					if r.sc.Item == 2 && r.sc.Fire.Before(bubbleStart.Add(21*time.Second)) {
						made = append(made, r.String())
					}
				}
				require.Equal(t, test.made, made)
				require.False(t, c.node(orders.ItemMisfire(2)).Exists())
				sleepUntil(31 * time.Second)
				var next int
				for _, r := range c.take() {
					if r.sc.Item == 2 && r.sc.Fire.Equal(bubbleStart.Add(30*time.Second)) && r.instance == "b" {
						next++
					}
				}
				require.Equal(t, 1, next, "it goes on")
			})
		})
	}
}

// The item may be back before the process has seen that it was gone.
func TestAnItemThatJavaHadWhileItsOwnerWasAway(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		through bool   // a Java instance was there all the time
		other   string // who had the item meanwhile
		want    []string
	}{
		"a Java instance had it": {true, javaID, nil},
		"none can have had it":   {false, fullID("x"), []string{"item 0 fire 20s misfire on b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := everyTen()
				cfg.ShardingTotalCount = 1
				j := c.javaLeads(asAssigned(cfg))
				b := c.startAway("b", scheduler.WithJavaPeers(), cfg)
				j.reshard(0, fullID("b"))
				sleepUntil(13 * time.Second)
				require.Len(t, c.take(), 1)
				b.registry.Cut()
				sleepUntil(19 * time.Second)
				require.False(t, c.node(orders.Instance(fullID("b"))).Exists())
				if !test.through { // as after an outage in which all sessions have ended
					j.leave()
					j.comeBack()
				}
				j.do(registry.Put(orders.ItemInstance(0), test.other))
				sleepUntil(21 * time.Second)
				j.do(registry.Put(orders.ItemInstance(0), fullID("b")))
				sleepUntil(26 * time.Second)
				b.registry.Heal()
				sleepUntil(27 * time.Second)
				j.do(registry.Delete(orders.Necessary())) // b asks for a resharding as it joins, for which others would wait
				sleepUntil(29 * time.Second)
				require.Equal(t, test.want, c.shown())
				sleepUntil(31 * time.Second)
				require.Equal(t, []string{"item 0 fire 30s scheduled on b"}, c.shown())
			})
		})
	}
}

// What nobody else has got while the process was away is made up.
func TestAnItemThatNobodyGotWhileItsOwnerWasAway(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := everyTen()
		cfg.ShardingTotalCount = 1
		j := c.javaLeads(asAssigned(cfg))
		b := c.startAway("b", scheduler.WithJavaPeers(), cfg)
		j.reshard(0, fullID("b"))
		sleepUntil(13 * time.Second)
		require.Len(t, c.take(), 1)
		b.registry.Cut()
		sleepUntil(26 * time.Second)
		require.False(t, c.node(orders.Instance(fullID("b"))).Exists())
		b.registry.Heal()
		sleepUntil(27 * time.Second)
		j.do(registry.Delete(orders.Necessary())) // b asks for a resharding as it joins, for which others would wait
		sleepUntil(29 * time.Second)
		require.Equal(t, []string{"item 0 fire 20s misfire on b"}, c.shown())
	})
}

// A process of ours stands still, or is cut off, for less than its session lasts. A Java instance gets its item meanwhile, and
// runs it. Of that, the process hears after the fire: it neither notes it as missed nor begins for it by itself.
func TestWhatJavaRanWhileAProcessOfOursHeardNothing(t *testing.T) {
	t.Parallel()
	lite := func(c *cluster) *java { return c.javaJoins(javaID) }
	cut, heal := (*memory.Registry).Cut, (*memory.Registry).Heal
	pause, resume := (*memory.Registry).Pause, (*memory.Registry).Resume
	for name, test := range map[string]struct {
		beside    scheduler.Option
		joins     func(c *cluster) *java
		away      func(*memory.Registry)
		back      func(*memory.Registry)
		at        time.Duration // when it is back
		javaLeave time.Duration // zero = it stays
	}{
		"cut off":                         {scheduler.WithJavaPeers(), lite, cut, heal, 22 * time.Second, 0},
		"cut off until the fire":          {scheduler.WithJavaPeers(), lite, cut, heal, 20050 * time.Millisecond, 0},
		"still":                           {scheduler.WithJavaPeers(), lite, pause, resume, 22 * time.Second, 0},
		"still until the fire":            {scheduler.WithJavaPeers(), lite, pause, resume, 20050 * time.Millisecond, 0},
		"beside 3.x":                      {scheduler.WithElasticJob3Peers(), func(c *cluster) *java { c.elasticJob3Joins(javaID); return nil }, pause, resume, 22 * time.Second, 0},
		"still until after the next fire": {scheduler.WithJavaPeers(), lite, pause, resume, 31 * time.Second, 0},
		"cut off, and it has it back":     {scheduler.WithJavaPeers(), lite, cut, heal, 24 * time.Second, 22500 * time.Millisecond},
		"still, and it has it back":       {scheduler.WithJavaPeers(), lite, pause, resume, 24 * time.Second, 22500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				c.startFor(time.Minute, "a", test.beside, everyTen())
				b := c.startFor(time.Minute, "b", test.beside, everyTen())
				owner := func() string { return c.node(orders.ItemInstance(0)).Value }
				sleepUntil(13 * time.Second)
				require.Equal(t, fullID("b"), owner())
				c.take()
				test.away(b.registry)
				sleepUntil(14 * time.Second)
				j := test.joins(c)
				sleepUntil(19 * time.Second)
				require.Equal(t, javaID, owner()) // and so it runs item 0 for second 20
				if test.javaLeave > 0 {
					sleepUntil(test.javaLeave)
					j.leaveAndAsk()
					time.Sleep(100 * time.Millisecond)
					require.Equal(t, fullID("b"), owner())
				}
				sleepUntil(test.at)
				test.back(b.registry)
				sleepUntil(39 * time.Second)
				require.False(t, c.node(orders.ItemMisfire(0)).Exists())
				var fires []string
				for _, r := range c.take() {
					if r.sc.Item == 0 {
						fires = append(fires, r.String())
					}
				}
				if test.javaLeave == 0 {
					require.Empty(t, fires)
				} else {
					require.Equal(t, []string{"item 0 fire 30s scheduled on b"}, fires, "it goes on")
				}
			})
		})
	}
}

// What nobody else can have run is noted for Java, or run, although the process hears late of what became of its item: the fires
// before it heard nothing, and all of them if the item stayed with it.
func TestWhatWasMissedBeforeAProcessOfOursHeardNothing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		moved time.Duration // to Java; zero = never
		noted []time.Time
		shown []string // of ours
	}{
		"it has gone to Java": {17 * time.Second, []time.Time{bubbleStart.Add(10 * time.Second)}, nil},
		"it has stayed":       {0, nil, []string{"item 0 fire 10s misfire on b", "item 0 fire 15s misfire on b", "item 0 fire 20s misfire on b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := sharedJob(1)
				cfg.Misfire = job.MisfireAll
				j := c.javaLeads(asAssigned(cfg))
				b := c.startFor(time.Minute, "b", scheduler.WithJavaPeers(), cfg)
				j.reshard(0, fullID("b"))
				sleepUntil(9 * time.Second)
				require.Len(t, c.take(), 1)
				j.begin(0) // as Java's console has it run
				sleepUntil(13 * time.Second)
				b.registry.Cut()
				j.end(0)
				if test.moved > 0 {
					sleepUntil(test.moved)
					j.do(registry.Put(orders.ItemInstance(0), javaID))
				}
				sleepUntil(21 * time.Second)
				b.registry.Heal()
				sleepUntil(24 * time.Second)
				require.Equal(t, test.noted, c.state().Item(0).Misfire.Value.Fires)
				require.Equal(t, test.shown, c.shown())
			})
		})
	}
}

// Somebody comes while a process of ours is away, and its session is not over yet: its items may move then.
func TestWhatJavaRanBeforeTheSessionOfAProcessThatIsAwayWasOver(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := everyTen()
		cfg.Cron, cfg.Misfire = "0/3 * * * * ?", job.MisfireAll
		c.startAway("a", scheduler.WithJavaPeers(), cfg)
		b := c.startAway("b", scheduler.WithJavaPeers(), cfg)
		sleepUntil(13 * time.Second)
		require.Equal(t, fullID("b"), c.node(orders.ItemInstance(0)).Value)
		c.take()
		b.registry.Cut()
		sleepUntil(13100 * time.Millisecond)
		c.javaJoins(javaID)
		sleepUntil(14900 * time.Millisecond)
		require.Equal(t, javaID, c.node(orders.ItemInstance(0)).Value) // and so it runs item 0 for second 15
		require.True(t, c.node(orders.Instance(fullID("b"))).Exists())
		sleepUntil(20500 * time.Millisecond)
		require.False(t, c.node(orders.Instance(fullID("b"))).Exists())
		b.registry.Heal()
		sleepUntil(29 * time.Second)
		require.Equal(t, javaID, c.node(orders.ItemInstance(0)).Value)
		require.False(t, c.node(orders.ItemMisfire(0)).Exists())
	})
}
