package operate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elasticron/elasticron/internal/javarules"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/httpjob"
	"github.com/elasticron/elasticron/job/script"
	"github.com/elasticron/elasticron/registry"
)

// checkText judges a configuration that is to be stored.
func (w *world) checkText(d *decision, text string) (job.Config, error) {
	node := registry.Node{Value: text} // and no path, as it is not stored yet
	if w.elasticJob3() && jobtree.LayoutOfConfig(text) != jobtree.ElasticJob3 {
		return job.Config{}, refuse(CauseInvalid, "give the YAML as it is stored, with what is to change", "the settings of this job are the YAML of ElasticJob 3.x")
	}
	cfg, err := w.decode(node)
	if err != nil {
		return cfg, invalid(err)
	}
	checked := cfg
	if w.elasticJob3() { // which knows what it has written
		checked.Unknown = ""
	}
	warnings, faulty := jobtree.CheckNewConfig(w.tree.Job(), checked)
	if !w.elasticJob3() {
		faulty = errors.Join(faulty, jobtree.CheckExact(node), w.newlyTyped(node))
	}
	over, never := jobtree.CheckFires(w.settled(), cfg, w.now)
	if faulty = errors.Join(faulty, never); faulty != nil {
		return cfg, invalid(faulty)
	}
	switch {
	case over == nil:
	case w.force || !w.state.Config.Exists(): // what has finished may be stored again
		d.warn(over.Error())
	default:
		r := refuse(CauseInvalid, "force it if the job is to end", "")
		r.Err, r.Forcible = over, true
		return cfg, r
	}
	if warnings != nil {
		for warning := range strings.SplitSeq(warnings.Error(), "\n") {
			d.warn(warning)
		}
	}
	warnOfCode(d, cfg, w.shared)
	warnOfProps(d, cfg)
	if r := w.beyondJava(d, cfg); r != nil {
		return cfg, r
	}
	return cfg, nil
}

// settled returns the configuration that is stored; nil if there is none, or it cannot be read.
func (w *world) settled() *job.Config {
	if !w.state.Config.Exists() || w.state.Config.Err != nil {
		return nil
	}
	return &w.state.Config.Value
}

// newlyTyped tells of members for jobs of another type that are not stored already.
func (w *world) newlyTyped(node registry.Node) error {
	return jobtree.CheckNewlyTyped(node, w.snapshot.Get(w.tree.Config()).Value)
}

// warnOfCode tells of settings with which a job's processes would pause it, as their code makes nothing of them. They may be
// of a later version, which knows more.
func warnOfCode(d *decision, cfg job.Config, shared bool) {
	for _, fault := range codeFaults(cfg, shared) {
		d.warn("the job would pause: " + fault)
	}
}

// codeFaults returns what the code of scripts and calls makes nothing of in settings that are allowed, without their values,
// which may be secret. A script's command line may be quoted as Java reads it, too, if quotedEitherWay.
func codeFaults(cfg job.Config, quotedEitherWay bool) []string {
	switch cfg.ClassName() {
	case job.ScriptClass:
		return scriptFaults(cfg, quotedEitherWay)
	case httpjob.Class:
		return callFaults(cfg)
	default: // its code is not ours
		return nil
	}
}

func scriptFaults(cfg job.Config, quotedEitherWay bool) []string {
	if cfg.Type != job.TypeScript {
		return []string{"jobType must be SCRIPT, as the code of this class runs scripts"}
	}
	_, err := script.CommandLine(cfg)
	if err != nil && quotedEitherWay {
		_, err = script.JavaWords(cmp.Or(cfg.ScriptCommandLine, cfg.Props[script.Property]))
	}
	if err != nil {
		return []string{"scriptCommandLine must be a command line that begins with a program, whose quotes are closed, with no backslash at its end"}
	}
	return nil
}

func callFaults(cfg job.Config) (faults []string) {
	err := httpjob.Check(cfg)
	all := []error{err}
	if joined := (interface{ Unwrap() []error })(nil); errors.As(err, &joined) {
		all = joined.Unwrap()
	}
	for _, fault := range all {
		var field *job.FieldError
		if errors.As(fault, &field) {
			faults = append(faults, field.Field+" "+field.Reason)
		}
	}
	return faults
}

// The props that begin so are for Elasticron itself. There is one, which package worker heeds: that imports this one.
const (
	ourProps  = "elasticron."
	needsProp = ourProps + "needs"
)

// warnOfProps tells of props that look like one that Elasticron heeds, and are none: a job whose needs are misspelt runs on
// every worker.
func warnOfProps(d *decision, cfg job.Config) {
	for _, name := range slices.Sorted(maps.Keys(cfg.Props)) {
		if name != needsProp && strings.HasPrefix(strings.ToLower(name), ourProps) {
			d.warn(fmt.Sprintf("Props %s is heeded by nobody, unless a later version does: there is %s", name, needsProp))
		}
	}
}

// beyondJava refuses what Java instances could not read or run, where they take part or may, and what is stored does not
// have already. Where none lives, that is up to the operator.
func (w *world) beyondJava(d *decision, cfg job.Config) *Refusal {
	if !w.shared {
		return nil
	}
	longest := ""
	for _, id := range w.instances() {
		if len(id) > len(longest) {
			longest = id
		}
	}
	rules, force := javarules.Faults, !w.java
	if w.elasticJob3() { // which refuses the whole configuration, and every process of the job reads it by the same rules
		rules, force = javarules.Faults3, false
	}
	known := make(map[string]bool)
	if w.state.Config.Exists() && w.state.Config.Err == nil {
		for _, fault := range rules(w.root, longest, w.state.Config.Value) {
			known[fault.Error()] = true
		}
	}
	faults := slices.DeleteFunc(rules(w.root, longest, cfg), func(fault error) bool { return known[fault.Error()] })
	if len(faults) == 0 {
		return nil
	}
	if w.force && force {
		for _, fault := range faults {
			d.warn("no Java instance could run the job: " + fault.Error())
		}
		return nil
	}
	r := refuse(CauseInvalid, "store what Java can run", "")
	if r.Err, r.Forcible = errors.Join(faults...), force; r.Forcible {
		r.Do = "force it if no Java instance is to run the job"
	}
	return r
}

// lowered refuses fewer items than there are without consent, and says what happens to those.
func (w *world) lowered(d *decision, after job.Config) *Refusal {
	total := w.state.Config.Value.ShardingTotalCount // to which somebody has consented, whether or not it is in force yet
	if w.state.Config.Err != nil {
		total = w.state.Total()
	}
	if after.ShardingTotalCount >= total {
		return nil
	}
	gone := fmt.Sprintf("items %d to %d end: their missed fires are dropped, and they run no more", after.ShardingTotalCount, total-1)
	if after.ShardingTotalCount == total-1 {
		gone = fmt.Sprintf("item %d ends: its missed fires are dropped, and it runs no more", total-1)
	}
	if !w.force {
		r := refuse(CauseInvalid, "force it if they are to end", "the total count goes from %d to %d: %s", total, after.ShardingTotalCount, gone)
		r.Forcible = true
		return r
	}
	d.warn(gone)
	return nil
}
