package test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A misspelt member is found, whatever Kubernetes would make of it.
func TestMisspeltMembersAreFound(t *testing.T) {
	t.Parallel()
	documents, err := template(everything)
	require.NoError(t, err)
	all := strings.Join(documents, "\n")
	for member, misspelt := range map[string]string{
		"livenessProbe:": "livenesProbe:", "readinessProbe:": "readinessprobe:", "failureThreshold:": "failureTreshold:", "httpGet:": "httpget:",
		"terminationGracePeriodSeconds:": "terminationGraceSeconds:", "readOnlyRootFilesystem:": "readOnlyRootFileSystem:",
		"preStop:": "prestop:", "unhealthyPodEvictionPolicy:": "unhealthyEvictionPolicy:", "policyTypes:": "types:", "endpoints:": "endPoints:",
		"enableServiceLinks: false": "enableServiceLinks: no way", "kind: Service\n": "kind: Servic\n", "targetPort:": "port:",
	} {
		require.Contains(t, all, member)
		var err error
		for _, document := range documents {
			if strings.Contains(document, member) {
				err = new(rendered).decode(strings.ReplaceAll(document, member, misspelt))
				require.Error(t, err, "%s in\n%s", misspelt, document)
			}
		}
	}
}
