package job

import (
	"reflect"
	"time"
)

// Differences names the fields in which two configurations of a job differ, in the order of their
// declaration. Overwrite and Unknown are not compared: the first is about the declaration and not
// about the job, and the second is kept whoever declares. Two classes are the same if
// [Config.ClassName] is.
func (c Config) Differences(other Config) []string {
	c.Class, other.Class = c.ClassName(), other.ClassName()
	c.Overwrite, other.Overwrite = false, false
	c.Unknown, other.Unknown = "", ""
	one, two := reflect.ValueOf(c), reflect.ValueOf(other)
	var fields []string
	for i := range one.NumField() {
		if !equal(one.Field(i).Interface(), two.Field(i).Interface()) {
			fields = append(fields, one.Type().Field(i).Name)
		}
	}
	return fields
}

func equal(a, b any) bool {
	if at, is := a.(time.Time); is {
		return at.Equal(b.(time.Time))
	}
	return reflect.DeepEqual(a, b)
}
