package test

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// rendered is what the chart makes of some values.
type rendered struct {
	deployments map[string]*appsv1.Deployment
	services    map[string]*corev1.Service
	configMaps  map[string]*corev1.ConfigMap
	budgets     map[string]*policyv1.PodDisruptionBudget
	policies    map[string]*networkingv1.NetworkPolicy
	monitors    map[string]*monitoringv1.ServiceMonitor
	documents   []string
}

// template renders the chart as Helm does: values are checked by the schema, and completed by the defaults.
func template(values string) (documents []string, err error) {
	chart, err := loader.Load("../chart")
	if err != nil {
		return nil, err
	}
	given, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		return nil, err
	}
	all, err := chartutil.ToRenderValues(chart, given, chartutil.ReleaseOptions{Name: "cron", Namespace: "ops", Revision: 1, IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(chart, all)
	if err != nil {
		return nil, err
	}
	for name, text := range files {
		if path.Ext(name) != ".yaml" {
			continue
		}
		for _, document := range regexp.MustCompile(`(?m)^---$`).Split(text, -1) {
			if strings.TrimSpace(document) != "" {
				documents = append(documents, document)
			}
		}
	}
	slices.Sort(documents)
	return documents, nil
}

// decode reads a document into a type of Kubernetes. A member that the type does not have, or a kind that is not one of
// these, is an error.
func (r *rendered) decode(document string) error {
	text, err := yaml.YAMLToJSONStrict([]byte(document))
	if err != nil {
		return err
	}
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
	}
	if err := json.UnmarshalCaseSensitivePreserveInts(text, &head); err != nil {
		return err
	}
	if head.Metadata.Namespace != "ops" {
		return fmt.Errorf("%s %s is in the namespace %q", head.Kind, head.Metadata.Name, head.Metadata.Namespace)
	}
	name := head.Metadata.Name
	switch head.APIVersion + " " + head.Kind {
	case "apps/v1 Deployment":
		return into(text, name, &r.deployments)
	case "v1 Service":
		return into(text, name, &r.services)
	case "v1 ConfigMap":
		return into(text, name, &r.configMaps)
	case "policy/v1 PodDisruptionBudget":
		return into(text, name, &r.budgets)
	case "networking.k8s.io/v1 NetworkPolicy":
		return into(text, name, &r.policies)
	case "monitoring.coreos.com/v1 ServiceMonitor":
		return into(text, name, &r.monitors)
	default:
		return fmt.Errorf("%s %s %s is none of what the chart makes", head.APIVersion, head.Kind, name)
	}
}

func into[T any](text []byte, name string, all *map[string]*T) error {
	object := new(T)
	strict, err := json.UnmarshalStrict(text, object)
	if err := errors.Join(append(strict, err)...); err != nil {
		return fmt.Errorf("%T %s: %w", object, name, err)
	}
	if *all == nil {
		*all = make(map[string]*T)
	}
	if (*all)[name] != nil {
		return fmt.Errorf("two of %T are called %s", object, name)
	}
	(*all)[name] = object
	return nil
}

// render renders values and reads all that comes out.
func render(t *testing.T, values string) *rendered {
	t.Helper()
	documents, err := template(values)
	require.NoError(t, err, values)
	r := &rendered{documents: documents}
	for _, document := range documents {
		require.NoError(t, r.decode(document), document)
	}
	return r
}

// names are all objects, as kind/name.
func (r *rendered) names() (all []string) {
	for name := range r.deployments {
		all = append(all, "deployment/"+name)
	}
	for name := range r.services {
		all = append(all, "service/"+name)
	}
	for name := range r.configMaps {
		all = append(all, "configmap/"+name)
	}
	for name := range r.budgets {
		all = append(all, "pdb/"+name)
	}
	for name := range r.policies {
		all = append(all, "networkpolicy/"+name)
	}
	for name := range r.monitors {
		all = append(all, "servicemonitor/"+name)
	}
	slices.Sort(all)
	return all
}

// pod is the one container of a part, and the pod around it.
func (r *rendered) pod(t *testing.T, part string) (corev1.PodSpec, corev1.Container) {
	t.Helper()
	d := r.deployments["cron-elasticron-"+part]
	require.NotNil(t, d, part)
	require.Len(t, d.Spec.Template.Spec.Containers, 1)
	return d.Spec.Template.Spec, d.Spec.Template.Spec.Containers[0]
}
