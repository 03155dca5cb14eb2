package test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Where old pods are to see files change, new ones stand beside all of them for long enough, once: helm waits for five minutes.
func TestARolloutLeavesOldPodsTheTimeToSeeNewFiles(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]struct {
		seconds  int32
		deadline *int32
		surge    intstr.IntOrString
	}{
		"":                                     {surge: intstr.FromInt32(1)},
		"jobsConfigMap: m":                     {150, new(int32(750)), intstr.FromString("100%")},
		"jobs: {a: {config: {}}}":              {150, new(int32(750)), intstr.FromString("100%")},
		"jobsConfigMap: m, minReadySeconds: 0": {surge: intstr.FromInt32(1)},
		"jobsConfigMap: m, minReadySeconds: 3600":                  {3600, new(int32(4200)), intstr.FromString("100%")},
		"jobsConfigMap: m, config: {http: {}, jobs: {version: 7}}": {surge: intstr.FromInt32(1)},
	} {
		r := render(t, merged(t, smallest+"worker: {config: {http: {}}, "+values+"}\n"))
		spec := r.deployments["cron-elasticron-worker"].Spec
		require.Equal(t, want.seconds, spec.MinReadySeconds, values)
		require.Equal(t, want.deadline, spec.ProgressDeadlineSeconds, "%s: Kubernetes wants more than minReadySeconds", values)
		require.Equal(t, want.surge, *spec.Strategy.RollingUpdate.MaxSurge, values)
	}
}
