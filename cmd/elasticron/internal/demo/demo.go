package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/fileindex"
	"github.com/elasticron/elasticron/cmd/elasticron/internal/tally"
	"github.com/elasticron/elasticron/registry/etcd"
)

// Run shows the demo. It returns when no process, server or folder of it is left.
//
// Errors: [ErrInexact] if the check failed, [ErrInterrupted] if ctx ended before everything was
// shown, [ErrInvalidOption], and whatever kept the demo from running.
func Run(ctx context.Context, opts Options) error {
	if err := opts.Check(); err != nil {
		return err
	}
	dir, err := sources(ctx, opts.Dir)
	if err != nil {
		return err
	}
	opts.Dir = dir
	tell := &narrator{out: opts.Out, colour: opts.Colour, began: time.Now()}
	truth, every, err := measure(ctx, opts)
	if err != nil {
		return err
	}
	opts.Every = every
	if opts.Rounds == 0 {
		opts.Rounds = max(8, int(18*time.Second/every))
	}
	introduce(tell, opts, truth.Whole)
	return stage(ctx, opts, tell, tally.NewJudge(truth, every))
}

// measure counts the tree, and says how often this machine can.
func measure(ctx context.Context, opts Options) (fileindex.Truth, time.Duration, error) {
	tree := os.DirFS(opts.Dir)
	began := time.Now()
	truth, err := fileindex.Count(ctx, tree, opts.Items)
	if err != nil {
		return truth, 0, err
	}
	if truth.Whole.Files == 0 {
		return truth, 0, fmt.Errorf("%s holds no file to count", opts.Dir)
	}
	if opts.Every != 0 {
		return truth, opts.Every, nil
	}
	took := time.Since(began)
	if took > leastEvery/10 { // the first time, files may have come from the disk
		began = time.Now()
		if truth, err = fileindex.Count(ctx, tree, opts.Items); err != nil {
			return truth, 0, err
		}
		took = min(took, time.Since(began))
	}
	return truth, period(took, opts.Items), nil
}

// period returns how often rounds can come if counting the tree takes that long, in whole seconds.
// Every item looks through the whole tree for its files, which is about a fifth of counting them.
func period(took time.Duration, items int) time.Duration {
	round := took + took*time.Duration(items)/5
	return max(leastEvery, (round + time.Second - 1).Truncate(time.Second))
}

func introduce(tell *narrator, opts Options, whole fileindex.Sum) {
	tell.text(accent, "Elasticron demo: %d processes share a job of %d items; one will be killed, another will join.", opts.Processes, opts.Items)
	tell.text(plain, "Every %s, each item reads its share of %s: the files whose paths hash to its number.", opts.Every, opts.Dir)
	tell.text(plain, "Together they must count what was counted beforehand, each file once: %s files, %s lines, %s.",
		grouped(int64(whole.Files)), grouped(whole.Lines), size(whole.Bytes))
	tell.text(plain, "")
}

// stage sets up what the show needs, has it run, and clears up.
func stage(ctx context.Context, opts Options, tell *narrator, judge *tally.Judge) (err error) {
	logs, done, err := openLog(opts.Log)
	if err != nil {
		return err
	}
	defer func() { err = done(err) }()
	set := settings{
		Namespace: "elasticron-demo-" + strings.ToLower(rand.Text()[:8]),
		Dir:       opts.Dir, Items: opts.Items, Every: opts.Every,
	}
	endpoints, stopServer, err := store(ctx, opts.Endpoints, set.Namespace, tell)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopServer()) }()
	set.Endpoints = endpoints
	reg, err := etcd.Open(ctx, etcd.Config{Endpoints: endpoints, Namespace: set.Namespace})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeAll(context.WithoutCancel(ctx), reg)) }()
	closeConsole, err := openConsole(ctx, opts.Console, reg, tell)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeConsole()) }()
	follower, err := follow(context.WithoutCancel(ctx), reg)
	if err != nil {
		return err
	}
	d := &director{
		opts: opts, tell: tell, judge: judge, follow: follower,
		crew:   newCrew(opts.Command, set, logs),
		script: script{rounds: opts.Rounds, keep: opts.Keep, every: opts.Every},
	}
	err = d.run(ctx)
	summarise(tell, judge)
	if len(judge.Faults()) > 0 {
		err = errors.Join(ErrInexact, err)
	}
	return err
}
