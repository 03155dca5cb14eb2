package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// gocronWithMutex runs each item as a job of its own, for gocron knows no items: whoever gets the job's mutex runs the
// fire, and lets go of it at the end, as the lockers do that gocron's own page names.
func gocronWithMutex(ctx context.Context, a assignment, run runs, ready func()) error {
	client, err := clientv3.New(clientv3.Config{Endpoints: a.Stores, DialTimeout: 5 * time.Second})
	if err != nil {
		return err
	}
	session, err := concurrency.NewSession(client)
	if err != nil {
		return errors.Join(err, client.Close())
	}
	s, err := gocron.NewScheduler(gocron.WithLocation(time.UTC), gocron.WithDistributedLocker(mutexes{session, a.Namespace}))
	if err != nil {
		return errors.Join(err, session.Close(), client.Close())
	}
	for n := range a.Work.Jobs {
		for item := range a.Work.Items {
			_, err := s.NewJob(
				gocron.CronJob(a.Work.unixSeconds(), true),
				gocron.NewTask(run, n, item, time.Time{}),
				gocron.WithName(fmt.Sprintf("%s/%d", jobName(n), item)),
			)
			if err != nil {
				return errors.Join(err, s.Shutdown(), session.Close(), client.Close())
			}
		}
	}
	s.Start()
	ready()
	<-ctx.Done()
	return errors.Join(s.Shutdown(), session.Close(), client.Close())
}

// mutexes are gocron's locks, as mutexes in etcd of one session.
type mutexes struct {
	session   *concurrency.Session
	namespace string
}

// Lock implements [gocron.Locker].
func (m mutexes) Lock(ctx context.Context, key string) (gocron.Lock, error) {
	mutex := concurrency.NewMutex(m.session, "/"+m.namespace+"/"+key)
	if err := mutex.TryLock(ctx); err != nil {
		return nil, err
	}
	return mutex, nil
}
