package jobtree_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// tried are values for every field of a configuration, by the kind of the field: good and bad ones.
var (
	triedNumbers = []int{-2_000_000_000, -2, -1, 0, 1, 7, 61, 1_001, 65_536, 86_401, 100_001, 31_536_001, 2_000_000_000}
	triedTexts   = []string{"", "each", "all", "once", "running", "quartz", "warn", "0=A,9=B", "0=", "a/b", "Europe/Berlin", "0 61 * * * ?", "@every 90s", "DATAFLOW", "dataflow"}
	triedTimes   = []time.Time{{}, time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
)

// setting is a field of a configuration; that of a group has the name Java.MonitorPort.
type setting struct {
	Name  string
	Index []int
	Type  reflect.Type
}

func (s setting) set(c *job.Config, value any) {
	reflect.ValueOf(c).Elem().FieldByIndex(s.Index).Set(reflect.ValueOf(value))
}

func (s setting) of(c job.Config) any { return reflect.ValueOf(c).FieldByIndex(s.Index).Interface() }

func triedValues(s setting) (values []any) {
	switch {
	case s.Type == reflect.TypeFor[time.Duration]():
		for _, n := range triedNumbers {
			if n != -1 && max(n, -n) < 100_000_000 { // -1 s is no time, and stored it is no number of seconds
				values = append(values, time.Duration(n)*unitOf(s))
			}
		}
	case s.Type.Kind() == reflect.Bool:
		return []any{true, false}
	case s.Type.Kind() == reflect.Int:
		for _, n := range triedNumbers {
			values = append(values, n)
		}
	case s.Type.Kind() == reflect.String:
		for _, text := range triedTexts {
			values = append(values, reflect.ValueOf(text).Convert(s.Type).Interface())
		}
		if s.Name == "Misfire" {
			values = append(values, job.MisfireSkip)
		}
	default:
		for _, at := range triedTimes {
			values = append(values, at)
		}
	}
	return values
}

// unitOf is in what a field that is a time is stored.
func unitOf(s setting) time.Duration {
	if strings.HasSuffix(jobtree.MemberOf(s.Name), "Minutes") {
		return time.Minute
	}
	return time.Second
}

// fields are all fields of a configuration, those of groups among them.
func fields() (all []setting) {
	for f := range reflect.TypeFor[job.Config]().Fields() {
		if f.Type != reflect.TypeFor[job.Java]() {
			all = append(all, setting{f.Name, f.Index, f.Type})
			continue
		}
		for in := range f.Type.Fields() {
			all = append(all, setting{f.Name + "." + in.Name, append(slices.Clone(f.Index), in.Index...), in.Type})
		}
	}
	return all
}

// settings are the fields of a configuration that are settings of the job and can be stored as any value.
func settings() (some []setting) {
	for _, f := range fields() {
		switch f.Name {
		case "Unknown": // no setting
		case "StreamingProcess", "ScriptCommandLine": // not stored, and not read, for a type that has no use for them
		case "Props": // its faults are those of JSON
		case "Class": // empty stands for the name where it is declared, and is refused where it is stored
		default:
			some = append(some, f)
		}
	}
	return some
}

// asStored returns a configuration as an operator may write it, who is not held to what EncodeConfig
// refuses.
func asStored(t require.TestingT, c job.Config) string {
	good := job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 3}
	text, err := jobtree.EncodeConfig(good)
	require.NoError(t, err)
	var members map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &members))
	for _, f := range settings() {
		member, value := jobtree.MemberOf(f.Name), f.of(c)
		if reflect.ValueOf(value).IsZero() && !slices.Contains([]string{"Name", "Cron", "ShardingTotalCount"}, f.Name) {
			continue // the default
		}
		switch stored := value.(type) {
		case time.Time:
			value = stored.Format(time.RFC3339Nano)
		case time.Duration:
			value = int(stored / unitOf(f))
		case job.MisfirePolicy:
			if stored == job.MisfireSkip {
				member, value = "misfire", false
			}
		}
		switch number, _ := value.(int); f.Name {
		case "Unmonitored":
			value = false
		case "Java.MonitorPort":
			if number == -1 {
				value = 0
			}
		case "FailoverLimit", "MisfireMax", "RetryBackoff":
			value = max(0, number)
		}
		if handler, found := strings.CutPrefix(member, "jobProperties."); found {
			members["jobProperties"].(map[string]any)[handler] = value
			continue
		}
		members[member] = value
	}
	encoded, err := json.Marshal(members)
	require.NoError(t, err)
	return string(encoded)
}

// blamed returns the members that an error names, in order and once.
func blamed(err error) (members []string) {
	var walk func(error)
	walk = func(err error) {
		if joined, is := err.(interface{ Unwrap() []error }); is {
			for _, each := range joined.Unwrap() {
				walk(each)
			}
			return
		}
		var declared *job.FieldError
		var stored *jobtree.ValueError
		switch {
		case errors.As(err, &stored):
			members = append(members, stored.Field)
		case errors.As(err, &declared):
			members = append(members, jobtree.MemberOf(declared.Field))
		case err != nil:
			members = append(members, err.Error())
		}
	}
	walk(err)
	slices.Sort(members)
	return slices.Compact(members)
}

// judged returns what the path of a stored configuration finds at fault, warnings included.
func judged(text string) error {
	c, err := jobtree.DecodeConfig(registry.Node{Path: "/orders/config", Value: text})
	if err != nil {
		return err
	}
	return errors.Join(jobtree.CheckConfig("orders", c))
}

// What is declared and what is stored is judged by the same rules, for every member and value.
func TestStoredIsJudgedAsDeclaredIs(t *testing.T) {
	t.Parallel()
	for _, f := range settings() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			refused := 0
			for _, value := range triedValues(f) {
				c := job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 3}
				f.set(&c, value)
				if f.Name == "Name" && c.Name != "" {
					continue // another name than the folder's, which a declaration cannot have
				}
				declared := c.Validate()
				if declared != nil {
					refused++
				}
				require.Equal(t, blamed(declared), blamed(judged(asStored(t, c))), "%v\n%v\n%v", value, declared, judged(asStored(t, c)))
			}
			free := []string{"JobParameter", "Description", "Unmonitored", "Disabled", "Java.Overwrite", "ErrorHandler", "ExecutorServiceHandler", "ShardingStrategy", "Failover", "StartTime", "EndTime"}
			require.Equal(t, !slices.Contains(free, f.Name), refused > 0, "%d were refused", refused)
		})
	}
}

// The same with several faults at once, which are all named.
func TestStoredIsJudgedAsDeclaredIsInAnyMixture(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 3}
		for _, f := range settings() {
			if f.Name == "Name" || rapid.IntRange(0, 9).Draw(t, f.Name) > 1 {
				continue
			}
			value := rapid.SampledFrom(triedValues(f)).Draw(t, f.Name)
			f.set(&c, value)
		}
		declared, stored := c.Validate(), judged(asStored(t, c))
		if _, err := jobtree.DecodeConfig(registry.Node{Value: asStored(t, c)}); err != nil {
			// What Java could not read is not read, and the rest of it not judged.
			require.Error(t, declared)
			require.Subset(t, blamed(declared), blamed(stored))
			return
		}
		require.Equal(t, blamed(declared), blamed(stored))
		require.Equal(t, declared == nil, stored == nil)
	})
}

func TestEveryFieldHasAMember(t *testing.T) {
	t.Parallel()
	for _, f := range fields() {
		if f.Name != "Unknown" {
			require.NotEqual(t, f.Name, jobtree.MemberOf(f.Name))
		}
	}
	for field, member := range map[string]string{
		"Name": "jobName", "ShardingStrategy": "jobShardingStrategyClass", "ErrorHandler": "jobProperties.job_exception_handler",
		"Misfire": "misfirePolicy", "Timeout": "timeoutSeconds", "Java.MonitorPort": "monitorPort", "Unknown": "Unknown", "": "", "Nonsense": "Nonsense",
	} {
		require.Equal(t, member, jobtree.MemberOf(field))
	}
}

func TestWhatJavaAcceptsIsAWarning(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*job.Config){
		"failover without monitoring":  func(c *job.Config) { c.Failover, c.Unmonitored = true, true },
		"parameters beyond the count":  func(c *job.Config) { c.ShardingItemParameters = "7=H" },
		"a port that is none":          func(c *job.Config) { c.Java.MonitorPort = -2 },
		"a text almost a reference":    func(c *job.Config) { c.Props = map[string]string{"http.data": "env: prod"} },
		"a member that nobody knows":   func(c *job.Config) { c.Unknown = `"misfirePolcy":"all"` },
		"a member of a later version":  func(c *job.Config) { c.Unknown = `"priority":{"lane":5}` },
		"several unknown ones":         func(c *job.Config) { c.Unknown = `"a":1,"retrys":[3]` },
		"a secret that nobody expects": func(c *job.Config) { c.Unknown = `"mailPassword":"swordfish"` },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 3}
			change(&c)
			warnings, faulty := jobtree.CheckConfig("orders", c)
			require.NoError(t, faulty)
			require.ErrorIs(t, warnings, jobtree.ErrInvalidValue)
			require.NotContains(t, warnings.Error(), "swordfish")
		})
	}
}

// What is mild in one way is not in every way.
func TestFaultsThatStopAJob(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*job.Config){
		"parameters that cannot be read":    func(c *job.Config) { c.ShardingItemParameters = "0=A=B" },
		"parameters that are no text":       func(c *job.Config) { c.ShardingItemParameters = "0=\xff" },
		"a port beyond all ports":           func(c *job.Config) { c.Java.MonitorPort = 70_000 },
		"a setting that is no text":         func(c *job.Config) { c.Props = map[string]string{"http.data": "\xff"} },
		"a setting whose name is none":      func(c *job.Config) { c.Props = map[string]string{"\xff": "env: prod"} },
		"beside failover that has no sense": func(c *job.Config) { c.Failover, c.Unmonitored, c.FailoverLimit = true, true, 1_001 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 3}
			change(&c)
			_, faulty := jobtree.CheckConfig("orders", c)
			require.ErrorIs(t, faulty, job.ErrInvalidConfig)
			require.Len(t, faulty.(interface{ Unwrap() []error }).Unwrap(), 1, "%v", faulty)
		})
	}
}

func TestUnknownMembersAreNamedWithWhatMayHaveBeenMeant(t *testing.T) {
	t.Parallel()
	for member, meant := range map[string]string{
		"misfirePolcy": "misfirePolicy", "misfirepolicy": "misfirePolicy", "timeoutsSecond": "timeoutSeconds",
		"shardingTotalcount": "shardingTotalCount", "Retries": "retries", "timezone": "timeZone", "tiemZone": "timeZone",
		"priority": "", "x": "", strings.Repeat("misfirePolicy", 1000): "",
	} {
		c := job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 3}
		c.Unknown = fmt.Sprintf(`%q:5`, member)
		warnings, faulty := jobtree.CheckConfig("orders", c)
		require.NoError(t, faulty)
		require.ErrorContains(t, warnings, "/orders/config: "+texts.Shorten(member))
		if meant == "" {
			require.NotContains(t, warnings.Error(), "may have been meant", "%s", member)
			continue
		}
		require.ErrorContains(t, warnings, "; "+meant+" may have been meant")
	}
}

// Every fault of what is stored is named at once, with member, value and what is allowed.
func TestFaultsOfWhatIsStored(t *testing.T) {
	t.Parallel()
	c := job.Config{Name: "bills", Cron: "0 61 * * * ?", ShardingTotalCount: 3}
	c.Misfire, c.Timeout = "each", -5*time.Second
	warnings, faulty := jobtree.CheckConfig("orders", c)
	require.NoError(t, warnings)
	require.ErrorIs(t, faulty, job.ErrInvalidConfig)
	for _, want := range []string{
		`/orders/config: misfirePolicy is "each", must be empty or one of once, all, skip`,
		`/orders/config: timeoutSeconds is "-5", must be between 0 and 31536000`,
		`/orders/config: cron is "0 61 * * * ?", must be a cron expression: `,
		`/orders/config: jobName is "bills", must be "orders", as the path has it`,
	} {
		require.ErrorContains(t, faulty, want)
	}
	err := judged(`{"jobName":"","jobType":"simple","jobClass":5,"cron":true,"shardingTotalCount":0,"failover":"yes","timeoutSeconds":1.5}`)
	require.Equal(t, []string{"cron", "failover", "jobName", "jobType", "shardingTotalCount", "timeoutSeconds"}, blamed(err))
}

// Settings may have several faults: each is told, and of none what may be a secret.
func TestEachFaultOfSettingsIsOfWhatIsStored(t *testing.T) {
	t.Parallel()
	p := job.ReadProps(map[string]string{"chat.webhook": "ttps://robot?access_token=swordfish", "chat.tries": "many"})
	p.WebAddress("chat.webhook")
	p.Number("chat.tries", 1, 1, 9)
	err := jobtree.StoredError("/orders/config", fmt.Errorf("error handler CHAT: %w", errors.Join(p.Err(), errors.New("and more"))))
	require.EqualError(t, err, `/orders/config: props.chat.webhook is "***", must be an address such as https://example.org/path
/orders/config: props.chat.tries is "many", must be a whole number between 1 and 9
and more`)
	require.ErrorIs(t, err, job.ErrInvalidConfig)
	one := &job.FieldError{Field: "Props chat.tries", Value: "many", Reason: "must be 1"}
	require.EqualError(t, jobtree.StoredError("/orders/config", fmt.Errorf("chat: %w", one)), `/orders/config: props.chat.tries is "many", must be 1`)
}

func TestWhereJSONIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{\n  \"jobName\": \"a\",\n  \"cron\" \"x\"\n}": "line 3, column 10: invalid character",
		`{"a":1`:       "line 1, column 6: unexpected end",
		"{\"a\":1}\n}": "line 2, column 1: invalid character",
		"":             "of Elastic-Job 1.x",
	} {
		require.ErrorContains(t, judged(text), want, "%s", text)
	}
}

// However large a value is, an error repeats only its beginning.
func TestErrorsAreBounded(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("ä", 500_000) // near all that etcd takes in a request
	for f := range reflect.TypeFor[job.Config]().Fields() {
		if f.Type.Kind() != reflect.String || f.Name == "Unknown" {
			continue
		}
		c := job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 3}
		reflect.ValueOf(&c).Elem().FieldByIndex(f.Index).Set(reflect.ValueOf(huge).Convert(f.Type))
		if err := c.Validate(); err != nil {
			require.Less(t, len(err.Error()), 4_000, "%s", f.Name)
			require.True(t, strings.ToValidUTF8(err.Error(), "?") == err.Error())
		}
		_, faulty := jobtree.CheckConfig("orders", c)
		if faulty != nil {
			require.Less(t, len(faulty.Error()), 4_000, "%s", f.Name)
		}
	}
	for _, text := range []string{huge, `{"jobName":"` + huge, `{"` + huge + `":1}`, `{"jobName":{"a":"` + huge + `"}}`, `{"props":{"a":["` + huge + `"]}}`} {
		err := judged(text)
		require.Error(t, err)
		require.Less(t, len(err.Error()), 4_000)
	}
}
