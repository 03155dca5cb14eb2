package worker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/worker"
)

func TestWhatAWorkerTakes(t *testing.T) {
	t.Parallel()
	scripts, calls := worker.Take{Classes: []string{worker.ClassScript}}, worker.Take{Classes: []string{worker.ClassHTTP}}
	needing := func(needs string) job.Config {
		return job.Config{Name: "orders-mail", Class: "HTTP", Props: map[string]string{worker.NeedsProperty: needs}}
	}
	with := func(change func(*worker.Take)) worker.Take {
		take := worker.Take{Classes: []string{worker.ClassScript, worker.ClassHTTP}, Labels: map[string]string{"zone": "eu", "disk": "ssd", "gpu": ""}}
		change(&take)
		return take
	}
	named := func(patterns ...string) worker.Take { return with(func(t *worker.Take) { t.Jobs = patterns }) }
	for name, test := range map[string]struct {
		take worker.Take
		cfg  job.Config
		want bool
	}{
		"a script":                  {scripts, job.Config{Name: "a", Type: job.TypeScript}, true},
		"a script for calls":        {calls, job.Config{Name: "a", Type: job.TypeScript}, false},
		"a call":                    {calls, job.Config{Name: "a", Class: "HTTP"}, true},
		"code of somebody else":     {calls, job.Config{Name: "HTTPS", Class: "HTTPS"}, false},
		"a name":                    {named("orders-*"), needing(""), true},
		"one of two":                {named("bills", "orders-*"), needing(""), true},
		"another name":              {named("bills-*"), needing(""), false},
		"a label":                   {named(), needing("zone=eu"), true},
		"all labels, with space":    {named(), needing(" zone=eu , disk=ssd "), true},
		"one too many":              {named(), needing("zone=eu,arch=arm"), false},
		"another value":             {named(), needing("zone=us"), false},
		"a label without a value":   {named(), needing("gpu"), true},
		"a worker without labels":   {calls, needing("zone=eu"), false},
		"a name, but not the label": {named("orders-*"), needing("zone=us"), false},
	} {
		require.Equal(t, test.want, test.take.Takes(test.cfg), name)
	}
}
