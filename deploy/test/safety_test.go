package test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// isSafe checks what holds whatever the values are: no pod may do more than it must, or is judged by what others do.
func (r *rendered) isSafe(t *testing.T) {
	t.Helper()
	for name, d := range r.deployments {
		pod := d.Spec.Template.Spec
		require.Equal(t, new(false), pod.AutomountServiceAccountToken, name)
		require.Equal(t, new(false), pod.EnableServiceLinks, "%s: a Service could set its variables", name)
		require.Equal(t, &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(int64(65532)), RunAsGroup: new(int64(65532)), FSGroup: new(int64(65532)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		}, pod.SecurityContext, name)
		require.False(t, pod.HostNetwork || pod.HostPID || pod.HostIPC, name)
		for _, v := range pod.Volumes {
			require.Nil(t, v.HostPath, name)
			require.True(t, v.EmptyDir == nil || !v.EmptyDir.SizeLimit.IsZero(), "%s: %s has no bound", name, v.Name)
		}
		c := pod.Containers[0]
		require.Equal(t, &corev1.SecurityContext{
			ReadOnlyRootFilesystem: new(true), AllowPrivilegeEscalation: new(false),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		}, c.SecurityContext, name)
		require.False(t, c.Resources.Requests.Cpu().IsZero(), name)
		require.False(t, c.Resources.Limits.Memory().IsZero(), name)
		for _, probe := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
			require.NotNil(t, probe, name)
			require.Contains(t, []string{"/live", "/ready"}, probe.HTTPGet.Path, "%s: /cluster is about others, too", name)
			require.EqualValues(t, 5, probe.TimeoutSeconds, "%s: a machine that is busy needs more than the second that a kubelet waits by itself", name)
		}
		require.Equal(t, "/live", c.LivenessProbe.HTTPGet.Path, "%s: a restart does not bring the registry back", name)
		for _, variable := range c.Env {
			require.True(t, strings.HasSuffix(variable.Name, "_FILE"), "%s: %s would be the same for as long as the process lives", name, variable.Name)
			require.Regexp(t, "^/run/secrets/elasticron/", variable.Value, "%s: %s is to come from a Secret", name, variable.Name)
		}
		require.Equal(t, intstr.FromInt32(0), *d.Spec.Strategy.RollingUpdate.MaxUnavailable, "%s: a rollout that fails takes nobody away", name)
	}
}

// fitsTogether checks that what one object says of another one is so.
func (r *rendered) fitsTogether(t *testing.T) {
	t.Helper()
	picks := func(selector map[string]string) *corev1.PodTemplateSpec {
		var found *corev1.PodTemplateSpec
		for name, d := range r.deployments {
			if isPart(selector, d.Spec.Template.Labels) {
				require.Nil(t, found, "%v selects %s and others", selector, name)
				found = &d.Spec.Template
			}
		}
		require.NotNil(t, found, "%v selects nothing", selector)
		return found
	}
	port := func(pod *corev1.PodTemplateSpec, name string) {
		require.True(t, slices.ContainsFunc(pod.Spec.Containers[0].Ports, func(p corev1.ContainerPort) bool { return p.Name == name }), "no port %s", name)
	}
	for _, d := range r.deployments {
		pod := picks(d.Spec.Selector.MatchLabels)
		c := pod.Spec.Containers[0]
		for _, probe := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
			port(pod, probe.HTTPGet.Port.String())
		}
		var volumes, mounts []string
		for _, v := range pod.Spec.Volumes {
			volumes = append(volumes, v.Name)
			if v.ConfigMap != nil && v.ConfigMap.Name != "mine" {
				require.Contains(t, r.configMaps, v.ConfigMap.Name)
			}
		}
		for _, m := range c.VolumeMounts {
			mounts = append(mounts, m.Name)
			require.False(t, strings.HasPrefix(m.MountPath, "/run/secrets/") && !m.ReadOnly, m.MountPath)
		}
		require.ElementsMatch(t, volumes, mounts, d.Name)
		for _, arg := range c.Args { // each file that is named lies in a folder that is there
			if _, file, found := strings.Cut(arg, "=/"); found && !strings.HasPrefix(arg, "--prefix=") {
				require.True(t, slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return filepath.Dir("/"+file) == m.MountPath }), arg)
			}
		}
	}
	for _, s := range r.services {
		pod := picks(s.Spec.Selector)
		for _, p := range s.Spec.Ports {
			port(pod, p.TargetPort.String())
		}
	}
	for _, b := range r.budgets {
		picks(b.Spec.Selector.MatchLabels)
	}
	for _, p := range r.policies {
		pod := picks(p.Spec.PodSelector.MatchLabels)
		for _, in := range p.Spec.Ingress {
			for _, of := range in.Ports {
				port(pod, of.Port.String())
			}
		}
	}
	for _, m := range r.monitors {
		found := 0
		for _, s := range r.services {
			if isPart(m.Spec.Selector.MatchLabels, s.Labels) {
				found++
				require.Equal(t, m.Spec.Endpoints[0].Port, s.Spec.Ports[0].Name)
			}
		}
		require.Equal(t, 1, found, "services that %s selects", m.Name)
	}
}

// isPart tells whether all of some labels are among others.
func isPart(some, others map[string]string) bool {
	for name, value := range some {
		if others[name] != value {
			return false
		}
	}
	return len(some) > 0
}
