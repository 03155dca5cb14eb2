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
	c, other = c.inForce(), other.inForce()
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
