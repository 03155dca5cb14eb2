package javapeer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/javapeer"
	"github.com/elasticron/elasticron/integration/zookeeper"
	"github.com/elasticron/elasticron/job/script"
)

// What a script gets from Java of its command line, a shared script gets from Go.
func TestScriptsGetTheSameArgumentsFromBothSides(t *testing.T) {
	t.Parallel()
	lines := []string{
		`a  b "a b" 'a b c' 'it"s' "it's" a\ \n --mode="by region" "" x`,
		`a""b '' " a " ' ' "'a'" '"a b"' $HOME * x;y|z>w "c\"`,
		"a\tb a'b'c \"d\"e'f' =''= '' ü 😀",
	}
	for _, release := range []*javapeer.Release{javapeer.Lite2, javapeer.ElasticJob3} {
		t.Run(release.String(), func(t *testing.T) {
			t.Parallel()
			peer := javapeer.Start(t, javapeer.WithRelease(release))
			cluster := javapeer.Cluster{Servers: zookeeper.Start(t).Address(), Namespace: "scripts", Session: 20 * time.Second}
			folder := t.TempDir()
			for i, line := range lines {
				name, told := fmt.Sprintf("job-%d", i), filepath.Join(folder, fmt.Sprint(i))
				program := told + ".sh"
				text := fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$@\" > %s.new && mv %s.new %s\n", told, told, told)
				require.NoError(t, os.WriteFile(program, []byte(text), 0o700)) //nolint:gosec // it is run
				job := javapeer.NewJob(name, "0/1 * * * * ?", 1)
				job.Script = program + " " + line
				_, err := peer.Join(cluster, job)
				require.NoError(t, err)
				want, err := script.JavaWords(job.Script)
				require.NoError(t, err, line)
				var got string
				require.Eventually(t, func() bool {
					text, err := os.ReadFile(told)
					got = string(text)
					return err == nil
				}, time.Minute, 20*time.Millisecond, line)
				got, context, _ := strings.Cut(strings.TrimSuffix(got, "\n"), "{\"jobName\"")
				require.Equal(t, strings.Join(want[1:], "\n")+"\n", got, line)
				require.Contains(t, context, name)
				require.NoError(t, peer.Console(cluster).Shutdown(name, ""))
			}
		})
	}
}
