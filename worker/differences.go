package worker

import (
	"reflect"
	"slices"
	"strings"
)

// counts are the sections and members that count at once when a file is reloaded, and restarts those in them that count
// only after a restart. Whatever else differs counts only after a restart, too.
var (
	counts   = []string{"take", "jobs", "script", "http", "grace"}
	restarts = []string{"script.cgroup", "http.secrets"}
)

// needRestart names the members in which another file differs and which a reload does not change, as the file has them.
func (f File) needRestart(next File) []string {
	later := func(name string) bool {
		within := func(section string) bool { return name == section || strings.HasPrefix(name, section+".") }
		switch {
		case name == "script" || name == "http": // the whole section comes or goes
			return true
		case within("jobs"): // as the folder does
			return (f.Jobs.Directory == "") != (next.Jobs.Directory == "")
		case slices.ContainsFunc([]string{"script.memory", "script.pids", "script.cpu"}, within):
			return f.Script.Cgroup != next.Script.Cgroup
		default:
			return !slices.ContainsFunc(counts, within) || slices.ContainsFunc(restarts, within)
		}
	}
	names := differences("", reflect.ValueOf(f), reflect.ValueOf(next))
	return slices.DeleteFunc(names, func(name string) bool { return !later(name) })
}

// differences names the members in which two values of a type differ.
func differences(name string, a, b reflect.Value) (names []string) {
	switch {
	case a.Kind() == reflect.Pointer && !a.IsNil() && !b.IsNil():
		return differences(name, a.Elem(), b.Elem())
	case a.Kind() == reflect.Struct:
		for i := range a.NumField() {
			member := strings.TrimPrefix(name+"."+a.Type().Field(i).Tag.Get("yaml"), ".")
			names = append(names, differences(member, a.Field(i), b.Field(i))...)
		}
		return names
	case (a.Kind() == reflect.Slice || a.Kind() == reflect.Map) && a.Len() == 0 && b.Len() == 0:
		return nil // however that is written
	case reflect.DeepEqual(a.Interface(), b.Interface()):
		return nil
	}
	return []string{name}
}
