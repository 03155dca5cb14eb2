package job

import (
	"maps"
	"reflect"
	"time"
)

// Differences names the fields in which two configurations of a job differ, in the order of their
// declaration, such as "Cron" or "Java.MonitorPort". A default that is spelt out equals a zero value, and two
// classes are equal if [Config.ClassName] is. Two fields are not compared: Java.Overwrite, which is about a
// declaration and not about the job, and Unknown, which the registry keeps whoever declares the job.
func (c Config) Differences(other Config) []string {
	c, other = c.plain(), other.plain()
	c.Java.Overwrite, other.Java.Overwrite = false, false
	c.Unknown, other.Unknown = "", ""
	return differences("", reflect.ValueOf(c), reflect.ValueOf(other))
}

// differences goes into the fields that are groups of settings.
func differences(prefix string, one, two reflect.Value) (fields []string) {
	for i := range one.NumField() {
		name := prefix + one.Type().Field(i).Name
		switch a := one.Field(i).Interface().(type) {
		case Java:
			fields = append(fields, differences(name+".", one.Field(i), two.Field(i))...)
		case time.Time:
			if !a.Equal(two.Field(i).Interface().(time.Time)) {
				fields = append(fields, name)
			}
		case map[string]string:
			if !maps.Equal(a, two.Field(i).Interface().(map[string]string)) {
				fields = append(fields, name)
			}
		default:
			if a != two.Field(i).Interface() {
				fields = append(fields, name)
			}
		}
	}
	return fields
}

// plain returns the configuration without the defaults that it spells out: two that mean the same are equal
// then, apart from what they say to nobody.
func (c Config) plain() Config {
	c.Class = c.ClassName()
	c.Type = Type(c.Type.String())
	c.Misfire = MisfirePolicy(c.Misfire.String())
	c.FailoverScope = FailoverScope(c.FailoverScope.String())
	c.ClockPolicy = ClockPolicy(c.ClockPolicy.String())
	c.DaylightSaving = DaylightSaving(c.DaylightSaving.String())
	c.FailoverLimit = plainNumber(c.FailoverLimit, DefaultFailoverLimit)
	c.MisfireMax = plainNumber(c.MisfireMax, DefaultMisfireMax)
	c.RetryBackoff = plainNumber(c.RetryBackoff, DefaultRetryBackoff)
	c.ReconcileInterval = plainNumber(c.ReconcileInterval, DefaultReconcileInterval)
	return c
}

// plainNumber returns a number whose zero is the default and whose negatives are none: 0 for the default, -1 for none.
func plainNumber[T int | time.Duration](set, standard T) T {
	if set == standard {
		return 0
	}
	return max(-1, set)
}
