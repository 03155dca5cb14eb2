package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// verb is one run of a command that operates jobs.
type verb struct {
	program *program
	conn    *connection
	opts    operate.Options
	yes     bool
	timeout time.Duration
	output  format

	secrets bool                               // plans show them
	opened  map[string][]jobtree.ChangedMember // of jobs: what plans show, with secrets

	asks bool // it asks before it acts, unless --yes is given
	in   io.Reader
	out  io.Writer
	news io.Writer // of progress, and for questions
	told *teller   // which tells how far a job has followed
	op   operations
	at   place
	life context.Context //nolint:containedctx // that of the command: signals end it
	ctx  context.Context //nolint:containedctx // within life, for as long as may be waited
	stop context.CancelFunc
}

// newVerb gives a command the flags of all operations, and what it does with an operator.
func newVerb(p *program, cmd *cobra.Command, do func(v *verb, args []string) error) *verb {
	v := &verb{program: p}
	flags := cmd.Flags()
	v.conn = newConnection(p, flags)
	flags.BoolVar(&v.opts.DryRun, "dry-run", false, "only tell what would be done")
	flags.StringVar(&v.opts.Reason, "reason", "", "why, for whoever reads it later")
	flags.StringVar(&v.opts.ID, "id", "", "id of the operation; one that was done before is not done again (default: a new one)")
	flags.BoolVar(&v.opts.Force, "force", false, "consent to what is refused without consent")
	flags.BoolVarP(&v.yes, "yes", "y", false, "do not ask")
	flags.BoolVar(&v.opts.Wait, "wait", false, "return when the jobs have followed")
	flags.DurationVar(&v.timeout, "timeout", 0, "how long to wait, such as 5m; then the exit status is 5 (default: for ever)")
	outputFlag(flags, &v.output, formatJSON, formatYAML)
	completes(cmd, v.conn, jobNames)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if v.timeout < 0 {
			return misuse("--timeout is %s, want a time such as 5m", v.timeout)
		}
		v.in, v.out, v.news = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
		v.conn.news = v.news
		ctx, restore := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer restore()
		return v.conn.with(ctx, func(at place) (err error) {
			v.at = at
			if err := v.opts.SetKey(v.opts.ID); err != nil {
				return judged(err)
			}
			if v.op, err = operating(at, p.who(v.conn.etcd.User()), agent()); err != nil {
				return err
			}
			v.life = ctx
			v.waits()
			defer func() { v.stop() }()
			v.told = p.teller(v.news)
			v.opts.Progress = func(p operate.Progress) { v.told.tell(progressText(p)) }
			return judged(do(v, args))
		})
	}
	return v
}

// waits has the time of --timeout begin: when the command does, and again when somebody has been asked, or has written. How
// long people think is not what it bounds.
func (v *verb) waits() {
	if v.stop != nil {
		v.stop()
	}
	if v.ctx, v.stop = v.life, func() {}; v.timeout > 0 {
		v.ctx, v.stop = context.WithTimeout(v.life, v.timeout)
	}
}

// judged gives what an operation returned its exit status.
func judged(err error) error {
	var unconfirmed *operate.UnconfirmedError
	var some *operate.SomeFailedError
	var items *operate.ItemsFailedError
	_, refused := operate.IsRefused(err)
	refused = refused || errors.Is(err, registry.ErrDenied)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &some):
		return someJudged(err, some)
	case errors.As(err, &items):
		return statusError{exitSome, err}
	case errors.As(err, &unconfirmed):
		return statusError{exitWaited, err}
	case statusOf(err) != exitFailed:
		return err // it has one
	case refused:
		return statusError{exitRefused, err}
	case errors.Is(err, operate.ErrInvalidOption):
		return usageError{err}
	default:
		return err
	}
}

// someJudged gives the results of several jobs their exit status: what they failed with if none was done, or if all
// were and some have not followed in time.
func someJudged(err error, some *operate.SomeFailedError) error {
	failed := some.Failed()
	status := statusOf(judged(failed[0].Err))
	for _, other := range failed[1:] {
		if statusOf(judged(other.Err)) != status {
			status = exitSome
		}
	}
	if status != exitWaited && len(failed) < len(some.Results) {
		status = exitSome
	}
	return statusError{status, err}
}

// onOneJob is an operation on one job, as the operator has it.
type onOneJob func(ctx context.Context, opts operate.Options) (operate.Result, error)

// one carries out an operation on one job. Where it asks, it shows the plan, and does what it has shown or nothing.
func (v *verb) one(do onOneJob) error {
	opts := v.opts
	if v.asks && !v.yes && !opts.DryRun {
		opts.DryRun = true
		result, err := do(v.ctx, opts)
		if err != nil {
			return err
		}
		if err := v.ask(planText(v.shownPlan(result.Plan))); err != nil {
			return err
		}
		opts.DryRun, opts.Shown = false, &result.Plan
	}
	result, err := do(v.ctx, opts)
	v.told.end()
	if errors.Is(err, registry.ErrUnknownOutcome) {
		return repeatable(err, operate.Options{ID: result.ID, Since: result.State}.Key())
	}
	var unconfirmed *operate.UnconfirmedError
	if err != nil && !errors.As(err, &unconfirmed) {
		return err
	}
	if failed := result.Progress.Failed(); err == nil && len(failed) > 0 {
		err = &operate.ItemsFailedError{Items: failed}
	}
	if shown := v.show(result, err); shown != nil {
		return shown
	}
	return err
}

// repeatable says what to do after an answer that was lost.
func repeatable(err error, key string) error {
	return fmt.Errorf("%w; repeat the command with --id %s, which does nothing twice", err, key)
}

// show writes the result of an operation that was done, or begun; err says what is not well with it.
func (v *verb) show(result operate.Result, err error) error {
	result.Plan = v.shownPlan(result.Plan)
	if v.output != formatTable {
		return v.output.write(v.out, result)
	}
	_, shown := io.WriteString(v.out, resultText(result, v.opts.DryRun, err))
	return shown
}

// errAborted is the answer of somebody who does not agree.
var errAborted = errors.New("nothing was done")

// ask shows what is about to be done and waits for a yes.
func (v *verb) ask(plan string) error {
	if !v.program.asked(v.in) {
		return misuse("nobody can be asked, as the input is no terminal: look with --dry-run, and give --yes")
	}
	if _, err := fmt.Fprintf(v.news, "%sGo on? (y/N) ", plan); err != nil {
		return err
	}
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := bufio.NewReader(v.in).ReadString('\n')
		read <- line{text, err}
	}()
	var answer line
	select {
	case answer = <-read:
	case <-v.life.Done(): // nothing else ends the reading
		return errAborted
	}
	if answer.err != nil && !errors.Is(answer.err, io.EOF) {
		return answer.err
	}
	switch strings.ToLower(strings.TrimSpace(answer.text)) {
	case "y", "yes":
		v.waits()
		return nil
	default:
		return errAborted
	}
}

// planText says what an operation comes to.
func planText(p operate.Plan) string {
	var text strings.Builder
	line := func(format string, args ...any) { text.WriteString(printable(fmt.Sprintf(format, args...)) + "\n") }
	line("%s", p)
	for _, c := range p.Changes {
		line("  ~ %s", c)
	}
	for i, m := range p.Moves {
		if i == fewMoves {
			line("  and %d more items move", len(p.Moves)-fewMoves)
			break
		}
		line("  > %s", m)
	}
	for _, next := range p.Next {
		line("  next %s", next.Format("Mon 2006-01-02 15:04:05 MST"))
	}
	for _, w := range slices.Concat(p.Warnings, p.Notes) {
		line("  ! %s", w)
	}
	return text.String()
}

// fewMoves is how many items that move are listed.
const fewMoves = 10

// nothingDone ends what is told of a dry run.
const nothingDone = "Nothing was done: this is what would be done without --dry-run."

func resultText(r operate.Result, dry bool, err error) string {
	text := planText(r.Plan)
	if len(r.Progress.Items) > 0 {
		text += progressTable(r.Progress)
	}
	var unconfirmed *operate.UnconfirmedError
	switch {
	case dry:
		return text + nothingDone + "\n"
	case r.Repeated:
		return text + fmt.Sprintf("Was done before, as operation %s.\n", r.ID)
	case errors.As(err, &unconfirmed):
		return text + fmt.Sprintf("Not confirmed yet: operation %s, revision %d.\n", r.ID, r.Revision)
	case err != nil:
		return text + fmt.Sprintf("Done, and items failed: operation %s, revision %d.\n", r.ID, r.Revision)
	default:
		return text + fmt.Sprintf("Done: operation %s, revision %d.\n", r.ID, r.Revision)
	}
}

// progressTable lists how far the items have come with a trigger.
func progressTable(p operate.Progress) string {
	rows := [][]string{{"ITEM", "INSTANCE", "STATE", "TOOK", "TOKEN", "ERROR"}}
	for _, it := range p.Items {
		took := none
		if it.Took > 0 {
			took = brief(it.Took)
		}
		rows = append(rows, []string{fmt.Sprint(it.Item), orDash(it.Instance), string(it.State), took, tokenText(it.Token), orDash(it.Error)})
	}
	return tableOf(rows)
}

// target is what an argument such as item/orders/3 names.
type target struct {
	kind, name string
	item       int
}

// kinds are what arguments may begin with.
var kinds = map[string]string{
	"job": "job", "jobs": "job", "j": "job", "item": "item", "items": "item", "server": "server", "servers": "server", "instance": "instance", "instances": "instance",
}

// targetOf reads an argument. allowed are the kinds of things that the command is about.
func targetOf(text string, allowed ...string) (target, error) {
	word, name, _ := strings.Cut(text, "/")
	t := target{kind: kinds[word], name: name}
	for _, kind := range allowed {
		if kind != t.kind || name == "" {
			continue
		}
		if kind != "item" {
			return t, nil
		}
		job, number, found := cutLast(name)
		if _, err := fmt.Sscan(number, &t.item); err == nil && found && job != "" && fmt.Sprint(t.item) == number && t.item >= 0 {
			t.name = job
			return t, nil
		}
	}
	shapes := map[string]string{"job": "job/NAME", "item": "item/JOB/NUMBER", "server": "server/IP", "instance": "instance/ID"}
	var want []string
	for _, kind := range allowed {
		want = append(want, shapes[kind])
	}
	meant := ""
	if slices.Contains(allowed, "job") && !strings.Contains(text, "/") && text != "" {
		meant = fmt.Sprintf("; did you mean job/%s?", text)
	}
	return target{}, misuse("%q is given, want %s%s", text, strings.Join(want, " or "), meant)
}

// bare returns the name in an argument such as job/orders, as -o name writes it, where there can be one kind of things only.
// Neither kind may have a slash in its name.
func bare(kind, text string) string {
	if word, name, found := strings.Cut(text, "/"); found && kinds[word] == kind && name != "" {
		return name
	}
	return text
}

// bareJobs is bare for arguments that name jobs.
func bareJobs(args []string) []string {
	names := make([]string, 0, len(args))
	for _, arg := range args {
		names = append(names, bare("job", arg))
	}
	return names
}

func cutLast(text string) (before, after string, found bool) {
	i := strings.LastIndexByte(text, '/')
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}
